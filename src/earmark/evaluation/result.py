"""What evaluations share: results to print and store, copies of estimators to fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from joblib import Parallel
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from earmark.parameters import offers
from earmark.progress import tracked
from earmark.typing import DocumentsLike, Estimator, JsonObject, LabelsLike

# Called after each fit with (done, total, name).
Progress = Callable[[int, int, str], None]


class Result:
    """Base of the result dataclasses: plain values for JSON."""

    def to_dict(self) -> JsonObject:
        """Plain values for JSON."""
        named: Any = self
        return {f.name: _plain(getattr(self, f.name)) for f in fields(named)}


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def fresh(estimator: Estimator, seed: int) -> Estimator:
    """An unfitted copy whose unset random states are set from ``seed``."""
    copy = clone(estimator, safe=False)
    if not offers(copy, "get_params"):
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


def fitted_with(
    estimator: Estimator, X: DocumentsLike, y: LabelsLike, unlabelled: DocumentsLike
) -> Estimator:
    """The estimator fitted, with unlabelled documents if there are any it can use."""
    takes = unlabelled is not None and has_fit_parameter(estimator, "unlabelled")
    return estimator.fit(X, y, **({"unlabelled": unlabelled} if takes else {}))


def all_fits(
    tasks: Iterable[object],
    names: Sequence[str],
    n_jobs: int | None,
    report: Progress | None,
) -> list[Any]:
    """What delayed fits of these names come to, in their order."""
    fits, total = Parallel(n_jobs=n_jobs, return_as="generator")(tasks), len(names)
    results = []
    for name, result in zip(names, tracked("fit", fits, total), strict=True):
        results.append(result)
        if report is not None:
            report(len(results), total, name)
    return results
