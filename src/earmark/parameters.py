"""Parameters of estimators: checks, seeds; what an object can do.

What a parameter may be is said once, by its type: ``C: Positive | None = None``,
``vote: Literal["similarity", "majority"] = "similarity"``. ``check_declared`` checks
it. Every message of a check reads: owner.name must be ..., got ...; hint.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import Field, dataclass, field
from functools import cache
from inspect import get_annotations
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

import numpy as np

from earmark.exceptions import ParameterError
from earmark.stored import OWN_ANNOTATIONS, is_fitted_name, stored, stored_state
from earmark.typing import RandomStateLike


def offers(owner: object, *methods: str) -> bool:
    """Whether an object, anybody's, has all these methods and will answer them."""
    # scikit-learn's ``available_if`` hides some; a Protocol would not see that.
    return all(callable(getattr(owner, method, None)) for method in methods)


def shape_of(X: object) -> tuple[int, ...]:
    """Rows and columns of an array, frame or column; () of what does not say."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return shape


def _is_among(value: object, choices: Collection[object]) -> bool:
    if isinstance(value, np.bool_):
        value = bool(value)
    # Arrays are equal element by element: nothing to ask them.
    return any(
        value is choice or (isinstance(value, type(choice)) and value == choice)
        for choice in choices
    )


def require_one_of(owner: object, name: str, choices: Collection[object]) -> None:
    """Raise unless ``getattr(owner, name)`` is one of ``choices``."""
    if not _is_among(getattr(owner, name), choices):
        raise _none_of(owner, name, choices)


def _none_of(owner: object, name: str, choices: Collection[object]) -> ParameterError:
    """The error for a parameter that is none of its choices."""
    listed = ", ".join(repr(choice) for choice in choices)
    got, where = repr(getattr(owner, name)), type(owner).__name__
    return ParameterError(name, f"be one of {listed}", got, owner=where)


class Limits(NamedTuple):
    """What a number may be: finite, in [low, high] or (low, high] if ``open_low``.

    And not 0 if ``nonzero``.
    """

    low: float = float("-inf")
    high: float = float("inf")
    open_low: bool = False
    hint: str = ""
    nonzero: bool = False


def require_number(
    owner: object, name: str, limits: Limits, *, whole: bool = False
) -> None:
    """Raise unless ``getattr(owner, name)`` is a number within the limits."""
    _check_number(owner, name, getattr(owner, name), limits, whole)


def require_each(
    owner: object, name: str, limits: Limits, *, whole: bool = False
) -> None:
    """Raise unless a parameter is a number within the limits, or several such."""
    values = as_list(getattr(owner, name))
    if not values:
        kind = type(owner).__name__
        raise ParameterError(name, "hold at least one value", "none", owner=kind)
    limits = limits._replace(hint="or several such")
    for value in values:
        _check_number(owner, name, value, limits, whole)


def as_list(value: Any) -> list[Any]:
    """A parameter that may hold one value or several, as a list."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return list(value) if several else [value]


class _WrongTypeError(ParameterError, TypeError):
    """A parameter is of a type that it must not be of."""


def _check_number(
    owner: object, name: str, value: Any, limits: Limits, whole: bool
) -> None:
    if isinstance(value, np.generic):  # a float32 does not compare with large numbers
        value = value.item()
    kind: Any = Integral if whole else Real
    got, where = repr(value), type(owner).__name__
    if isinstance(value, bool) or not isinstance(value, kind):
        called = f"be {'a whole number' if whole else 'a number'}"
        raise _WrongTypeError(name, called, got, limits.hint, where)
    if limits.nonzero and value == 0:
        raise ParameterError(name, "not be 0", got, limits.hint, where)
    low, high = limits.low, limits.high
    is_open = limits.open_low or math.isinf(low)
    too_large = not whole and abs(value) > sys.float_info.max
    if not low <= value <= high or (is_open and value == low) or too_large:
        closing = ")" if math.isinf(high) else "]"
        bounds = f"in {'(' if is_open else '['}{low}, {high}{closing}"
        if whole and high == float("inf"):
            bounds = f">= {low}"
        raise ParameterError(name, f"be {bounds}", got, limits.hint, where)


Positive: TypeAlias = Annotated[float, Limits(0.0, open_low=True)]
NotNegative: TypeAlias = Annotated[float, Limits(0.0)]
Share: TypeAlias = Annotated[float, Limits(0.0, 1.0)]
PositiveShare: TypeAlias = Annotated[float, Limits(0.0, 1.0, open_low=True)]
AtLeastOne: TypeAlias = Annotated[int, Limits(1)]
Jobs: TypeAlias = Annotated[int, Limits(hint="-1 takes all cores", nonzero=True)] | None
Verbosity: TypeAlias = Annotated[int, Limits(0)] | bool

