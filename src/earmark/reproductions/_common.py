"""What the reproductions share: fair baselines, means with errors, result files."""

from __future__ import annotations

import json
import math
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy import stats
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

import earmark

__all__ = [
    "BASELINES",
    "Progress",
    "best_on_validation",
    "mean_and_error",
    "paired_p_value",
    "write_result",
]

Progress = Callable[[str], None]

# Name -> (pipeline over raw strings, grid of the one setting that is tuned).
BASELINES: Mapping[str, tuple[Pipeline, Mapping[str, Sequence[float]]]] = {
    "tf-idf + linear SVM": (
        make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC()),
        {"linearsvc__C": (0.1, 0.3, 1.0, 3.0)},
    ),
    "tf-idf + logistic regression": (
        make_pipeline(
            TfidfVectorizer(sublinear_tf=True), LogisticRegression(max_iter=1000)
        ),
        {"logisticregression__C": (1.0, 10.0, 100.0)},
    ),
    "Complement NB": (
        make_pipeline(CountVectorizer(), ComplementNB()),
        {"complementnb__alpha": (0.03, 0.1, 0.3, 1.0)},
    ),
}


def best_on_validation(
    estimator: Any,
    grid: Mapping[str, Sequence[float]],
    train: tuple[Any, Any],
    validation: tuple[Any, Any],
) -> Any:
    """The estimator fitted on ``train`` with the grid's best accuracy on validation.

    Ties go to the earlier value.
    """
    ((name, values),) = grid.items()
    fitted = [clone(estimator).set_params(**{name: v}).fit(*train) for v in values]
    scores = [model.score(*validation) for model in fitted]
    return fitted[int(np.argmax(scores))]


def mean_and_error(values: Iterable[float]) -> dict[str, float]:
    """Mean, standard deviation and standard error of repeated measurements."""
    array = np.asarray(list(values), dtype=np.float64)
    spread = float(array.std(ddof=1)) if len(array) > 1 else math.nan
    return {
        "mean": float(array.mean()),
        "sd": spread,
        "se": spread / math.sqrt(len(array)),
        "n": len(array),
    }


def paired_p_value(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Two-sided paired t test over repeated splits; 1 where nothing differs."""
    gap = np.asarray(ours) - np.asarray(theirs)
    if len(gap) < 2 or not gap.any():
        return 1.0
    if gap.std() == 0:
        return 0.0
    return float(stats.ttest_rel(ours, theirs).pvalue)


def write_result(path: Path, command: str, quick: bool, result: Any) -> None:
    """Write a result as JSON with the command and the versions that made it."""
    payload = {
        "command": command,
        "quick": quick,
        "versions": {
            "earmark": earmark.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "scikit-learn": sklearn.__version__,
            "scipy": scipy.__version__,
        },
        "result": result,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_finite(payload), indent=1, sort_keys=True, allow_nan=False)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)


def _finite(value: Any) -> Any:
    """The data with None for NaN and infinities, for which JSON has no word."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
