"""Softmax regression for sparse text: descent, or the exact optimum."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Literal, Self

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from earmark.exceptions import NotSupportedError
from earmark.features.scoring import LinearRule
from earmark.kernels.keys import Visits
from earmark.kernels.rows import log_normalize, squared_lengths
from earmark.kernels.softmax import (
    Descent,
    DualStart,
    Steps,
    descend,
    maximize_dual,
    new_descent,
    settle,
)
from earmark.models.base.classifier import two_classes
from earmark.models.base.declaration import Model
from earmark.models.base.parted import PartedRows, PartRows
from earmark.models.shared.descent import DescentClassifier, TrainingSet
from earmark.parameters import AtLeastOne, Positive, estimator
from earmark.stored import OPTIONAL, floats, number
from earmark.typing import (
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    SparseMatrix,
)

# Step size of the adaptive descent on rows of length 1, for each root of a class.
_STEP = 0.25
_DUAL_C, _DUAL_PASSES = 10.0, 1000
# The optimum is unique. Where the gradient is below so much of the penalty's own,
# the weights are right to 1e-9, however the gradient was added up.
_NEAR = 1e-10
_STEEP, _NEWTON_STEPS, _CG_STEPS = 1e-14, 3, 200


@estimator
class SoftmaxRegression(DescentClassifier):
    """Multi-class logistic regression, made for sparse text.

    The probability of a class is the softmax of linear scores; the weights minimise
    the cross-entropy of the training labels. Three ways to get there:

    - ``"adaptive"``: gradient descent, one document at a time, each term with a step
      size that falls as the term is met. A handful of passes, no setting to tune.
      Stopping early does what a penalty would do.
    - ``"dual"``: the exact optimum of the cross-entropy with an L2 penalty, that of
      scikit-learn's ``LogisticRegression`` with the same ``C``, usually many times
      faster on text. Needs a penalty.
    - ``"plain"``: mini-batch descent as in textbooks, with a fixed step size ``eta``,
      batches of ``batch_size`` and ``n_batches`` steps.

    Rows of X should have comparable lengths, such as tf-idf with unit rows. The order
    of the rows has no influence on the result.

    Parameters
    ----------
    solver : {"adaptive", "plain", "dual"}, default="adaptive"
        See above.
    C : float > 0 or None, default=None
        Inverse strength of the L2 penalty, as in scikit-learn: the objective is
        C * sum of losses + |coef_|^2 / 2. None: no penalty for the descents, 10 for
        ``"dual"``.
    eta : float > 0 or None, default=None
        Step size. None: 0.25 * sqrt(n_classes) / (typical length of a row) for
        ``"adaptive"``, 1 / (mean squared length) for ``"plain"``.
    max_iter : int or None, default=None
        Passes over the documents, or for ``"dual"`` the most there may be. None:
        between 20 for a small collection and 5 for a large one; 1000 for ``"dual"``.
    batch_size : int, default=1
        Documents in a step of the descents.
    n_batches : int or None, default=None
        Steps of ``"plain"``, in place of ``max_iter``.
    tol : float > 0, default=1e-4
        ``"dual"`` stops when the duality gap is below this share of the objective.
    early_stopping : bool, default=False
        Hold a part of the documents out, stop when its accuracy rises no more, and
        keep the best pass. Descents only.
    validation_fraction : float in (0, 0.5], default=0.1
        The part to hold out.
    patience : int, default=2
        Passes without improvement before early stopping.
    fit_intercept : bool, default=True
        Learn an offset for each class; it is not penalised.
    class_weight : None, "balanced" or dict, default=None
        Factor on the weight of each class's documents.
    warm_start : bool, default=False
        Start ``fit`` from the weights of the last ``fit`` on the same columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of visits; None is a seed of its own.
    verbose : int, default=0
        1 shows the passes of a descent, on a terminal only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two
        Weights.
    intercept_ : ndarray of shape (n_classes,), or (1,) for two classes
        Offsets.
    n_iter_ : int
        Passes made.
    trace_ : dict of str to list of float
        For each pass: "loss", the mean loss met on the way, and with early stopping
        "validation_accuracy" and "validation_loss"; for ``"dual"`` "gap".
    step_size_ : float
        The eta in use; nan for ``"dual"``.
    objective_ : float
        ``"dual"`` only: the objective divided by C * sum of weights.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] C. M. Bishop (2006). Pattern recognition and machine learning. Section 4.3.
    .. [2] J. Duchi, E. Hazan and Y. Singer (2011). Adaptive subgradient methods for
       online learning and stochastic optimization. JMLR 12.
    .. [3] S. Shalev-Shwartz and T. Zhang (2013). Stochastic dual coordinate ascent
       methods for regularized loss minimization. JMLR 14.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 2], [0, 2, 1], [0, 1, 1]]
    >>> model = SoftmaxRegression(solver="dual").fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[3, 0, 0], [0, 3, 0]])
    array(['a', 'b'], dtype='<U1')

    """

    _length: Annotated[float, number(0), OPTIONAL] = field(init=False)
    _weight_seen: Annotated[float, number(0), OPTIONAL] = field(init=False)
    objective_: Annotated[float, number(), OPTIONAL] = field(init=False)

    _weights: Annotated[FloatMatrix, floats("n_features", "n_classes")] = field(
        init=False
    )
    _offset: Annotated[FloatVector, floats("n_classes")] = field(init=False)
    _squares: Annotated[FloatVector, floats(None, finite=False)] = field(init=False)

    solver: Literal["adaptive", "plain", "dual"] = "adaptive"
    C: Positive | None = None
    batch_size: AtLeastOne = 1
    n_batches: AtLeastOne | None = None
    tol: Positive = 1e-4
    warm_start: bool = False

    @property
    def coef_(self) -> FloatMatrix:
        """Weights; for two classes one row, the difference of the two."""
        weights = self._weights.T
        return weights[1:] - weights[:1] if len(self.classes_) == 2 else weights

    @property
    def intercept_(self) -> FloatVector:
        """Offsets, one for each row of ``coef_``."""
        offset = self._offset
        return offset[1:] - offset[:1] if len(self.classes_) == 2 else offset

    # -- learning ------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_batches is not None and self.solver != "plain":
            raise ValueError(
                "SoftmaxRegression.n_batches is for solver='plain', got solver="
                f"{self.solver!r}; use max_iter."
            )
        if self.solver == "dual" and (self.early_stopping or self._c() == math.inf):
            raise ValueError(
                "SoftmaxRegression.solver='dual' wants a finite C and no "
                f"early_stopping, got C={self.C!r} and "
                f"early_stopping={self.early_stopping!r}."
            )

    def _learns_in_passes(self) -> bool:
        if self.solver == "dual":
            raise NotSupportedError(
                "SoftmaxRegression(solver='dual') keeps no documents and cannot learn "
                "more of them; use solver='adaptive', or fit again on all."
            )
        return True

    def _meet(self, data: TrainingSet) -> None:
        self._weight_seen += data.total_weight

    def _fit_data(
        self, data: TrainingSet, held_out: tuple[SparseMatrix, IntVector] | None
    ) -> None:
        if self.solver != "dual":
            super()._fit_data(data, held_out)
            return
        # Back to weights that sum to the total.
        weight = data.visits.weight * (data.total_weight / len(data.visits))
        visits = replace(data.visits, weight=weight)
        start = None
        if self._continues(data.X.shape[1]):
            proba = np.exp(log_normalize(self._class_scores(data.X)))
            start = DualStart(proba, self._offset)
        result = maximize_dual(
            data.X,
            data.y_index,
            visits,
            len(self.classes_),
            C=self._c(),
            seed=self._seed(),
            max_passes=_DUAL_PASSES if self.max_iter is None else self.max_iter,
            tol=self.tol,
            fit_bias=self.fit_intercept,
            start=start,
        )
        self._weights, self._offset = result.weights, result.bias
        self._squares = np.zeros(0)
        self.step_size_, self.objective_ = math.nan, result.objective
        self.n_iter_, self.trace_ = len(result.gaps), {"gap": result.gaps}
        if not result.converged:
            warnings.warn(
                f"SoftmaxRegression has not converged after {self.n_iter_} passes: the "
                f"duality gap is {result.gaps[-1]:.3g} at an objective of "
                f"{result.objective:.3g}, tol is {self.tol:.3g}. Raise max_iter, or "
                "give a smaller C or shorter rows.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def fit_in_parts(self, rows: PartedRows) -> Self:
        """The exact optimum that ``solver="dual"`` approaches in memory."""
        docs = rows.docs.astype(np.float64)
        factor = rows.class_weight
        total = float(docs.sum() if factor is None else docs @ factor)

        def sums(at: Point, along: Point | None) -> Slope:
            slope: Slope = rows.sum("slope", _part_slope, at, along, factor)
            return slope

        self.fit_sums(rows.classes, rows.n_features, total, sums)
        return self

    def fit_sums(
        self, classes: Labels, n_features: int, total_weight: float, sums: DocumentSums
    ) -> Self:
        """Learn from sums over documents that are elsewhere, such as in parts.

        Finds the optimum that ``solver="dual"`` approaches; ``total_weight`` is the
        sum of the documents' weights.
        """
        if self.solver != "dual":
            raise NotSupportedError(
                f"SoftmaxRegression(solver={self.solver!r}) visits documents one by "
                "one; in parts take solver='dual', whose optimum is found by L-BFGS."
            )
        self._check_parameters()
        two_classes(self, classes)
        self.classes_, self.n_features_in_ = classes, n_features
        shape = (n_features, len(classes))
        objective = _Objective(sums, shape, total_weight, self._c(), self.fit_intercept)
        most = _DUAL_PASSES if self.max_iter is None else self.max_iter
        values, gradient, self.n_iter_ = objective.minimum(most)
        point = objective.point(values)
        self._weights = np.ascontiguousarray(point.weights)
        self._offset, self._squares = point.bias.copy(), np.zeros(0)
        self.step_size_, self.objective_ = math.nan, objective.trace[-1]
        self.trace_ = {"objective": objective.trace}
        steepest = float(np.abs(gradient).max())
        if steepest > 1e-6:
            warnings.warn(
                f"SoftmaxRegression has not converged after {self.n_iter_} steps: the "
                f"gradient is still {steepest:.3g}; raise max_iter or give a smaller "
                "C.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    def _c(self) -> float:
        """C for one row of weights per class; for two classes half of the user's."""
        # For two classes scikit-learn has one row, w = w_1 - w_0, so that
        # |w_0|^2 + |w_1|^2 = |w|^2 / 2: half of C gives the same optimum.
        default = _DUAL_C if self.solver == "dual" else math.inf
        value = default if self.C is None else float(self.C)
        n_classes = len(self.classes_) if hasattr(self, "classes_") else 0
        return value / 2 if n_classes == 2 else value

    def _continues(self, n_features: int) -> bool:
        """Whether there are weights of an earlier fit to start from."""
        if not self.warm_start or not hasattr(self, "_weights"):
            return False
        return self._weights.shape == (n_features, len(self.classes_))

    def _start(self, data: TrainingSet, n_classes: int) -> None:
        n_features = data.X.shape[1]
        mean_square = float(squared_lengths(data.X)[data.visits.rows].mean()) or 1.0
        self._length = math.sqrt(mean_square)
        automatic = 1.0 / mean_square
        if self.solver == "adaptive":
            automatic = _STEP * math.sqrt(n_classes) / self._length
        self.step_size_ = automatic if self.eta is None else float(self.eta)
        self._weight_seen = data.total_weight
        fresh = new_descent(n_features, n_classes)
        if not self._continues(n_features):
            self._weights, self._offset = fresh.weights, fresh.bias
            self._squares = fresh.squares
        elif len(self._squares) != n_features + 1:  # the dual has no steps to remember
            self._squares = fresh.squares

    def _pass(
        self, data: TrainingSet, order: IntVector, part: tuple[float, float]
    ) -> float:
        adaptive = self.solver == "adaptive"
        first, last = ((1.0 - p * adaptive) * self.step_size_ for p in part)
        # The bias is the weight of a constant as long as a typical row.
        bias_rate = (self._length if adaptive else 1.0) * float(self.fit_intercept)
        penalty = 1.0 / (self._c() * self._weight_seen)
        steps = Steps(first, last, self.batch_size, adaptive, bias_rate, penalty)
        rest = np.zeros(len(self._weights)), np.zeros(1)
        state = Descent(self._weights, self._offset, self._squares, *rest)
        loss = descend(data.X, data.y_index, data.visits.weight, order, state, steps)
        settle(state, steps)
        return loss

    def _orders(
        self, visits: Visits
    ) -> Iterator[tuple[IntVector, tuple[float, float]]]:
        if self.n_batches is None:
            yield from super()._orders(visits)
            return
        left, epoch = self.n_batches * self.batch_size, 0
        while left > 0:
            # A pass is cut into batches of its own; its last may be smaller.
            order = visits.order(self._seed(), epoch)[:left]
            yield order, (0.0, 0.0)
            left -= math.ceil(len(order) / self.batch_size) * self.batch_size
            epoch += 1

    def _n_passes(self, n_documents: int) -> int:
        if self.n_batches is None:
            return super()._n_passes(n_documents)
        return math.ceil(self.n_batches / math.ceil(n_documents / self.batch_size))

    def _arrays(self) -> list[NDArray[np.float64]]:
        return [self._weights, self._offset]

    # -- answering -----------------------------------------------------------

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return np.asarray(X @ self._weights + self._offset, dtype=np.float64)

    def linear_rule(self) -> LinearRule:
        """The scores as a sum over the document's terms."""
        return LinearRule(self._weights, self._offset, log_posteriors=log_normalize)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report squared gradients of another number than the weights."""
        if self._squares.size not in (0, sizes["n_features"] + 1):
            yield "._squares does not fit the weights"


def cross_entropy(
    scores: FloatMatrix, y_index: IntVector, weight: FloatVector
) -> tuple[float, FloatMatrix]:
    """Weighted sum of -log P(label), and its slope in the scores (SR1)."""
    rows = np.arange(len(y_index))
    top = scores.max(axis=1)
    residual = np.exp(scores - top[:, None])
    total = residual.sum(axis=1)
    loss = -float(weight @ (scores[rows, y_index] - top - np.log(total)))
    residual *= (weight / total)[:, None]
    residual[rows, y_index] -= weight
    return loss, residual


@dataclass
class Slope:
    """Loss and gradient of some documents; they add up over parts."""

    loss: float
    weights: FloatMatrix
    bias: FloatVector

    def merge(self, other: Slope) -> Self:
        """Add those of other documents."""
        self.loss = self.loss + other.loss
        self.weights = self.weights + other.weights
        self.bias = self.bias + other.bias
        return self


@dataclass(frozen=True)
class Point:
    """Weights (n_features, n_classes) and offsets, or a direction in them."""

    weights: FloatMatrix
    bias: FloatVector

    def slope(self, X: SparseMatrix, y_index: IntVector, weight: FloatVector) -> Slope:
        """Cross-entropy of documents, and its gradient."""
        loss, residual = cross_entropy(X @ self.weights + self.bias, y_index, weight)
        return Slope(loss, np.asarray(X.T @ residual), residual.sum(axis=0))

    def curve(self, X: SparseMatrix, weight: FloatVector, along: Point) -> Slope:
        """How the gradient changes along a direction (no loss)."""
        share = np.exp(log_normalize(X @ self.weights + self.bias))
        change = np.asarray(X @ along.weights + along.bias)
        bent = share * (change - (share * change).sum(axis=1, keepdims=True))
        bent *= weight[:, None]
        return Slope(0.0, np.asarray(X.T @ bent), bent.sum(axis=0))


# From weights to loss and gradient over all documents, wherever they are; along a
# direction in them, to the change of the gradient.
DocumentSums = Callable[[Point, Point | None], Slope]


@dataclass
class _Objective:
    """What is minimized: the mean weighted loss and the penalty on the weights."""

    sums: DocumentSums
    shape: tuple[int, int]
    total: float
    C: float
    has_bias: bool
    trace: list[float] = field(default_factory=list)

    @property
    def penalty(self) -> float:
        return 1.0 / (self.C * self.total)

    def point(self, values: FloatVector) -> Point:
        n_weights = self.shape[0] * self.shape[1]
        return Point(values[:n_weights].reshape(self.shape), values[n_weights:])

    def value(self, values: FloatVector) -> tuple[float, FloatVector]:
        """Value and gradient: one pass over the documents."""
        at = self.point(values)
        slope = self.sums(at, None)
        square = float(np.vdot(at.weights, at.weights))
        self.trace.append(slope.loss / self.total + 0.5 * self.penalty * square)
        return self.trace[-1], self._joined(slope, at)

    def curve(self, values: FloatVector, along: FloatVector) -> FloatVector:
        """Second derivative times a direction: one pass over the documents."""
        there = self.point(along)
        return self._joined(self.sums(self.point(values), there), there)

    def _joined(self, slope: Slope, at: Point) -> FloatVector:
        gradient = slope.weights / self.total + self.penalty * at.weights
        return np.concatenate(
            [gradient.ravel(), self.has_bias * slope.bias / self.total]
        )

    def minimum(self, max_iter: int) -> tuple[FloatVector, FloatVector, int]:
        """The optimum, its gradient and the steps taken."""
        # L-BFGS, one pass for every step; where it sees no more progress, Newton steps
        # bring the gradient to zero: however the documents are divided, the optimum is
        # the same.
        start = np.zeros(self.shape[0] * self.shape[1] + self.shape[1])
        options = {"maxiter": max_iter, "maxcor": 20, "ftol": 0.0, "gtol": _STEEP}
        near = scipy.optimize.minimize(
            self.value, start, jac=True, method="L-BFGS-B", options=options
        )
        point, gradient = near.x, near.jac
        for _ in range(_NEWTON_STEPS):
            size = self.penalty * float(np.abs(self.point(point).weights).max())
            if np.abs(gradient).max() <= _NEAR * size or near.nit >= max_iter:
                break
            system = sparse.linalg.LinearOperator(
                (len(point), len(point)), partial(self.curve, point)
            )
            step, _ = sparse.linalg.cg(system, gradient, rtol=1e-4, maxiter=_CG_STEPS)
            _, flatter = self.value(point - step)
            if not np.abs(flatter).max() < np.abs(gradient).max():
                break
            point, gradient = point - step, flatter
        return point, gradient, int(near.nit)


def _part_slope(
    at: Point, along: Point | None, factor: FloatVector | None, rows: PartRows
) -> Slope:
    """Cross-entropy of a part and its gradient, or how that changes."""
    weight = np.ones(len(rows.y)) if factor is None else factor[rows.y]
    if along is None:
        return at.slope(rows.X, rows.y, weight)
    return at.curve(rows.X, weight, along)


MODEL = Model(
    "softmax",
    SoftmaxRegression,
    "softmax regression (multi-class logistic regression) on tf-idf",
    fed="tfidf",
    defaults={"solver": "dual", "C": 10.0},
    takes=("random_state",),
)
