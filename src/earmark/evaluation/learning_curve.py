"""Accuracy against number of labels, its power law, and what more labels would buy."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from earmark.evaluation.result import Progress, Result, all_fits, fitted_with, fresh
from earmark.evaluation.significance import percentile_interval
from earmark.exceptions import DataError
from earmark.folds import nested_order, stratified_split, take
from earmark.inputs.duplicates import copied_texts
from earmark.inputs.labels import (
    all_known,
    as_labels,
    class_list,
    index_of,
    right_answers,
)
from earmark.inputs.texts import as_texts
from earmark.parameters import offers
from earmark.progress import tracked
from earmark.tables import text_table
from earmark.typing import (
    ArrayLike,
    BoolVector,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    JsonObject,
    Label,
    LabelsLike,
)

_EXPONENTS = np.linspace(0.05, 1.5, 59)


@dataclass(frozen=True)
class PowerLaw:
    """Error as a function of the number of labels."""

    floor: float
    scale: float
    exponent: float

    def error(self, n: ArrayLike) -> FloatVector:
        """Predicted error with n labelled documents."""
        size = np.asarray(n, dtype=np.float64)
        return np.asarray(self.floor + self.scale * size**-self.exponent)

    def size_for(self, error: float) -> float | None:
        """Labels needed to come down to an error; None if it is out of reach."""
        if error <= self.floor or self.scale == 0:
            return None
        return float(((error - self.floor) / self.scale) ** (-1 / self.exponent))


def fit_power_laws(
    sizes: ArrayLike,
    errors: FloatMatrix,
    weights: ArrayLike,
    exponent: float | None = None,
) -> list[PowerLaw]:
    """Least-squares power law of each row of errors (n_curves, n_sizes)."""
    # For a fixed exponent the law is a straight line in n^-exponent; one that is not
    # given is searched on a grid. With fewer than four sizes the floor is 0.
    n = np.asarray(sizes, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64)
    w = w / w.sum()
    grid = _EXPONENTS if exponent is None else np.array([exponent])
    x = (n / n[0]) ** -grid[:, None]  # (grid, sizes), 1 at the first size
    y = np.atleast_2d(errors)
    floor, scale = _lines(x, y, w, with_floor=len(n) >= 4)
    fitted = floor[:, :, None] + scale[:, :, None] * x[None]
    loss = ((fitted - y[:, None, :]) ** 2 * w).sum(axis=2)
    best = loss.argmin(axis=1)
    rows = np.arange(len(y))
    exponents = grid[best]
    scales = scale[rows, best] * n[0] ** exponents
    return [
        PowerLaw(float(a), float(b), float(c))
        for a, b, c in zip(floor[rows, best], scales, exponents, strict=True)
    ]


def _lines(
    x: FloatMatrix, y: FloatMatrix, w: FloatVector, *, with_floor: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Floor and scale >= 0 of y ~ floor + scale * x per curve and exponent."""
    xx = (x * x * w).sum(axis=1)
    xy = (y * w) @ x.T
    origin = xy / xx
    if not with_floor:
        return np.zeros_like(origin), np.maximum(origin, 0)
    x_mean = (x * w).sum(axis=1)
    y_mean = (y * w).sum(axis=1, keepdims=True)
    spread = xx - x_mean**2
    slope = (xy - y_mean * x_mean) / np.maximum(spread, 1e-300)
    floor = y_mean - slope * x_mean
    flat = np.broadcast_to(np.maximum(y_mean, 0), floor.shape)
    scale = np.where(slope < 0, 0.0, np.where(floor < 0, origin, slope))
    floor = np.where(slope < 0, flat, np.maximum(floor, 0.0))
    return floor, np.maximum(scale, 0.0)


_RESAMPLES = 300
_FEWEST_SIZES = 3  # as many as a power law has parameters


