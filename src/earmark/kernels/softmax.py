"""Softmax: its temperature; its regression by descent, and by dual coordinate ascent.

The optimum (``maximize_dual``):

    minimize over W, b   sum_d c_d (-log y_d,t(d)) + |W|^2 / 2

with y_d = softmax(W'x_d + b) and c_d = C s_d. The dual has a distribution a_d over the
classes for each document and W = sum_d c_d x_d (t_d - a_d)'; at the optimum a_d = y_d.
One visit solves for one a_d exactly, all others held:

    log a + q (a - a_old) = scores - nu,   sum a = 1,   q = c_d |x_d|^2

The duality gap is sum_d c_d KL(a_d, y_d): it says how far off the optimum is. The bias
is the weight of a constant feature that is drawn towards its value at the start of
the pass, not towards zero, so that it ends up unpenalised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.kernels.keys import Visits
from earmark.kernels.rows import csr_arrays, log_normalize, row_entries, squared_lengths
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

# The coldest and the hottest considered, relative to the spread of the scores.
_TEMPERATURES = 1e-4, 1e2


@dataclass
class Descent:
    """The state of a descent; the kernels change it in place."""

    weights: FloatMatrix
    """(n_features, n_classes)."""
    bias: FloatVector
    squares: FloatVector
    """Sum of squared gradients of each term and, at the end, of the bias."""
    decayed: FloatVector
    """Length of the path up to which each term's decay was applied."""
    path: FloatVector
    """One value: the sum of the step sizes so far."""


@dataclass(frozen=True)
class Steps:
    """How far each step of a pass goes."""

    first: float
    """Step size at the start of the pass, and ..."""
    last: float
    """... at its end; between them it changes in a straight line."""
    batch_size: int = 1
    adaptive: bool = True
    """Divide a term's step by the root of the sum of its squared gradients."""
    bias_rate: float = 1.0
    penalty: float = 0.0


def new_descent(n_features: int, n_classes: int) -> Descent:
    """Zero weights."""
    return Descent(
        np.zeros((n_features, n_classes)),
        np.zeros(n_classes),
        np.zeros(n_features + 1),
        np.zeros(n_features),
        np.zeros(1),
    )


def descend(
    X: SparseMatrix,
    y_index: IntVector,
    weight: FloatVector,
    order: IntVector,
    state: Descent,
    steps: Steps,
) -> float:
    """One pass over the rows in ``order``; the sum of losses before each step."""
    labels = np.ascontiguousarray(y_index, dtype=np.int32)
    lib = native()
    if lib is not None:
        loss = lib.softmax_descend(
            *csr_arrays(X),
            order=order,
            y=labels,
            weight=weight,
            weights=state.weights,
            bias=state.bias,
            squares=state.squares,
            decayed=state.decayed,
            path=state.path,
            first=steps.first,
            last=steps.last,
            batch_size=steps.batch_size,
            adaptive=steps.adaptive,
            bias_rate=steps.bias_rate,
            penalty=steps.penalty,
        )
        return float(loss)
    n_rows, loss = len(order), 0.0
    for first in range(0, n_rows, steps.batch_size):
        batch = order[first : first + steps.batch_size]
        eta = steps.first + (steps.last - steps.first) * (first / n_rows)
        rows = list(row_entries(X[batch]))
        for terms, _ in rows:
            if steps.penalty > 0:
                gap = state.path[0] - state.decayed[terms]
                keep = _after_decay(gap, state.squares[terms], steps)
                state.weights[terms] *= keep[:, None]
                state.decayed[terms] = state.path[0]
        scores = np.stack([x @ state.weights[terms] for terms, x in rows]) + state.bias
        own = scores[np.arange(len(batch)), labels[batch]]
        residuals, normalizer = softmax(scores)
        loss += float(weight[batch] @ (normalizer - own))
        residuals[np.arange(len(batch)), labels[batch]] -= 1.0
        residuals *= weight[batch, None]
        step = eta if steps.adaptive else eta / len(batch)
        for (terms, x), residual in zip(rows, residuals, strict=True):
            _step(state, steps, terms, x, step, residual)
        state.path[0] += eta * len(batch) if steps.adaptive else eta
    return loss


def settle(state: Descent, steps: Steps) -> None:
    """Apply the decay that still waits, to every term."""
    if steps.penalty > 0:
        gap = state.path[0] - state.decayed
        keep = _after_decay(gap, state.squares[:-1], steps)
        state.weights *= keep[:, None]
    state.decayed[:] = 0.0
    state.path[:] = 0.0


def softmax(scores: FloatMatrix) -> tuple[FloatMatrix, FloatVector]:
    """Probabilities of each row, and the logs of their normalizers."""
    top = scores.max(axis=1, keepdims=True)
    powers = np.exp(scores - top)
    total = powers.sum(axis=1, keepdims=True)
    return powers / total, (top + np.log(total))[:, 0]


