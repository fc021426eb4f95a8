"""Checks: what is no text is an error that names its row."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from earmark.testing._tools import DOCUMENTS, ODD_DOCUMENTS, expect_error, fitted

__all__ = ["CHECKS"]


def _row_is_named(vectorizer: Any, item: Any, what: str) -> None:
    texts = [*DOCUMENTS[:5], item, *DOCUMENTS[5:]]
    expect_error(lambda: clone(vectorizer).fit_transform(texts), "5", f"{what} in fit")
    model = fitted(vectorizer)
    expect_error(lambda: model.transform(texts), "5", f"{what} in transform")


def check_none_is_an_error(vectorizer: Any) -> None:
    """None instead of a text."""
    _row_is_named(vectorizer, None, "None")


def check_nan_is_an_error(vectorizer: Any) -> None:
    """A missing value of pandas or NumPy instead of a text."""
    _row_is_named(vectorizer, np.nan, "NaN")


def check_number_is_an_error(vectorizer: Any) -> None:
    """A number instead of a text."""
    _row_is_named(vectorizer, 3.0, "a number")


def check_bytes_are_an_error(vectorizer: Any) -> None:
    """Bytes instead of a text: nobody guesses their encoding."""
    _row_is_named(vectorizer, b"bytes", "bytes")


def check_single_string_is_an_error(vectorizer: Any) -> None:
    """One string instead of a list of strings."""
    what = "a single string"
    expect_error(lambda: clone(vectorizer).fit_transform("a text"), "string", what)
    expect_error(lambda: fitted(vectorizer).transform("a text"), "string", what)


def check_table_is_an_error(vectorizer: Any) -> None:
    """Two columns of texts instead of one."""
    table = np.array([DOCUMENTS, DOCUMENTS], dtype=object).T
    expect_error(lambda: clone(vectorizer).fit_transform(table), "column", "a table")


def check_not_fitted_is_an_error(vectorizer: Any) -> None:
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


def check_odd_characters_are_no_error(vectorizer: Any) -> None:
    """Lone surrogates, NUL, astral letters, special casing, very long words."""
    model = fitted(vectorizer, DOCUMENTS + ODD_DOCUMENTS)
    assert model.transform(ODD_DOCUMENTS).shape[0] == len(ODD_DOCUMENTS)


def check_failed_fit_changes_nothing(vectorizer: Any) -> None:
    """The caller's list survives an error, and so does the next fit."""
    broken = clone(vectorizer)
    expect_error(lambda: broken.fit_transform(["fine", None]), "1", "None in fit")
    assert broken.fit_transform(DOCUMENTS).shape[0] == len(DOCUMENTS)


CHECKS = (
    check_none_is_an_error,
    check_nan_is_an_error,
    check_number_is_an_error,
    check_bytes_are_an_error,
    check_single_string_is_an_error,
    check_table_is_an_error,
    check_not_fitted_is_an_error,
    check_odd_characters_are_no_error,
    check_failed_fit_changes_nothing,
)
