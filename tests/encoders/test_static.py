"""The encoder that comes with earmark, tables of one's own, and how they are made."""

import numpy as np
import pytest

from earmark import TextClassifier, load
from earmark.encoders import load_encoder
from earmark.exceptions import DataError
from earmark.kernels import static_vectors
from earmark.kernels.static_vectors import VectorTable
from tools import make_static_table

TOPICS = {
    "boats": ["harbor", "sail", "anchor", "deck", "mast", "keel"],
    "bread": ["dough", "oven", "flour", "crust", "yeast", "loaf"],
    "birds": ["wing", "nest", "feather", "beak", "flock", "egg"],
}
FILLER = ["the", "of", "and", "some", "near", "with"]


def passages(n, seed, length=8):
    rng = np.random.default_rng(seed)
    texts, topics = [], []
    for _ in range(n):
        topic = rng.choice(sorted(TOPICS))
        words = [*rng.choice(TOPICS[topic], 3), *rng.choice(FILLER, length - 3)]
        texts.append(" ".join(rng.permutation(words)) + ".")
        topics.append(str(topic))
    return texts, topics


def teacher(texts):
    """Words of a topic point one way; those that say nothing hardly count."""
    vectors = np.full((len(texts), 8), 0.01, dtype=np.float32)
    for row, text in enumerate(texts):
        for axis, words in enumerate(TOPICS.values()):
            vectors[row, axis] += sum(word in text for word in words)
        vectors[row, 3] += 0.05 * sum(word in text for word in FILLER)
    return vectors


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    stem = tmp_path_factory.mktemp("tables") / "own"
    texts, _ = passages(400, seed=1)
    sizes = {"n_words": 20, "n_pieces": 60, "width": 6}
    made = make_static_table.make(texts, teacher, **sizes, n_steps=150, batch=200)
    make_static_table.write(stem, *made)
    return stem


def cosine(one, other):
    one, other = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (one, other))
    return (one * other).sum(axis=1)


def test_a_table_of_ones_own_says_what_its_teacher_says(table):
    encoder = load_encoder(f"static:{table}")
    texts, topics = passages(200, seed=2)
    vectors = encoder.encoded(texts, store=False)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    # Of the same angles as the teacher's vectors, which it never saw.
    wanted = make_static_table._units(teacher(texts))
    assert np.abs(vectors @ vectors.T - wanted @ wanted.T).mean() < 0.1
    nearest = (vectors @ vectors.T - 2 * np.eye(200)).argmax(axis=1)
    assert np.mean(np.array(topics)[nearest] == topics) > 0.95


def test_learning_a_table_is_better_than_the_teachers_words_alone():
    texts, _ = passages(400, seed=3)
    lines, n_words = make_static_table.choose_lines(texts, 20, 60)
    counts = make_static_table.count_lines(texts, lines, n_words)
    wanted = make_static_table._units(teacher(texts))
    start = make_static_table._units(teacher(lines))
    learned = make_static_table.learn_table(
        counts, wanted, start, n_steps=150, batch=200
    )
    before, after = (cosine(counts @ one, wanted).mean() for one in (start, learned))
    assert after > max(before, 0.97)


def test_the_slope_of_learning_is_that_of_the_mean_cosine(monkeypatch):
    texts, _ = passages(50, seed=4)
    lines, n_words = make_static_table.choose_lines(texts, 20, 10)
    counts = make_static_table.count_lines(texts, lines, n_words)
    rng = np.random.default_rng(0)
    wanted = make_static_table._units(rng.normal(size=(50, 4)))
    start = rng.normal(size=(len(lines), 4)).astype(np.float32)
    monkeypatch.setattr(make_static_table, "_DROPPED", 0.0)
    # Adam's first step is the sign of the slope.
    monkeypatch.setattr(make_static_table, "_RATE", 1e-3)
    one = make_static_table.learn_table(counts, wanted, start, n_steps=1, batch=50)
    loss = lambda table: 1.0 - cosine(counts @ table, wanted).mean()  # noqa: E731
    for line, axis in [(0, 0), (3, 2), (12, 1)]:
        ahead, behind = start.astype(float), start.astype(float)
        ahead[line, axis] += 1e-4
        behind[line, axis] -= 1e-4
        slope = loss(ahead) - loss(behind)
        assert np.sign(one[line, axis] - start[line, axis]) == -np.sign(slope)