@dataclass(frozen=True, eq=False)
class LearningCurve(Result):
    """A learning curve with its fitted power law.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Labelled documents in the training sets.
    scores : ndarray of shape (n_repeats, n_sizes)
        Accuracy on the documents held out.
    mean, low, high : ndarray of shape (n_sizes,)
        Mean accuracy and its interval.
    law : PowerLaw
        error(n) = floor + scale * n^-exponent.
    n_labels : int
        All labelled documents given; the advice speaks of more than these.

    """

    sizes: IntVector
    scores: FloatMatrix
    mean: FloatVector
    low: FloatVector
    high: FloatVector
    law: PowerLaw
    laws: tuple[PowerLaw, ...]
    n_labels: int
    level: float

    @property
    def horizon(self) -> int:
        """How far the curve is carried on: twice the labels given.

        With fewer sizes than the law has parameters, it ends where it was measured.
        """
        far = len(self.sizes) >= _FEWEST_SIZES
        return 2 * self.n_labels if far else int(self.sizes[-1])

    def predict(self, n: float) -> float:
        """Predicted accuracy with n labelled documents."""
        return float(1 - self.law.error(n))

    def gain(self, n_more: int) -> tuple[float, float, float]:
        """Accuracy that ``n_more`` labels would add, with its interval."""
        now, later = self.n_labels, self.n_labels + n_more
        gains = [float(law.error(now) - law.error(later)) for law in self.laws]
        low, high = percentile_interval(gains, self.level)
        best = float(self.law.error(now) - self.law.error(later))
        return best, min(low, best), max(high, best)

    def labels_for(self, accuracy: float) -> int | None:
        """Labelled documents needed for an accuracy; None if it is out of reach."""
        needed = self.law.size_for(1 - accuracy)
        return None if needed is None or needed > 1e9 else int(np.ceil(needed))

    @property
    def advice(self) -> str:
        """Whether more labels would help, in plain words."""
        if len(self.sizes) < _FEWEST_SIZES:
            few = f"At least {_FEWEST_SIZES} sizes are needed"
            return f"{few} to say what more labels would do."
        more = _rounded(self.n_labels)
        gain, low, high = (100 * value for value in self.gain(more))
        interval = f"{100 * self.level:.0f} % interval {low:.1f} to {high:.1f}"
        points = f"buy {gain:.1f} points of accuracy ({interval})."
        if gain < 0.5:
            hardly = "More labels of this kind will hardly help"
            return f"{hardly}: about {more:,} more {points}"
        return f"About {more:,} more labels {points}"

    def __str__(self) -> str:
        columns = zip(self.sizes, self.mean, self.low, self.high, strict=True)
        rows = [
            [f"{size:,}", f"{mean:.3f}", f"{low:.3f}–{high:.3f}"]
            for size, mean, low, high in columns
        ]
        header = ["labels", "accuracy", f"{100 * self.level:.0f} % interval"]
        return f"{text_table(header, rows)}\n\n{self.advice}"

    def to_dict(self) -> JsonObject:
        """Plain values for JSON."""
        law = asdict(self.law)
        points, low, high = self.gain(self.n_labels)
        gain = {"points": points, "low": low, "high": high}
        known = len(self.sizes) >= _FEWEST_SIZES
        return {
            "sizes": self.sizes.tolist(),
            "mean": self.mean.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "n_repeats": len(self.scores),
            **(law if known else dict.fromkeys(law)),
            "n_labels": self.n_labels,
            "gain_of_doubling": gain if known else None,
            "advice": self.advice,
        }


