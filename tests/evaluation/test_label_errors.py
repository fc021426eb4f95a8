"""Suspected label errors: calibrated, an honest count, few false alarms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from earmark import TextClassifier
from earmark.documents import support_corpus
from earmark.evaluation import left_out_log_proba, suspected_label_errors
from earmark.evaluation.label_errors import _NoiseModel
from earmark.evaluation.significance import wilson_interval
from earmark.exceptions import DataError


def drawn(rate, *, n=3000, k=3, stretch=1.0, seed=0, spread=3.0):
    """Scores that are calibrated but for ``stretch``; labels, some of them flipped."""
    rng = np.random.default_rng(seed)
    log_p = log_softmax(spread * rng.normal(size=(n, k)), axis=1)
    true = (np.exp(log_p).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1) % k
    flips = rng.random(n) < rate
    y = np.where(flips, (true + rng.integers(1, k, size=n)) % k, true)
    return y, log_softmax(stretch * log_p, axis=1), flips, log_p


def test_probabilities_are_those_of_bayes_rule_with_the_true_parameters():
    y, scores, _, log_p = drawn(0.1, n=20_000, stretch=8.0, spread=8.0)
    channel = np.full((3, 3), 0.05)
    np.fill_diagonal(channel, 0.9)
    joint = np.exp(log_p) * channel[:, y].T
    exact = 1 - joint[np.arange(len(y)), y] / joint.sum(axis=1)
    judged = suspected_label_errors(y, scores, [0, 1, 2]).probability
    assert np.abs(judged - exact).mean() < 0.02
    assert np.corrcoef(judged, exact)[0, 1] > 0.99


@pytest.mark.parametrize("stretch", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("rate", [0.02, 0.2])
def test_a_probability_of_three_quarters_is_wrong_three_times_in_four(rate, stretch):
    y, scores, flips, _ = drawn(rate, n=8000, stretch=stretch)
    probability = suspected_label_errors(y, scores, [0, 1, 2]).probability
    for low, high in ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)):
        rows = (probability >= low) & (probability < high)
        if rows.sum() > 20:
            deviation = np.sqrt(0.25 / rows.sum())
            gap = flips[rows].mean() - probability[rows].mean()
            assert abs(gap) < 0.1 + 2 * deviation


def test_the_interval_holds_the_number_of_wrong_labels():
    inside, estimates = 0, []
    for seed in range(20):
        y, scores, flips, _ = drawn(0.05, n=800, stretch=5.0, seed=seed)
        result = suspected_label_errors(y, scores, [0, 1, 2])
        inside += result.interval[0] <= flips.sum() <= result.interval[1]
        estimates.append(result.n_wrong - flips.sum())
        assert_allclose(result.n_wrong, result.probability.sum())
    assert inside >= 17
    # Scores that may be astray explain some of the errors: the estimate is cautious.
    assert -25 < np.mean(estimates) < 5


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("n", [60, 120])
def test_of_few_labels_the_interval_holds_planted_ones_and_many_are_said(n, share):
    corpus, classes = support_corpus(), sorted(set(support_corpus().labels))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        some = rng.permutation(len(corpus.texts))[:n]
        right = np.array([classes.index(corpus.labels[row]) for row in some])
        y, flips = right.copy(), rng.permutation(n)[: round(share * n)]
        y[flips] = (y[flips] + rng.integers(1, len(classes), len(flips))) % len(classes)
        texts = [corpus.texts[row] for row in some]
        names, scores = left_out_log_proba(TextClassifier("hybrid"), texts, y)
        errors = suspected_label_errors(y, scores, names)
        low, high = errors.interval
        assert low <= len(flips) <= high <= n
        assert len(errors.contradicted) <= high
        differ = wilson_interval(len(errors.contradicted), n)[0] > 0.2
        assert differ or share < 0.3
        assert (errors.warning is not None) == (differ and errors.informed)
        if errors.warning:
            said = f"differ from {len(errors.contradicted)} of {n} labels"
            assert said in errors.warning


def test_the_list_ends_where_a_label_is_more_probably_right():
    y, scores, flips, _ = drawn(0.1)
    result = suspected_label_errors(y, scores, [0, 1, 2])
    probabilities = [error.probability for error in result]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(result) == (result.probability >= 0.5).sum()
    assert flips[[error.index for error in result]].mean() > 0.7
    shorter = suspected_label_errors(y, scores, [0, 1, 2], min_probability=0.9)
    assert [e.index for e in shorter] == [
        e.index for e in result if e.probability > 0.9
    ]
    assert len(suspected_label_errors(y, scores, [0, 1, 2], top=3)) == 3


@pytest.mark.parametrize("stretch", [1.0, 30.0])
@pytest.mark.parametrize("n", [15, 60, 400])
def test_clean_labels_are_hardly_ever_accused(n, stretch):
    accused = 0
    for seed in range(10):
        y, scores, _, _ = drawn(0.0, n=n, stretch=stretch, seed=seed, spread=1.0)
        accused += len(suspected_label_errors(y, scores, [0, 1, 2]))
    assert accused <= 0.01 * 10 * n


def test_of_a_few_hundred_labels_less_trust_lists_more_and_most_of_it_is_wrong():
    listed = {50.0: [], 10.0: []}
    n_wrong = 0
    for seed in range(10):
        y, scores, flips, _ = drawn(0.15, n=180, seed=seed)
        n_wrong += flips.sum()
        for trust, all_flips in listed.items():
            found = suspected_label_errors(y, scores, [0, 1, 2], trust=trust)
            all_flips += [bool(flips[e.index]) for e in found]
    assert sum(listed[10.0]) > 1.2 * sum(listed[50.0])
    assert sum(listed[10.0]) > 0.5 * n_wrong
    assert np.mean(listed[10.0]) > 0.75
    with pytest.raises(ValueError, match="trust must be a positive number"):
        suspected_label_errors(y, scores, [0, 1, 2], trust=0)


def test_scores_that_know_nothing_accuse_nobody():
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=400)
    scores = log_softmax(50 * rng.normal(size=(400, 5)), axis=1)
    assert len(suspected_label_errors(y, scores, range(5))) == 0


def test_texts_that_do_not_tell_classes_apart_say_nothing_about_labels():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    shares = np.tile(np.log([1 / 6, 2 / 6, 3 / 6]), (60, 1))
    for scores in (np.zeros((60, 3)), np.full((60, 3), -np.inf), shares):
        result = suspected_label_errors(y, scores, [0, 1, 2])
        assert not result.informed
        assert str(result).startswith("Nothing can be said about wrong labels")
    shares[0] = np.log([0.5, 0.2, 0.3])
    result = suspected_label_errors(y, shares, [0, 1, 2])
    assert result.informed
    assert str(result).startswith("About ")


def test_confirmed_labels_are_not_listed_again_and_vouch_for_the_scores():
    y, scores, _, _ = drawn(0.1)
    first = suspected_label_errors(y, scores, [0, 1, 2])
    confirmed = [error.index for error in first[:50]]
    second = suspected_label_errors(y, scores, [0, 1, 2], keep=confirmed)
    assert not set(confirmed) & {error.index for error in second}
    assert_allclose(second.probability[confirmed], 0)
    assert second.n_wrong < first.n_wrong - 50
    with pytest.raises(DataError, match="from 0 to 2999, got -1 to -1"):
        suspected_label_errors(y, scores, [0, 1, 2], keep=[-1])


def test_a_class_of_a_few_documents_is_not_accused():
    y, scores, _, _ = drawn(0.0, n=300, k=2)
    scores = np.column_stack([scores, np.full(300, -50.0)])
    y[:4] = 2
    result = suspected_label_errors(y, scores, [0, 1, 2])
    assert not {error.index for error in result} & {0, 1, 2, 3}


def test_a_label_that_goes_wrong_in_one_way_only_is_suggested_back():
    y, scores, _, _ = drawn(0.0, k=4, spread=5.0)
    rng = np.random.default_rng(1)
    moved = rng.permutation(np.flatnonzero(y == 0))[:100]
    y[moved] = 1
    result = suspected_label_errors(y, scores, range(4))
    hits = [error for error in result if error.index in set(moved)]
    assert len(hits) > 60
    assert np.mean([error.suggested == 0 for error in hits]) > 0.9


def test_what_is_impossible_or_unknown_is_borne():
    y, scores, _, _ = drawn(0.1, n=500, spread=8.0)
    scores[0] = -np.inf
    scores[1, y[1]] = -np.inf
    result = suspected_label_errors(y, scores, [0, 1, 2], texts=["t"] * 500)
    assert np.isfinite(result.probability).all()
    assert result.probability[0] < 0.5
    assert result[0].text == "t"
    assert "text" not in result[0].to_dict()
    empty = suspected_label_errors([], np.zeros((0, 2)), "ab")
    assert (len(empty), empty.n_wrong) == (0, 0.0)


def test_the_slope_of_the_scaling_is_the_derivative():
    y, scores, _, _ = drawn(0.1, n=200)
    model = _NoiseModel(scores, y, np.zeros(200, dtype=bool), 50.0)
    loss = model._loss(0.1)
    start = np.array([0.3, 0.1, -0.2, 0.05])
    error = check_grad(lambda v: loss(v)[0], lambda v: loss(v)[1], start)
    assert error < 1e-6


def test_left_out_scores_are_exact_or_by_folds_that_keep_copies_together():
    texts = [f"{word} topic{i}" for i in range(30) for word in ("cat dog", "car bus")]
    y = ["animal", "vehicle"] * 30
    model = TextClassifier("multinomial")
    classes, exact = left_out_log_proba(model, texts, y)
    fitted = TextClassifier("multinomial").fit(texts, y)
    assert_allclose(exact, fitted.leave_one_out(texts, y))
    copies = np.repeat(np.arange(30), 2)
    spoiled = [*texts, "unique words here"] * 2
    labels = [*y, "animal"] * 2
    groups = np.tile(np.append(np.repeat(copies[::2], 2), 30)[:61], 2)
    _, folded = left_out_log_proba(model, spoiled, labels, groups=groups)
    # The two copies of the odd document never vouch for each other.
    assert_allclose(softmax(folded[60]), [0.5, 0.5], atol=0.05)
    assert classes.tolist() == ["animal", "vehicle"]


def test_any_classifier_gives_left_out_scores_and_absent_classes_are_unknown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    y[0] = 2
    classes, scores = left_out_log_proba(LogisticRegression(), X, y)
    assert classes.tolist() == [0, 1, 2]
    assert_allclose(scores[0], 0)
    assert (scores[1:].argmax(axis=1) == y[1:]).mean() > 0.9


def test_unknown_label_is_named_by_row():
    log_p = np.log([[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(DataError, match="'z' in row 1"):
        suspected_label_errors("az", log_p, "ab")
    with pytest.raises(DataError, match=r"one column per class, got shape \(2, 2\)"):
        suspected_label_errors("ab", log_p, "abc")
    with pytest.raises(ValueError, match=r"min_probability must be in \[0, 1\], got 2"):
        suspected_label_errors("ab", log_p, "ab", min_probability=2)
