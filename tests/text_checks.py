"""Common checks for whatever turns documents into rows.

scikit-learn's common tests skip nearly everything for estimators that take raw
text. These do not; they work for any vectorizer with ``fit`` and ``transform``.
"""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from earmark.parameters import offers
from earmark.typing import DocumentsLike, Estimator, Label

Check: TypeAlias = Callable[[Estimator], None]

DOCUMENTS = [
    "The quick brown fox jumps over the lazy dog.",
    "A dog and a fox met in the brown wood; the wood was quiet.",
    "Naïve cafés serve crème brûlée, ÇA VA?",
    "ПРИВЕТ мир, привет снова",
    "numbers 12 and 345, under_scores and e-mail@example.org",
    "the the the dog",
    "x",
    "Straße und strasse: ΟΔΥΣΣΕΥΣ İstanbul ISTANBUL",
]
LABELS = np.array([0, 0, 1, 1, 0, 0, 1, 1])

ODD_DOCUMENTS = [
    "lone \ud800surrogate\udfff word",
    "nul \x00 inside\x00word",
    "astral \U0001d4d0\U0001d4d1 \U00010400\U00010401 \U0001f600 letters",
    "combining e\u0301a\u0308 marks",
    "no\u00a0break thin\u2009space line\u2028separator",
    "\u0130\u0130 \u03a3\u03a3 ά\u03a3 final",
    "ʼn ß ﬁ ǆ",
    "w" * 300 + " " + "ж" * 200,
]


def fitted(vectorizer: Estimator, documents: DocumentsLike = None) -> Any:
    """A copy of the vectorizer, fitted."""
    return clone(vectorizer).fit(DOCUMENTS if documents is None else documents)


