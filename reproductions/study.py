"""What the reproductions share: runs, means with errors, paired tests, result files."""

from __future__ import annotations

import json
import math
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy import stats
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

import earmark
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector

__all__ = [
    "BASELINES",
    "Progress",
    "Run",
    "best_on_validation",
    "documents_p_value",
    "log_odds",
    "mean_and_error",
    "paired_p_value",
    "run_parts",
    "write_result",
]

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """How a part is run: ``quick`` takes fewer draws and sizes.

    ``seconds`` gets the CPU seconds that each part took.
    """

    quick: bool = False
    progress: Progress = lambda message: None
    seconds: dict[str, float] = field(default_factory=dict)


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


def mean_and_error(values: Iterable[float]) -> dict[str, Any]:
    """Mean, standard deviation and standard error; None where one value has none."""
    array = np.asarray(list(values), dtype=np.float64)
    spread = float(array.std(ddof=1)) if len(array) > 1 else None
    return {
        "mean": float(array.mean()),
        "sd": spread,
        "se": None if spread is None else spread / math.sqrt(len(array)),
        "n": len(array),
    }


def paired_p_value(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Two-sided paired t test over independent draws; None for fewer than two.

    For draws that share their training or their test documents it is too sure.
    """
    gap = np.asarray(ours) - np.asarray(theirs)
    if len(gap) < 2:
        return None
    if not gap.any():
        return 1.0
    if gap.std() == 0:
        return 0.0
    return float(stats.ttest_rel(ours, theirs).pvalue)


def run_parts(
    reproduction: Any,
    run: Run,
    parts: Sequence[str] | None,
    stored: Mapping[str, Any],
    keep: Callable[[dict[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Results by part: those asked for are run, the others are taken as stored.

    A part that is neither asked for nor stored is run too; one that lacks what it
    needs, and says so as "not run", stays as stored. ``keep`` gets the whole
    after every part, so that a run that is stopped loses one part only.
    """
    result = {name: stored[name] for name in reproduction.PARTS if name in stored}
    for name, part in reproduction.PARTS.items():
        if parts is None or name in parts or name not in stored:
            started = time.process_time()
            found = _finite(part(run))
            if isinstance(found, dict) and "not run" in found and name in stored:
                run.progress(f"{name} stays as stored: {found['not run']}")
                continue
            result[name] = found
            run.seconds[name] = round(time.process_time() - started, 1)
            if len(result) == len(reproduction.PARTS):
                keep({**result, **_finite(reproduction.derive(result))})
    ordered = {name: result[name] for name in reproduction.PARTS}
    return {**ordered, **_finite(reproduction.derive(ordered))}


def documents_p_value(
    ours: Sequence[BoolVector], theirs: Sequence[BoolVector], tests: Sequence[IntVector]
) -> float:
    """Paired test over documents, for draws that share theirs.

    ``tests`` names the test documents of each draw. A document's difference is the
    mean over the draws that test it; what varies is the document (a t test over the
    differences, which for thousands of documents is what a bootstrap over them finds).
    """
    n_documents = 1 + max(int(test.max()) for test in tests)
    total, times = np.zeros(n_documents), np.zeros(n_documents)
    for mine, other, test in zip(ours, theirs, tests, strict=True):
        total[test] += mine.astype(float) - other
        times[test] += 1
    gap = total[times > 0] / times[times > 0]
    return float(stats.ttest_1samp(gap, 0.0).pvalue) if gap.std() > 0 else 1.0


def log_odds(log_proba: FloatMatrix) -> FloatVector:
    """Log-odds of the likeliest class against all others, one number per document.

    It orders documents as the probability does, and goes on where that is 1 in
    floating point: no ties are made by rounding.
    """
    ordered = np.sort(log_proba, axis=1)
    return np.asarray(ordered[:, -1] - logsumexp(ordered[:, :-1], axis=1))


def write_result(
    path: Path, command: str, quick: bool, result: Any, seconds: Mapping[str, float]
) -> None:
    """Write a result as JSON with the command, versions and CPU seconds behind it."""
    payload = {
        "command": command,
        "quick": quick,
        "seconds": dict(seconds),
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
    text = json.dumps(_finite(payload), indent=1, allow_nan=False)
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
