"""Visiting documents by content: fingerprints, orders, random numbers by counter."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse, stats

from earmark.kernels.keys import distinct_documents, fingerprints, uniforms


def documents(rng, n_samples=60, n_features=25):
    X = rng.poisson(0.3, (n_samples, n_features)) * rng.random((n_samples, n_features))
    return sparse.csr_array(X), rng.integers(0, 3, n_samples)


def test_compiled_and_plain_kernels_agree_bit_by_bit(rng, monkeypatch):
    X, _ = documents(rng)
    X = sparse.csr_array(sparse.vstack([X, sparse.csr_array((2, 25))]))
    fast = fingerprints(X), uniforms(7, 3, 1000), uniforms(-5, -2, 10)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    plain = fingerprints(X), uniforms(7, 3, 1000), uniforms(-5, -2, 10)
    for ours, theirs in zip(fast, plain, strict=True):
        assert_array_equal(ours, theirs)


def test_equal_rows_have_equal_fingerprints_and_others_do_not(rng):
    X, _ = documents(rng, n_samples=200)
    prints = fingerprints(X)
    assert_array_equal(fingerprints(X[::-1]), prints[::-1])
    distinct = np.unique(X.toarray(), axis=0)
    assert len(np.unique(prints)) == len(distinct)


def test_visits_do_not_depend_on_the_order_of_the_rows(rng):
    X, y = documents(rng)
    weight = rng.random(len(y))
    shuffled = rng.permutation(len(y))
    here = distinct_documents(X, y, weight)
    there = distinct_documents(X[shuffled], y[shuffled], weight[shuffled])
    for epoch in range(3):
        mine, theirs = here.order(11, epoch), there.order(11, epoch)
        assert_array_equal(X[mine].toarray(), X[shuffled][theirs].toarray())
        np.testing.assert_allclose(here.weight[mine], there.weight[theirs], rtol=1e-14)


def test_equal_documents_are_one_of_their_summed_weight():
    X = sparse.csr_array(np.array([[1.0, 0], [1, 0], [1, 0], [0, 2], [0, 3]]))
    y, weight = np.array([0, 0, 1, 1, 1]), np.array([1.0, 2, 4, 8, 0])
    visits = distinct_documents(X, y, weight)
    assert len(visits) == 3  # the last has no weight; the first two are one
    assert sorted(visits.weight[visits.rows]) == [3, 4, 8]


def test_passes_are_permutations_that_differ(rng):
    X, y = documents(rng)
    visits = distinct_documents(X, y, np.ones(len(y)))
    first, second = visits.order(0, 0), visits.order(0, 1)
    assert_array_equal(np.sort(first), np.sort(visits.rows))
    assert (first != second).any()
    assert_array_equal(first, visits.order(0, 0))
    assert (first != visits.order(1, 0)).any()


def test_every_place_is_equally_likely():
    X = sparse.csr_array(np.diag(np.arange(1.0, 9)))
    visits = distinct_documents(X, np.zeros(8, dtype=int), np.ones(8))
    places = [np.flatnonzero(visits.order(seed, 0) == 0)[0] for seed in range(4000)]
    assert stats.chisquare(np.bincount(places, minlength=8)).pvalue > 1e-3


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_held_out_part_and_rest_make_up_the_whole(rng, share):
    X, y = documents(rng)
    visits = distinct_documents(X, y, np.ones(len(y)))
    kept, held = visits.split(3, share)
    assert_array_equal(
        np.sort(np.concatenate([kept.rows, held.rows])), np.sort(visits.rows)
    )
    assert len(held) == round(share * len(visits))


def test_numbers_are_uniform_and_differ_between_steps():
    draws = uniforms(1, 2, 20_000)
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    assert stats.kstest(draws, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(draws, uniforms(1, 3, 20_000))[0, 1]) < 0.03
