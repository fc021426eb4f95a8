"""Term probabilities of each class from its paths (HO1), and their transform (HO6)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.exceptions import DataError, EarmarkWarning
from earmark.kernels.rows import canonical_rows, class_sums, presence
from earmark.models.shared.naive_bayes import log_or_minus_inf
from earmark.parameters import Limits, check_declared, estimator
from earmark.statistics import second_order_paths, third_order_paths
from earmark.stored import anything_plain, floats, labels, size, truths
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

PathOrder: TypeAlias = Annotated[int, Limits(1, 3)]  # documents on a path


@dataclass(frozen=True)
class ClassPaths:
    """Paths through the documents of each class; nothing about smoothing."""

    order: int
    counts: SparseMatrix
    """Paths that contain each term, CSR (n_classes, n_features)."""
    totals: Any
    """All paths of each class."""
    documents: IntVector
    """Documents of each class."""
    is_first_order: BoolVector
    """Classes without a path, described by documents instead (as is order 1)."""
    seen: BoolVector
    """Terms of any training document."""

    def log_probabilities(
        self, alpha: FloatVector | float
    ) -> tuple[FloatMatrix, FloatMatrix]:
        """Log P(term present | c) and log P(term absent | c), (n_classes, n_features).

        ``alpha`` paths with and as many without every term are added to each class,
        or a number of its own to each.
        Both are 0 for a term that no training document holds: a higher-order
        model knows nothing of it. At order 1 such terms are smoothed like others.
        """
        counts = self.counts.toarray()
        totals = self.totals[:, None]
        alpha = np.broadcast_to(alpha, len(totals))[:, None]
        whole = np.where(totals + 2 * alpha > 0, totals + 2 * alpha, 1)
        present = np.asarray((alpha + counts) / whole, dtype=np.float64)
        # From the integers, not as 1 - P: P may be very close to 1 or 0.
        absent = np.asarray((alpha + (totals - counts)) / whole, dtype=np.float64)
        log_present, log_absent = log_or_minus_inf(present), log_or_minus_inf(absent)
        if self.order > 1:
            log_present[:, ~self.seen] = 0.0
            log_absent[:, ~self.seen] = 0.0
        return log_present, log_absent

    def log_prior(self, prior: str) -> FloatVector:
        """Log P(c) by paths (HO1), by documents (NB5) or uniform."""
        documents = self.documents / self.documents.sum()
        if prior == "uniform":
            return np.full(len(documents), -np.log(len(documents)))
        if prior == "documents" or self.is_first_order.all():
            return np.asarray(log_or_minus_inf(documents))
        # Classes without a path keep their share of the documents; the others
        # divide what is left by their paths.
        totals = np.where(self.is_first_order, 0.0, self.totals.astype(np.float64))
        left = documents[~self.is_first_order].sum()
        share = np.where(self.is_first_order, documents, left * (totals / totals.sum()))
        return np.asarray(log_or_minus_inf(share))


def count_class_paths(
    rows: SparseMatrix,
    y_index: IntVector,
    n_classes: int,
    order: int,
    pure: bool = False,
    unlabelled: SparseMatrix | None = None,
    unlabelled_weight: float = 0.0,
) -> ClassPaths:
    """Count the paths of each class; ``rows`` and ``unlabelled`` are presence CSR."""
    frequency = class_sums(rows.astype(np.int64), y_index, n_classes)
    documents = np.bincount(y_index, minlength=n_classes)
    if order == 1:
        return joined_paths(order, frequency, documents, [])
    pool = unlabelled if unlabelled_weight > 0 else None
    everything = rows if pool is None else sparse.vstack([rows, pool]).tocsr()
    corpus = everything if pure else None
    apart, n_apart = (0, 0) if pool is None else block_paths(pool, order, corpus)

    def through(own: SparseMatrix) -> tuple[Any, Any]:
        """Paths per term and in total; those through the pool by their weight."""
        per_term, total = block_paths(own, order, corpus)
        if pool is None:
            return per_term, total
        # Paths with a document of the class and one of the pool: all paths of both
        # together, but for those within the class and within the pool.
        both, n_both = block_paths(sparse.vstack([own, pool]).tocsr(), order, corpus)
        mixed, n_mixed = both - apart - per_term, n_both - n_apart - total
        return per_term + unlabelled_weight * mixed, total + unlabelled_weight * n_mixed

    pairs = [through(rows[y_index == c]) for c in range(n_classes)]
    return joined_paths(order, frequency, documents, pairs)


def block_paths(
    rows: SparseMatrix, order: int, corpus: SparseMatrix | None = None
) -> tuple[Any, Any]:
    """Paths per term and in total through presence rows; pure in a ``corpus``."""
    if order == 3:
        return third_order_paths(rows)
    return second_order_paths(rows, pure=corpus is not None, corpus=corpus)


def joined_paths(
    order: int,
    frequency: SparseMatrix,
    documents: IntVector,
    pairs: list[tuple[Any, Any]],
) -> ClassPaths:
    """The classes together: ``pairs`` has each one's paths per term and in total."""
    n_classes = len(documents)
    if order == 1:
        counts, totals = frequency, documents
        first_order = np.ones(n_classes, dtype=bool)
    else:
        totals = np.array([total for _, total in pairs])
        first_order = totals == 0
        if first_order.any():
            name = {2: "second", 3: "third"}[order]
            warnings.warn(
                f"{int(first_order.sum())} class(es) have no {name}-order path (one "
                "document, or too few shared terms); their terms are estimated from "
                "their documents instead. More labelled documents in these classes "
                "avoid this.",
                EarmarkWarning,
                stacklevel=3,
            )
            totals = np.where(first_order, documents, totals)
        rows = [
            frequency[[c]] if first_order[c] else sparse.csr_array(pair[0][None, :])
            for c, pair in enumerate(pairs)
        ]
        counts = sparse.csr_array(sparse.vstack(rows))
    seen = np.asarray(frequency.sum(axis=0)).ravel() > 0
    return ClassPaths(order, counts, totals, documents, first_order, seen)


