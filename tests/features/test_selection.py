"""TermSelector: scikit-learn's chi-square, brute-force information gain, ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_selection import chi2
from sklearn.utils.estimator_checks import parametrize_with_checks

from earmark.features import TermSelector


@parametrize_with_checks(
    [TermSelector("information_gain", k=2), TermSelector("chi2"), TermSelector("df")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def corpus(rng, n_classes=3):
    X = rng.poisson(0.4, (60, 15))
    X[:, 0] = 0
    X[:, 1] = 1
    return X, rng.integers(0, n_classes, 60)


def entropy(labels):
    share = np.unique(labels, return_counts=True)[1] / len(labels)
    return -(share * np.log2(share)).sum()


def brute_force_gain(present, y):
    gain = entropy(y)
    for part in (y[present], y[~present]):
        if len(part):
            gain -= len(part) / len(y) * entropy(part)
    return gain


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_information_gain_equals_brute_force(rng, container):
    X, y = corpus(rng)
    expected = [brute_force_gain(column > 0, y) for column in X.T]
    scores = TermSelector("information_gain").fit(container(X), y).scores_
    assert_allclose(scores, expected, atol=1e-12)


def test_mutual_information_is_the_best_gain_of_one_class_against_the_rest(rng):
    X, y = corpus(rng)
    expected = [
        max(brute_force_gain(column > 0, y == c) for c in range(3)) for column in X.T
    ]
    scores = TermSelector("mutual_information").fit(X, y).scores_
    assert_allclose(scores, expected, atol=1e-12)


def test_two_classes_make_the_two_information_scores_equal(rng):
    X, y = corpus(rng, n_classes=2)
    gain, mutual = (
        TermSelector(score).fit(X, y).scores_
        for score in ("information_gain", "mutual_information")
    )
    assert_allclose(gain, mutual, atol=1e-12)


def test_chi_square_equals_scikit_learn(rng):
    X, y = corpus(rng)
    scores = TermSelector("chi2").fit(X, y).scores_
    assert_allclose(scores, np.nan_to_num(chi2(X, y)[0]), rtol=1e-10, atol=1e-12)


def test_document_frequency_needs_no_labels(rng):
    X, _ = corpus(rng)
    scores = TermSelector("df").fit(X).scores_
    assert_array_equal(scores, (X > 0).sum(axis=0))


def test_duplicates_and_stored_zeros_do_not_count_as_documents():
    messy = sparse.csr_array(
        (np.array([1, 1, 0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert_array_equal(TermSelector("df").fit(messy).scores_, [1, 0])
    assert messy.nnz == 3


def test_ties_go_to_the_left_and_k_limits_the_columns():
    X = np.ones((4, 5))
    selector = TermSelector("df", k=2).fit(X)
    assert_array_equal(selector.get_support(), [True, True, False, False, False])
    assert selector.transform(X).shape == (4, 2)
    assert list(selector.get_feature_names_out(list("abcde"))) == ["a", "b"]


def test_bad_parameters_and_data_are_named():
    X, y = np.ones((4, 2)), [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"criterion must be one of .* got 'gini'"):
        TermSelector("gini").fit(X, y)
    with pytest.raises(ValueError, match=r"k must be >= 1, got 0"):
        TermSelector(k=0).fit(X, y)
    with pytest.raises(ValueError, match=r"Negative values .* chi2 needs"):
        TermSelector("chi2").fit(-X, y)
