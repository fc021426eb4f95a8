"""Checks: every container of texts gives the rows that a list gives."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from earmark.testing._tools import DOCUMENTS, expect_error, fitted, same

__all__ = ["CHECKS"]


def _agrees(vectorizer: Any, documents: Any, what: str) -> None:
    expected = fitted(vectorizer).transform(DOCUMENTS)
    assert same(fitted(vectorizer, documents).transform(DOCUMENTS), expected), (
        f"fit on {what} must learn what fit on a list learns."
    )
    assert same(fitted(vectorizer).transform(documents), expected), (
        f"transform of {what} must give what transform of a list gives."
    )


def _module(name: str) -> Any | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def check_tuple(vectorizer: Any) -> None:
    """A tuple of texts."""
    _agrees(vectorizer, tuple(DOCUMENTS), "a tuple")


def check_numpy_objects(vectorizer: Any) -> None:
    """A NumPy array of Python strings."""
    _agrees(vectorizer, np.array(DOCUMENTS, dtype=object), "an object array")


def check_numpy_strings(vectorizer: Any) -> None:
    """A NumPy array of fixed-width strings."""
    _agrees(vectorizer, np.array(DOCUMENTS), "an array of str")


def check_pandas_series(vectorizer: Any) -> None:
    """A pandas Series, with any index."""
    pandas = _module("pandas")
    if pandas is not None:
        index = np.arange(len(DOCUMENTS))[::-1]
        _agrees(vectorizer, pandas.Series(DOCUMENTS, index=index), "a pandas Series")


def check_polars_series(vectorizer: Any) -> None:
    """A polars Series."""
    polars = _module("polars")
    if polars is not None:
        _agrees(vectorizer, polars.Series("text", DOCUMENTS), "a polars Series")


def check_arrow_array(vectorizer: Any) -> None:
    """A pyarrow Array, also a slice of one."""
    pyarrow = _module("pyarrow")
    if pyarrow is not None:
        _agrees(vectorizer, pyarrow.array(DOCUMENTS), "a pyarrow Array")
        longer = pyarrow.array(["before", *DOCUMENTS, "after"], pyarrow.large_string())
        _agrees(vectorizer, longer[1:-1], "a slice of a pyarrow Array")


def check_arrow_chunked_array(vectorizer: Any) -> None:
    """A pyarrow ChunkedArray with an empty chunk."""
    pyarrow = _module("pyarrow")
    if pyarrow is not None:
        chunks = [DOCUMENTS[:3], [], DOCUMENTS[3:]]
        column = pyarrow.chunked_array(chunks, type=pyarrow.string())
        _agrees(vectorizer, column, "a pyarrow ChunkedArray")


def check_generator(vectorizer: Any) -> None:
    """A generator that is read once."""
    expected = fitted(vectorizer).transform(DOCUMENTS)
    got = fitted(vectorizer, iter(DOCUMENTS)).transform(text for text in DOCUMENTS)
    assert same(got, expected), "a generator must give what a list gives."


def check_used_up_generator_is_an_error(vectorizer: Any) -> None:
    """A generator read before must not pass for an empty corpus."""
    model, texts = fitted(vectorizer), iter(DOCUMENTS)
    model.transform(texts)
    expect_error(lambda: model.transform(texts), "", "a generator that is used up")


def check_input_is_left_as_it_was(vectorizer: Any) -> None:
    """Neither the list nor its texts are changed."""
    texts = list(DOCUMENTS)
    fitted(vectorizer, texts).transform(texts)
    assert texts == DOCUMENTS, "fit or transform changed its input."


CHECKS = (
    check_tuple,
    check_numpy_objects,
    check_numpy_strings,
    check_pandas_series,
    check_polars_series,
    check_arrow_array,
    check_arrow_chunked_array,
    check_generator,
    check_used_up_generator_is_an_error,
    check_input_is_left_as_it_was,
)