def same(left: Any, right: Any) -> bool:
    """Equal shape, type of numbers and numbers, wherever entries are stored."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    difference = sparse.csr_array(left) != sparse.csr_array(right)
    return int(difference.nnz) == 0


def expect_error(call: Any, says: str, what: str) -> None:
    """Fail unless ``call()`` raises an error whose message contains ``says``."""
    try:
        call()
    except Exception as error:
        if says in str(error):
            return
        raise AssertionError(
            f"{what}: the message must contain {says!r}, got {error!r}."
        ) from error
    raise AssertionError(f"{what}: expected an error, got none.")


def _column(module: str, kind: str, *values: Any, **options: Any) -> DocumentsLike:
    return getattr(import_module(module), kind)(*values, **options)


_CONTAINERS: dict[str, Callable[[], DocumentsLike]] = {
    "tuple": lambda: tuple(DOCUMENTS),
    "numpy_objects": lambda: np.array(DOCUMENTS, dtype=object),
    "numpy_strings": lambda: np.array(DOCUMENTS),
    "pandas_series": lambda: _column(
        "pandas", "Series", DOCUMENTS, index=np.arange(len(DOCUMENTS))[::-1]
    ),
    "polars_series": lambda: _column("polars", "Series", "text", DOCUMENTS),
    "arrow_array": lambda: _column("pyarrow", "array", DOCUMENTS),
    "arrow_slice": lambda: _column("pyarrow", "array", ["", *DOCUMENTS, "after"])[1:-1],
    "arrow_chunked_array": lambda: _column(
        "pyarrow", "chunked_array", [DOCUMENTS[:3], [], DOCUMENTS[3:]], type="string"
    ),
}
_NO_TEXTS: dict[str, Any] = {
    "none_is": None, "nan_is": np.nan, "number_is": 3.0, "bytes_are": b"bytes"
}  # fmt: skip


def _container_check(name: str, make: Callable[[], DocumentsLike]) -> Check:
    """Other containers give what a list gives, if their package is installed."""

    def check(vectorizer: Estimator) -> None:
        try:
            documents = make()
        except ImportError:
            return
        expected, what = _expected(vectorizer), name.replace("_", " ")
        assert same(fitted(vectorizer, documents).transform(DOCUMENTS), expected), (
            f"fit on a {what} must learn what fit on a list learns."
        )
        assert same(fitted(vectorizer).transform(documents), expected), (
            f"transform of a {what} must give what transform of a list gives."
        )

    check.__name__ = f"check_{name}"
    return check


def _error_check(name: str, item: Any) -> Check:
    """Anything else instead of a text is an error that names the row."""

    def check(vectorizer: Estimator) -> None:
        texts = [*DOCUMENTS[:5], item, *DOCUMENTS[5:]]
        what = f"{item!r} instead of a text in"
        expect_error(lambda: clone(vectorizer).fit_transform(texts), "5", f"{what} fit")
        model = fitted(vectorizer)
        expect_error(lambda: model.transform(texts), "5", f"{what} transform")

    check.__name__ = f"check_{name}_an_error"
    return check


def check_generator(vectorizer: Estimator) -> None:
    """A generator that is read once."""
    expected = fitted(vectorizer).transform(DOCUMENTS)
    got = fitted(vectorizer, iter(DOCUMENTS)).transform(text for text in DOCUMENTS)
    assert same(got, expected), "a generator must give what a list gives."


def check_used_up_generator_is_an_error(vectorizer: Estimator) -> None:
    """A generator read before must not pass for an empty corpus."""
    model, texts = fitted(vectorizer), iter(DOCUMENTS)
    model.transform(texts)
    expect_error(lambda: model.transform(texts), "", "a generator that is used up")


def check_input_is_left_as_it_was(vectorizer: Estimator) -> None:
    """Neither the list nor its texts are changed."""
    texts = list(DOCUMENTS)
    fitted(vectorizer, texts).transform(texts)
    assert texts == DOCUMENTS, "fit or transform changed its input."


def check_single_string_is_an_error(vectorizer: Estimator) -> None:
    """One string instead of a list of strings."""
    what = "a single string"
    expect_error(lambda: clone(vectorizer).fit_transform("a text"), "string", what)
    expect_error(lambda: fitted(vectorizer).transform("a text"), "string", what)


def check_table_is_an_error(vectorizer: Estimator) -> None:
    """Two columns of texts instead of one."""
    table = np.array([DOCUMENTS, DOCUMENTS], dtype=object).T
    expect_error(lambda: clone(vectorizer).fit_transform(table), "column", "a table")


def check_not_fitted_is_an_error(vectorizer: Estimator) -> None:
    """Transform before fit, unless there is nothing to fit."""
    if not vectorizer.__sklearn_tags__().requires_fit:
        return
    if getattr(vectorizer, "vocabulary", None) is not None:
        return
    try:
        clone(vectorizer).transform(DOCUMENTS)
    except NotFittedError:
        return
    raise AssertionError("transform before fit must raise NotFittedError.")


def check_odd_characters_are_no_error(vectorizer: Estimator) -> None:
    """Lone surrogates, NUL, astral letters, special casing, very long words."""
    model = fitted(vectorizer, DOCUMENTS + ODD_DOCUMENTS)
    assert model.transform(ODD_DOCUMENTS).shape[0] == len(ODD_DOCUMENTS)


def check_failed_fit_changes_nothing(vectorizer: Estimator) -> None:
    """The caller's list survives an error, and so does the next fit."""
    broken = clone(vectorizer)
    expect_error(lambda: broken.fit_transform(["fine", None]), "1", "None in fit")
    assert broken.fit_transform(DOCUMENTS).shape[0] == len(DOCUMENTS)


def check_one_sparse_row_a_document(vectorizer: Estimator) -> None:
    """Sparse output with finite numbers, one row for each document."""
    X = fitted(vectorizer).transform(DOCUMENTS)
    assert sparse.issparse(X), "the result must be sparse."
    assert X.shape[0] == len(DOCUMENTS)
    assert np.isfinite(X.data).all(), "the result must be finite."


def check_fit_returns_self(vectorizer: Estimator) -> None:
    """``fit`` can be chained."""
    model = clone(vectorizer)
    assert model.fit(DOCUMENTS) is model, "fit must return self."


