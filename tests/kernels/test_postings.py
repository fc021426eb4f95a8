"""Cosine top-k: brute force as oracle, compiled and plain kernels bit for bit."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from earmark.kernels import postings
from earmark.kernels.postings import build_postings, top_similar
from earmark.kernels.rows import canonical_rows, unit_rows


def brute_force(rows, queries, k, exclude=None):
    """Dense cosines, best first, ties by row number, only those above 0."""
    scores = unit_rows(queries).toarray() @ rows.toarray().T
    if exclude is not None:
        held = exclude >= 0
        scores[np.flatnonzero(held), exclude[held]] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, order, axis=1), order


def random_rows(rng, n_rows, n_columns, signed=False):
    density = rng.uniform(0.02, 0.5)
    mask = rng.uniform(size=(n_rows, n_columns)) < density
    values = rng.gamma(1.0, size=mask.shape) * mask
    if signed:
        values *= rng.choice([-1.0, 1.0], mask.shape)
    return canonical_rows(values)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 80),
    n_columns=st.integers(1, 120),
    k=st.integers(1, 20),
    signed=st.booleans(),
    excluding=st.booleans(),
)
def test_top_similar_equals_brute_force_and_its_twin(
    seed, n_rows, n_columns, k, signed, excluding
):
    rng = np.random.default_rng(seed)
    rows = unit_rows(random_rows(rng, n_rows, n_columns, signed))
    queries = random_rows(rng, 15, n_columns, signed)
    exclude = rng.integers(-1, n_rows, 15) if excluding else None
    similarity, docs = top_similar(build_postings(rows), queries, k, exclude)
    expected, _ = brute_force(rows, queries, k, exclude)
    expected = np.pad(np.where(expected > 0, expected, 0), ((0, 0), (0, k)))[:, :k]
    assert_allclose(similarity, expected, atol=1e-12)
    found = docs >= 0
    assert_array_equal(found, similarity > 0)
    own = (unit_rows(queries).toarray() @ rows.toarray().T)[
        np.arange(15)[:, None], docs
    ]
    assert_allclose(own[found], similarity[found], atol=1e-12)
    if exclude is not None:
        assert not (docs == np.where(exclude < 0, -2, exclude)[:, None]).any()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EARMARK_NO_NATIVE", "1")
        plain = top_similar(build_postings(rows), queries, k, exclude)
    assert_array_equal(plain[0], similarity)
    assert_array_equal(plain[1], docs)


def test_equal_documents_come_in_their_order():
    rows = unit_rows(canonical_rows(np.tile([[1.0, 2, 0, 3]], (7, 1))))
    _, docs = top_similar(build_postings(rows), canonical_rows([[2.0, 1, 1, 0]]), 4)
    assert docs.tolist() == [[0, 1, 2, 3]]


def test_documents_that_share_no_term_are_not_found():
    rows = unit_rows(canonical_rows([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]]))
    similarity, docs = top_similar(
        build_postings(rows), canonical_rows([[3.0, 0, 0], [0, 0, 2], [0, 0, 0]]), 3
    )
    assert docs.tolist() == [[0, -1, -1], [-1, -1, -1], [-1, -1, -1]]
    assert_allclose(similarity, [[1, 0, 0], [0, 0, 0], [0, 0, 0]])


def test_nearly_equal_similarities_are_told_apart_in_float64(rng):
    # Differences of 1e-9 vanish in float32; the ranking must still see them.
    base = rng.uniform(0.5, 1.0, 40)
    rows = np.tile(base, (50, 1))
    rows[np.arange(50), np.arange(50) % 40] += rng.permutation(50) * 1e-8
    rows = unit_rows(canonical_rows(rows))
    query = canonical_rows(base[None] * np.linspace(1, 2, 40))
    _, docs = top_similar(build_postings(rows), query, 5)
    _, expected = brute_force(rows, query, 5)
    assert_array_equal(docs, expected)


def test_duplicate_and_unordered_query_entries_count_as_their_sum():
    rows = unit_rows(canonical_rows(np.eye(3) + 0.1))
    tangled = sparse.csr_array(([1.0, 1, 1], [2, 0, 2], [0, 3]), (1, 3))
    for query in (tangled, canonical_rows(tangled)):
        similarity, docs = top_similar(build_postings(rows), query, 2)
        assert docs.tolist() == [[2, 0]]
    expected, _ = brute_force(rows, canonical_rows(tangled), 2)
    assert_allclose(similarity, expected, atol=1e-14)


@pytest.mark.parametrize("most", [0, 1, 64])
def test_the_number_of_dense_terms_does_not_show(most, monkeypatch, rng):
    rows = unit_rows(random_rows(rng, 200, 50))
    queries = random_rows(rng, 30, 50)
    expected = top_similar(build_postings(rows), queries, 10)
    monkeypatch.setattr(postings, "_MOST_HOT_TERMS", most)
    monkeypatch.setattr(postings, "_BLOCK_SCORES", 900)
    index = build_postings(rows)
    assert index.block.shape[1] <= most
    for got, wanted in zip(top_similar(index, queries, 10), expected, strict=True):
        assert_array_equal(got, wanted)


@pytest.mark.parametrize("k", [1, 10, 400])
@pytest.mark.parametrize("signed", [False, True])
def test_frequent_light_terms_are_bounded_and_nothing_is_missed(monkeypatch, signed, k):
    rng = np.random.default_rng(k)
    share = 0.9 / np.arange(1, 601) ** 0.8
    values = rng.gamma(1.0, size=(400, 600)) * (rng.uniform(size=(400, 600)) < share)
    values *= np.log(1 / share) ** 3
    if signed:
        values *= rng.choice([-1.0, 1.0], values.shape)
    rows, queries = (
        unit_rows(canonical_rows(values[:300])),
        canonical_rows(values[300:]),
    )
    index = build_postings(rows)
    assert index.block.shape[1] == 0  # no dense block: light terms are bounded
    similarity, docs = top_similar(index, queries, k)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    plain = top_similar(build_postings(rows), queries, k)
    assert_array_equal(plain[0], similarity)
    assert_array_equal(plain[1], docs)


_DAEMON = """
import threading, time
from scipy import sparse
from earmark.kernels.postings import build_postings

ready = threading.Event()

def search():
    index = build_postings(sparse.eye_array(3, format="csr"))
    ready.set()
    time.sleep(60)

threading.Thread(target=search, daemon=True).start()
ready.wait()
raise ValueError("the end")
"""


def test_an_error_while_a_thread_searches_is_the_only_thing_reported():
    done = subprocess.run([sys.executable, "-c", _DAEMON], capture_output=True)
    assert done.stderr.decode().rstrip().endswith("ValueError: the end")
