"""p-values for documents from elsewhere: validity, oracle, edges, storage."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from earmark.decision import NoveltyDetector
from earmark.decision.novelty import smallest_p_value
from earmark.exceptions import DataError
from earmark.persistence import load_model, save_model
from earmark.pipeline.files import class_table

N_TOPICS = 3


def documents(rng, n, topics=range(N_TOPICS), length=(5, 30)):
    """Texts of topics with 40 words of their own, 60 common and many rare words."""
    topics = np.asarray(topics)
    labels = topics[rng.integers(len(topics), size=n)]
    texts = []
    for topic in labels:
        size = rng.integers(*length)
        kind = rng.random(size)
        words = np.where(
            kind < 0.4,
            [f"topic{topic}x{w}" for w in rng.zipf(1.5, size) % 40],
            [f"common{w}" for w in rng.zipf(1.3, size) % 60],
        )
        rare = [f"rare{w}" for w in rng.integers(3_000, size=size)]
        texts.append(" ".join(np.where(kind > 0.9, rare, words)))
    return texts, [f"t{topic}" for topic in labels]


@pytest.fixture(scope="module")
def fitted():
    return NoveltyDetector().fit(*documents(np.random.default_rng(0), 300))


def calls(detector, texts, level):
    return float(np.mean(detector.p_values(texts) <= level))


@pytest.mark.parametrize("how", ["folds", "calibration", "spare", "doubled"])
def test_ordinary_documents_are_called_foreign_at_most_as_often_as_said(how):
    levels, n_new, shares = (0.05, 0.2), 100, []
    for number in range(20):
        rng = np.random.default_rng(number)
        texts, y = documents(rng, 120)
        detector, given_ones = NoveltyDetector(random_state=number), None
        if how == "calibration":
            given_ones = documents(rng, 60)[0]
        if how == "spare":
            detector.set_params(max_documents=60)
        if how == "doubled":
            texts, y = texts * 2, y * 2
        detector.fit(texts, y, calibration=given_ones)
        new, _ = documents(rng, n_new)
        shares.append([calls(detector, new, level) for level in levels])
    for level, share in zip(levels, np.transpose(shares), strict=True):
        assert share.mean() <= level + 2 * share.std() / np.sqrt(len(share))
        assert share.mean() > level / 4  # and it is not by calling none


def test_foreign_documents_are_found_by_words_never_seen(fitted):
    rng = np.random.default_rng(1)
    ordinary, _ = documents(rng, 200)
    foreign, _ = documents(rng, 200, topics=[7])
    p = fitted.p_values([*ordinary, *foreign])
    assert roc_auc_score(np.repeat([0, 1], 200), -p) > 0.95
    assert (p[200:] <= 0.05).mean() > 0.7


def test_foreign_documents_of_known_words_are_found_by_the_classes(fitted):
    """Words of all topics at once are known ones, but of no class."""
    rng = np.random.default_rng(2)
    sets = [documents(rng, 100, topics=[t], length=(8, 9))[0] for t in range(N_TOPICS)]
    mixed = [" ".join(texts) for texts in zip(*sets, strict=True)]
    ordinary, _ = documents(rng, 100, length=(24, 25))
    p = fitted.p_values([*ordinary, *mixed])
    assert roc_auc_score(np.repeat([0, 1], 100), -p) > 0.8


def brute_force(train, y, new):
    """Familiarity by dense matrices and an exact solution of the ridge equations."""
    words = sorted({w for text in [*train, *new] for w in text.split()})
    place = {w: i for i, w in enumerate(words)}

    def logs(texts):
        counts = np.zeros((len(texts), len(words)))
        for row, text in enumerate(texts):
            for word in text.split():
                counts[row, place[word]] += 1
        return np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)

    frequency = (logs(train) > 0).sum(axis=0)
    idf = 1 + np.log((1 + len(train)) / (1 + frequency))
    known, asked = logs(train) * idf, logs(new) * idf
    known /= np.linalg.norm(known, axis=1, keepdims=True)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    goal = np.array([[label == c for c in sorted(set(y))] for label in y], dtype=float)
    gram = known @ known.T + 0.5 * np.eye(len(train))
    weights = known.T @ np.linalg.solve(gram, goal - goal.mean(axis=0))
    best = (asked @ weights + goal.mean(axis=0)).max(axis=1)
    return best + 0.5 * np.sort(asked @ known.T, axis=1)[:, -5:].mean(axis=1)


def test_familiarity_is_that_of_brute_force():
    rng = np.random.default_rng(3)
    train, y = documents(rng, 60)
    new = [*documents(rng, 20)[0], *documents(rng, 20, topics=[9])[0]]
    detector = NoveltyDetector().fit(train, y)
    np.testing.assert_allclose(
        detector.score_samples(new), brute_force(train, y, new), atol=2e-3
    )


def test_documents_left_out_are_judged_as_if_never_seen():
    """Ten folds of one document each: the brute force on the nine others."""
    rng = np.random.default_rng(4)
    train, y = documents(rng, 10, topics=[0, 1])
    detector = NoveltyDetector(n_folds=10).fit(train, y)
    expected = [
        brute_force(train[:i] + train[i + 1 :], y[:i] + y[i + 1 :], [train[i]])[0]
        for i in range(10)
    ]
    np.testing.assert_allclose(detector.calibration_, np.sort(expected), atol=2e-3)


@given(
    calibration=st.lists(st.integers(0, 9), min_size=0, max_size=30),
    figures=st.lists(st.integers(0, 9), min_size=1, max_size=10),
)
def test_p_values_count_ties_against_novelty_and_rise_with_familiarity(
    calibration, figures
):
    detector = NoveltyDetector()
    detector.calibration_ = np.sort(np.asarray(calibration, dtype=float))
    detector.score_samples = lambda X, _: np.asarray(X, dtype=float)
    p = detector.p_values(figures)
    expected = [
        (1 + sum(c <= f for c in calibration)) / (1 + len(calibration)) for f in figures
    ]
    np.testing.assert_allclose(p, expected)
    order = np.argsort(figures, kind="stable")
    assert (np.diff(p[order]) >= 0).all()
    assert p.min() >= smallest_p_value(len(calibration))


def test_every_unknown_word_makes_a_document_less_familiar(fitted):
    text = documents(np.random.default_rng(5), 1)[0][0]
    longer = [text + "".join(f" unheard{i}" for i in range(n)) for n in range(6)]
    assert (np.diff(fitted.score_samples(longer)) < 0).all()


def test_answers_do_not_depend_on_company_or_threads(fitted):
    texts, _ = documents(np.random.default_rng(6), 40)
    alone = np.concatenate([fitted.p_values([text]) for text in texts])
    threaded = clone(fitted).set_params(n_jobs=2)
    threaded.fit(*documents(np.random.default_rng(0), 300))
    np.testing.assert_array_equal(alone, fitted.p_values(texts))
    np.testing.assert_array_equal(alone, threaded.p_values(texts))


def test_copies_keep_the_answers_before_and_after_use(fitted, tmp_path):
    texts, _ = documents(np.random.default_rng(7), 30)
    expected = fitted.p_values(texts)
    save_model(fitted, tmp_path / "novelty.earmark", class_table(), {})
    copies = [
        pickle.loads(pickle.dumps(fitted)),
        copy.deepcopy(fitted),
        load_model(tmp_path / "novelty.earmark", class_table()),
    ]
    for other in copies:
        np.testing.assert_array_equal(other.p_values(texts), expected)
        again = pickle.loads(pickle.dumps(other))
        np.testing.assert_array_equal(again.p_values(texts), expected)


def test_how_sure_answers_are_is_part_of_what_is_familiar(rng):
    texts, y = documents(rng, 200)
    certainty = rng.normal(2.0, 1.0, 200)
    certainty[:50] = np.nan
    detector = NoveltyDetector().fit(texts, y, certainty=certainty)
    assert detector.uses_certainty_
    assert len(detector.calibration_) == 150
    new, _ = documents(rng, 20)
    unsure, sure = (detector.p_values(new, np.full(20, c)) for c in (-3.0, 3.0))
    assert (unsure <= sure).all()
    assert unsure.mean() < 0.1 < sure.mean()
    with pytest.raises(DataError, match="certainty is missing"):
        detector.p_values(new)


def test_labels_may_be_missing_several_or_very_many():
    rng = np.random.default_rng(8)
    texts, y = documents(rng, 120)
    new, _ = documents(rng, 20)
    alone = NoveltyDetector().fit(texts)
    assert alone.dual_.shape == (120, 0)
    assert (alone.p_values(new) > 0).all()
    some = NoveltyDetector().fit(texts, [*y[:60], *[None] * 60])
    assert not some.dual_[60:].any()
    assert some.dual_[:60].all(axis=1).all()
    several = NoveltyDetector().fit(texts, [(label, "all") for label in y])
    assert several.dual_.shape == (120, N_TOPICS + 1)
    many = NoveltyDetector().fit(texts * 3, range(360))
    assert many.dual_.shape == (360, 256)
    assert many.p_values(new).shape == (20,)


def test_few_documents_give_no_false_alarm():
    for n in (1, 2, 5):
        texts, y = documents(np.random.default_rng(n), n)
        detector = NoveltyDetector().fit(texts, y)
        p = detector.p_values(["words of another world", ""])
        assert (p >= smallest_p_value(n)).all()
        assert (p <= 1).all()
    assert detector.p_values([]).shape == (0,)


def test_more_documents_than_are_remembered_calibrate():
    texts, y = documents(np.random.default_rng(9), 400)
    detector = NoveltyDetector(max_documents=100).fit(texts, y)
    assert detector.counts_.shape[0] == 100
    assert len(detector.calibration_) == 300


def test_characters_are_counted_where_words_are_not_spaced():
    train = [
        "今日は天気がいいですね",
        "明日は雨が降るでしょう",
        "昨日は風が強かった",
    ] * 8
    train = [text + str(i) for i, text in enumerate(train)]
    detector = NoveltyDetector(analyzer="char", ngram_range=(1, 2)).fit(train)
    figures = detector.score_samples(["今日は雨が降る", "quantum chromodynamics"])
    assert figures[0] > figures[1]


def test_wrong_input_is_refused_with_what_to_do():
    with pytest.raises(DataError, match="holds no document"):
        NoveltyDetector().fit([])
    with pytest.raises(DataError, match="got X 2, y 1"):
        NoveltyDetector().fit(["a b", "c d"], ["x"])
    with pytest.raises(ValueError, match="n_folds"):
        NoveltyDetector(n_folds=1).fit(["a b"])
    with pytest.raises(NotFittedError):
        NoveltyDetector().p_values(["a b"])
