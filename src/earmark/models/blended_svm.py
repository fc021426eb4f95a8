"""Linear classifiers: with weights that are given, NBSVM, and its blend with an SVM."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import numpy as np

from earmark.features.scoring import LinearRule, ScoreParts, linear_parts
from earmark.kernels.rows import (
    canonical_rows,
)
from earmark.models.base.declaration import Model
from earmark.models.nbsvm import NBSVM
from earmark.models.shared.margins import MarginClassifier
from earmark.parameters import Positive, Share, estimator
from earmark.stored import sizes
from earmark.typing import (
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    MatrixLike,
    SparseMatrix,
)


@estimator
class BlendedSVM(MarginClassifier):
    """The mean of a linear SVM on the rows of X and of NBSVM on which terms are there.

    The two see the same terms in different ways, by tf-idf weight and by naive Bayes
    log-count ratio, and err on different documents; their margins have one scale, so
    that the mean needs no tuning. Features should be tf-idf weights.

    Parameters
    ----------
    C : float > 0, default=1.0
        Inverse strength of the penalty of the SVM on X.
    ratio_C : float > 0, default=10.0
        The same of NBSVM.
    share : float in [0, 1], default=0.5
        What NBSVM counts in the mean: 0 is the SVM alone, 1 is NBSVM alone.
    class_weight : None, "balanced" or dict, default=None
        Factor on the weight of each class's documents.
    random_state : int, RandomState instance or None, default=None
        Seed of the solvers' order of visits.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    weights_ : ndarray of shape (n_problems, n_features)
        Weights of the SVM on the rows of X; one row for two classes.
    intercept_ : ndarray of shape (n_problems,)
        Its offsets.
    nbsvm_ : NBSVM
        The machine on which terms are there.
    n_features_in_ : int
        Width of X seen in ``fit``.

    Examples
    --------
    >>> X = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> model = BlendedSVM(random_state=0).fit(X, ["good", "good", "bad", "bad"])
    >>> model.predict([[1, 0, 1]])
    array(['good'], dtype='<U4')

    """

    nbsvm_: Annotated[NBSVM, sizes(n_classes="n_classes", n_features="n_features")] = (
        field(init=False)
    )

    C: Positive = 1.0
    ratio_C: Positive = 10.0  # noqa: N815
    share: Share = 0.5

    def _fit_problems(
        self, rows: SparseMatrix, y_index: IntVector, weight: FloatVector
    ) -> None:
        cost, problems = self.C * weight, self._problems()
        fitted = [self._fit_svm(rows, y_index == c, cost) for c in problems]
        self.weights_ = np.stack([fit.weights for fit in fitted])
        self.intercept_ = np.array([fit.intercept for fit in fitted])
        nbsvm = NBSVM(C=self.ratio_C, random_state=self.random_state)
        self.nbsvm_ = nbsvm.fit(rows, self.classes_[y_index], weight)

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        own = super()._class_scores(X)
        return (1.0 - self.share) * own + self.share * self.nbsvm_._class_scores(X)

    def _svm_rule(self) -> LinearRule:
        return LinearRule.from_coef(self.weights_, self.intercept_)

    def term_weights(self) -> FloatMatrix:
        """What each term weighs for each class, but for the length of documents."""
        ratios = self.nbsvm_.linear_rule().weights
        return (1.0 - self.share) * self._svm_rule().weights + self.share * ratios

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        X = canonical_rows(self._validated(X))
        rule, nbsvm = self._svm_rule(), self.nbsvm_
        bias = (1.0 - self.share) * rule.offset
        bias = bias + self.share * nbsvm.linear_rule().offset
        by_weight = linear_parts(X, (1.0 - self.share) * rule.weights, {"bias": bias})
        for parts, ratio in zip(by_weight, nbsvm.score_parts(X), strict=True):
            # Terms that are there are among those that weigh anything.
            place = np.searchsorted(parts.columns, ratio.columns)
            parts.terms[place] += self.share * ratio.terms
        return by_weight


MODEL = Model(
    "blended-svm",
    BlendedSVM,
    "mean of two linear SVMs: on tf-idf, and on naive Bayes log-count ratios",
    fed="tfidf",
    takes=("random_state",),
)
