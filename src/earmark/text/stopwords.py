"""Stop words: a named list or the user's own words."""

from __future__ import annotations

from collections.abc import Iterable

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

__all__ = ["stop_word_set"]


def stop_word_set(stop_words: str | Iterable[str] | None) -> frozenset[str] | None:
    """The words to leave out, or None; ``"english"`` is scikit-learn's list of 318.

    Examples
    --------
    >>> "whereupon" in stop_word_set("english")
    True
    >>> sorted(stop_word_set(["and", "or"]))
    ['and', 'or']

    """
    if stop_words is None:
        return None
    if isinstance(stop_words, str):
        if stop_words == "english":
            return frozenset(ENGLISH_STOP_WORDS)
        raise ValueError(
            f"stop_words must be 'english', a list of words or None, "
            f"got {stop_words!r}; give the words themselves for other languages."
        )
    return frozenset(stop_words)
