"""Sorted terms merge to their sorted union, in both kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from earmark.kernels.term_merge import (
    merge_counts,
    merge_terms,
    pack_terms,
    unpack_terms,
)

TERMS = st.sets(st.text(st.characters(codec=None), max_size=5)).map(sorted)


@settings(max_examples=100, deadline=None)
@given(left=TERMS, right=TERMS)
def test_merged_terms_are_the_sorted_union(left, right):
    packed, *places = merge_terms(pack_terms(left), pack_terms(right))
    union = sorted({*left, *right})
    assert unpack_terms(packed) == union
    for terms, place in zip((left, right), places, strict=True):
        assert [union[k] for k in place.tolist()] == terms
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EARMARK_NO_NATIVE", "1")
        plain, *plain_places = merge_terms(pack_terms(left), pack_terms(right))
    for ours, theirs in zip((*packed, *places), (*plain, *plain_places), strict=True):
        assert_array_equal(ours, theirs)


def placed(rng, n_classes, n_terms, shape):
    """Counts of some classes and terms, and their places in the union."""
    tokens = sparse.random_array(
        (n_classes, n_terms), density=0.4, rng=rng, format="csr"
    )
    tokens.data = rng.integers(2, 9, tokens.nnz)
    documents = tokens.copy()
    documents.data = rng.integers(1, 3, tokens.nnz)
    places = (
        np.sort(rng.choice(size, n, replace=False)).astype(np.int64)
        for n, size in ((n_terms, shape[1]), (n_classes, shape[0]))
    )
    return tokens, documents, *places


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("n_classes", "n_terms"), [(1, 1), (2, 0), (3, 12)])
def test_merged_counts_are_the_sums_over_the_union(
    rng, monkeypatch, plain, n_classes, n_terms
):
    if plain:
        monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    shape = (4, 20)
    left, right = placed(rng, n_classes, n_terms, shape), placed(rng, 4, 15, shape)
    for which, found in enumerate(merge_counts(left, right, shape)):
        expected = np.zeros(shape, dtype=np.int64)
        for *counts, terms, classes in (left, right):
            expected[np.ix_(classes, terms)] += counts[which].toarray()
        assert_array_equal(found.toarray(), expected)