def check_parameters_survive_fit(vectorizer: Estimator) -> None:
    """``fit`` does not change the parameters."""
    before = str(vectorizer.get_params())
    model = fitted(vectorizer)
    assert str(model.get_params()) == before, "fit changed a parameter."


def check_fit_transform_equals_fit_then_transform(vectorizer: Estimator) -> None:
    """One pass or two, the same rows."""
    at_once = clone(vectorizer).fit_transform(DOCUMENTS)
    assert same(at_once, fitted(vectorizer).transform(DOCUMENTS))


def check_transform_twice_gives_the_same(vectorizer: Estimator) -> None:
    """``transform`` keeps nothing that changes the next call."""
    model = fitted(vectorizer)
    first = model.transform(DOCUMENTS)
    model.transform(ODD_DOCUMENTS)
    assert same(first, model.transform(DOCUMENTS))


def check_refit_forgets(vectorizer: Estimator) -> None:
    """A second fit leaves nothing of the first."""
    model = fitted(vectorizer, ["other words entirely here", *DOCUMENTS[:2]])
    assert same(model.fit(DOCUMENTS).transform(DOCUMENTS), _expected(vectorizer))


def check_rows_do_not_depend_on_each_other(vectorizer: Estimator) -> None:
    """A document's row is the same alone and among others."""
    model = fitted(vectorizer)
    rows = [model.transform([text]) for text in DOCUMENTS]
    assert same(sparse.vstack(rows), model.transform(DOCUMENTS))


def check_order_of_documents_does_not_matter(vectorizer: Estimator) -> None:
    """Documents learned in another order give the same columns."""
    backwards = fitted(vectorizer, DOCUMENTS[::-1])
    assert same(backwards.transform(DOCUMENTS), _expected(vectorizer))


def check_empty_documents_give_empty_rows(vectorizer: Estimator) -> None:
    """No text, no entries; also in ``fit``."""
    model = fitted(vectorizer, ["", *DOCUMENTS, "   \n"])
    assert model.transform(["", " \t\n"]).count_nonzero() <= 2
    assert model.transform([""]).nnz == 0, "an empty document must give an empty row."


def check_no_documents_give_no_rows(vectorizer: Estimator) -> None:
    """An empty list is an error or gives an empty matrix of the right width."""
    model = fitted(vectorizer)
    try:
        X = model.transform([])
    except ValueError:
        return
    assert X.shape == (0, model.transform(DOCUMENTS).shape[1])


def check_unknown_words_keep_the_width(vectorizer: Estimator) -> None:
    """Words never seen do not add columns."""
    model = fitted(vectorizer)
    X = model.transform(["zyzzyva qwertyuiop 東京"])
    assert X.shape[1] == model.transform(DOCUMENTS).shape[1]


def check_clone_is_unfitted_and_alike(vectorizer: Estimator) -> None:
    """A clone learns the same from the same documents."""
    copied = clone(fitted(vectorizer))
    assert not [name for name in vars(copied) if name.endswith("_")]
    assert same(copied.fit_transform(DOCUMENTS), _expected(vectorizer))


def check_pickle_keeps_the_rows(vectorizer: Estimator) -> None:
    """Pickled before or after ``transform``, the rows are the same."""
    model = fitted(vectorizer)
    for _ in range(2):
        again = pickle.loads(pickle.dumps(model))
        assert same(again.transform(DOCUMENTS), _expected(vectorizer))
        model.transform(DOCUMENTS)


def check_deep_copy_keeps_the_rows(vectorizer: Estimator) -> None:
    """So does a deep copy."""
    model = fitted(vectorizer)
    model.transform(DOCUMENTS)
    assert same(copy.deepcopy(model).transform(DOCUMENTS), _expected(vectorizer))


def check_feature_names_match_the_columns(vectorizer: Estimator) -> None:
    """One name a column, none twice; where there are names."""
    if not offers(vectorizer, "get_feature_names_out"):
        return
    model = fitted(vectorizer)
    names = model.get_feature_names_out()
    assert len(names) == model.transform(DOCUMENTS).shape[1]
    assert len(set(names)) == len(names), "a feature name appears twice."


