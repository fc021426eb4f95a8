"""A vocabulary given by the user: checked, and turned into term -> column."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from earmark.exceptions import DataError, EarmarkWarning

__all__ = ["EMPTY_VOCABULARY", "checked_vocabulary", "warn_of_upper_case"]

EMPTY_VOCABULARY = (
    "empty vocabulary; perhaps the documents only contain stop words, or "
    "token_pattern matches nothing in them."
)


def checked_vocabulary(counter: Any) -> dict[str, int]:
    """``counter.vocabulary`` as a dictionary whose columns are 0 .. n - 1."""
    given = counter.vocabulary
    if isinstance(given, str):
        raise DataError(
            f"{type(counter).__name__}.vocabulary must be a list or mapping of terms, "
            f"got the single string {given!r}."
        )
    if isinstance(given, Mapping):
        vocabulary = dict(given)
        columns = set(vocabulary.values())
        if len(columns) != len(vocabulary):
            raise DataError("Vocabulary contains repeated indices.")
        missing = set(range(len(vocabulary))) - columns
        if missing:
            raise DataError(
                f"Vocabulary of size {len(vocabulary)} doesn't contain index "
                f"{min(missing)}."
            )
    else:
        terms = sorted(given) if isinstance(given, set | frozenset) else list(given)
        vocabulary = dict(zip(terms, range(len(terms)), strict=True))
        if len(vocabulary) != len(terms):
            twice = next(t for k, t in enumerate(terms) if vocabulary[t] != k)
            raise DataError(f"Duplicate term in vocabulary: {twice!r}")
    if not vocabulary:
        raise DataError("empty vocabulary passed to fit")
    own_terms = callable(counter.analyzer) or counter.tokenizer is not None
    if not own_terms and not set(map(type, vocabulary)) <= {str}:
        raise DataError("Vocabulary terms must be str.")
    return vocabulary


def warn_of_upper_case(counter: Any) -> None:
    """Warn when lower-casing keeps some given terms from ever matching."""
    if not counter.lowercase:
        return
    terms = counter.vocabulary_
    if not set(map(type, terms)) <= {str}:
        terms = [term for term in terms if isinstance(term, str)]
    if any(map(str.isupper, set("".join(terms)))):
        warnings.warn(
            "Upper case characters found in vocabulary while 'lowercase' is True: "
            "these entries will not be matched with any documents.",
            EarmarkWarning,
            stacklevel=4,
        )
