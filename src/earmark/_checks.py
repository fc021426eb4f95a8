"""Parameter checks, and what an object can do.

Every message reads: owner.name must be ..., got ...; hint.
"""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real

__all__ = [
    "offers",
    "require_in_range",
    "require_integer",
    "require_one_of",
    "shape_of",
]


def offers(owner: object, *methods: str) -> bool:
    """Whether an object, anybody's, has all these methods and will answer them.

    scikit-learn's ``available_if`` hides what a fitted estimator cannot do; a
    Protocol would not see that.
    """
    return all(callable(getattr(owner, method, None)) for method in methods)


def shape_of(X: object) -> tuple[int, ...]:
    """Rows and columns of an array, frame or column; () of what does not say."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return shape


def _where(owner: object, name: str) -> str:
    return f"{type(owner).__name__}.{name}"


def _tail(hint: str) -> str:
    return f"; {hint}" if hint else ""


def require_in_range(
    owner: object,
    name: str,
    *,
    low: float = float("-inf"),
    high: float = float("inf"),
    open_low: bool = False,
    hint: str = "",
) -> None:
    """Raise unless ``getattr(owner, name)`` is a number in [low, high]."""
    value = getattr(owner, name)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"{_where(owner, name)} must be a number, got {value!r}{_tail(hint)}."
        )
    number = float(value)
    inside = low < number <= high if open_low else low <= number <= high
    if not inside:
        bracket = "(" if open_low else "["
        raise ValueError(
            f"{_where(owner, name)} must be in {bracket}{low}, {high}], "
            f"got {value!r}{_tail(hint)}."
        )


def require_integer(
    owner: object, name: str, *, low: int = 0, high: int | None = None, hint: str = ""
) -> None:
    """Raise unless ``getattr(owner, name)`` is a whole number in [low, high]."""
    value = getattr(owner, name)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{_where(owner, name)} must be a whole number, got {value!r}{_tail(hint)}."
        )
    number = int(value)
    if number < low or (high is not None and number > high):
        bounds = f">= {low}" if high is None else f"in [{low}, {high}]"
        raise ValueError(
            f"{_where(owner, name)} must be {bounds}, got {value!r}{_tail(hint)}."
        )


def require_one_of(
    owner: object, name: str, choices: Collection[object], *, hint: str = ""
) -> None:
    """Raise unless ``getattr(owner, name)`` is one of ``choices``."""
    value = getattr(owner, name)
    if not any(value is choice or value == choice for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"{_where(owner, name)} must be one of {listed}, "
            f"got {value!r}{_tail(hint)}."
        )