# Class -> its own parameters of a closed type: choices, and the type and the limits of
# a number where one will do.
_Declared: TypeAlias = tuple[tuple[object, ...], type | None, Limits]
_DECLARED: dict[type, dict[str, _Declared]] = {}


def _declared(hint: object) -> _Declared | None:
    """What a type hint allows; None where it leaves that open."""
    choices: list[object] = []
    number, limits = None, Limits()
    is_union = get_origin(hint) in (Union, UnionType)
    for part in get_args(hint) if is_union else (hint,):
        metas = get_args(part)[1:] if get_origin(part) is Annotated else ()
        if metas and not any(isinstance(meta, Limits) for meta in metas):
            return _declared(get_args(part)[0])  # a file's own rule is beside it
        if get_origin(part) is Literal:
            choices += get_args(part)
        elif get_origin(part) is Annotated:
            number = get_args(part)[0]
            limits = next(meta for meta in metas if isinstance(meta, Limits))
        elif part is NoneType:
            choices.append(None)
        elif part is bool:
            choices += [True, False]
        else:
            return None
    return tuple(choices), number, limits


def check_declared(owner: object) -> None:
    """Raise for the first parameter that is not what its type says."""
    for kind in reversed(type(owner).__mro__):
        for name, (choices, number, limits) in _DECLARED.get(kind, {}).items():
            value = getattr(owner, name)
            if _is_among(value, choices):
                continue
            if number is None:
                raise _none_of(owner, name, choices)
            words = [f"or {choice!r}" for choice in choices if choice is not None]
            limits = limits._replace(hint=limits.hint or " ".join(words))
            _check_number(owner, name, value, limits, number is int)


def parse_size(text: str) -> int | None:
    """Bytes of "2GB", "500 MB", "1.5G", "1GiB" or "100"; None of what is no size."""
    size = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", text.upper())
    if size is None:
        return None
    number, unit, binary = size.groups()
    step = 1024 if binary else 1000
    return int(float(number) * step ** " KMGT".index(unit or " "))


_P = ParamSpec("_P")
_Value = TypeVar("_Value")
_C = TypeVar("_C")
_LARGEST_SEED = 2**31 - 1


def random_state_of(random_state: RandomStateLike) -> np.random.RandomState:
    """Where random numbers come from; None is the seed 0, a generator is drawn from."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(_LARGEST_SEED))
    if random_state is None or isinstance(random_state, int | np.integer):
        return np.random.RandomState(random_state or 0)
    raise ValueError(
        "random_state must be None, a whole number, a RandomState or a Generator, got "
        f"{random_state!r}."
    )


def seed_of(random_state: RandomStateLike) -> int:
    """A seed: the number itself, 0 for None, or one drawn from a generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        if not 0 <= random_state < 2**32:
            raise ValueError(
                f"random_state must be from 0 to 2**32 - 1, got {random_state}."
            )
        return int(random_state)
    return int(random_state_of(random_state).randint(_LARGEST_SEED))


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator(kind: type[_C]) -> type[_C]:
    """Make the constructor of an estimator: its annotated attributes are parameters.

    By keyword only, unless ``field(kw_only=False)``. An attribute with an underscore at
    an end is fitted: its annotation says what a model file may hold (``stored.py``).
    """
    # Now, as nothing is evaluated any more while a model file is loaded.
    hints = get_annotations(kind, locals={}, eval_str=True)
    OWN_ANNOTATIONS[kind] = hints
    for name in hints:
        if is_fitted_name(name):  # the constructor does not set it
            del kind.__annotations__[name]
            if isinstance(getattr(kind, name, None), Field):
                delattr(kind, name)
    declared = {n: _declared(h) for n, h in hints.items() if not is_fitted_name(n)}
    _DECLARED[kind] = {n: d for n, d in declared.items() if d is not None}
    with_init: type[_C] = dataclass(kw_only=True, repr=False, eq=False)(kind)
    return stored(with_init)


@cache
def default_parameters(kind: type) -> Mapping[str, object]:
    """The parameters of an estimator, whose constructor only stores them."""
    # No signature is read: the interpreter takes note of that as of running code, and
    # nothing of the kind happens while a model file is loaded.
    try:
        plain: object = kind()
    except TypeError:  # the first has no default
        plain = kind(None)
    return stored_state(plain)
