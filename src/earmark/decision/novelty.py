"""Is a document like the training documents? A conformal p-value from its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.features import HashedCounter
from earmark.folds import check_equal_length, group_folds, group_split
from earmark.inputs.duplicates import group_copies
from earmark.inputs.labels import as_labels
from earmark.kernels.postings import Postings, build_postings, top_similar
from earmark.kernels.rows import (
    ridge_dual,
    row_norms,
    row_numbers,
    scale_rows,
    unit_rows,
)
from earmark.parameters import (
    AtLeastOne,
    Jobs,
    Limits,
    NotNegative,
    check_declared,
    estimator,
)
from earmark.stored import DERIVED, csr, floats, in_file, integers, pair, whole
from earmark.typing import FloatMatrix, FloatVector, IntVector, LabelsLike, SparseMatrix

# p-value up to which a document is called foreign if nothing else is said.
USUAL_LEVEL = 0.05
# Chosen on development draws from the training parts of three corpora.
_N_NEIGHBORS = 5
_NEIGHBOR_WEIGHT = 0.5
_PENALTY = 0.5
# What the certainty of the answer counts at most, and log-odds that mean sure.
_SURENESS, _SURE = 2.0, 4.0
_N_STEPS = 15
# More classes than these share columns: the table of weights stays small.
_MOST_COLUMNS = 256
# Documents that calibrate when there are more than the references need.
_N_SPARE = 2_000
_HASHES = 2**31 - 1


@estimator
class NoveltyDetector(BaseEstimator):
    """Tell documents from elsewhere, by a p-value that ordinary ones keep.

    How familiar a document is, is the sum of two figures on tf-idf rows in which
    words never seen count in full: the best score of a ridge regression on the
    classes (the document has the words of *some* class), and half the mean cosine
    to its five nearest training documents. A third is how sure the model is that
    answers, with all its views, where somebody says it. A conformal p-value compares
    that with training documents that were left out in folds, near-duplicates together,
    or with ``calibration``: of documents like the training documents at most a share
    ``a`` has a p-value of ``a`` or less. No document from elsewhere is needed.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default="word"
        What is counted, as in ``HashedCounter``.
    ngram_range : tuple of int, default=(1, 1)
        Shortest and longest n-gram.
    max_documents : int, default=10_000
        Training documents that are remembered, drawn at random from more. The ones
        that are not calibrate.
    n_folds : int, default=10
        Parts in which training documents are left out to calibrate.
    random_state : int, default=0
        Seed of the draw and of the folds.
    n_jobs : int or None, default=None
        Threads that count words; never changes the result.

    Attributes
    ----------
    terms_ : ndarray of int32, shape (n_terms,)
        Hashes of the known terms, sorted.
    counts_ : sparse array of shape (n_documents, n_terms)
        Counts of the documents remembered.
    dual_ : ndarray of shape (n_documents, n_columns)
        Their dual coefficients; no columns if fewer than two classes were given.
    prior_ : ndarray of shape (n_columns,)
        Shares of the classes.
    calibration_ : ndarray
        Familiarity of the documents left out, sorted.
    neighbor_weight_ : float
        Weight of the mean cosine to the nearest.
    uses_certainty_ : bool
        Whether it is to be told how sure the answering model is.

    Examples
    --------
    >>> texts = [f"{a} {b} bread" for a in ("rye", "wheat") for b in "abcdefghijklm"]
    >>> detector = NoveltyDetector().fit(texts, ["rye"] * 13 + ["wheat"] * 13)
    >>> p = detector.p_values(["wheat bread", "orbit of a planet"])
    >>> bool(p[0] > 0.3), bool(p[1] < 0.05)
    (True, True)

    """

    terms_: Annotated[IntVector, integers("n_terms", high=2**31 - 1)] = field(
        init=False
    )
    counts_: Annotated[
        SparseMatrix, csr("u", "n_documents", "n_terms", low=1, high=255)
    ] = field(init=False)
    dual_: Annotated[Any, floats("n_documents", "n_columns")] = field(init=False)
    prior_: Annotated[Any, floats("n_columns")] = field(init=False)
    calibration_: Annotated[FloatVector, floats(None)] = field(init=False)
    _known: Annotated[Any, DERIVED] = None

    neighbor_weight_: NotNegative = field(init=False)
    uses_certainty_: bool = False

    analyzer: Literal["word", "char", "char_wb"] = "word"
    ngram_range: Annotated[
        tuple[int, int], in_file(pair(whole(1, 64), whole(1, 64)))
    ] = (1, 1)
    max_documents: AtLeastOne = 10_000
    n_folds: Annotated[int, Limits(2)] = 10
    random_state: Annotated[int, Limits(0)] = 0
    n_jobs: Jobs = None

    def fit(
        self,
        X: Sequence[str],
        y: LabelsLike = None,
        *,
        calibration: Sequence[str] | None = None,
        certainty: FloatVector | None = None,
    ) -> Self:
        """Remember documents and calibrate.

        Parameters
        ----------
        X : sequence of str
            The training documents, labelled or not.
        y : sequence of labels, optional
            A label, or a collection of labels, for each; None where there is none.
        calibration : sequence of str, optional
            Documents like the ones to come that are not in X. They calibrate
            exactly; without them training documents do, left out in folds.
        certainty : ndarray of shape (n_documents,), optional
            Log-odds of the answer to each document of X, by a model that had not
            learned it; NaN where nobody knows. Only documents that have one calibrate,
            and ``p_values`` then needs those of new documents. Not used with
            ``calibration``.

        """
        check_declared(self)
        texts = list(X)
        if not texts:
            raise DataError("NoveltyDetector.fit: X holds no document; give some.")
        labels = [None] * len(texts) if y is None else as_labels(y)
        check_equal_length(X=texts, y=labels)
        rng = np.random.default_rng(self.random_state)
        n_wanted = self.max_documents + (_N_SPARE if calibration is None else 0)
        drawn = np.sort(rng.permutation(len(texts))[:n_wanted])
        sure = np.full(len(texts), np.nan) if certainty is None else certainty
        self.uses_certainty_ = certainty is not None and calibration is None
        group = group_copies([texts[i] for i in drawn]).group
        if calibration is None and len(drawn) > self.max_documents:
            places, spare = group_split(group, self.max_documents, rng)
            if self.uses_certainty_:
                spare = spare[np.isfinite(sure[drawn[spare]])]
            calibration, calibrating = [texts[i] for i in drawn[spare]], drawn[spare]
            drawn, group = drawn[places], group[places]
        logs = self._remember([texts[i] for i in drawn])
        targets = _targets([labels[i] for i in drawn])
        self.neighbor_weight_ = _NEIGHBOR_WEIGHT
        self._known = _Known.from_targets(logs, targets)
        self.dual_, self.prior_ = self._known.dual, self._known.prior
        if calibration is not None:
            figures = self._familiarity(calibration)
        else:
            folds = group_folds(group, self.n_folds, rng)
            rows, figures = _left_out(logs, targets, folds)
            calibrating = drawn[rows]
        if self.uses_certainty_:
            known = np.isfinite(sure[calibrating])
            figures = figures[known] + _sureness(sure[calibrating[known]])
        self.calibration_ = np.sort(figures)
        return self

    def score_samples(
        self, X: Sequence[str], certainty: FloatVector | None = None
    ) -> FloatVector:
        """How familiar each document is: the higher, the more ordinary."""
        check_is_fitted(self)
        if not self.uses_certainty_:
            return self._familiarity(X)
        if certainty is None:
            raise DataError(
                "NoveltyDetector: certainty is missing; give how sure the answering "
                "model is of each document, as in fit."
            )
        return self._familiarity(X) + _sureness(certainty)

    def p_values(
        self, X: Sequence[str], certainty: FloatVector | None = None
    ) -> FloatVector:
        """For each document the share of ordinary ones that are no more familiar.

        At most a share ``a`` of documents like the training documents gets ``a`` or
        less; equal ones count against novelty.
        """
        familiarity = self.score_samples(X, certainty)
        n_below = np.searchsorted(self.calibration_, familiarity, side="right")
        return np.asarray((1.0 + n_below) / (1.0 + len(self.calibration_)))  # NV2

    def words(self, level: float | None = None) -> str:
        """What the p-values rest on, and what is called foreign, in plain words."""
        check_is_fitted(self)
        n_remembered, n_calibration = self.counts_.shape[0], len(self.calibration_)
        lines = (
            f"novelty: compared with {n_remembered:,} training documents, calibrated "
            f"on {n_calibration:,}"
        )
        if level is None:
            return lines
        least = smallest_p_value(n_calibration)
        if least > level:
            n_needed = int(np.ceil(1.0 / level)) - 1
            return (
                f"{lines}; no document can be called foreign at {level:g}: that takes "
                f"{n_needed:,} documents to calibrate on"
            )
        return f"{lines}; at most {100 * level:g} % of ordinary ones are called foreign"

    # -- private -------------------------------------------------------------

    def _counter(self) -> HashedCounter:
        return HashedCounter(
            analyzer=self.analyzer,
            ngram_range=self.ngram_range,
            n_features=_HASHES,
            norm=None,
            alternate_sign=False,
            n_jobs=self.n_jobs,
        )

    def _remember(self, texts: list[str]) -> SparseMatrix:
        hashed = self._counter().transform(texts)
        self.terms_, columns = np.unique(hashed.indices, return_inverse=True)
        self.counts_ = sparse.csr_array(
            (
                np.minimum(hashed.data, 255).astype(np.uint8),
                columns.astype(np.int32),
                hashed.indptr.astype(np.int32),
            ),
            shape=(len(texts), len(self.terms_)),
        )
        self.counts_.sort_indices()
        return _logs(self.counts_)

    def _familiarity(self, X: Sequence[str]) -> FloatVector:
        if self._known is None:
            fitted = self.dual_, self.prior_, self.neighbor_weight_
            self._known = _Known.from_dual(_logs(self.counts_), *fitted)
        texts = list(X)
        if not texts:
            return np.empty(0)
        hashed = self._counter().transform(texts)
        place = np.searchsorted(self.terms_, hashed.indices)
        place[place == len(self.terms_)] = 0
        seen = self.terms_[place] == hashed.indices if len(self.terms_) else place > 0
        values = 1.0 + np.log(np.minimum(hashed.data, 255))
        row = row_numbers(hashed)
        outside = np.where(seen, 0.0, values**2)
        unseen = np.bincount(row, outside, minlength=len(texts)).astype(np.float64)
        starts = np.searchsorted(row[seen], np.arange(len(texts) + 1))
        rows = sparse.csr_array(
            (values[seen], place[seen].astype(np.int32), starts.astype(np.int32)),
            shape=(len(texts), len(self.terms_)),
        )
        rows.sort_indices()
        return np.asarray(self._known.familiarity(rows, unseen))

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report terms or calibration that are not sorted."""
        if (np.diff(self.terms_) <= 0).any():
            yield ".terms_ must rise"
        if (np.diff(self.calibration_) < 0).any():
            yield ".calibration_ must not fall"


