"""Parameters of estimators: seeds, names of before, data that belong to ``fit``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from earmark.typing import Estimator, RandomStateLike

__all__ = [
    "given_to_fit",
    "random_state_of",
    "renamed",
    "seed_of",
    "with_new_names",
]

_P = ParamSpec("_P")
_Value = TypeVar("_Value")
_LARGEST_SEED = 2**31 - 1


def random_state_of(random_state: RandomStateLike) -> np.random.RandomState:
    """Where random numbers come from; None is the seed 0.

    So the same data give the same model, unless another seed is asked for. A
    RandomState or a Generator is drawn from, and gives another model every time.
    """
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(_LARGEST_SEED))
    return np.random.RandomState(0 if random_state is None else random_state)


def seed_of(random_state: RandomStateLike) -> int:
    """A seed: the number itself, 0 for None, or one drawn from a generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(random_state_of(random_state).randint(_LARGEST_SEED))


def renamed(**names: str) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Let a constructor take parameters by names of before, with a FutureWarning."""

    def decorate(init: Callable[_P, None]) -> Callable[_P, None]:
        @wraps(init)
        def wrapper(*args: _P.args, **given: _P.kwargs) -> None:
            for old in names.keys() & given.keys():
                warnings.warn(
                    f"{type(args[0]).__name__}({old}=...) is now called {names[old]}; "
                    "the old name will be gone in version 0.3.",
                    FutureWarning,
                    stacklevel=2,
                )
                given[names[old]] = given.pop(old)
            init(*args, **given)

        # Where scikit-learn looks for the names of the parameters.
        vars(wrapper).update(deprecated_original=init, renamed=names)
        return wrapper

    return decorate


def with_new_names(kind: type, state: Mapping[str, object]) -> dict[str, object]:
    """The attributes of an older estimator under the names of today.

    Parameters that its class did not have yet get their defaults.
    """
    names = getattr(kind.__dict__.get("__init__"), "renamed", {})
    known = {names.get(name, name): value for name, value in state.items()}
    if issubclass(kind, BaseEstimator):
        for name, parameter in signature(kind).parameters.items():
            if parameter.default is not parameter.empty:
                known.setdefault(name, parameter.default)
    return known


def given_to_fit(owner: Estimator, name: str, value: _Value) -> _Value:
    """What ``fit`` was given, or the constructor before data had left it."""
    stored: _Value | None = getattr(owner, name)
    if stored is None:
        return value
    warnings.warn(
        f"{type(owner).__name__}({name}=...) is data, not a parameter: give it to fit, "
        f"fit(X, y, {name}=...). The constructor will not take it in version 0.3.",
        FutureWarning,
        stacklevel=4,
    )
    return stored if value is None else value
