"""Slices and words that are misread more often: exact tests, and planted errors."""

import datetime

import numpy as np
import pytest
import scipy

from earmark.documents import support_corpus
from earmark.evaluation import error_slices, error_words, group_near_duplicates
from earmark.evaluation.significance import fisher_more, groups_with_more, holm
from earmark.evaluation.slices import without_ids
from earmark.exceptions import DataError
from earmark.pipeline import TextClassifier

LABELS = np.array(["bills", "mail", "post", "shop"])


def answers(seed, planted=False, n=1200):
    """Answers that are wrong in one of ten, but in half of one source if planted."""
    rng = np.random.default_rng(seed)
    label, move = rng.integers(4, size=n), rng.integers(1, 4, size=n)
    source = rng.choice([f"source-{i}" for i in range(8)], n)
    rate = np.where(planted & (source == "source-3"), 0.5, 0.1)
    said = np.where(rng.random(n) < rate, (label + move) % 4, label)
    day = datetime.date(2026, 1, 1)
    columns = {
        "source": source.tolist(),
        "amount": rng.lognormal(3, 1, n).tolist(),
        "day": [
            f"{day + datetime.timedelta(int(d))}" for d in rng.integers(300, size=n)
        ],
        "language": rng.choice(np.array(["en", "de", None]), n).tolist(),
    }
    words = rng.integers(1, 60, size=n)
    return LABELS[label], LABELS[said], columns, ["word " * count for count in words]


def test_a_planted_slice_ranks_first_in_20_of_20_runs():
    for seed in range(20):
        y, z, columns, texts = answers(seed, planted=True)
        assert error_slices(y, z, columns, texts=texts)[0].name == "source = source-3"


def test_without_a_planted_slice_none_is_listed_in_at_least_19_of_20_runs():
    silent = 0
    for seed in range(20):
        y, z, columns, texts = answers(seed)
        silent += not error_slices(y, z, columns, texts=texts)
    assert silent >= 19


def test_a_level_is_how_often_chance_lists_nothing():
    runs = [answers(seed, n=600) for seed in range(300)]
    silent = [
        not error_slices(y, z, columns, texts=texts, level=0.9)
        for y, z, columns, texts in runs
    ]
    assert scipy.stats.binomtest(sum(silent), 300, 0.9, "less").pvalue > 0.01


def test_a_real_model_has_a_slice_where_labels_are_flipped_and_none_where_not():
    corpus = support_corpus()
    texts, labels = np.array(corpus.texts), np.array(corpus.labels)
    classes = np.unique(labels)
    silent = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(texts))
        train, test = order[:110], order[110:]
        model = TextClassifier("complement").fit(texts[train].tolist(), labels[train])
        said = model.predict(texts[test].tolist())
        source = rng.permutation(np.arange(len(test)) % 3)
        columns = {"source": [f"s{s}" for s in source], "id": range(len(test))}
        parts = {"texts": texts[test].tolist()}
        silent += not error_slices(labels[test], said, columns, **parts)
        truth, flipped = labels[test].copy(), source == 1
        moved = rng.integers(1, len(classes), size=flipped.sum())
        place = np.searchsorted(classes, truth[flipped])
        truth[flipped] = classes[(place + moved) % len(classes)]
        first = error_slices(truth, said, columns, **parts)[0]
        assert first.name == "source = s1"
    assert silent >= 19


@pytest.mark.parametrize("seed", range(40))
def test_p_values_are_those_of_the_hypergeometric_distribution(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 400))
    hits = int(rng.integers(0, n + 1))
    sizes = rng.integers(1, n + 1, size=20)
    inside = scipy.stats.hypergeom.rvs(n, hits, sizes, random_state=seed)
    exact = scipy.stats.hypergeom.sf(inside - 1, n, hits, sizes)
    expected = np.where(inside * n > sizes * hits, exact, 1.0)
    np.testing.assert_allclose(fisher_more(inside, sizes, hits, n), expected, 1e-8)


def test_groups_too_small_to_be_shown_cost_the_others_nothing():
    # 10 of 100 are hits: a group of one, even a hit, has p = 0.1.
    hits, sizes = [5, 1, 1, 1, 0], [6, 1, 1, 1, 1]
    p_values, n_tested = groups_with_more(hits, sizes, 10, 100, 0.95)
    assert n_tested == 1
    assert p_values[0] == fisher_more([5], [6], 10, 100)[0]
    assert p_values[1:].tolist() == [1.0] * 4


def test_the_groups_tested_are_corrected_as_holm_does():
    rng = np.random.default_rng(2)
    sizes = rng.integers(30, 200, size=12)
    hits = rng.binomial(sizes, 0.2)
    p_values, n_tested = groups_with_more(hits, sizes, 100, 500, 0.95)
    assert n_tested == 12
    np.testing.assert_allclose(p_values, holm(fisher_more(hits, sizes, 100, 500)))