def pair_ratio(
    logs: FloatMatrix, first: int, second: int, normalize: bool
) -> FloatVector:
    """Log-ratio of each term between two classes, over its root if so wanted (HO6)."""
    ratio: FloatVector = logs[first] - logs[second]
    if normalize:
        ratio = np.sign(ratio) * np.sqrt(np.abs(ratio))
    return ratio


@estimator
class PathWeights(BaseEstimator):
    """An estimator that weighs the terms of classes by their paths."""

    log_present_: Annotated[
        FloatMatrix, floats("n_classes", "n_features", high=0, finite=False)
    ] = field(init=False)
    log_absent_: Annotated[
        FloatMatrix, floats("n_classes", "n_features", high=0, finite=False)
    ] = field(init=False)

    order: PathOrder = 2
    pure: bool = False
    source: Literal["paths", "first_order"] = "paths"
    normalize: bool = True
    alpha: Annotated[float, Limits(0.0, open_low=True, hint="log 0 is no feature")] = (
        1.0
    )

    def _check_parameters(self) -> None:
        check_declared(self)
        if self.pure and self._order() != 2:
            raise ValueError(
                f"{type(self).__name__}.pure needs source='paths' and order=2, "
                f"got source={self.source!r} and order={self.order!r}."
            )

    def _order(self) -> int:
        return 1 if self.source == "first_order" else int(self.order)

    def _weights(
        self, rows: SparseMatrix, y_index: IntVector, n_classes: int
    ) -> tuple[FloatMatrix, FloatMatrix, BoolVector]:
        """Log P(present | c), log P(absent | c), and which terms a class has (HO1)."""
        paths = count_class_paths(rows, y_index, n_classes, self._order(), self.pure)
        has_term = class_sums(rows, y_index, n_classes).toarray() > 0
        return *paths.log_probabilities(self.alpha), has_term

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a probability of 0 in spite of smoothing."""
        logs = (self.log_present_, self.log_absent_)
        if self.alpha > 0 and not all(np.isfinite(log).all() for log in logs):
            yield ": a smoothed probability is 0"


@estimator
class HigherOrderTransformer(TransformerMixin, PathWeights):
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

    classes_: Annotated[Labels, labels("n_classes")] = field(init=False)
    n_features_in_: Annotated[int, size("n_features")] = field(init=False)
    pairs_: Annotated[Any, anything_plain] = field(init=False)
    seen_: Annotated[Any, truths("n_features")] = field(init=False)

    pair: ArrayLike | None = None

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Estimate the term probabilities of each class of y."""
        self._check_parameters()
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype="numeric")
        check_classification_targets(labels)
        self.classes_, y_index = np.unique(labels, return_inverse=True)
        self.pairs_ = self._chosen_pairs()
        rows = presence(canonical_rows(X))
        weights = self._weights(rows, y_index, len(self.classes_))
        self.log_present_, self.log_absent_, self.class_terms_ = weights
        self.seen_ = self.class_terms_.any(axis=0)
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
            entries = (difference, rows.indices, rows.indptr)
            blocks.append(sparse.csr_array(entries, shape=rows.shape))
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
        known = self.class_terms_[first] | self.class_terms_[second]
        present, absent = (
            np.where(known, pair_ratio(logs, first, second, self.normalize), 0.0)
            for logs in (self.log_present_, self.log_absent_)
        )
        return present, absent

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
