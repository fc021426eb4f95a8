"""Linear classifiers: with weights that are given, NBSVM, and its blend with an SVM."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Annotated, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from earmark.features.scoring import LinearRule, ScoreParts, linear_parts
from earmark.kernels.keys import distinct_documents
from earmark.kernels.rows import (
    canonical_rows,
    class_sums,
    presence,
    scale_rows,
    unit_rows,
)
from earmark.kernels.softmax import maximize_dual
from earmark.models.base.declaration import Model
from earmark.models.shared.margins import MarginClassifier
from earmark.parameters import AtLeastOne, Positive, Share, estimator, seed_of
from earmark.stored import floats
from earmark.typing import (
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    MatrixLike,
    SparseMatrix,
)


@estimator
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
        long documents do not outweigh short ones and one C suits all; "indicators":
        unscaled, as published (with ``C=1, beta=0.25``); "given": the rows of X as they
        are.
    max_iter : int, default=5000
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
    coef_ : ndarray of shape (n_problems, n_features)
        Weights on the rows that ``rows`` makes of X (X itself for "given"): ratio
        times learned weight. Also by the name ``weights_``.
    intercept_ : ndarray of shape (n_problems,)
        Offsets.
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

    n_iter_: int = field(init=False)

    log_ratio_: Annotated[FloatMatrix, floats("n_machines", "n_features")] = field(
        init=False
    )

    C: Positive = 10.0
    alpha: Positive = 1.0
    beta: Share = 1.0
    loss: Literal["squared_hinge", "log"] = "squared_hinge"
    rows: Literal["unit", "indicators", "given"] = "unit"
    max_iter: AtLeastOne = 5000
    tol: Positive = 0.1

    def _rows(self, X: Matrix) -> SparseMatrix:
        """Turn X into the rows that the log-ratios multiply."""
        rows = canonical_rows(X)
        if self.rows == "given":
            return rows
        indicators = presence(rows, np.float64)
        return unit_rows(indicators) if self.rows == "unit" else indicators

    def _fit_problems(
        self, rows: SparseMatrix, y_index: IntVector, weight: FloatVector
    ) -> None:
        weighted = scale_rows(presence(rows, np.float64), weight)
        sums = class_sums(weighted, y_index, len(self.classes_)).toarray()
        fitted = []
        for c in self._problems():
            # Log of (p/|p|_1) / (q/|q|_1), p and q the smoothed counts of both sides.
            p, q = sums[c] + self.alpha, sums.sum(axis=0) - sums[c] + self.alpha
            ratio = np.log(p / p.sum()) - np.log(q / q.sum())
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
                f"NBSVM has not converged after {self.max_iter} passes; raise "
                "max_iter or tol, or give a smaller C.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _fit_problem(
        self, X: SparseMatrix, is_class: BoolVector, weight: FloatVector
    ) -> tuple[FloatVector, float, int, bool]:
        """Fit the machine of one class against the rest."""
        if self.loss == "squared_hinge":
            return self._fit_svm(X, is_class, self.C * weight, self.tol, self.max_iter)
        result = maximize_dual(
            X,
            is_class.astype(np.int64),
            distinct_documents(X, is_class.astype(np.int64), weight),
            2,
            C=self.C / 2,  # two rows of weights where a logistic regression has one
            seed=seed_of(self.random_state),
            max_passes=self.max_iter,
            tol=0.01 * self.tol,
        )
        weights = result.weights[:, 1] - result.weights[:, 0]
        bias = float(result.bias[1] - result.bias[0])
        return weights, bias, len(result.gaps), result.converged

    # -- answering -----------------------------------------------------------

    @property
    def coef_(self) -> FloatMatrix:
        """Weights on the rows that ``rows`` makes of X."""
        return self.weights_

    def linear_rule(self) -> LinearRule:
        """The scores as a sum over the document's terms."""
        binary, unit = self.rows != "given", self.rows == "unit"
        coef, intercept = self.weights_, self.intercept_
        return LinearRule.from_coef(coef, intercept, binary=binary, unit=unit)

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        rule, rows = self.linear_rule(), self._rows(self._validated(X))
        return linear_parts(rows, rule.weights, {"bias": rule.offset})


MODEL = Model(
    "nbsvm",
    NBSVM,
    "NBSVM: naive Bayes log-count ratios under a linear classifier",
    takes=("random_state",),
)
