"""Checks: the rows are right, the same every time, and do not depend on chance."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from earmark.testing._tools import DOCUMENTS, LABELS, ODD_DOCUMENTS, fitted, same

__all__ = ["CHECKS"]


def check_one_sparse_row_a_document(vectorizer: Any) -> None:
    """Sparse output with finite numbers, one row for each document."""
    X = fitted(vectorizer).transform(DOCUMENTS)
    assert sparse.issparse(X), "the result must be sparse."
    assert X.shape[0] == len(DOCUMENTS)
    assert np.isfinite(X.data).all(), "the result must be finite."


def check_fit_returns_self(vectorizer: Any) -> None:
    """``fit`` can be chained."""
    model = clone(vectorizer)
    assert model.fit(DOCUMENTS) is model, "fit must return self."


def check_parameters_survive_fit(vectorizer: Any) -> None:
    """``fit`` does not change the parameters."""
    before = str(vectorizer.get_params())
    model = fitted(vectorizer)
    assert str(model.get_params()) == before, "fit changed a parameter."


def check_fit_transform_equals_fit_then_transform(vectorizer: Any) -> None:
    """One pass or two, the same rows."""
    at_once = clone(vectorizer).fit_transform(DOCUMENTS)
    assert same(at_once, fitted(vectorizer).transform(DOCUMENTS))


def check_transform_twice_gives_the_same(vectorizer: Any) -> None:
    """``transform`` keeps nothing that changes the next call."""
    model = fitted(vectorizer)
    first = model.transform(DOCUMENTS)
    model.transform(ODD_DOCUMENTS)
    assert same(first, model.transform(DOCUMENTS))


def check_refit_forgets(vectorizer: Any) -> None:
    """A second fit leaves nothing of the first."""
    model = fitted(vectorizer, ["other words entirely here", *DOCUMENTS[:2]])
    assert same(model.fit(DOCUMENTS).transform(DOCUMENTS), _expected(vectorizer))


def check_rows_do_not_depend_on_each_other(vectorizer: Any) -> None:
    """A document's row is the same alone and among others."""
    model = fitted(vectorizer)
    rows = [model.transform([text]) for text in DOCUMENTS]
    assert same(sparse.vstack(rows), model.transform(DOCUMENTS))


def check_order_of_documents_does_not_matter(vectorizer: Any) -> None:
    """Documents learned in another order give the same columns."""
    backwards = fitted(vectorizer, DOCUMENTS[::-1])
    assert same(backwards.transform(DOCUMENTS), _expected(vectorizer))


def check_empty_documents_give_empty_rows(vectorizer: Any) -> None:
    """No text, no entries; also in ``fit``."""
    model = fitted(vectorizer, ["", *DOCUMENTS, "   \n"])
    assert model.transform(["", " \t\n"]).count_nonzero() <= 2
    assert model.transform([""]).nnz == 0, "an empty document must give an empty row."


def check_no_documents_give_no_rows(vectorizer: Any) -> None:
    """An empty list is an error or gives an empty matrix of the right width."""
    model = fitted(vectorizer)
    try:
        X = model.transform([])
    except ValueError:
        return
    assert X.shape == (0, model.transform(DOCUMENTS).shape[1])


def check_unknown_words_keep_the_width(vectorizer: Any) -> None:
    """Words never seen do not add columns."""
    model = fitted(vectorizer)
    X = model.transform(["zyzzyva qwertyuiop 東京"])
    assert X.shape[1] == model.transform(DOCUMENTS).shape[1]


def check_clone_is_unfitted_and_alike(vectorizer: Any) -> None:
    """A clone learns the same from the same documents."""
    copied = clone(fitted(vectorizer))
    assert not [name for name in vars(copied) if name.endswith("_")]
    assert same(copied.fit_transform(DOCUMENTS), _expected(vectorizer))


def check_pickle_keeps_the_rows(vectorizer: Any) -> None:
    """Pickled before or after ``transform``, the rows are the same."""
    model = fitted(vectorizer)
    for _ in range(2):
        again = pickle.loads(pickle.dumps(model))
        assert same(again.transform(DOCUMENTS), _expected(vectorizer))
        model.transform(DOCUMENTS)