def learning_curve(
    estimator: Estimator,
    X: DocumentsLike,
    y: ArrayLike,
    *,
    unlabelled: DocumentsLike = None,
    sizes: ArrayLike | None = None,
    n_repeats: int = 5,
    test_size: float = 0.25,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> LearningCurve:
    """Measure accuracy against the number of labels and fit a power law.

    In each repetition a test part is held out, with the near-duplicates of its
    texts, and the estimator is fitted on growing beginnings of one shuffled,
    stratified order of the rest: the training sets are nested, so the curve is not
    disturbed by their differences. What an estimator chooses by itself is chosen in
    the first repetition, for each size anew.

    Parameters
    ----------
    estimator : classifier
        Anything with ``fit`` and ``predict``; copies are fitted.
    X : list of str, matrix, frame or dict of columns
        The labelled documents.
    y : array-like of shape (n_documents,)
        Their labels.
    unlabelled : like X, optional
        Documents without labels, the same for every size, for an estimator whose
        ``fit`` takes ``unlabelled``.
    sizes : array-like of int, optional
        Training set sizes; default seven, in a geometric sequence.
    n_repeats, test_size : int and float, default=5 and 0.25
        Repetitions, and the share of documents held out in each.
    level : float, default=0.95
        Of the intervals.
    n_jobs : int, optional
        Processes; the figures do not depend on it.
    random_state : int, default=0
        Same seed, same curve.
    progress : callable (done, total, name), optional
        Called after each fit.

    Returns
    -------
    LearningCurve
        With ``advice``: what more labels would buy.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = rng.normal(size=(400, 20)) + y[:, None] * 0.5
    >>> curve = learning_curve(GaussianNB(), X, y)
    >>> bool(curve.mean[-1] > curve.mean[0])
    True

    """
    target = np.asarray(y)
    # Name the row of a missing text: in a sample it would have another number.
    if isinstance(X, list | tuple) and any(isinstance(text, str) for text in X):
        as_texts(X)
    labels = all_known(as_labels(y), "y", X=X)
    y_index = index_of(labels, class_list(labels))
    steps = _sizes(sizes, y_index, test_size)
    groups = copied_texts(X)

    rng = np.random.default_rng(random_state)
    names = [f"{size:,} labels" for size in steps]
    every, total = [estimator] * len(steps), n_repeats * len(steps)
    repeats: list[Label] = []
    for repeat in tracked("repetition", range(n_repeats), n_repeats):
        train, held_out = stratified_split(y_index, test_size, rng, groups)
        order = train[nested_order(y_index[train], rng)]
        test = take(X, held_out), target[held_out]
        tasks = (
            delayed(_judged)(
                one,
                (take(X, order[:size]), target[order[:size]], unlabelled),
                test,
                random_state + repeat,
                settle=repeat == 0,
            )
            for one, size in zip(every, steps, strict=True)
        )
        said = _later(progress, repeat * len(steps), total)
        answers, settled = zip(*all_fits(tasks, names, n_jobs, said), strict=True)
        repeats.append(np.stack(answers))
        every = list(settled)
    return _summarized(steps, repeats, len(labels), level, random_state)


def _later(report: Progress | None, done: int, total: int) -> Progress | None:
    """Report some fits of many, of which so many are done."""
    if report is None:
        return None
    return lambda n_done, _, name: report(done + n_done, total, name)


def _sizes(sizes: ArrayLike | None, y_index: IntVector, test_size: float) -> IntVector:
    n_classes = int(y_index.max()) + 1
    if n_classes < 2:
        raise DataError("a learning curve needs at least 2 classes in y, got 1.")
    most = int((1 - test_size) * len(y_index)) - n_classes
    if most < 2:
        raise DataError(
            f"a learning curve needs some documents beside the test part, got "
            f"{len(y_index)} in {n_classes} classes; label more documents."
        )
    if sizes is not None:
        steps = np.unique(np.asarray(sizes, dtype=np.int64))
    else:
        first = max(2 * n_classes, 10, most // 64)
        steps = np.unique(np.geomspace(min(first, most), most, 7).astype(np.int64))
    if not len(steps) or steps[0] < 2 or steps[-1] > len(y_index):
        raise DataError(
            f"sizes must lie between 2 and {most}, the documents left for training, "
            f"got {steps.tolist()}; label more documents."
        )
    return steps


def _judged(
    estimator: Estimator,
    train: tuple[DocumentsLike, LabelsLike, DocumentsLike],
    test: tuple[DocumentsLike, LabelsLike],
    seed: int,
    *,
    settle: bool,
) -> tuple[BoolVector, Estimator]:
    """Which test documents are answered rightly after fitting, and what fits next.

    With ``settle`` that is an estimator with the settings that this one has chosen.
    """
    model = fitted_with(fresh(estimator, seed), *train)
    if settle and offers(model, "settled"):
        estimator = model.settled()
    right = right_answers(as_labels(test[1]), as_labels(model.predict(test[0])))
    return right, estimator


def _summarized(
    steps: IntVector, repeats: list[Label], n_labels: int, level: float, seed: int
) -> LearningCurve:
    """Means, intervals and power laws; repeats hold (n_sizes, n_test) answers."""
    scores = np.stack([right.mean(axis=1) for right in repeats])
    mean = scores.mean(axis=0)
    drawn = _resampled(repeats, seed)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    laws = _laws(steps, mean, drawn)
    return LearningCurve(
        sizes=steps,
        scores=scores,
        mean=mean,
        low=np.minimum(low, mean),
        high=np.maximum(high, mean),
        law=laws[0],
        laws=tuple(laws[1:]),
        n_labels=n_labels,
        level=level,
    )


def _laws(steps: IntVector, mean: FloatVector, drawn: FloatMatrix) -> list[PowerLaw]:
    """The law of the mean curve, then one per resampled curve."""
    # Weights grow with the size: the end of the curve says most about what comes.
    # A forecast also rests on where the law begins to hold and how fast it falls. So
    # the resampled curves take turns to leave out none, one or two of the smallest
    # sizes, and to have their exponent free or set to 1/2 or 1, the rates of theory.
    error = np.clip(1 - mean, 1e-3, 0.999)
    weights = steps / (error * (1 - error))
    laws = fit_power_laws(steps, 1 - mean[None], weights)
    turns = [(skip, power) for skip in range(3) for power in (None, 0.5, 1.0)]
    for turn, (skip, power) in enumerate(turns):
        first = skip if len(steps) - skip >= 4 else 0
        curves = 1 - drawn[turn :: len(turns), first:]
        laws += fit_power_laws(steps[first:], curves, weights[first:], power)
    return laws


def _resampled(repeats: list[Label], seed: int) -> FloatMatrix:
    """Curves of resampled repetitions and, the same for every size, their documents."""
    rng = np.random.default_rng(seed)
    curves = np.zeros((_RESAMPLES, len(repeats[0])))
    for row in range(_RESAMPLES):
        for number in rng.integers(0, len(repeats), len(repeats)):
            right = repeats[number]
            n_test = right.shape[1]
            times = np.bincount(rng.integers(0, n_test, n_test), minlength=n_test)
            curves[row] += right @ times / n_test
    return curves / len(repeats)


def _rounded(number: int) -> int:
    """Round to two leading digits, since nobody orders 1,187 labels."""
    step: int = 10 ** max(len(str(number)) - 2, 0)
    return max(round(number / step) * step, 1)
