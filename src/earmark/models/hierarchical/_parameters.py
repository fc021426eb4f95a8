"""What the constructor parameters of HierarchicalBayes may be."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from earmark._checks import require_in_range, require_integer, require_one_of

__all__ = ["as_list", "check_parameters"]


def as_list(value: Any) -> list[Any]:
    """A parameter that may hold one value or several, as a list."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return list(value)
    return [value]


def check_parameters(model: Any) -> None:
    """Raise for the first parameter that makes no sense."""
    require_one_of(model, "event_model", ("multinomial", "gaussian"))
    require_one_of(model, "em", ("soft", "hard"))
    require_one_of(model, "posterior", ("sum_of_products", "product_of_sums"))
    require_one_of(model, "hidden_prior", ("tokens", "documents"))
    require_one_of(model, "select", ("accuracy", "log_loss"))
    require_one_of(model, "dtype", ("float64", "float32"))
    require_integer(model, "n_restarts", low=1)
    if model.max_iter is not None:
        require_integer(model, "max_iter", low=1)
    require_in_range(model, "tol", low=0.0)
    require_in_range(
        model, "validation_fraction", low=0.0, high=0.9, hint="a share of the documents"
    )
    require_in_range(model, "var_floor", low=0.0, open_low=True)
    require_in_range(model, "keep", low=0.0, high=1.0, open_low=True)
    if model.drop_after is not None:
        require_integer(model, "drop_after", low=1)
    _require_each(model, "n_hidden", Integral, 1, "a whole number >= 1")
    _require_each(model, "alpha", Real, 0, "a number >= 0")
    if model.event_model == "gaussian" and model.posterior == "product_of_sums":
        raise ValueError(
            "HierarchicalBayes.posterior must be 'sum_of_products' for Gaussian nodes, "
            "got 'product_of_sums'; the product of sums has no Gaussian form."
        )


def _require_each(model: Any, name: str, kind: Any, low: int, rule: str) -> None:
    values = as_list(getattr(model, name))
    where = f"{type(model).__name__}.{name}"
    if not values:
        raise ValueError(f"{where} must hold at least one value, got an empty list.")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, kind):
            raise TypeError(
                f"{where} must be {rule}, or a list of such, got {value!r}."
            )
        if not low <= value < float("inf"):
            raise ValueError(f"{where} must be {rule}, got {value!r}.")
