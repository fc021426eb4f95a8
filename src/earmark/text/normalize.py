"""Make spellings alike before words are looked for: case, accents, Unicode forms."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

__all__ = [
    "chain",
    "fold_case",
    "strip_accents_ascii",
    "strip_accents_unicode",
    "to_form",
]


def strip_accents_unicode(text: str) -> str:
    """Decompose (NFKD) and drop combining marks; ASCII stays as it is.

    Examples
    --------
    >>> strip_accents_unicode("café №5")
    'cafe No5'

    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def strip_accents_ascii(text: str) -> str:
    """Decompose (NFKD) and drop whatever is not ASCII.

    Examples
    --------
    >>> strip_accents_ascii("café Σ")
    'cafe '

    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return decomposed.encode("ascii", "ignore").decode("ascii")


def fold_case(text: str) -> str:
    """Full case folding, stronger than lower case.

    Examples
    --------
    >>> fold_case("Straße")
    'strasse'

    """
    return text.casefold()


def to_form(form: str) -> Callable[[str], str]:
    """A function that brings text to one Unicode form: NFC, NFD, NFKC or NFKD.

    Examples
    --------
    >>> to_form("NFKC")("ﬁne")
    'fine'

    """
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise ValueError(f"form must be one of NFC, NFD, NFKC, NFKD, got {form!r}.")

    def normalize(text: str) -> str:
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]

    return normalize


def chain(*steps: Callable[[str], str]) -> Callable[[str], str]:
    """One function that applies the steps from left to right.

    Examples
    --------
    >>> chain(fold_case, strip_accents_unicode)("CAFÉ")
    'cafe'

    """

    def run(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    return run
