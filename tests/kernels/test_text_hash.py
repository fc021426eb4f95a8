"""MurmurHash3, compiled and plain, is scikit-learn's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from earmark.kernels.backend import native
from earmark.kernels.text import murmurhash3


@given(st.binary(max_size=40))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_hash_equals_scikit_learn(data):
    assert murmurhash3(data) == murmurhash3_32(data, seed=0)
    if native() is not None:
        assert native().murmurhash3(data) == murmurhash3_32(data, seed=0)


def test_known_values():
    assert murmurhash3(b"") == 0
    assert murmurhash3(b"foo") == pytest.approx(-156908512)
