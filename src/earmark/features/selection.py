"""Keep the terms that tell most about the class (VS7).

Scores come from sums over documents: ``joint`` (n_classes, n_terms) documents of the
class with the term, ``docs`` (n_classes,) documents of the class.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from scipy.special import xlogy
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.kernels.rows import canonical_rows, class_sums, require_counts
from earmark.parameters import AtLeastOne, check_declared, estimator
from earmark.stored import floats, size
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    MatrixLike,
    SparseMatrix,
)

Criterion: TypeAlias = Literal["information_gain", "chi2", "df", "mutual_information"]


@estimator
class TermSelector(SelectorMixin, BaseEstimator):
    """Keep the ``k`` best columns of a document-term matrix.

    Parameters
    ----------
    criterion : {"information_gain", "chi2", "df", "mutual_information"}, \
            default="information_gain"
        ``information_gain``: how many bits the presence of the term takes off the
        uncertainty about the class. ``mutual_information``: the same for one class
        against the rest, the largest over the classes. ``chi2``: the chi-square
        statistic of the term's sums by class, as scikit-learn's ``chi2``. ``df``:
        the number of documents with the term; needs no labels.
    k : int, default=1000
        How many columns to keep; all, when there are not more. Ties go to the
        column on the left.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Score of each column.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to
       Information Retrieval, section 13.5.

    Examples
    --------
    >>> X = [[1, 0, 2], [1, 0, 1], [1, 3, 0], [0, 1, 0]]
    >>> TermSelector(k=1).fit(X, ["a", "a", "b", "b"]).get_support()
    array([False,  True, False])

    """

    n_features_in_: Annotated[int, size("n_features")] = field(init=False)
    scores_: Annotated[FloatVector, floats("n_features", nan=True)] = field(init=False)

    criterion: Criterion = field(default="information_gain", kw_only=False)
    k: AtLeastOne = 1000

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Score the columns of X (n_samples, n_features)."""
        check_declared(self)
        if self.criterion == "df":
            X = validate_data(self, X, accept_sparse="csr")
            self.scores_ = _presence(canonical_rows(X)).sum(axis=0).astype(np.float64)
        else:
            X, labels = validate_data(self, X, y, accept_sparse="csr")
            self.scores_ = self._supervised(canonical_rows(X), labels)
        return self

    def _supervised(self, rows: SparseMatrix, y: Labels) -> FloatVector:
        check_classification_targets(y)
        classes, y_index = np.unique(y, return_inverse=True)
        docs = np.bincount(y_index).astype(np.float64)
        if self.criterion == "chi2":
            hint = "; use information_gain for other values"
            require_counts(rows, "chi2 needs", hint)
            return chi_square(_dense_sums(rows, y_index, len(classes)), docs)
        joint = _dense_sums(_presence(rows), y_index, len(classes))
        if self.criterion == "information_gain":
            return information_gain(joint, docs)
        return largest_mutual_information(joint, docs)

    def _get_support_mask(self) -> BoolVector:
        check_is_fitted(self)
        best = np.argsort(-self.scores_, kind="stable")[: self.k]
        mask = np.zeros(len(self.scores_), dtype=bool)
        mask[best] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.criterion != "df"
        tags.input_tags.positive_only = self.criterion == "chi2"
        return tags


def _presence(rows: SparseMatrix) -> SparseMatrix:
    """Put 1 for every stored entry of canonical rows."""
    indicator = rows.copy()
    indicator.data = np.ones(len(rows.data), dtype=np.int64)
    return indicator


def _dense_sums(rows: SparseMatrix, y_index: IntVector, n_classes: int) -> FloatMatrix:
    sums = class_sums(rows.astype(np.float64), y_index, n_classes)
    return np.asarray(sums.toarray(), dtype=np.float64)


def information_gain(joint: FloatMatrix, docs: FloatVector) -> FloatVector:
    """H(class) - H(class | term present or absent), in bits."""
    total = docs.sum()
    absent = docs[:, None] - joint
    split = _entropy_sum(joint) + _entropy_sum(absent)
    gain = _entropy_sum(docs[:, None]) - split
    return np.asarray(np.maximum(gain, 0.0) / (total * np.log(2.0)))


def largest_mutual_information(joint: FloatMatrix, docs: FloatVector) -> FloatVector:
    """Mutual information of term and "is of class c", largest over c, in bits."""
    total, with_term = docs.sum(), joint.sum(axis=0)
    best = np.zeros(joint.shape[1])
    for c in range(len(docs)):
        two = np.vstack([joint[c], with_term - joint[c]])
        gain = information_gain(two, np.array([docs[c], total - docs[c]]))
        best = np.maximum(best, gain)
    return best


def chi_square(observed: FloatMatrix, docs: FloatVector) -> FloatVector:
    """Chi-square of term sums by class against independence; 0 for an empty term."""
    expected = np.outer(docs / docs.sum(), observed.sum(axis=0))
    squares = (observed - expected) ** 2
    ratio = np.divide(squares, expected, out=np.zeros_like(squares), where=expected > 0)
    return np.asarray(ratio.sum(axis=0))


def _entropy_sum(counts: FloatMatrix) -> FloatVector:
    """Entropy of each column of counts times its sum, in nats."""
    total = counts.sum(axis=0)
    return np.asarray(xlogy(total, total) - xlogy(counts, counts).sum(axis=0))
