"""UnitVectorSums: a commutative group of whole numbers that notices misuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from earmark.exceptions import DataError
from earmark.statistics import UnitVectorSums

CLASSES = ["a", "b", "c"]


def documents(rng, n=30, signed=False):
    X = rng.poisson(0.7, (n, 12)) * rng.uniform(0.1, 3, (n, 12))
    if signed:
        X *= rng.choice([-1.0, 1.0], X.shape)
    return X, rng.choice(CLASSES, n)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    signed=st.booleans(),
    weights=st.sampled_from([None, [1, 2, 3], [0.3, 1.7]]),
)
def test_adding_and_removing_returns_to_the_start(seed, signed, weights):
    rng = np.random.default_rng(seed)
    X, y = documents(rng, signed=signed)
    weight = None if weights is None else rng.choice(weights, len(y))
    part = [None, None] if weight is None else [weight[:20], weight[20:]]
    kept = UnitVectorSums(CLASSES, 12).add(X[:20], y[:20], part[0])
    both = kept.copy().add(X[20:], y[20:], part[1])
    assert both != kept
    both.remove(X[20:], y[20:], part[1])
    assert (both.sums != kept.sums).nnz == 0
    assert_allclose(both.docs, kept.docs)
    both.remove(X[:20], y[:20], part[0])
    assert both.sums.nnz == 0
    assert not both.docs.any()


def test_merging_shards_with_different_classes():
    rng = np.random.default_rng(0)
    X, y = documents(rng)
    shards = [
        UnitVectorSums(np.unique(y[s]), 12).add(X[s], y[s])
        for s in (y == "a", y == "c", y == "b")
    ]
    merged = shards[0].merge(shards[1]).merge(shards[2])
    assert merged == UnitVectorSums(CLASSES, 12).add(X, y)


def test_forgetting_what_was_not_learned_is_noticed_and_changes_nothing(rng):
    X, y = documents(rng)
    sums = UnitVectorSums(CLASSES, 12).add(X, y)
    before = sums.copy()
    other = np.zeros((1, 12))
    other[0, np.flatnonzero(X[y == "a"].sum(axis=0) == 0)[:1]] = 1
    cases = [(np.vstack([X, X]), np.tile(y, 2), None), (X, y, np.full(len(y), 2))]
    if other.any():
        cases.append((other, ["a"], None))
    for rows, labels, weight in cases:
        with pytest.raises(DataError, match="cannot forget more than was learned"):
            sums.remove(rows, labels, weight)
        assert sums == before
    # The right number of documents, but other ones.
    alone = UnitVectorSums(["a"], 2).add([[1.0, 1]], ["a"])
    with pytest.raises(DataError, match="not a sum of documents"):
        alone.remove([[1.0, 2]], ["a"])


def test_sums_that_would_leave_int64_are_refused():
    X = np.array([[1.0, 0]])
    sums = UnitVectorSums(["a"], 2).add(X, ["a"], [2**21])
    before = sums.copy()
    with pytest.raises(DataError, match="exceed 2\\*\\*22"):
        sums.add(X, ["a"], [2**21])
    assert sums == before
    # As much weight spread over many columns is fine.
    wide = UnitVectorSums(["a"], 64).add(np.ones((1, 64)), ["a"], [2**23])
    assert wide.sums.data.min() == 2**23 * 2**37


def test_mismatched_input_is_refused():
    sums = UnitVectorSums(["a", "b"], 3)
    with pytest.raises(DataError, match="must have 3 columns"):
        sums.add([[1.0, 0]], ["a"])
    with pytest.raises(DataError, match="'z' in row 0"):
        sums.add([[1.0, 0, 0]], ["z"])
    with pytest.raises(DataError, match="cannot be merged"):
        sums.merge(UnitVectorSums(["a", "b"], 4))
    assert sums != "something else"


def test_input_is_left_as_it_was(rng):
    X, y = documents(rng)
    rows = sparse.csr_matrix(X)
    for array in (rows.data, rows.indices, rows.indptr):
        array.setflags(write=False)
    UnitVectorSums(CLASSES, 12).add(rows, y).remove(rows, y)
    assert_allclose(rows.toarray(), X)