def _step(
    state: Descent,
    steps: Steps,
    terms: IntVector,
    x: FloatVector,
    step: float,
    residual: FloatVector,
) -> None:
    """Move weights, bias and sums of squares by one document's gradient (SR1)."""
    square = float(residual @ residual)
    if square == 0.0:
        return
    factor, bias_factor = -step * x, -step * steps.bias_rate
    if steps.adaptive:
        state.squares[terms] += x * x * square
        state.squares[-1] += square
        factor = factor / np.sqrt(state.squares[terms])
        bias_factor /= np.sqrt(state.squares[-1])
    state.weights[terms] += factor[:, None] * residual
    state.bias += bias_factor * residual


def _after_decay(gap: FloatVector, squares: FloatVector, steps: Steps) -> FloatVector:
    """What is left of each weight after the decay of a stretch of the path."""
    rate = np.ones_like(gap)
    if steps.adaptive:
        rate = np.zeros_like(gap)
        np.divide(1.0, np.sqrt(squares), out=rate, where=squares > 0)
    return np.asarray(1.0 / (1.0 + steps.penalty * gap * rate))


# Square of the constant feature that carries the bias, relative to a document's.
_BIAS_SHARE = 0.1
_LOWEST = -700.0
_CLOSE = 1e-6
_MOST_STEPS = 50


@dataclass(frozen=True)
class DualStart:
    """Where an earlier model left off: its probabilities of every row, its bias."""

    proba: FloatMatrix
    bias: FloatVector


@dataclass(frozen=True)
class DualResult:
    """Where dual ascent arrived."""

    weights: FloatMatrix
    """(n_features, n_classes)."""
    bias: FloatVector
    objective: float
    """The mean loss with its penalty: the objective divided by sum_d c_d."""
    gaps: list[float]
    """Duality gap in the same unit, as met during each pass."""
    converged: bool


def maximize_dual(
    X: SparseMatrix,
    y_index: IntVector,
    visits: Visits,
    n_classes: int,
    *,
    C: float,
    seed: int,
    max_passes: int,
    tol: float,
    fit_bias: bool = True,
    start: DualStart | None = None,
) -> DualResult:
    """Visit all documents until the gap is below ``tol`` of the objective."""
    labels = np.ascontiguousarray(y_index, dtype=np.int32)
    strength, square = C * visits.weight, squared_lengths(X)
    total = float(strength[visits.rows].sum())
    typical = float(square[visits.rows].mean()) or 1.0
    bias_square = _BIAS_SHARE * typical if fit_bias else 0.0
    ascent = _Ascent(X, labels, strength, square, bias_square, n_classes, start)
    gaps: list[float] = []
    converged = False
    for epoch in range(max_passes):
        ascent.visit(visits.order(seed, epoch), fresh=epoch == 0 and start is None)
        # From here on the bias is drawn towards where it is now.
        ascent.bias += bias_square * ascent.pull
        gap = ascent.gap + bias_square * float(ascent.pull @ ascent.pull)
        gaps.append(gap / total)
        dual = ascent.entropy - ascent.penalty()
        converged = gap <= tol * (dual + gap)
        if converged:
            break
    objective = ascent.objective(visits.rows) / total
    return DualResult(ascent.weights, ascent.bias, objective, gaps, converged)


