"""Hashes of runs of words: the compiled kernel equals the plain one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.kernels import shingles
from earmark.kernels.backend import native

pytestmark = pytest.mark.skipif(native() is None, reason="needs the compiled kernels")

LETTERS = st.characters(codec=None) | st.sampled_from(
    "aAbB019_ -.,'\n\0ÀİßΣσςǅéñ中ı\ud800"
)
TEXTS = st.lists(st.text(LETTERS, max_size=60), max_size=8)


def plain(function, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shingles, "native", lambda: None)
        return function(*arguments)


def sorted_sets(hashes_and_sizes):
    hashes, sizes = hashes_and_sizes
    return [sorted(own.tolist()) for own in np.split(hashes, np.cumsum(sizes))[:-1]]


@given(TEXTS, st.integers(1, 5), st.integers(1, 6))
def test_sketches_of_any_text_are_those_of_the_plain_kernel(texts, width, most):
    ours = shingles.sketches(texts, width, most)
    for one, other in zip(
        ours, plain(shingles.sketches, texts, width, most), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@given(TEXTS, st.integers(1, 5))
def test_sets_of_any_text_are_those_of_the_plain_kernel(texts, width):
    ours = sorted_sets(shingles.shingle_sets(texts, width))
    others = sorted_sets(plain(shingles.shingle_sets, texts, width))
    assert ours == others
    assert all(len(set(own)) == len(own) for own in ours)


def test_a_sketch_is_the_beginning_of_the_set():
    texts = [" ".join(f"w{n % 17}" for n in range(size)) for size in range(40)]
    sets = sorted_sets(shingles.shingle_sets(texts, 3))
    for own, smallest, n in zip(sets, *shingles.sketches(texts, 3, 5)[:2], strict=True):
        assert n == min(len(own), 5)
        assert smallest[:n].tolist() == own[:n]
        assert (smallest[n:] == np.uint64(2**64 - 1)).all()


def test_what_is_no_text_is_named():
    with pytest.raises(ValueError, match="document 1: expected a str, got int"):
        shingles.sketches(["a", 3], 3, 4)