def _sureness(certainty: FloatVector) -> FloatVector:
    """What the log-odds of the answer add to how familiar a document is (NV1)."""
    return np.asarray(_SURENESS * np.tanh(certainty / _SURE))


def smallest_p_value(n_calibration: int) -> float:
    """The least p-value that so many calibration documents can give."""
    return 1.0 / (1.0 + n_calibration)


@dataclass(frozen=True, eq=False)
class _Known:
    """Documents to compare with, and the weights of their words for the classes."""

    idf: FloatVector
    idf_unseen: float
    index: Postings
    dual: NDArray[np.float32]
    prior: FloatVector
    weights: FloatMatrix
    neighbor_weight: float

    @classmethod
    def from_targets(cls, logs: SparseMatrix, targets: FloatMatrix) -> Self:
        """Learn ridge weights for the classes in the columns of ``targets``."""
        _, rows = _weighted(logs)
        return cls.from_dual(logs, *_ridge(rows, targets), _NEIGHBOR_WEIGHT)

    @classmethod
    def from_dual(
        cls,
        logs: SparseMatrix,
        dual: NDArray[np.float32],
        prior: FloatVector,
        neighbor_weight: float,
    ) -> Self:
        """Learn from the dual coefficients that ``_ridge`` gave."""
        idf, rows = _weighted(logs)
        weights = np.asarray(rows.T @ dual.astype(np.float64))
        unseen = 1.0 + np.log(1.0 + logs.shape[0])
        index = build_postings(rows)
        return cls(idf, unseen, index, dual, prior, weights, neighbor_weight)

    def familiarity(self, logs: SparseMatrix, unseen: FloatVector) -> FloatVector:
        """Best class score plus the weighted mean cosine to the nearest (NV1)."""
        # ``unseen`` is the sum of squares of the terms that have no column.
        rows = _times(logs, self.idf)
        length = np.sqrt(row_norms(rows) ** 2 + unseen * self.idf_unseen**2)
        rows = scale_rows(rows, 1.0 / np.where(length > 0, length, 1.0))
        cosine, _ = top_similar(self.index, rows, _N_NEIGHBORS)
        nearest = self.neighbor_weight * cosine.mean(axis=1) * row_norms(rows)
        if not self.weights.shape[1]:
            return np.asarray(nearest)
        best = np.asarray(rows @ self.weights + self.prior).max(axis=1)
        return np.asarray(best + nearest)