class _Ascent:
    """State of the dual ascent: weights, bias and the log share of each document."""

    def __init__(
        self,
        X: SparseMatrix,
        labels: NDArray[np.int32],
        strength: FloatVector,
        square: FloatVector,
        bias_square: float,
        n_classes: int,
        start: DualStart | None,
    ) -> None:
        self.X, self.labels, self.strength = X, labels, strength
        self.square, self.bias_square = square, bias_square
        self.gap = self.entropy = 0.0
        self.pull = np.zeros(n_classes)
        targets = np.zeros((X.shape[0], n_classes))
        targets[np.arange(X.shape[0]), labels] = 1.0
        if start is None:
            self.weights = np.zeros((X.shape[1], n_classes))
            self.bias = np.zeros(n_classes)
            # log 0 is no start for Newton's method: the first guess is less certain.
            self.logs = np.log(0.99 * targets + 0.01 / n_classes)
            return
        weights = X.T @ (strength[:, None] * (targets - start.proba))
        self.weights = np.ascontiguousarray(weights)
        self.bias = np.array(start.bias, dtype=np.float64)
        self.logs = np.log(np.maximum(start.proba, np.exp(_LOWEST)))

    def penalty(self) -> float:
        """Half the squared length of the weights."""
        return 0.5 * float(np.vdot(self.weights, self.weights))

    def objective(self, rows: IntVector) -> float:
        """The primal objective on these rows."""
        scores = (self.X @ self.weights + self.bias)[rows]
        loss = softmax(scores)[1] - scores[np.arange(len(rows)), self.labels[rows]]
        return float(self.strength[rows] @ loss) + self.penalty()

    def visit(self, order: IntVector, fresh: bool) -> None:
        """One pass; ``fresh`` where every a_d is still t_d."""
        self.pull[:] = 0.0
        lib = native()
        if lib is None:
            self._visit_plain(order, fresh)
            return
        self.gap, self.entropy = lib.softmax_ascend(
            *csr_arrays(self.X),
            order=order,
            y=self.labels,
            strength=self.strength,
            square=self.square,
            weights=self.weights,
            bias=self.bias,
            logs=self.logs,
            pull=self.pull,
            bias_square=self.bias_square,
            fresh=fresh,
        )

    def _visit_plain(self, order: IntVector, fresh: bool) -> None:
        self.gap = self.entropy = 0.0
        for row, (terms, x) in zip(order, row_entries(self.X[order]), strict=True):
            scores = x @ self.weights[terms] + self.bias
            target = np.zeros(len(scores))
            target[self.labels[row]] = 1.0
            logs, strength = self.logs[row], self.strength[row]
            old = target if fresh else np.exp(logs)
            normalizer = softmax(scores[None])[1][0]
            gap = float(old @ ((0.0 if fresh else logs) - scores)) + normalizer
            self.gap += strength * gap
            q = strength * (self.square[row] + self.bias_square)
            logs, now = _solve_visit(scores + q * old, logs, q)
            self.logs[row] = logs
            self.pull += strength * (target - now)
            self.entropy -= strength * float(now @ logs)
            move = strength * (old - now)
            self.weights[terms] += x[:, None] * move
            self.bias += self.bias_square * move


def _solve_visit(
    target: FloatVector, logs: FloatVector, q: float
) -> tuple[FloatVector, FloatVector]:
    """Solve log a + q a = target - nu for shares a that add up to 1, by Newton."""
    now = np.exp(logs)
    for _ in range(_MOST_STEPS):
        scale = 1.0 + q * now
        off = target - logs - q * now
        slope = now / scale
        nu = (float(slope @ off) - (1.0 - now.sum())) / slope.sum()
        logs = np.clip(logs + (off - nu) / scale, _LOWEST, 0.0)
        moved = np.exp(logs)
        change, now = np.abs(moved - now).max(), moved
        if change < _CLOSE:
            break
    return logs, now


def fitted_temperature(
    scores: FloatMatrix,
    own: IntVector,
    weight: FloatVector,
    *,
    softened: bool = True,
    pull: float = 0.0,
    bounds: tuple[float, float] | None = None,
) -> float | None:
    """The T for which softmax(scores / T) predicts the labels ``own`` best.

    Minimizes the weighted log loss, convex in 1 / T, plus ``pull`` (log T)^2. If
    ``softened``, the target is a little less than 1, as Platt proposed in 1999: a
    handful of documents cannot prove certainty. -inf marks an impossible class;
    documents of one are left out, None where none is left. ``bounds`` are those of
    log 1 / T.
    """
    from scipy.optimize import brentq

    possible = np.isfinite(scores)
    usable = possible[np.arange(len(own)), own] & (weight > 0)
    usable &= possible.sum(axis=1) > 1
    own, weight, possible = own[usable], weight[usable], possible[usable]
    n_possible = possible.sum(axis=1, keepdims=True)
    scores = np.where(possible, scores[usable], 0.0)
    size = np.abs(scores).max(initial=0.0)
    scores -= scores.sum(axis=1, keepdims=True) / n_possible
    spread = math.sqrt((scores**2).sum() / max(1, n_possible.sum()))
    if not spread > 1e-12 * size:  # all alike, but for rounding
        return None
    slack = 2.0 / (float(weight.sum()) + 2.0) if softened else 0.0
    target = np.where(possible, slack / n_possible, 0.0)
    target[np.arange(len(own)), own] += 1.0 - slack
    wanted = float(weight @ (target * scores).sum(axis=1))

    def slope(log_beta: float) -> float:
        """Derivative of the loss in log beta, beta = 1 / T, by beta."""
        beta = math.exp(log_beta)
        chance = np.exp(log_normalize(np.where(possible, scores * beta, -np.inf)))
        excess = float(weight @ (chance * scores).sum(axis=1)) - wanted
        return excess + 2.0 * pull * log_beta / beta

    hottest, coldest = _TEMPERATURES[1] * spread, _TEMPERATURES[0] * spread
    low, high = bounds or (-math.log(hottest), -math.log(coldest))
    if slope(low) >= 0.0 or slope(high) <= 0.0:
        return math.exp(-(low if slope(low) >= 0.0 else high))
    return math.exp(-brentq(slope, low, high, xtol=1e-13, rtol=1e-13))
