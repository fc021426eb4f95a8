"""NBSVM: a linear classifier on naive Bayes log-count ratios."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from earmark._checks import require_in_range, require_integer, require_one_of
from earmark.kernels.rows import (
    canonical_rows,
    class_sums,
    presence,
    scale_rows,
    unit_rows,
)
from earmark.kernels.shuffle import distinct_documents
from earmark.kernels.softmax_dual import maximize_dual
from earmark.models._descent import seed_of
from earmark.models._margins import MarginClassifier
from earmark.models.protocols import LinearRule, ScoreParts, linear_parts
from earmark.typing import (
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    MatrixLike,
    SparseMatrix,
)

__all__ = ["NBSVM"]


class NBSVM(MarginClassifier):
    """Terms weigh by their naive Bayes log-count ratio, a linear SVM weighs again.

    A document is the set of its terms. For each class against the rest, a term's
    indicator is multiplied by the log of the ratio of the term's shares in the two,
    and a linear classifier is trained on that. Strong for sentiment and short texts,
    with word pairs as well as words; features should be counts or indicators.

    Parameters
    ----------
    C : float > 0, default=10.0
        Inverse strength of the penalty.
    alpha : float > 0, default=1.0
        Smoothing of the counts in the ratios.
    beta : float in [0, 1], default=1.0
        Interpolation: weights are beta * w + (1 - beta) * mean |w|; 0 is naive Bayes
        and 1 the linear classifier.
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        A support vector machine, or logistic regression.
    rows : {"unit", "indicators", "given"}, default="unit"
        What the ratios multiply. "unit": indicators (X > 0) scaled to length 1, so that
        long documents do not shout and one C suits all; "indicators": unscaled, as
        published (with ``C=1, beta=0.25``); "given": the rows of X as they are.
    max_passes : int, default=5000
        The most passes of the solver.
    tol : float > 0, default=0.1
        When the solver stops: spread of the projected gradients ("squared_hinge"), or
        a hundred times the relative duality gap ("log").
    class_weight : None, "balanced" or dict, default=None
        Factor on the weight of each class's documents.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's order of visits; None is a seed of its own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    log_ratio_ : ndarray of shape (n_problems, n_features)
        Log-count ratio of each class against the rest; one row for two classes.
    weights_ : ndarray of shape (n_problems, n_features)
        Weights on the rows: ratio times learned weight.
    intercept_ : ndarray of shape (n_problems,)
        Offsets.
    coef_ : ndarray of shape (n_problems, n_features)
        With ``rows="given"`` only, where scores are linear in X: ``weights_``.
    n_iter_ : int
        Most passes that a problem took.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] S. Wang and C. D. Manning (2012). Baselines and bigrams: simple, good
       sentiment and topic classification. ACL.

    Examples
    --------
    >>> X = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> NBSVM().fit(X, ["good", "good", "bad", "bad"]).predict([[1, 0, 1]])
    array(['good'], dtype='<U4')

    """

    log_ratio_: FloatMatrix

    def __init__(
        self,
        *,
        C: float = 10.0,
        alpha: float = 1.0,
        beta: float = 1.0,
        loss: str = "squared_hinge",
        rows: str = "unit",
        max_passes: int = 5000,
        tol: float = 0.1,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.alpha = alpha
        self.beta = beta
        self.loss = loss
        self.rows = rows
        self.max_passes = max_passes
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state

    def _check_parameters(self) -> None:
        require_in_range(self, "C", low=0.0, open_low=True)
        require_in_range(self, "alpha", low=0.0, open_low=True)
        require_in_range(self, "beta", low=0.0, high=1.0)
        require_in_range(self, "tol", low=0.0, open_low=True)
        require_integer(self, "max_passes", low=1)
        require_one_of(self, "loss", ("squared_hinge", "log"))
        require_one_of(self, "rows", ("unit", "indicators", "given"))

    def _rows(self, X: Matrix) -> SparseMatrix:
        """What the ratios multiply."""
        rows = canonical_rows(X)
        if self.rows == "given":
            return rows
        held = presence(rows, np.float64)
        return unit_rows(held) if self.rows == "unit" else held

    def _fit_problems(
        self, rows: SparseMatrix, y_index: IntVector, weight: FloatVector
    ) -> None:
        held = scale_rows(presence(rows, np.float64), weight)
        sums = class_sums(held, y_index, len(self.classes_)).toarray()
        fitted = []
        for c in self._problems():
            ratio = _log_ratio(sums[c], sums.sum(axis=0) - sums[c], self.alpha)
            data = rows.data * ratio[rows.indices]
            scaled = type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)
            fitted.append((ratio, *self._fit_problem(scaled, y_index == c, weight)))
        ratios, weights, bias, passes, enough = zip(*fitted, strict=True)
        self.log_ratio_ = np.stack(ratios)
        learned = np.stack(weights)
        typical = np.abs(learned).mean(axis=1, keepdims=True)
        learned = self.beta * learned + (1.0 - self.beta) * typical
        self.weights_ = self.log_ratio_ * learned
        self.intercept_ = np.array(bias)
        self.n_iter_ = max(passes)
        if not all(enough):
            warnings.warn(
                f"NBSVM has not converged after {self.max_passes} passes; raise "
                "max_passes or tol, or give a smaller C.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _fit_problem(
        self, X: SparseMatrix, is_class: BoolVector, weight: FloatVector
    ) -> tuple[FloatVector, float, int, bool]:
        """One class against the rest."""
        if self.loss == "squared_hinge":
            return self._fit_svm(
                X, is_class, self.C * weight, self.tol, self.max_passes
            )
        result = maximize_dual(
            X,
            is_class.astype(np.int64),
            distinct_documents(X, is_class.astype(np.int64), weight),
            2,
            C=self.C / 2,  # two rows of weights where a logistic regression has one
            seed=seed_of(self.random_state),
            max_passes=self.max_passes,
            tol=0.01 * self.tol,
        )
        weights = result.weights[:, 1] - result.weights[:, 0]
        bias = float(result.bias[1] - result.bias[0])
        return weights, bias, len(result.gaps), result.converged

    # -- answering -----------------------------------------------------------

    @property
    def coef_(self) -> FloatMatrix:
        """Weights on X itself, where the scores are linear in X."""
        if self.rows != "given":
            raise AttributeError(
                "NBSVM.coef_ exists with rows='given' only; weights_ holds the weights "
                f"on the rows that rows={self.rows!r} makes of X."
            )
        return self.weights_

    def linear_rule(self) -> LinearRule:
        """The scores as a sum over the document's terms."""
        return LinearRule.from_coef(
            self.weights_,
            self.intercept_,
            binary=self.rows != "given",
            unit=self.rows == "unit",
        )

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        rule, rows = self.linear_rule(), self._rows(self._validated(X))
        return linear_parts(rows, rule.weights, {"bias": rule.offset})


def _log_ratio(inside: FloatVector, outside: FloatVector, alpha: float) -> FloatVector:
    """Log of (p/|p|_1) / (q/|q|_1), p and q the smoothed counts of the two sides."""
    p, q = inside + alpha, outside + alpha
    return np.asarray(np.log(p / p.sum()) - np.log(q / q.sum()))
