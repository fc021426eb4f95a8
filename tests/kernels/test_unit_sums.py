"""Compiled and plain class sums of unit vectors are the same whole numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from earmark.kernels import rows as unit_sums
from earmark.kernels.rows import UNIT, class_unit_sums, row_norms, times_dense


def plain(function, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EARMARK_NO_NATIVE", "1")
        return function(*arguments)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 40),
    n_columns=st.integers(1, 60),
    kind=st.sampled_from(["none", "whole", "real"]),
)
def test_compiled_and_plain_sums_are_equal(seed, n_rows, n_columns, kind):
    rng = np.random.default_rng(seed)
    rows = sparse.random(n_rows, n_columns, 0.3, "csr", random_state=rng)
    rows.data = rng.normal(0, 10.0 ** rng.integers(-8, 8), len(rows.data))
    y = rng.integers(0, 3, n_rows)
    weight = {
        "none": None,
        "whole": rng.integers(0, 5, n_rows),
        "real": rng.uniform(0, 5, n_rows),
    }[kind]
    ours = class_unit_sums(rows, y, 4, weight)
    assert (ours != plain(class_unit_sums, rows, y, 4, weight)).nnz == 0
    assert ours.has_canonical_format
    assert_array_equal(row_norms(rows), plain(row_norms, rows))


def test_sums_are_those_of_unit_vectors_to_the_grid(rng):
    X = rng.normal(size=(50, 7))
    y = rng.integers(0, 3, 50)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    sums = class_unit_sums(sparse.csr_array(X), y, 3, None).toarray() * UNIT
    for c in range(3):
        # Each entry moves by at most half a step of the grid.
        gap = np.abs(sums[c] - unit[y == c].sum(axis=0)).max()
        assert gap <= (y == c).sum() * (UNIT / 2 + 1e-15)


def test_the_order_of_entries_does_not_show(rng):
    rows = sparse.random(200, 300, 0.3, "csr", random_state=1)
    shuffled = rows.copy()
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        order = start + rng.permutation(stop - start)
        shuffled.indices[start:stop] = rows.indices[order]
        shuffled.data[start:stop] = rows.data[order]
    shuffled.has_sorted_indices = False
    y = rng.integers(0, 5, 200)
    left, right = (class_unit_sums(X, y, 5, None) for X in (rows, shuffled))
    assert (left != right).nnz == 0
    assert_array_equal(row_norms(rows), row_norms(shuffled))


def test_few_documents_in_a_wide_vocabulary_take_the_short_way():
    # Columns that are touched, cancel out and are touched again are emitted once.
    rows = sparse.csr_array(
        ([1.0, -1, 1, 2], [99_000, 99_000, 99_000, 5], [0, 1, 2, 4]), (3, 100_000)
    )
    sums = class_unit_sums(rows, np.zeros(3, dtype=int), 1, None)
    assert sums.indices.tolist() == [5, 99_000]
    assert_allclose(sums.data * UNIT, [2 / 5**0.5, 1 / 5**0.5], rtol=1e-12)


def test_a_column_that_stands_twice_counts_as_its_sum():
    twice = sparse.csr_array(([3.0, 1, 3], [0, 1, 1], [0, 3]), (1, 2))
    assert_allclose(row_norms(twice), [5.0])
    sums = class_unit_sums(twice, np.zeros(1, dtype=int), 1, None)
    assert_allclose(sums.toarray() * UNIT, [[0.6, 0.8]], rtol=1e-12)


def test_very_wide_indices_take_the_plain_way(rng):
    rows = sparse.random(20, 30, 0.3, "csr", random_state=0)
    y = rng.integers(0, 2, 20)
    expected = class_unit_sums(rows, y, 2, None)
    rows.indices = rows.indices.astype(np.int64)
    rows.indptr = rows.indptr.astype(np.int64)
    assert (class_unit_sums(rows, y, 2, None) != expected).nnz == 0


def test_the_grid_is_what_the_documentation_says():
    assert unit_sums.UNIT == 2.0**-40


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 7, 20, 37])
def test_linear_scores_of_rows_are_scipys(n_outputs):
    rng = np.random.default_rng(n_outputs)
    rows = sparse.random_array((60, 300), density=0.2, rng=rng, format="csr")
    rows.data[::7] = -rows.data[::7]
    weights = rng.normal(size=(300, n_outputs))
    assert_allclose(times_dense(rows, weights), rows @ weights, rtol=1e-13, atol=1e-14)
    counts = (rows * 10).astype(np.int64)
    ours = times_dense(counts, weights)
    assert_allclose(ours, counts @ weights, rtol=1e-13, atol=1e-12)
    assert times_dense(rows[:0], weights).shape == (0, n_outputs)
