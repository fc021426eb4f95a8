"""The documents that the checks use, and how they compare matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

__all__ = ["DOCUMENTS", "LABELS", "ODD_DOCUMENTS", "expect_error", "fitted", "same"]

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


def fitted(vectorizer: Any, documents: Any = None) -> Any:
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
