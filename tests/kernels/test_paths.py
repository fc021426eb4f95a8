"""Sums over co-occurrences: compiled and plain twins, and C made outright."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from earmark.kernels import paths
from earmark.kernels.backend import native
from earmark.kernels.paths import (
    PresenceRows,
    cooccurrence_moments,
    presence_times,
    shared_ends,
    squared_cooccurrence,
    transposed_times,
    walk_sums,
)


def presence_rows(rng, n_documents, n_terms):
    # Long and short documents, frequent and rare terms, some with one document.
    rate = np.outer(rng.beta(1, 2, n_documents), rng.beta(0.4, 1.5, n_terms))
    B = sparse.csr_array((rng.random(rate.shape) < rate).astype(np.int64))
    return PresenceRows.of(B, np.arange(n_terms)), B.toarray()


SHAPES = pytest.mark.parametrize("shape", [(1, 5), (40, 9), (30, 200), (150, 60)])


@pytest.fixture
def twins(monkeypatch):
    """Run a kernel compiled and plain, in small blocks, and compare bit by bit."""

    def run(kernel, *arguments, **options):
        compiled = kernel(*arguments, **options)
        with monkeypatch.context() as patch:
            patch.setenv("EARMARK_NO_NATIVE", "1")
            patch.setattr(paths, "_BLOCK", 500)
            plain = kernel(*arguments, **options)
        for left, right in zip(
            *(x if isinstance(x, tuple) else (x,) for x in (compiled, plain)),
            strict=True,
        ):
            assert left.dtype == right.dtype
            assert_array_equal(left, right)
        return compiled

    return run


@SHAPES
def test_products_with_presences(shape, rng, twins):
    rows, B = presence_rows(rng, *shape)
    terms, documents = rng.integers(-9, 9, shape[1]), rng.integers(-9, 9, shape[0])
    assert_array_equal(twins(presence_times, rows, terms), B @ terms)
    assert_array_equal(twins(transposed_times, rows, documents), B.T @ documents)
    assert_array_equal(twins(presence_times, rows, terms / 4), B @ terms / 4)


@SHAPES
def test_squared_cooccurrence_by_either_side(shape, rng, twins):
    rows, B = presence_rows(rng, *shape)
    C = B.T @ B
    expected = (C**2).sum(axis=1) - np.diag(C) ** 2
    for by_document in (None, True, False):
        counted = twins(squared_cooccurrence, rows, by_document=by_document)
        assert_array_equal(counted, expected)


@SHAPES
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_moments_of_cooccurrence(shape, dtype, rng, twins):
    rows, B = presence_rows(rng, *shape)
    C = B.T @ B
    np.fill_diagonal(C, 0)
    reach, held = C.sum(axis=1).astype(dtype), B.sum(axis=0).astype(dtype)
    moments = twins(cooccurrence_moments, rows, reach, held)
    assert_array_equal(moments.squares, (C**2).sum(axis=1))
    assert_array_equal(moments.cubes, (C**3).sum(axis=1))
    assert_array_equal(moments.by_reach, C**2 @ reach)
    assert_array_equal(moments.by_held, C**2 @ held)


@SHAPES
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_sums_over_walks(shape, dtype, rng, twins):
    rows, B = presence_rows(rng, *shape)
    C = B.T @ B
    np.fill_diagonal(C, 0)
    Z, length = B @ C, B.sum(axis=1)
    sums = twins(walk_sums, rows, dtype)
    assert_array_equal(sums.norms, (Z**2).sum(axis=0))
    assert_array_equal(sums.by_length, length @ (B * Z))
    assert_array_equal(sums.by_square, length**2 @ (B * Z))
    assert_array_equal(sums.inner, (B * Z).sum(axis=1))


@SHAPES
def test_chains_whose_ends_meet(shape, rng, twins):
    rows, B = presence_rows(rng, *shape)
    others, D = presence_rows(rng, 4, shape[1])
    C = B.T @ B
    meets = ((C + D.T @ D) > 0).astype(np.int64)
    for matrix in (C, meets):
        np.fill_diagonal(matrix, 0)
    chains = C * (meets @ C)
    ends, middles = twins(shared_ends, rows, others, np.int64)
    assert_array_equal(ends, chains.sum(axis=1))
    assert_array_equal(middles, chains.sum(axis=0))


def test_wide_accumulators_give_the_same_sums(rng):
    lib = native()
    if lib is None:
        pytest.skip("only the compiled kernel chooses the width of its accumulators")
    rows, _ = presence_rows(rng, 30, 50)
    held, length = rows.frequency, rows.lengths
    for call, n_sums in (
        (lambda narrow, *out: lib.shared_ends(*rows[:2], *rows[:2], narrow, *out), 2),
        (
            lambda narrow, *out: lib.walk_sums(
                *rows[:2],
                held=held,
                length=length,
                is_narrow=narrow,
                norms=out[0],
                by_length=out[1],
                by_square=out[2],
                inner=out[3][:30],
            ),
            4,
        ),
    ):
        results = []
        for is_narrow in (True, False):
            out = [np.zeros(50, dtype=np.int64) for _ in range(n_sums)]
            call(is_narrow, *out)
            results.append(out)
        assert_array_equal(*results)


def test_columns_are_cut_to_the_chosen_terms():
    B = sparse.csr_array(np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]]))
    rows = PresenceRows.of(B, np.array([1, 3]))
    assert_array_equal(rows.matrix().toarray(), [[1, 1], [0, 0], [1, 0]])