def test_words_that_are_no_line_are_spelled_by_pieces(table):
    encoder = load_encoder(f"static:{table}")
    words, parts = encoder.by_word("Sail the flocks!")
    assert words == ["sail", "the", "flocks", "!"]
    np.testing.assert_allclose(
        parts.sum(axis=0), encoder.encoded(["Sail the flocks!"], store=False)[0], 1e-4
    )
    known, unknown = encoder.table.lines[1:3], "zzz"
    assert encoder.known_share([*known, f"{known[0]} {unknown}"]) == 0.75
    assert load_encoder("static").known_share(["Ærlig talt, hvor blir det av"]) < 0.6


def test_a_classifier_uses_a_table_of_ones_own(table, tmp_path):
    texts, topics = passages(60, seed=5)
    model = TextClassifier(encoder=f"static:{table}").fit(texts, topics)
    more, truth = passages(60, seed=6)
    assert model.score(more, truth) > 0.95
    model.save(tmp_path / "m.earmark")
    again = load(tmp_path / "m.earmark")
    np.testing.assert_array_equal(again.predict_proba(more), model.predict_proba(more))


@pytest.mark.parametrize("damage", ["lines", "metadata", "missing"])
def test_a_damaged_table_is_refused_by_name(damage, table, tmp_path):
    stem = tmp_path / "own"
    for suffix in ("txt", "safetensors"):
        stem.with_suffix(f".{suffix}").write_bytes(
            table.with_suffix(f".{suffix}").read_bytes()
        )
    if damage == "lines":
        with open(f"{stem}.txt", "a", encoding="utf-8") as file:
            file.write("more\n")
    elif damage == "metadata":
        numbers = stem.with_suffix(".safetensors")
        numbers.write_bytes(numbers.read_bytes().replace(b'"words"', b'"wordz"'))
    else:
        stem.with_suffix(".safetensors").unlink()
    with pytest.raises(DataError, match=r"own\.safetensors"):
        load_encoder(f"static:{stem}")


def random_table(rng):
    letters = list("abßéñ中")
    words = sorted({"".join(rng.choice(letters, rng.integers(1, 5))) for _ in range(8)})
    marks = ["!", "🙂", "…"]
    pieces = sorted(
        {
            ("##" if rng.random() < 0.5 else "") + "".join(rng.choice(letters, size))
            for size in (1, 1, 1, 2, 2, 3)
        }
    )
    lines = [*words, *marks, *pieces]
    vectors = rng.integers(-127, 128, (len(lines), 5)).astype(np.int8)
    scale = rng.random(len(lines)).astype(np.float32)
    return VectorTable(lines, len(words) + len(marks), vectors, scale), letters


@pytest.mark.parametrize("seed", range(60))
def test_compiled_and_plain_vectors_are_equal(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    table, letters = random_table(rng)
    signs = [*letters, *"ABÉ", " ", " ", "!", "🙂", "_", "7", "\n", "İ", "\u0301"]
    texts = ["".join(rng.choice(signs, rng.integers(0, 30))) for _ in range(20)]
    both = {}
    for name in ("compiled", "plain"):
        with monkeypatch.context() as patch:
            if name == "plain":
                patch.setattr(static_vectors, "native", lambda: None)
            both[name] = table.encode(texts)
    np.testing.assert_array_equal(both["compiled"].n_words, both["plain"].n_words)
    np.testing.assert_array_equal(both["compiled"].n_known, both["plain"].n_known)
    np.testing.assert_allclose(
        both["compiled"].vectors, both["plain"].vectors, atol=2e-6
    )


def test_words_of_a_text_are_its_whole_vector():
    encoder = load_encoder("static")
    text = "The unputdownable novel, again :-) — naïve readers' favourite 🙂"
    words, parts = encoder.by_word(text)
    assert "unputdownable" in words
    assert "🙂" in words
    whole = encoder.encoded([text], store=False)[0]
    np.testing.assert_allclose(parts.sum(axis=0), whole, atol=1e-5)
