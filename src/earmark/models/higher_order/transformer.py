"""The data transform that lets any classifier use higher-order paths (HO6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.exceptions import DataError
from earmark.kernels.rows import canonical_rows, class_sums, presence
from earmark.models.higher_order.estimates import count_class_paths
from earmark.parameters import (
    require_in_range,
    require_integer,
    require_one_of,
    with_parameters,
)
from earmark.typing import (
    ArrayLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    MatrixLike,
    SparseMatrix,
)


def pair_values(
    log_present: FloatMatrix,
    log_absent: FloatMatrix,
    first: int,
    second: int,
    normalize: bool,
) -> tuple[FloatVector, FloatVector]:
    """Values of a present and of an absent term for two classes (HO6)."""
    present = log_present[first] - log_present[second]
    absent = log_absent[first] - log_absent[second]
    if not normalize:
        return present, absent
    return _signed_root(present), _signed_root(absent)


def _signed_root(values: FloatVector) -> FloatVector:
    """Values / sqrt(|values|), and 0 for 0."""
    return np.asarray(np.sign(values) * np.sqrt(np.abs(values)))


def check_path_parameters(owner: Estimator) -> int:
    """Raise for path settings that make no sense; the order in use otherwise."""
    require_integer(owner, "order", low=1, high=3)
    require_one_of(owner, "source", ("paths", "first_order"))
    require_in_range(owner, "alpha", low=0.0, open_low=True, hint="log 0 is no feature")
    order = 1 if owner.source == "first_order" else int(owner.order)
    if owner.pure and order != 2:
        raise ValueError(
            f"{type(owner).__name__}.pure needs source='paths' and order=2, "
            f"got source={owner.source!r} and order={owner.order!r}."
        )
    return order


@with_parameters()
class HigherOrderTransformer(TransformerMixin, BaseEstimator):
    """Weight terms by the log-ratio of two classes, from higher-order paths.

    A present term becomes log P(term | first) / P(term | second), an absent one
    the same ratio of its absence, each divided by the root of its size. As an
    absent term has one value whatever the document, the transformed documents are
    ``constant_ + transform(X)`` with a sparse ``transform(X)``: only the
    difference that a present term makes is stored. Learners that ignore where the
    origin is (an unpenalized intercept, distances, trees) can do without
    ``constant_``.

    Parameters
    ----------
    order : {1, 2, 3}, default=2
        Documents on a path; 1 takes documents themselves.
    pure : bool, default=False
        Count only paths whose end terms share no training document (order 2).
    source : {"paths", "first_order"}, default="paths"
        "first_order" takes the probabilities of Bernoulli naive Bayes, as order 1.
    normalize : bool, default=True
        Divide each value by the root of its size; False keeps the log-ratios.
    alpha : float > 0, default=1.0
        Smoothing of the probabilities.
    pair : tuple of two labels, default=None
        The classes to compare. None takes the two classes of ``y``; with more
        classes every pair of them gets columns of its own, side by side.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    pairs_ : ndarray of shape (n_pairs, 2)
        Class numbers of each pair; positive values speak for the first.
    log_present_, log_absent_ : ndarray of shape (n_classes, n_features)
        log P(term present | class) and log P(term absent | class).
    seen_ : ndarray of shape (n_features,)
        Terms of the training documents; others become 0.
    class_terms_ : ndarray of shape (n_classes, n_features)
        Whether a training document of the class holds the term. Between two classes
        the terms of neither become 0, as in ``HigherOrderClassifier``.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] M. C. Ganiz, N. I. Lytkin and W. M. Pottenger (2009). Leveraging higher
       order dependencies between features for text classification. ECML PKDD.
       Equations 10-12.

    Examples
    --------
    >>> X = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1]]
    >>> transformer = HigherOrderTransformer().fit(X, ["a", "a", "a", "b", "b"])
    >>> dense = transformer.transform(X).toarray() + transformer.constant_
    >>> dense[0].round(2).tolist()
    [-0.64, 0.0, -1.05, 0.83]

    """

    order: int = 2
    pure: bool = False
    source: str = "paths"
    normalize: bool = True
    alpha: float = 1.0
    pair: ArrayLike | None = None

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Estimate the term probabilities of each class of y."""
        order = check_path_parameters(self)
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype="numeric")
        check_classification_targets(labels)
        self.classes_, y_index = np.unique(labels, return_inverse=True)
        self.pairs_ = self._chosen_pairs()
        rows = presence(canonical_rows(X))
        self.class_terms_ = class_sums(rows, y_index, len(self.classes_)).toarray() > 0
        paths = count_class_paths(
            rows, y_index, len(self.classes_), order=order, pure=self.pure
        )
        self.log_present_, self.log_absent_ = paths.log_probabilities(self.alpha)
        self.seen_ = paths.seen
        # A term of no training document is disregarded at every order.
        self.log_present_[:, ~self.seen_] = 0.0
        self.log_absent_[:, ~self.seen_] = 0.0
        return self

    def transform(self, X: MatrixLike) -> SparseMatrix:
        """The sparse part of the transformed documents; add ``constant_`` for all.

        Returns a CSR array of shape (n_samples, n_pairs * n_features).
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        rows = presence(canonical_rows(X), dtype=np.float64)
        blocks = []
        for first, second in self.pairs_:
            present, absent = self._values(first, second)
            difference = (present - absent)[rows.indices]
            blocks.append(
                sparse.csr_array(
                    (difference, rows.indices, rows.indptr), shape=rows.shape
                )
            )
        if len(blocks) == 1:
            return blocks[0].copy()
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))

    @property
    def constant_(self) -> FloatVector:
        """Values of a document without any term, (n_pairs * n_features,)."""
        check_is_fitted(self)
        return np.concatenate([self._values(j, k)[1] for j, k in self.pairs_])

    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> Labels:
        """Names of the columns; with several pairs, ``term(first|second)``."""
        names: Labels = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        if len(self.pairs_) == 1:
            return names
        tails = [f"({self.classes_[j]}|{self.classes_[k]})" for j, k in self.pairs_]
        return np.array([f"{n}{tail}" for tail in tails for n in names], dtype=object)

    def _chosen_pairs(self) -> IntVector:
        labels = self.classes_.tolist()
        if self.pair is not None:
            one_list = np.ndim(self.pair) == 1
            pair = np.asarray(self.pair, object).tolist() if one_list else []
            if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(labels):
                raise DataError(
                    f"{type(self).__name__}.pair must be two of the labels "
                    f"{labels!r}, got {self.pair!r}."
                )
            return np.array([[labels.index(label) for label in pair]])
        if len(labels) < 2:
            raise DataError(
                f"{type(self).__name__} compares classes: y must hold at least 2, "
                f"got 1 class ({labels[0]!r})."
            )
        return np.array(list(combinations(range(len(labels)), 2)))

    def _values(self, first: int, second: int) -> tuple[FloatVector, FloatVector]:
        present, absent = pair_values(
            self.log_present_, self.log_absent_, first, second, self.normalize
        )
        known = self.class_terms_[first] | self.class_terms_[second]
        return np.where(known, present, 0.0), np.where(known, absent, 0.0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
