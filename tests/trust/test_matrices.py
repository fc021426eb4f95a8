"""Whatever way a matrix is stored, every estimator sees the same numbers."""

import hashlib
import inspect

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier

import earmark.models
from earmark.features import TermSelector, TfidfWeighting


def estimators():
    names = sorted(earmark.models.__all__)
    classes = [getattr(earmark.models, name) for name in names]
    made = [
        cls()
        for cls in classes
        if inspect.isclass(cls) and issubclass(cls, BaseEstimator)
    ]
    made = [m.set_params(random_state=0) if _is_random(m) else m for m in made]
    return [*made, TfidfWeighting(), TermSelector(k=5)]


def _is_random(model):
    return "random_state" in model.get_params()


def named(models):
    return [pytest.param(m, id=type(m).__name__) for m in models]


@pytest.fixture
def data(rng):
    """Small counts of two classes; no row and no column is empty."""
    y = np.repeat(["ham", "spam"], 15)
    rates = np.where(y[:, None] == "ham", [3, 1] * 6, [1, 3] * 6) * 0.4
    X = rng.poisson(rates)
    X[:, 0] += 1
    return sparse.csr_matrix(X.astype(np.float64)), y


def answers(model, X, y):
    """What a copy says of X after it was fitted on X."""
    model = clone(model).fit(X, y)
    if is_classifier(model):
        return np.asarray(model.predict(X)), scores(model, X)
    out = model.transform(X)
    return None, out.toarray() if sparse.issparse(out) else np.asarray(out)


def scores(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.decision_function(X)


def assert_same(model, X, other, y, tolerance=1e-10):
    expected, found = answers(model, X, y), answers(model, other, y)
    np.testing.assert_allclose(found[1], expected[1], rtol=tolerance, atol=tolerance)
    if expected[0] is not None:
        np.testing.assert_array_equal(found[0], expected[0])


def untidy(X, rng):
    """The same matrix with split entries, shuffled columns and explicit zeros."""
    rows, cols, data = [], [], []
    coo = X.tocoo()
    for r, c, v in zip(coo.row, coo.col, coo.data, strict=True):
        rows += [r, r, r]
        cols += [c, c, (c + 1) % X.shape[1]]
        data += [v - 1, 1, 0]
    order = np.lexsort((rng.random(len(rows)), rows))
    counts = np.bincount(rows, minlength=X.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    arrays = (np.array(data, float)[order], np.array(cols)[order], indptr)
    return sparse.csr_matrix(arrays, shape=X.shape)


@pytest.mark.filterwarnings("ignore:.*have no (second|third)-order path")
@pytest.mark.parametrize("model", named(estimators()))
def test_duplicate_unsorted_and_zero_entries_change_nothing(model, data, rng):
    X, y = data
    other = untidy(X, rng)
    assert not other.has_canonical_format
    assert (other != X).nnz == 0
    assert_same(model, X, untidy(X, rng), y)


@pytest.mark.parametrize("model", named(estimators()))
def test_long_indices_change_nothing(model, data):
    X, y = data
    other = X.copy()
    other.indices = other.indices.astype(np.int64)
    other.indptr = other.indptr.astype(np.int64)
    assert other.indices.dtype == np.int64
    assert_same(model, X, other, y)


@pytest.mark.parametrize("model", named(estimators()))
def test_integers_change_nothing(model, data):
    X, y = data
    assert_same(model, X, X.astype(np.int32), y)


@pytest.mark.parametrize("model", named(estimators()))
def test_read_only_and_mapped_arrays_are_read_and_left_alone(model, data, tmp_path):
    X, y = data
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    mapped = {}
    for name, part in parts.items():
        joblib.dump(part, tmp_path / name)
        mapped[name] = joblib.load(tmp_path / name, mmap_mode="r")
    other = sparse.csr_matrix(X.shape)
    other.data, other.indices, other.indptr = mapped.values()
    before = {name: _digest(part) for name, part in mapped.items()}
    assert_same(model, X, other, y)
    assert {name: _digest(part) for name, part in mapped.items()} == before


def _digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
