"""What evaluations share: results to print and store, copies of estimators to fit."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from joblib import Parallel
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from earmark.parameters import offers
from earmark.progress import tracked
from earmark.typing import DocumentsLike, Estimator, JsonObject, LabelsLike
from earmark.whole_files import write_whole

Path = str | os.PathLike[str]

# Called after each fit with (done, total, name).
Progress = Callable[[int, int, str], None]


class Result:
    """Base of the result dataclasses: plain values for JSON."""

    def to_dict(self) -> JsonObject:
        """Plain values for JSON."""
        named: Any = self
        return {f.name: as_data(getattr(self, f.name)) for f in fields(named)}

    def to_json(self, path: Path | None = None) -> str:
        """The same as JSON text, also written to ``path`` if one is given."""
        content = as_data(self.to_dict())
        text = json.dumps(content, indent=2, ensure_ascii=False, default=str)
        written(f"{text}\n", path)
        return text


def as_data(value: Any) -> Any:
    """What a result holds as plain values; JSON has no infinity and no NaN: None."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: as_data(item) for name, item in value.items()}
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return [as_data(item) for item in value] if is_list else value


def written(text: str, path: Path | None) -> str:
    """The text, also written to ``path`` if one is given."""
    if path is not None:
        write_whole(path, text)
    return text


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
