"""Path counts: enumeration, an independent loop, invariances, numeric range."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from earmark.exceptions import DataError, EarmarkWarning
from earmark.statistics import path_counts
from earmark.statistics.path_counts import second_order_paths, third_order_paths
from tests.oracles.paths import enumerate_paths

BACKENDS = pytest.mark.parametrize(
    ("no_native", "n_matrices"), [("0", 300), ("1", 60)], ids=["compiled", "plain"]
)


def presences(rng, n_documents, n_terms):
    density = rng.uniform(0.15, 0.9)
    return (rng.random((n_documents, n_terms)) < density).astype(np.int64)


def small_matrices(rng, n):
    for _ in range(n):
        yield presences(rng, rng.integers(1, 6), rng.integers(1, 7))


def assert_same(counted, expected):
    assert_array_equal(counted[0], expected[0])
    assert counted[1] == expected[1]
    assert counted[0].dtype == np.int64
    assert isinstance(counted[1], int)


@BACKENDS
def test_second_order_equals_enumeration(no_native, n_matrices, rng, monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", no_native)
    for B in small_matrices(rng, n_matrices):
        assert_same(second_order_paths(B), enumerate_paths(B, 2))


@BACKENDS
def test_pure_paths_equal_enumeration(no_native, n_matrices, rng, monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", no_native)
    for B in small_matrices(rng, n_matrices):
        corpus = np.vstack([B, presences(rng, 2, B.shape[1]) * (rng.random() < 0.7)])
        expected = enumerate_paths(B, 2, corpus)
        assert_same(second_order_paths(B, pure=True, corpus=corpus), expected)
        # The class's own documents count whether or not the corpus repeats them.
        rest = corpus[len(B) :]
        assert_same(second_order_paths(B, pure=True, corpus=rest), expected)


@BACKENDS
def test_third_order_equals_enumeration(no_native, n_matrices, rng, monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", no_native)
    for B in small_matrices(rng, n_matrices):
        assert_same(third_order_paths(B), enumerate_paths(B, 3))


def test_many_documents_and_few_terms_agree_with_few_documents_and_many_terms(rng):
    # The two sides of the third-order kernel: 7 x 5 goes by terms, 5 x 7 by documents.
    for B in (presences(rng, 7, 5), presences(rng, 5, 7)):
        assert_same(third_order_paths(B), enumerate_paths(B, 3))


def test_second_order_equals_a_loop_over_document_pairs(rng):
    B = (rng.random((100, 2000)) < rng.beta(0.3, 6, 2000)).astype(np.int64)
    per_term, total = np.zeros(2000, dtype=np.int64), 0
    for left, right in itertools.combinations(B, 2):
        shared = left & right
        n_shared = shared.sum()
        # The middle is a shared term; the ends are any other two different terms.
        n_left, n_right = left.sum() - 1, right.sum() - 1
        middle = n_left * n_right - (n_shared - 1)
        per_term += shared * middle
        total += n_shared * middle
        # An end of the left document: the middle and the right end are different.
        per_term += left * ((n_shared - shared) * (n_right - right))
        per_term += right * ((n_shared - shared) * (n_left - left))
    assert_same(second_order_paths(sparse.csr_matrix(B)), (per_term, total))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_renumbering_documents_and_terms_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    B = presences(rng, rng.integers(2, 12), rng.integers(3, 15))
    rows, columns = rng.permutation(B.shape[0]), rng.permutation(B.shape[1])
    corpus = np.vstack([B, presences(rng, 3, B.shape[1])])
    for count in (
        lambda b, _: second_order_paths(b),
        lambda b, _: third_order_paths(b),
        lambda b, c: second_order_paths(b, pure=True, corpus=c),
    ):
        per_term, total = count(B, corpus)
        shuffled = count(B[rows][:, columns], corpus[:, columns])
        assert_same(shuffled, (per_term[columns], total))


def test_counts_do_not_depend_on_the_container_or_the_size_of_entries(rng):
    B = presences(rng, 8, 9)
    expected = second_order_paths(B)
    wide = sparse.csr_array(B)
    wide.indices, wide.indptr = (
        x.astype(np.int64) for x in (wide.indices, wide.indptr)
    )
    double = sparse.coo_array(B * 3.5)
    stored_zero = sparse.csr_matrix(B)
    stored_zero.data[0] = 0
    for container in (sparse.csc_matrix(B), wide, double, B.astype(bool), B.tolist()):
        assert_same(second_order_paths(container), expected)
    assert_same(
        third_order_paths(stored_zero), third_order_paths(stored_zero.toarray())
    )


@pytest.mark.parametrize("B", [np.zeros((0, 4)), np.zeros((3, 4)), np.ones((1, 4))])
def test_nothing_to_walk_along_gives_no_path(B):
    for count in (second_order_paths, third_order_paths):
        assert_same(count(B), (np.zeros(4, dtype=np.int64), 0))


def test_too_many_paths_for_int64_are_counted_in_float64(rng, monkeypatch):
    B = presences(rng, 30, 40)
    counts = (
        lambda: second_order_paths(B),
        lambda: second_order_paths(B, pure=True),
        lambda: third_order_paths(B),
    )
    exact = [count() for count in counts]
    monkeypatch.setattr(path_counts, "_INT64_ROOM", 0.0)
    for backend in "01":
        monkeypatch.setenv("EARMARK_NO_NATIVE", backend)
        for count, (per_term, total) in zip(counts, exact, strict=True):
            with pytest.warns(EarmarkWarning, match="counted in float64"):
                rounded, rounded_total = count()
            assert rounded.dtype == np.float64
            assert_allclose(rounded, per_term, rtol=1e-12)
            assert_allclose(rounded_total, total, rtol=1e-12)


def test_counts_beyond_two_to_the_53_stay_exact():
    # Every document holds the same n terms: n(n-1)(n-2)(n-3) m(m-1)(m-2) / 2 paths.
    m, n = 300, 250
    per_term, total = third_order_paths(np.ones((m, n)))
    expected = n * (n - 1) * (n - 2) * (n - 3) * m * (m - 1) * (m - 2) // 2
    assert total == expected > 2**53
    assert np.all(per_term == expected * 4 // n)


def test_counts_beyond_int64_are_announced_and_right_to_many_digits():
    m, n = 1000, 500
    expected = n * (n - 1) * (n - 2) * (n - 3) * m * (m - 1) * (m - 2) // 2
    assert expected > 2**63
    with pytest.warns(EarmarkWarning, match="counted in float64"):
        per_term, total = third_order_paths(np.ones((m, n)))
    assert_allclose(total, float(expected), rtol=1e-9)
    assert_allclose(per_term, expected * 4 / n, rtol=1e-9)


def test_wrong_input_says_what_is_wrong():
    with pytest.raises(DataError, match="B must have two dimensions"):
        second_order_paths([1, 0, 1])
    with pytest.raises(DataError, match="corpus must have the 3 columns of B, got 2"):
        second_order_paths(np.ones((2, 3)), pure=True, corpus=np.ones((2, 2)))
