"""Sorted terms merge to their sorted union, in both kernels."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from earmark.kernels.term_merge import merge_terms, pack_terms, unpack_terms

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
