"""Which terms make up the vocabulary: those given, or those frequent enough."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from earmark._checks import require_in_range, require_integer
from earmark.exceptions import DataError, EarmarkWarning
from earmark.typing import BoolVector, IntVector

if TYPE_CHECKING:
    from earmark.features.word_counter import WordCounter

__all__ = [
    "EMPTY_VOCABULARY",
    "check_pruning",
    "checked_vocabulary",
    "merge_seen",
    "prunes",
    "term_mask",
    "warn_of_upper_case",
]

EMPTY_VOCABULARY = (
    "empty vocabulary; perhaps the documents only contain stop words, or "
    "token_pattern matches nothing in them."
)


def check_pruning(counter: WordCounter) -> None:
    """Check min_df, max_df and max_features of a counter."""
    for name in ("max_df", "min_df"):
        if _is_number(getattr(counter, name)):
            require_integer(counter, name, low=1, hint="a share is a float: 1.0")
        else:
            require_in_range(counter, name, low=0.0, high=1.0)
    if counter.max_features is not None:
        require_integer(counter, "max_features", low=1)


def prunes(counter: WordCounter) -> bool:
    """Whether any term can be left out for its frequency."""
    return not (
        counter.max_features is None
        and not _is_number(counter.max_df)
        and counter.max_df == 1.0
        and _is_number(counter.min_df)
        and counter.min_df == 1
    )


def _is_number(limit: float) -> bool:
    """Whether a limit is a number of documents; else it is a share of them."""
    return isinstance(limit, int | np.integer)


def term_mask(
    counter: WordCounter,
    n_documents: int,
    documents: IntVector,
    totals: Any,
    *,
    may_be_empty: bool = False,
) -> BoolVector:
    """Terms to keep, given their document counts and column sums, sorted by term.

    ``max_features`` breaks ties as scikit-learn does: by the same argsort of the
    same numbers in the same order.
    """
    high, low = counter.max_df, counter.min_df
    high = high if _is_number(high) else high * n_documents
    low = low if _is_number(low) else low * n_documents
    if high < low and not may_be_empty:
        raise ValueError(
            f"{type(counter).__name__}.max_df must allow at least as many documents as "
            f"min_df, got max_df={counter.max_df!r} ({high:g} documents) and "
            f"min_df={counter.min_df!r} ({low:g})."
        )
    mask: BoolVector = (documents <= float(high)) & (documents >= float(low))
    limit = counter.max_features
    if limit is not None and mask.sum() > limit:
        largest = (-totals[mask]).argsort()[:limit]
        kept = np.flatnonzero(mask)[largest]
        mask = np.zeros(len(mask), dtype=bool)
        mask[kept] = True
    if not mask.any() and not may_be_empty:
        raise DataError(
            "After pruning, no terms remain. Try a lower min_df or a higher max_df."
        )
    return mask


def merge_seen(*tables: tuple[Any, ...]) -> tuple[list[str], IntVector, IntVector]:
    """Add tables of (terms, document counts, token counts); terms come out sorted."""
    merged = sorted({term for terms, *_ in tables for term in terms})
    place = {term: k for k, term in enumerate(merged)}
    sums = np.zeros((2, len(merged)), dtype=np.int64)
    for terms, *counts in tables:
        at = np.array([place[term] for term in terms], dtype=np.intp)
        sums[:, at] += np.array(counts, dtype=np.int64).reshape(2, len(terms))
    return merged, sums[0], sums[1]


def checked_vocabulary(counter: WordCounter) -> dict[str, int]:
    """``counter.vocabulary`` as a dictionary whose columns are 0 .. n - 1."""
    wanted = counter.vocabulary
    assert wanted is not None
    if isinstance(wanted, str):
        raise DataError(
            f"{type(counter).__name__}.vocabulary must be a list or mapping of terms, "
            f"got the single string {wanted!r}."
        )
    if isinstance(wanted, Mapping):
        vocabulary = dict(wanted)
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
        terms = sorted(wanted) if isinstance(wanted, set | frozenset) else list(wanted)
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


def warn_of_upper_case(counter: WordCounter) -> None:
    """Warn when lower-casing keeps some given terms from ever matching."""
    if not counter.lowercase:
        return
    terms: Iterable[Any] = counter.vocabulary_
    if not set(map(type, terms)) <= {str}:
        terms = [term for term in terms if isinstance(term, str)]
    if any(map(str.isupper, set("".join(terms)))):
        warnings.warn(
            "Upper case characters found in vocabulary while 'lowercase' is True: "
            "these entries will not be matched with any documents.",
            EarmarkWarning,
            stacklevel=4,
        )