def check_dtype_is_kept(vectorizer: Estimator) -> None:
    """The matrix has the type of numbers that was asked for."""
    if "dtype" not in vectorizer.get_params():
        return
    for dtype in (np.float32, np.float64):
        model = clone(vectorizer).set_params(dtype=dtype)
        assert model.fit_transform(DOCUMENTS).dtype == dtype
        assert model.transform(DOCUMENTS).dtype == dtype


def check_binary_rows_hold_one_value(vectorizer: Estimator) -> None:
    """With ``binary`` all entries of a row are equal."""
    if "binary" not in vectorizer.get_params():
        return
    X = sparse.csr_array(
        clone(vectorizer).set_params(binary=True).fit_transform(DOCUMENTS)
    )
    rows = np.split(X.data, X.indptr[1:-1])
    assert all(len(np.unique(row)) <= 1 for row in rows)


def check_n_jobs_gives_the_same_bytes(vectorizer: Estimator) -> None:
    """The number of threads changes nothing, not even the order of entries."""
    if "n_jobs" not in vectorizer.get_params():
        return
    texts = (DOCUMENTS + ODD_DOCUMENTS) * 3
    alone = clone(vectorizer).set_params(n_jobs=1).fit_transform(texts)
    for n_jobs in (2, 3, 5):
        several = clone(vectorizer).set_params(n_jobs=n_jobs).fit_transform(texts)
        for part in ("indptr", "indices", "data"):
            assert getattr(several, part).tobytes() == getattr(alone, part).tobytes()


def check_threads_may_share_a_fitted_vectorizer(vectorizer: Estimator) -> None:
    """Several threads transform with one vectorizer at a time."""
    model = fitted(vectorizer)
    results: list[Label] = [None] * 4

    def work(k: int) -> None:
        results[k] = model.transform(DOCUMENTS * 5)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same(X, results[0]) for X in results)


def check_works_in_a_pipeline(vectorizer: Estimator) -> None:
    """A classifier can follow, with labels passed through ``fit``."""
    pipeline = make_pipeline(clone(vectorizer), SGDClassifier(random_state=0))
    predicted = pipeline.fit(DOCUMENTS, LABELS).predict(DOCUMENTS)
    assert predicted.shape == LABELS.shape


def check_repr_names_the_class(vectorizer: Estimator) -> None:
    """The printed form begins with the name of the class."""
    assert repr(vectorizer).startswith(type(vectorizer).__name__)


def _expected(vectorizer: Estimator) -> Any:
    return fitted(vectorizer).transform(DOCUMENTS)


CHECKS: tuple[Check, ...] = (
    *(_container_check(name, make) for name, make in _CONTAINERS.items()),
    *(_error_check(name, item) for name, item in _NO_TEXTS.items()),
    *(value for name, value in list(globals().items()) if name.startswith("check_")),
)


def text_checks(vectorizer: Estimator) -> Iterator[tuple[Estimator, Check]]:
    """Pairs of a fresh copy of the vectorizer and a check to call with it."""
    for check in CHECKS:
        yield clone(vectorizer), check


def check_text_vectorizer(vectorizer: Estimator) -> list[str]:
    """Run every check; raise one AssertionError that lists all that fail."""
    names, failures = [], []
    for fresh, check in text_checks(vectorizer):
        names.append(check.__name__)
        try:
            check(fresh)
        except Exception as error:
            failures.append(f"{check.__name__}: {type(error).__name__}: {error}")
    if failures:
        listed = "\n  ".join(failures)
        raise AssertionError(
            f"{vectorizer!r} fails {len(failures)} of {len(names)} checks:\n  {listed}"
        )
    return names


def parametrize_with_text_checks(vectorizers: Iterable[Label]) -> Any:
    """A decorator for pytest: the test gets ``vectorizer`` and ``check``."""
    pairs = [pair for vectorizer in vectorizers for pair in text_checks(vectorizer)]
    names = [f"{type(v).__name__}-{check.__name__}" for v, check in pairs]
    return pytest.mark.parametrize(("vectorizer", "check"), pairs, ids=names)
