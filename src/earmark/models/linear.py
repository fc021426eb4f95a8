"""Linear classifiers: with weights that are given, NBSVM, and its blend with an SVM."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from earmark.exceptions import DataError
from earmark.kernels.keys import distinct_documents
from earmark.kernels.offset_svm import LinearFit, fit_offset_svm
from earmark.kernels.rows import (
    canonical_rows,
    class_sums,
    presence,
    scale_rows,
    unit_rows,
)
from earmark.kernels.softmax import maximize_dual
from earmark.models.base import (
    LinearRule,
    RankingClassifier,
    ScoreParts,
    class_columns,
    document_weights,
    linear_parts,
    require_weighted,
    two_classes,
)
from earmark.parameters import AtLeastOne, Positive, Share, seed_of, with_parameters
from earmark.typing import (
    ArrayLike,
    BoolVector,
    ClassWeightLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    LabelsLike,
    Matrix,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)


@dataclass(frozen=True)
class LinearClassifier:
    """Answer the second class where w.x > b, else the first.

    There is nothing to fit: weights and threshold are given, such as those of a
    paper, of a rule written by hand, or of the hyperplane between two centroids.

    Parameters
    ----------
    w : array-like of shape (n_features,)
        Weight of each column.
    b : float, default=0.0
        Threshold of the weighted sum.
    classes : two labels, default=(False, True)
        The answer for w.x <= b, and for w.x > b.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to
       Information Retrieval, figure 14.9 (ApplyLinearClassifier). Cambridge
       University Press.

    Examples
    --------
    >>> rule = LinearClassifier([0.7, -0.5], b=0.1, classes=("other", "interest"))
    >>> rule.predict([[1, 0], [1, 2]])
    array(['interest', 'other'], dtype='<U8')
    >>> rule.decision_function([[1, 0], [1, 2]]).round(2)
    array([ 0.6, -0.4])

    """

    w: ArrayLike
    b: float = 0.0
    classes: LabelsLike = field(default=(False, True))

    def __post_init__(self) -> None:
        weights = np.asarray(self.w, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all():
            raise DataError(
                f"w must be one finite number per column, got shape {weights.shape}."
            )
        if len(np.unique(np.asarray(self.classes))) != 2:
            raise DataError(f"classes must be two labels, got {self.classes!r}.")

    @property
    def classes_(self) -> Labels:
        """The two labels: for w.x <= b, and for w.x > b."""
        return np.asarray(self.classes)

    def decision_function(self, X: MatrixLike) -> FloatVector:
        """w.x - b of each row, (n_samples,)."""
        rows = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        weights = np.asarray(self.w, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(weights):
            raise DataError(
                f"X must have {len(weights)} columns, one per weight, got shape "
                f"{rows.shape}."
            )
        return np.asarray(rows @ weights, dtype=np.float64) - self.b

    def predict(self, X: MatrixLike) -> Labels:
        """The label of each row."""
        return self.classes_[(self.decision_function(X) > 0).astype(np.int64)]

    def score(self, X: MatrixLike, y: LabelsLike) -> float:
        """Accuracy on X and y."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def linear_rule(self) -> LinearRule:
        """The scores of both classes as a sum over the row's entries."""
        weights: FloatMatrix = np.asarray(self.w, dtype=np.float64)[None]
        return LinearRule.from_coef(weights, np.array([-self.b]))


# So many columns for each entry make it worthwhile to find those that are used.
_MANY_TIMES = 4


@with_parameters()
class MarginClassifier(RankingClassifier):
    """A linear machine for each class against the rest; two classes share one."""

    # Equal documents are one of their summed weight: the order of rows has no
    # influence.

    weights_: FloatMatrix = field(init=False)
    intercept_: FloatVector = field(init=False)
    class_weight: ClassWeightLike = None
    random_state: RandomStateLike = None

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike = None
    ) -> Self:
        """Learn X (n_samples, n_features) and y; a term is present where X > 0."""
        self._check_parameters()
        X, labels = self._training_data(X, y)
        self.classes_, y_index = two_classes(self, labels)
        rows = self._rows(X)
        weight = document_weights(sample_weight, labels, self.class_weight)
        require_weighted(labels, weight)
        visits = distinct_documents(rows, y_index, weight)
        some = visits.rows
        self._fit_problems(rows[some], y_index[some], visits.weight[some])
        return self

    @abstractmethod
    def _fit_problems(
        self, rows: SparseMatrix, y_index: IntVector, weight: FloatVector
    ) -> None:
        """Fit the machines to distinct documents."""

    def _rows(self, X: Matrix) -> SparseMatrix:
        """What the machines see of X."""
        return canonical_rows(X)

    def _problems(self) -> Iterable[int]:
        """Numbers of the classes that have a machine."""
        return [1] if len(self.classes_) == 2 else range(len(self.classes_))

    def _fit_svm(
        self,
        rows: SparseMatrix,
        is_class: BoolVector,
        cost: FloatVector,
        tol: float = 1e-3,
        max_iter: int = 5000,
    ) -> LinearFit:
        """A support vector machine with squared hinge loss, class against rest."""
        sign, none = np.where(is_class, 1.0, -1.0), np.zeros(rows.shape[1])
        seed = seed_of(self.random_state)
        return fit_offset_svm(
            rows, none, sign, cost, tol=tol, max_iter=max_iter, seed=seed
        )

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return margin_scores(self._rows(X), self.weights_, self.intercept_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the checks' data are not counts
        return tags


def margin_scores(
    X: SparseMatrix, weights: FloatMatrix, intercept: FloatVector
) -> FloatMatrix:
    """Class scores of X @ weights.T + intercept, weights (n_problems, n_features)."""
    # For a few documents only the weights of their terms are touched.
    if X.nnz < X.shape[1] // _MANY_TIMES:
        used, place = np.unique(X.indices, return_inverse=True)
        X = sparse.csr_array((X.data, place, X.indptr), shape=(X.shape[0], len(used)))
        weights = weights[:, used]
    return class_columns(X @ weights.T + intercept)


@with_parameters(max_passes="max_iter")
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

    log_ratio_: FloatMatrix = field(init=False)

    C: Positive = 10.0
    alpha: Positive = 1.0
    beta: Share = 1.0
    loss: Literal["squared_hinge", "log"] = "squared_hinge"
    rows: Literal["unit", "indicators", "given"] = "unit"
    max_iter: AtLeastOne = 5000
    tol: Positive = 0.1

    def _rows(self, X: Matrix) -> SparseMatrix:
        """What the ratios multiply."""
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
        """One class against the rest."""
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


@with_parameters()
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

    nbsvm_: NBSVM = field(init=False)

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