def _logs(counts: SparseMatrix) -> SparseMatrix:
    """1 + log of each count."""
    data = 1.0 + np.log(counts.data.astype(np.float64))
    return sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


def _times(rows: SparseMatrix, factor: FloatVector) -> SparseMatrix:
    """Multiply column t of a CSR matrix by factor[t]."""
    data = rows.data * factor[rows.indices]
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _weighted(logs: SparseMatrix) -> tuple[FloatVector, SparseMatrix]:
    """Weights of the terms, and the rows of these documents at unit length."""
    n_documents, n_terms = logs.shape
    frequency = np.bincount(logs.indices, minlength=n_terms)
    idf = 1.0 + np.log((1.0 + n_documents) / (1.0 + frequency))
    return idf, unit_rows(_times(logs, idf))


def _ridge(
    rows: SparseMatrix, targets: FloatMatrix
) -> tuple[NDArray[np.float32], FloatVector]:
    """Dual coefficients of a ridge regression on the classes, and their shares."""
    # Rows without a label, which have no finite target, get coefficients of 0.
    labelled = np.flatnonzero(np.isfinite(targets).all(axis=1))
    dual = np.zeros(targets.shape, dtype=np.float32)
    if not targets.shape[1] or not len(labelled):
        return dual, np.zeros(targets.shape[1])
    rows, goal = rows[labelled].astype(np.float32), targets[labelled]
    prior = goal.mean(axis=0)
    centered = (goal - prior).astype(np.float32)
    dual[labelled] = ridge_dual(rows, centered, _PENALTY, _N_STEPS)
    return dual, prior