def check_deep_copy_keeps_the_rows(vectorizer: Any) -> None:
    """So does a deep copy."""
    model = fitted(vectorizer)
    model.transform(DOCUMENTS)
    assert same(copy.deepcopy(model).transform(DOCUMENTS), _expected(vectorizer))


def check_feature_names_match_the_columns(vectorizer: Any) -> None:
    """One name a column, none twice; where there are names."""
    if not hasattr(vectorizer, "get_feature_names_out"):
        return
    model = fitted(vectorizer)
    names = model.get_feature_names_out()
    assert len(names) == model.transform(DOCUMENTS).shape[1]
    assert len(set(names)) == len(names), "a feature name appears twice."


def check_dtype_is_kept(vectorizer: Any) -> None:
    """The matrix has the type of numbers that was asked for."""
    if "dtype" not in vectorizer.get_params():
        return
    for dtype in (np.float32, np.float64):
        model = clone(vectorizer).set_params(dtype=dtype)
        assert model.fit_transform(DOCUMENTS).dtype == dtype
        assert model.transform(DOCUMENTS).dtype == dtype


def check_binary_rows_hold_one_value(vectorizer: Any) -> None:
    """With ``binary`` all entries of a row are equal."""
    if "binary" not in vectorizer.get_params():
        return
    X = sparse.csr_array(
        clone(vectorizer).set_params(binary=True).fit_transform(DOCUMENTS)
    )
    rows = np.split(X.data, X.indptr[1:-1])
    assert all(len(np.unique(row)) <= 1 for row in rows)


def check_n_jobs_gives_the_same_bytes(vectorizer: Any) -> None:
    """The number of threads changes nothing, not even the order of entries."""
    if "n_jobs" not in vectorizer.get_params():
        return
    texts = (DOCUMENTS + ODD_DOCUMENTS) * 3
    alone = clone(vectorizer).set_params(n_jobs=1).fit_transform(texts)
    for n_jobs in (2, 3, 5):
        several = clone(vectorizer).set_params(n_jobs=n_jobs).fit_transform(texts)
        for part in ("indptr", "indices", "data"):
            assert getattr(several, part).tobytes() == getattr(alone, part).tobytes()


def check_threads_may_share_a_fitted_vectorizer(vectorizer: Any) -> None:
    """Several threads transform with one vectorizer at a time."""
    model = fitted(vectorizer)
    results: list[Any] = [None] * 4

    def work(k: int) -> None:
        results[k] = model.transform(DOCUMENTS * 5)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same(X, results[0]) for X in results)


def check_works_in_a_pipeline(vectorizer: Any) -> None:
    """A classifier can follow, with labels passed through ``fit``."""
    pipeline = make_pipeline(clone(vectorizer), SGDClassifier(random_state=0))
    predicted = pipeline.fit(DOCUMENTS, LABELS).predict(DOCUMENTS)
    assert predicted.shape == LABELS.shape


def check_repr_names_the_class(vectorizer: Any) -> None:
    """The printed form begins with the name of the class."""
    assert repr(vectorizer).startswith(type(vectorizer).__name__)


def _expected(vectorizer: Any) -> Any:
    return fitted(vectorizer).transform(DOCUMENTS)


CHECKS = (
    check_one_sparse_row_a_document,
    check_fit_returns_self,
    check_parameters_survive_fit,
    check_fit_transform_equals_fit_then_transform,
    check_transform_twice_gives_the_same,
    check_refit_forgets,
    check_rows_do_not_depend_on_each_other,
    check_order_of_documents_does_not_matter,
    check_empty_documents_give_empty_rows,
    check_no_documents_give_no_rows,
    check_unknown_words_keep_the_width,
    check_clone_is_unfitted_and_alike,
    check_pickle_keeps_the_rows,
    check_deep_copy_keeps_the_rows,
    check_feature_names_match_the_columns,
    check_dtype_is_kept,
    check_binary_rows_hold_one_value,
    check_n_jobs_gives_the_same_bytes,
    check_threads_may_share_a_fitted_vectorizer,
    check_works_in_a_pipeline,
    check_repr_names_the_class,
)