def test_a_slice_holds_what_counting_gives():
    y, z, columns, _ = answers(3, planted=True)
    one = error_slices(y, z, columns)[0]
    members = np.array(columns["source"]) == "source-3"
    assert (one.n_documents, one.n_wrong) == (members.sum(), (y != z)[members].sum())
    assert one.rest == pytest.approx((y == z)[~members].mean())
    assert one.difference == pytest.approx(one.accuracy - one.rest)
    assert one.rows.tolist() == np.flatnonzero(members & (y != z)).tolist()
    assert one.interval[0] < one.accuracy < one.interval[1]
    assert "rows" not in one.to_dict()
    assert one.excess == round((one.rest - one.accuracy) * one.n_documents)


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ([*np.linspace(0.5, 99.5, 200)], "c 80.1 to 99.5"),
        ([str(n) for n in range(200)], "c 160 to 199"),
        ([f"2026-{1 + n // 20:02d}-01" for n in range(200)], "c = 2026-09-01"),
        (
            [datetime.date(2026, 1, 1) + datetime.timedelta(n) for n in range(200)],
            "c 2026-06-10 to 2026-07-19",
        ),
        (["x"] * 160 + [""] * 40, "c missing"),
        ([1] * 160 + [float("nan")] * 40, "c missing"),
        ([False] * 160 + [True] * 40, "c = True"),
    ],
)
def test_columns_are_cut_by_what_they_hold(column, name):
    y = ["a", "b"] * 100
    z = y[:160] + ["c"] * 40
    names = [one.name for one in error_slices(y, z, {"c": column})]
    assert names[0] == name


def test_a_slice_that_says_no_more_than_one_before_is_not_listed():
    y, z, columns, _ = answers(4, planted=True)
    columns["again"] = [s.upper() for s in columns["source"]]
    columns["half"] = [s in ("source-3", "source-4") for s in columns["source"]]
    assert len(error_slices(y, z, columns)) == 1


def test_columns_that_number_or_name_each_document_are_ids():
    columns = {
        "id": range(100),
        "name": [f"mail-{n}.txt" for n in range(100)],
        "price": [n + 0.5 for n in range(100)],
        "sent": [f"2026-01-01T{n // 60:02d}:{n % 60:02d}:00" for n in range(100)],
        "kind": ["a", "b"] * 50,
    }
    assert [*without_ids(columns)] == ["price", "sent", "kind"]


def test_documents_without_an_answer_are_not_misread():
    y, z, columns, _ = answers(0, planted=True)
    said = [None if a != b else b for a, b in zip(y, z, strict=True)]
    assert not error_slices(y, said, columns)


def test_lists_of_labels_are_right_if_all_are():
    y = [["a", "b"], ["a"]] * 40
    z = [["a"], ["a"]] * 20 + y[40:]
    source = ["s", "t"] * 20 + ["t"] * 40
    assert error_slices(y, z, {"source": source})[0].name == "source = s"


def test_words_of_misread_documents_are_listed_with_their_figures():
    rng = np.random.default_rng(0)
    filler = [f"w{n}" for n in range(300)]
    texts = [" ".join(rng.choice(filler, 12)) for _ in range(400)]
    texts[:30] = [f"{text} Wanted" for text in texts[:30]]
    wrong = rng.random(400) < 0.1
    wrong[:30] = np.arange(30) < 20
    words = error_words(["a"] * 400, np.where(wrong, "b", "a"), texts)
    assert [(one.value, one.n_wrong, one.n_documents) for one in words] == [
        ("wanted", 20, 30)
    ]
    share = wrong[30:].mean()
    assert str(words[0]) == (
        f"Documents with “wanted” are misread {2 / 3 / share:.0f} times as often "
        f"(20 of 30 against {100 * share:.1f} %)"
    )


def test_words_of_no_consequence_are_not_listed_in_at_least_19_of_20_runs():
    silent = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        filler = [f"w{n}" for n in range(200)]
        texts = [" ".join(rng.choice(filler, 20)) for _ in range(600)]
        said = np.where(rng.random(600) < 0.2, "b", "a")
        silent += not error_words(["a"] * 600, said, texts)
    assert silent >= 19


def test_copies_of_one_misread_text_count_once():
    rng = np.random.default_rng(1)
    filler = [f"w{n}" for n in range(300)]
    texts = [" ".join(rng.choice(filler, 15)) for _ in range(200)]
    texts[:30] = ["the printer of the third floor is out of paper again"] * 30
    said = ["b"] * 30 + np.where(rng.random(170) < 0.1, "b", "a").tolist()
    truth = ["a"] * 200
    assert error_words(truth, said, texts)
    copies = group_near_duplicates(texts)
    assert not error_words(truth, said, texts, copies=copies)
    slices = {"from": ["printer"] * 30 + ["person"] * 170}
    assert error_slices(truth, said, slices)
    assert not error_slices(truth, said, slices, copies=copies)


def test_where_nothing_is_wrong_or_nothing_is_written_no_word_is_listed():
    assert not error_words(["a"] * 9, ["a"] * 9, ["text"] * 9)
    for text in ("", "x", "?"):
        assert not error_words(["a"] * 9, ["b"] * 9, [text] * 9)
    assert str(error_words(["a"], ["a"], ["x"])).startswith("None is misread")


def test_a_column_of_another_length_is_refused():
    with pytest.raises(DataError, match="columns\\['source'\\] 1"):
        error_slices(["a", "b"], ["a", "b"], {"source": ["x"]})


def test_a_column_that_is_called_label_is_not_taken_for_the_labels():
    y, z, columns, texts = answers(1, planted=True)
    named = {"label": columns["source"], "length": columns["day"]}
    first = error_slices(y, z, named, texts=texts)[0]
    assert first.name == "column label = source-3"


def test_labels_that_are_numbers_are_not_cut():
    y = [*range(20)] * 20
    z = [21 if label == 7 else label for label in y]
    assert [one.name for one in error_slices(y, z)] == ["label = 7"]
