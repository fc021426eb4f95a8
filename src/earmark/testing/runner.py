"""Run the checks: all at once, one by one, or as parameters of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sklearn.base import clone

from earmark.testing.checks import CHECKS
from earmark.typing import Estimator, Label


def text_checks(vectorizer: Estimator) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Pairs of a fresh copy of the vectorizer and a check to call with it.

    Examples
    --------
    >>> from earmark.features import WordCounter
    >>> copy, check = next(text_checks(WordCounter()))
    >>> check(copy)

    """
    for check in CHECKS:
        yield clone(vectorizer), check


def check_text_vectorizer(vectorizer: Estimator) -> list[str]:
    """Run every check; raise one AssertionError that lists all that fail.

    Parameters
    ----------
    vectorizer : estimator
        With ``fit``, ``transform`` and ``fit_transform`` on a list of texts.

    Returns
    -------
    names : list of str
        The checks that were run.

    Examples
    --------
    >>> from earmark.features import WordCounter
    >>> len(check_text_vectorizer(WordCounter())) >= 25
    True

    """
    names, failures = [], []
    for copy, check in text_checks(vectorizer):
        names.append(check.__name__)
        try:
            check(copy)
        except Exception as error:
            failures.append(f"{check.__name__}: {type(error).__name__}: {error}")
    if failures:
        listed = "\n  ".join(failures)
        raise AssertionError(
            f"{vectorizer!r} fails {len(failures)} of {len(names)} checks:\n  {listed}"
        )
    return names


def parametrize_with_text_checks(vectorizers: Iterable[Label]) -> Any:
    """A decorator for pytest: the test gets ``vectorizer`` and ``check``.

    Examples
    --------
    >>> from earmark.features import WordCounter
    >>> @parametrize_with_text_checks([WordCounter()])
    ... def test_common(vectorizer, check):
    ...     check(vectorizer)

    """
    import pytest

    pairs = [pair for vectorizer in vectorizers for pair in text_checks(vectorizer)]
    names = [f"{type(v).__name__}-{check.__name__}" for v, check in pairs]
    return pytest.mark.parametrize(("vectorizer", "check"), pairs, ids=names)
