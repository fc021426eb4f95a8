"""Unfitted copies of estimators for repeated splits."""

from __future__ import annotations

from sklearn.base import clone

from earmark.typing import Estimator

__all__ = ["fresh"]


def fresh(estimator: Estimator, seed: int) -> Estimator:
    """An unfitted copy whose unset random states are set from ``seed``."""
    copy = clone(estimator, safe=False)
    if not hasattr(copy, "get_params"):
        return copy
    parameters = copy.get_params(deep=True)
    unset = {
        name: seed
        for name, value in parameters.items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    if unset:
        copy.set_params(**unset)
    return copy
