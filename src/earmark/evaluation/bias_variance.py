"""Bias and variance of a learning method over many training sets (VS6).

With P(c|d) the true probability and G_D(c|d) the output of the classifier trained on
D, per test document and summed over classes with a factor 1/2 (which gives the
one-class formulas of the source for two classes):

    learning error  E_D 1/2 sum_c (G_D - P)^2
    bias            1/2 sum_c (E_D G_D - P)^2
    variance        1/2 sum_c E_D (G_D - E_D G_D)^2
    learning error = bias + variance                       (14.13), checked to rounding

For 0/1 loss with Q(c|d) the share of training sets that answer c (Kohavi-Wolpert):

    error = bias + variance + noise, with bias 1/2 sum (P - Q)^2,
    variance 1/2 (1 - sum Q^2), noise 1/2 (1 - sum P^2)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from earmark.evaluation.result import Result, fresh
from earmark.exceptions import DataError
from earmark.folds import check_equal_length, n_rows, nested_order, take
from earmark.inputs.labels import (
    all_known,
    as_labels,
    as_probabilities,
    class_list,
    index_of,
)
from earmark.parameters import offers
from earmark.typing import (
    ArrayLike,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    Label,
    LabelsLike,
)

Draw = Callable[[np.random.Generator], tuple[DocumentsLike, LabelsLike]]


@dataclass(frozen=True)
class BiasVariance(Result):
    """Bias and variance, means over the test documents.

    Attributes
    ----------
    learning_error, bias, variance : float
        Of the squared error of P(c|d): learning_error = bias + variance.
    zero_one_error, zero_one_bias, zero_one_variance : float
        Of the 0/1 loss; error = bias + variance + noise.
    noise : float
        1/2 (1 - sum_c P(c|d)^2): what no classifier can avoid under 0/1 loss. 0
        when ``proba_known`` is false.
    proba_known : bool
        Whether the true P(c|d) was given. If not, the label stands for it, and
        the noise of the labels is part of both biases.
    n_sets : int
        Training sets.

    """

    learning_error: float
    bias: float
    variance: float
    zero_one_error: float
    zero_one_bias: float
    zero_one_variance: float
    noise: float
    proba_known: bool
    n_sets: int
    set_size: int

    def __str__(self) -> str:
        note = "" if self.proba_known else " (bias includes the noise of the labels)"
        return (
            f"squared error of P(c|d): {self.learning_error:.4f} = bias "
            f"{self.bias:.4f} + variance {self.variance:.4f}{note}\n"
            f"0/1 loss: {self.zero_one_error:.4f} = bias {self.zero_one_bias:.4f} + "
            f"variance {self.zero_one_variance:.4f} + noise {self.noise:.4f}\n"
            f"over {self.n_sets} training sets of {self.set_size:,} documents"
        )


def bias_variance(
    estimator: Estimator,
    X: DocumentsLike,
    y: ArrayLike | None,
    X_test: DocumentsLike,
    y_test: ArrayLike | None = None,
    *,
    proba_test: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    n_sets: int = 50,
    set_size: int | None = None,
    output: str = "auto",
    n_jobs: int | None = None,
    random_state: int = 0,
) -> BiasVariance:
    """Learning error, bias and variance over many training sets (VS6).

    Parameters
    ----------
    estimator : classifier
        Copies of it are trained.
    X, y
        Documents and labels from which the training sets are taken, each without
        replacement and stratified. X may be a function ``draw(rng) -> (X, y)``
        that makes a fresh training set; y is then None.
    X_test : matrix, list or frame
        Test documents.
    y_test : array-like of shape (n_test,), optional
        Their labels, standing for P(c|d) when ``proba_test`` is not given.
    proba_test : array-like of shape (n_test, n_classes), optional
        The true P(c|d), for made-up problems; columns as ``classes``.
    classes : array-like of shape (n_classes,), optional
        Needed with ``proba_test``.
    n_sets : int, default=50
        Training sets.
    set_size : int, optional
        Documents in each; default half of X.
    output : {"auto", "probability", "label"}, default="auto"
        G_D: the probability, or 1 for the label answered and 0 for the others.
        "auto" takes probabilities where the estimator has them.
    n_jobs, random_state
        Processes, and the seed of the training sets.

    Returns
    -------
    BiasVariance

    References
    ----------
    C. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information
    Retrieval, section 14.6. R. Kohavi, D. Wolpert (1996). Bias plus variance
    decomposition for zero-one loss functions. ICML.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> X = rng.normal(y, 1.0).reshape(-1, 1)
    >>> found = bias_variance(GaussianNB(), X[:100], y[:100], X[100:], y[100:])
    >>> abs(found.bias + found.variance - found.learning_error) < 1e-10
    True

    """
    if output not in ("auto", "probability", "label"):
        raise ValueError(
            f"output must be 'auto', 'probability' or 'label', got {output!r}."
        )
    if n_sets < 2:
        raise ValueError(f"n_sets must be >= 2, got {n_sets!r}.")
    names, target = _truth(y, X_test, y_test, proba_test, classes)
    draw, size = _drawing(X, y, set_size)
    outputs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_trained)(
            fresh(estimator, random_state + number),
            *draw(np.random.default_rng([random_state, number])),
            X_test,
            names,
            output,
        )
        for number in range(n_sets)
    )
    return _decomposed(outputs, target, n_sets, size, proba_test is not None)


def _truth(
    y: ArrayLike | None,
    X_test: DocumentsLike,
    y_test: ArrayLike | None,
    proba_test: ArrayLike | None,
    classes: ArrayLike | None,
) -> tuple[tuple[Label, ...], FloatMatrix]:
    """The classes, and P(c|d) of the test documents: given, or their labels."""
    if proba_test is not None:
        if classes is None:
            raise DataError("proba_test needs classes: the labels of its columns.")
        names = tuple(as_labels(classes))
        target = as_probabilities(proba_test, len(names))
        check_equal_length(X_test=X_test, proba_test=target)
        return names, target
    if y_test is None:
        raise DataError("give y_test, or the true probabilities as proba_test.")
    truth = all_known(as_labels(y_test), "y_test", X_test=X_test)
    names = class_list(truth, as_labels(y) if y is not None else (), classes=classes)
    return names, np.eye(len(names))[index_of(truth, names)]


def _drawing(
    X: DocumentsLike, y: ArrayLike | None, set_size: int | None
) -> tuple[Draw, int]:
    """How to make a training set, and its size."""
    if callable(X):
        draw: Draw = X
        return draw, n_rows(draw(np.random.default_rng(0))[1])
    if y is None:
        raise DataError("y is needed, unless X is a function that draws documents.")
    labels = as_labels(y)
    n_documents = check_equal_length(X=X, y=labels)
    size = set_size if set_size is not None else n_documents // 2
    if not 1 <= size <= n_documents:
        raise DataError(
            f"set_size must lie between 1 and {n_documents}, the documents given, "
            f"got {size}."
        )
    y_index, target = index_of(labels, class_list(labels)), np.asarray(y)

    def subset(rng: np.random.Generator) -> tuple[DocumentsLike, LabelsLike]:
        rows = nested_order(y_index, rng)[:size]
        return take(X, rows), target[rows]

    return subset, size


def _trained(
    model: Estimator,
    X: DocumentsLike,
    y: LabelsLike,
    X_test: DocumentsLike,
    names: tuple[Label, ...],
    output: str,
) -> tuple[FloatMatrix, FloatMatrix]:
    """Fit once: outputs for the test documents, and answers as 0/1 rows."""
    model.fit(X, y)
    answers = index_of(as_labels(model.predict(X_test)), names)
    said = np.eye(len(names))[answers]
    use_proba = output != "label" and offers(model, "predict_proba")
    if output == "probability" and not use_proba:
        raise DataError(
            f"output='probability' needs predict_proba, which "
            f"{type(model).__name__} has not; use output='label'."
        )
    if not use_proba:
        return said, said
    proba = np.zeros_like(said)
    proba[:, index_of(as_labels(model.classes_), names)] = model.predict_proba(X_test)
    return proba, said


def _decomposed(
    outputs: Any, target: FloatMatrix, n_sets: int, size: int, proba_known: bool
) -> BiasVariance:
    """Means over the test documents, in one pass over the training sets."""
    mean = np.zeros_like(target)
    spread = np.zeros_like(target)  # sum of squared deviations (Welford)
    votes = np.zeros_like(target)
    error = 0.0
    for number, (output_of_set, said) in enumerate(outputs, start=1):
        error += float(((output_of_set - target) ** 2).sum())
        step = output_of_set - mean
        mean += step / number
        spread += step * (output_of_set - mean)
        votes += said
    votes /= n_sets
    n_test = len(target)
    half = 0.5 / n_test
    return BiasVariance(
        learning_error=half * error / n_sets,
        bias=half * float(((mean - target) ** 2).sum()),
        variance=half * float(spread.sum()) / n_sets,
        zero_one_error=float(1 - (votes * target).sum() / n_test),
        zero_one_bias=half * float(((votes - target) ** 2).sum()),
        zero_one_variance=half * float(n_test - (votes**2).sum()),
        noise=half * float(n_test - (target**2).sum()),
        proba_known=proba_known,
        n_sets=n_sets,
        set_size=size,
    )
