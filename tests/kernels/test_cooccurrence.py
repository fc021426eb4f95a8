import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import sparse

from earmark.kernels.rows import pair_counts, right_singular_vectors


@given(
    arrays(
        np.int64,
        st.tuples(st.integers(1, 8), st.integers(1, 90)),
        elements=st.integers(0, 2),
    )
)
def test_pairs_are_counted_once_a_document(counts):
    B = (counts > 0).astype(float)
    expected = B.T @ B
    np.fill_diagonal(expected, 0.0)
    assert_array_equal(pair_counts(sparse.csr_array(counts)), expected)


def test_the_plain_twin_agrees(monkeypatch):
    X = sparse.csr_array(np.random.default_rng(0).poisson(0.2, (50, 700)))
    compiled = pair_counts(X)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    assert_array_equal(pair_counts(X), compiled)


@pytest.mark.parametrize("shape", [(40, 25), (25, 40)])
def test_singular_vectors_are_those_of_the_full_decomposition(shape):
    rng = np.random.default_rng(1)
    left = np.linalg.qr(rng.normal(size=(shape[0], 6)))[0]
    right = np.linalg.qr(rng.normal(size=(shape[1], 6)))[0]
    M = (left * [9.0, 7.0, 5.0, 3.0, 2.0, 1.0]) @ right.T
    V, S = right_singular_vectors(
        M.__matmul__, M.T.__matmul__, shape[1], 3, n_power=2, seed=0
    )
    np.testing.assert_allclose(S, [9.0, 7.0, 5.0], rtol=1e-4)
    np.testing.assert_allclose(np.abs((V * right[:, :3]).sum(axis=0)), 1.0, atol=1e-4)
    again, _ = right_singular_vectors(
        M.__matmul__, M.T.__matmul__, shape[1], 3, n_power=2, seed=0
    )
    assert again.tobytes() == V.tobytes()