def _left_out(
    logs: SparseMatrix,
    targets: FloatMatrix,
    folds: Iterable[tuple[IntVector, IntVector]],
) -> tuple[IntVector, FloatVector]:
    """Documents of each fold, and how familiar they are to those of the others."""
    rows, figures = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for fold, judged in folds:
        rest = np.setdiff1d(np.arange(logs.shape[0]), fold)
        known = _Known.from_targets(logs[rest], targets[rest])
        rows.append(judged)
        figures.append(known.familiarity(logs[judged], np.zeros(len(judged))))
    return np.concatenate(rows), np.concatenate(figures)


def _targets(labels: Sequence[object]) -> FloatMatrix:
    """1 in the column of a document's class, else 0; NaN where there is no label."""
    # No column for fewer than two classes; beyond _MOST_COLUMNS several share one.
    sets = [
        label if isinstance(label, list | tuple | set | frozenset) else (label,)
        for label in labels
    ]
    names = {name for names in sets for name in names if name is not None}
    place = {name: i for i, name in enumerate(sorted(names, key=str))}
    if len(place) < 2:
        return np.empty((len(labels), 0))
    n_columns = min(len(place), _MOST_COLUMNS)
    targets = np.zeros((len(labels), n_columns))
    for row, (label, names_of_row) in enumerate(zip(labels, sets, strict=True)):
        if label is None:
            targets[row] = np.nan
        for name in names_of_row:
            if name is not None:
                targets[row, place[name] % n_columns] = 1.0
    return targets
