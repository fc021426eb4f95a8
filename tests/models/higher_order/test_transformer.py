"""HigherOrderTransformer: equation 12 term by term, origin, memory, messages."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from earmark.exceptions import DataError
from earmark.models import (
    HigherOrderClassifier,
    HigherOrderNaiveBayes,
    HigherOrderTransformer,
)
from earmark.models.higher_order_svm import OneAgainstOne


def corpus(rng, n_samples=60, n_features=15, n_classes=2):
    rate = rng.beta(1, 3, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return (rng.random((n_samples, n_features)) < rate[y]).astype(float), y


def equation_12(X, j, k, normalize):
    """Each value from its definition; j and k are P(term | class)."""
    out = np.zeros(X.shape)
    for d, w in np.ndindex(X.shape):
        ratio = j[w] / k[w] if X[d, w] else (1 - j[w]) / (1 - k[w])
        value = np.log(ratio)
        if normalize and value != 0:
            value /= np.sqrt(abs(value))
        out[d, w] = value
    return out


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(
    "settings", [{}, {"order": 3}, {"pure": True}, {"source": "first_order"}]
)
def test_constant_and_sparse_part_together_are_equation_12(normalize, settings, rng):
    X, y = corpus(rng)
    transformer = HigherOrderTransformer(normalize=normalize, **settings).fit(X, y)
    order = 1 if "source" in settings else settings.get("order", 2)
    pure = settings.get("pure", False)
    model = HigherOrderNaiveBayes(order=order, pure=pure).fit(X, y)
    present = np.exp(model.feature_log_prob_)
    sparse_part = transformer.transform(X)
    assert_allclose(
        sparse_part.toarray() + transformer.constant_,
        equation_12(X, *present, normalize),
        atol=1e-9,
    )
    assert sparse_part.nnz == X.sum()


def test_every_pair_of_three_classes_has_columns_of_its_own(rng):
    X, y = corpus(rng, n_classes=3)
    labels = np.array(["x", "y", "z"])[y]
    everything = HigherOrderTransformer().fit(X, labels)
    assert_array_equal(everything.pairs_, [[0, 1], [0, 2], [1, 2]])
    one = HigherOrderTransformer(pair=("y", "z")).fit(X, labels)
    assert_array_equal(
        everything.transform(X).toarray()[:, 30:], one.transform(X).toarray()
    )
    assert_array_equal(everything.constant_[30:], one.constant_)
    assert everything.get_feature_names_out()[30] == "x0(y|z)"
    assert one.get_feature_names_out()[0] == "x0"


def test_columns_are_named_as_they_are_told(rng):
    X, y = corpus(rng)
    names = [f"term {i}" for i in range(15)]
    transformer = HigherOrderTransformer().fit(X, y)
    assert transformer.get_feature_names_out(names).tolist() == names
    with pytest.raises(ValueError, match=r"number of features \(15\), got 14"):
        transformer.get_feature_names_out(names[1:])


def test_the_pair_read_backwards_changes_the_sign(rng):
    X, y = corpus(rng)
    forwards, backwards = (
        HigherOrderTransformer(pair=pair).fit(X, y).transform(X).toarray()
        for pair in ((0, 1), (1, 0))
    )
    assert_allclose(forwards, -backwards)


def test_an_unpenalized_intercept_does_not_need_the_constant_part(rng):
    X, y = corpus(rng)
    transformer = HigherOrderTransformer().fit(X, y)
    part = transformer.transform(X)
    settings = {"tol": 1e-10, "max_iter": 10_000}
    without = LogisticRegression(**settings).fit(part, y)
    dense = part.toarray() + transformer.constant_
    full = LogisticRegression(**settings).fit(dense, y)
    assert_allclose(without.coef_, full.coef_, atol=1e-6)
    assert_allclose(
        without.decision_function(part), full.decision_function(dense), atol=1e-5
    )


def test_it_serves_in_a_pipeline(rng):
    X, y = corpus(rng)
    pipeline = make_pipeline(HigherOrderTransformer(), LogisticRegression())
    assert pipeline.fit(sparse.csr_matrix(X), y).score(X, y) > 0.8


def test_terms_unseen_in_training_become_zero(rng):
    X, y = corpus(rng)
    X[:, 2] = 0
    transformer = HigherOrderTransformer().fit(X, y)
    assert transformer.constant_[2] == 0
    assert transformer.transform(np.ones((1, 15))).toarray()[0, 2] == 0


def transform(X, y):
    return HigherOrderTransformer().fit(X, y).transform(X)


def vote(X, y):
    return HigherOrderClassifier(C=0.1).fit(X, y).decision_function(X)


@pytest.mark.parametrize("job", [transform, vote])
def test_a_wide_matrix_is_never_made_dense(job, rng):
    n_samples, n_features = 2000, 100_000  # 1.6 GB as a dense float64 matrix
    columns = rng.integers(0, n_features, n_samples * 30)
    rows = np.repeat(np.arange(n_samples), 30)
    X = sparse.csr_matrix(
        (np.ones(len(rows)), (rows, columns)), (n_samples, n_features)
    )
    y = np.arange(n_samples) % 2
    tracemalloc.start()
    made = job(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.shape[0] == n_samples
    assert sparse.issparse(made) == (job is transform)
    assert peak < 60e6


def test_wrong_classes_are_named(rng):
    X, y = corpus(rng)
    with pytest.raises(DataError, match=r"y must hold at least 2, got 1 class \(0\)"):
        HigherOrderTransformer().fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(DataError, match=r"pair must be two of the labels \[0, 1\]"):
        HigherOrderTransformer(pair=(0, 7)).fit(X, y)
    for pair in (1, "01"):
        with pytest.raises(DataError, match="pair must be two of the labels"):
            HigherOrderTransformer(pair=pair).fit(X, y)
    with pytest.raises(ValueError, match="pure needs source='paths' and order=2"):
        HigherOrderTransformer(pure=True, source="first_order").fit(X, y)
    with pytest.raises(ValueError, match=r"alpha must be in \(0.0, inf\), got 0"):
        HigherOrderTransformer(alpha=0).fit(X, y)


def test_sparse_rows_are_announced():
    assert get_tags(HigherOrderTransformer()).input_tags.sparse


def test_pairs_of_three_classes_look_at_the_terms_of_the_two_only(rng):
    # Terms 4 and 5 belong to the third class alone: between the first two they say
    # nothing, neither here nor in the classifier.
    X = (rng.uniform(size=(60, 6)) < 0.5).astype(float)
    y = np.repeat(["a", "b", "c"], 20)
    X[:40, 4:] = 0.0
    transformer = HigherOrderTransformer().fit(X, y)
    blocks = transformer.transform(X).toarray().reshape(60, 3, 6)
    constant = transformer.constant_.reshape(3, 6)
    assert not blocks[:, 0, 4:].any()
    assert not constant[0, 4:].any()
    model = HigherOrderClassifier(random_state=0).fit(X, y)
    task = OneAgainstOne(model.log_present_, model.log_absent_, model.held_, True)
    for number, pair in enumerate(task.pairs):
        problem = task.problem(*pair)
        wide = np.zeros(6)
        wide[problem.columns] = problem.offset
        assert_allclose(constant[number], wide, atol=1e-12)
        rows = problem.features(sparse.csr_array(X)).toarray()
        assert_allclose(blocks[:, number, problem.columns], rows, atol=1e-12)
