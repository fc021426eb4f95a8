"""Term probabilities of each class from its higher-order paths (HO1)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from earmark.exceptions import EarmarkWarning
from earmark.kernels.rows import class_sums
from earmark.models.naive_bayes.count_model import log_or_minus_inf
from earmark.statistics import second_order_paths, third_order_paths
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, SparseMatrix


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

    def log_probabilities(self, alpha: float) -> tuple[FloatMatrix, FloatMatrix]:
        """Log P(term present | c) and log P(term absent | c), (n_classes, n_features).

        Both are 0 for a term that no training document holds: a higher-order
        model knows nothing of it. At order 1 such terms are smoothed like others.
        """
        counts = self.counts.toarray()
        totals = self.totals[:, None]
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
    *,
    order: int,
    pure: bool = False,
    unlabelled: SparseMatrix | None = None,
    unlabelled_weight: float = 0.0,
) -> ClassPaths:
    """Count the paths of each class; ``rows`` and ``unlabelled`` are presence CSR."""
    held = class_sums(rows.astype(np.int64), y_index, n_classes)
    documents = np.bincount(y_index, minlength=n_classes)
    if order == 1:
        return joined_paths(order, held, documents, [])
    pool = unlabelled if unlabelled_weight > 0 else None
    everything = rows if pool is None else sparse.vstack([rows, pool]).tocsr()
    count = _Counter(order, everything if pure else None, pool, unlabelled_weight)
    pairs = [count(rows[y_index == c]) for c in range(n_classes)]
    return joined_paths(order, held, documents, pairs)


def block_paths(rows: SparseMatrix, order: int) -> tuple[Any, Any]:
    """Paths per term and in total through the documents of one class, presence CSR."""
    return _Counter(order, None, None, 0.0)(rows)


def joined_paths(
    order: int, held: SparseMatrix, documents: IntVector, pairs: list[tuple[Any, Any]]
) -> ClassPaths:
    """The classes together: ``pairs`` has each one's paths per term and in total."""
    n_classes = len(documents)
    if order == 1:
        counts, totals = held, documents
        first_order = np.ones(n_classes, dtype=bool)
    else:
        totals = np.array([total for _, total in pairs])
        first_order = totals == 0
        if first_order.any():
            _warn_without_paths(int(first_order.sum()), order)
            totals = np.where(first_order, documents, totals)
        rows = [
            held[[c]] if first_order[c] else sparse.csr_array(pair[0][None, :])
            for c, pair in enumerate(pairs)
        ]
        counts = sparse.csr_array(sparse.vstack(rows))
    seen = np.asarray(held.sum(axis=0)).ravel() > 0
    return ClassPaths(order, counts, totals, documents, first_order, seen)


class _Counter:
    """Counts paths of one order, pure or not, through a class and a pool."""

    def __init__(
        self,
        order: int,
        corpus: SparseMatrix | None,
        pool: SparseMatrix | None,
        weight: float,
    ) -> None:
        self.order, self.corpus, self.pool, self.weight = order, corpus, pool, weight
        self.pool_alone = None if pool is None else self._paths(pool)

    def __call__(self, own: SparseMatrix) -> tuple[Any, Any]:
        """Paths per term and in total; those through the pool count ``weight``."""
        per_term, total = self._paths(own)
        if self.pool is None or self.pool_alone is None:
            return per_term, total
        # Paths with a document of the class and one of the pool: all paths of both
        # together, but for those within the class and within the pool.
        both, n_both = self._paths(sparse.vstack([own, self.pool]).tocsr())
        apart, n_apart = self.pool_alone
        mixed, n_mixed = both - apart - per_term, n_both - n_apart - total
        return per_term + self.weight * mixed, total + self.weight * n_mixed

    def _paths(self, B: SparseMatrix) -> tuple[Any, Any]:
        if self.order == 3:
            return third_order_paths(B)
        return second_order_paths(B, pure=self.corpus is not None, corpus=self.corpus)


def _warn_without_paths(n_classes: int, order: int) -> None:
    name = {2: "second", 3: "third"}[order]
    warnings.warn(
        f"{n_classes} class(es) have no {name}-order path (one document, or too few "
        "shared terms); their terms are estimated from their documents instead. "
        "More labelled documents in these classes avoid this.",
        EarmarkWarning,
        stacklevel=4,
    )
