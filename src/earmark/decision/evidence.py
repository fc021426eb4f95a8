"""Evidence: answers to documents that the answering model had not seen (AB1).

It comes from calibration documents, which took no part in fitting, or from the
training documents, each judged by a model without it: exact leave-one-out where
the model has it, else folds. Near-duplicates count once and never stand on both
sides: a document is no evidence about its own copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse, special

from earmark.decision.decision import Scores
from earmark.decision.guarantee import (
    Coverages,
    Threshold,
    estimated_threshold,
    guaranteed_threshold,
    guaranteed_thresholds,
)
from earmark.evaluation.duplicates import (
    DuplicateGroups,
    group_copies,
    group_equal_rows,
    group_near_duplicates,
    texts_of,
)
from earmark.evaluation.labels import (
    as_labels,
    index_of,
    is_multi_label,
    label_matrix,
    label_sets,
)
from earmark.exceptions import DataError
from earmark.folds import n_rows, stratified_folds, stratified_split
from earmark.typing import (
    ArrayLike,
    BoolVector,
    DocumentsLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    LabelsLike,
)

__all__ = [
    "Evidence",
    "Promise",
    "any_of_evidence",
    "calibration_rows",
    "one_of_evidence",
    "split_rows",
    "strata",
    "training_evidence",
]


@dataclass(eq=False)
class Evidence:
    """How certain the model was of answers to unseen documents, and if rightly."""

    certainty: FloatVector
    """Log-odds of the best label, or its margin over the second; for several labels per
    document the distance of each label's score from its cut, (n_answers,)."""
    correct: BoolVector
    """Whether the answer is right, (n_answers,)."""
    held_out: bool = False
    """Whether the documents took no part in fitting. Only then does a threshold come
    with a guarantee; otherwise it is an estimate."""
    group: IntVector | None = None
    """The threshold that each answer belongs to: of its label, or of the predicted
    class. None: there is one for all, (n_answers,)."""
    n_groups: int = 1
    """How many thresholds there are."""
    probabilistic: bool = True
    """Whether ``certainty`` is log-odds."""
    about_labels: bool = False
    """Whether each label is decided on by itself."""
    novelty: FloatVector | None = None
    """p-value that the document is like the training documents, (n_answers,)."""
    n_copies: int = 0
    """Documents left out because they nearly repeat another."""

    def __len__(self) -> int:
        return len(self.correct)

    @property
    def accuracy(self) -> float:
        """Share of right answers if every document is answered."""
        return float(self.correct.mean())

    @property
    def confidence(self) -> FloatVector:
        """What people read: probabilities of the best label, or margins."""
        return special.expit(self.certainty) if self.probabilistic else self.certainty

    def among_ordinary(self, max_novelty: float | None) -> Evidence:
        """The evidence if documents with so small a p-value are never answered.

        What is answered is then chosen as it will be for new documents.
        """
        if max_novelty is None or self.novelty is None:
            return self
        ordinary = self.novelty > max_novelty
        return replace(
            self,
            certainty=np.where(ordinary, self.certainty, -np.inf),
            correct=self.correct & ordinary,
            novelty=None,
            n_copies=0,
        )

    def thresholds(
        self, max_error: float, confidence: float, min_coverage: Coverages = None
    ) -> list[Threshold]:
        """From which certainty on to answer, so that ``max_error`` holds.

        Several thresholds share the risk, so that all of them hold together.
        """
        if not self.held_out:
            members = (self.group == number for number in range(self.n_groups))
            rows = [slice(None)] if self.group is None else members
            return [
                estimated_threshold(self.certainty[r], self.correct[r], max_error)
                for r in rows
            ]
        evidence = self.certainty, self.correct
        promised = max_error, confidence
        if self.group is None:
            return [
                guaranteed_threshold(*evidence, *promised, min_coverage=min_coverage)
            ]
        return guaranteed_thresholds(
            *evidence,
            self.group,
            self.n_groups,
            *promised,
            min_coverage=min_coverage,
            pool_rare=not self.about_labels,
        )

    def promise(
        self, max_error: float, confidence: float, min_coverage: Coverages = None
    ) -> Promise:
        """The thresholds, with what may be said of them."""
        thresholds = self.thresholds(max_error, confidence, min_coverage)
        values = np.array([threshold.value for threshold in thresholds])
        if self.probabilistic and not self.about_labels:
            values = np.where(np.isposinf(values), np.inf, special.expit(values))
        value = float(values[0]) if self.group is None else values
        return Promise(tuple(thresholds), max_error, value)


@dataclass(frozen=True)
class Promise:
    """Thresholds, and what may be said of the answers at them."""

    thresholds: tuple[Threshold, ...] = ()
    """One, or one per label or predicted class; empty when all is answered."""
    max_error: float | None = None
    """The largest share of wrong answers."""
    value: float | FloatVector = 0.0
    """The thresholds as people read them, as probabilities: 0 always, inf never.
    Any-of: in log-odds from each label's cut."""

    @property
    def n_answered(self) -> int:
        """Documents (any-of: label decisions) of the evidence that are answered."""
        return sum(threshold.n_answered for threshold in self.thresholds)

    @property
    def coverage(self) -> float:
        """Their share."""
        if not self.thresholds:
            return 1.0
        return self.n_answered / max(sum(t.n_documents for t in self.thresholds), 1)

    @property
    def is_guaranteed(self) -> bool:
        """Whether it is a promise, and not an estimate."""
        answered = [t for t in self.thresholds if t.n_answered]
        return bool(answered) and all(t.guaranteed for t in answered)

    @property
    def guaranteed_error(self) -> float | None:
        """``max_error`` if it is promised, else None."""
        return self.max_error if self.is_guaranteed else None

    @property
    def estimated_error(self) -> float | None:
        """Share of wrong answers in the evidence, when nothing is promised."""
        if not self.n_answered or self.is_guaranteed:
            return None
        return sum(t.n_errors for t in self.thresholds) / self.n_answered

    @property
    def n_missing(self) -> int | None:
        """Labelled documents missing when nothing is answered; None: no use."""
        if self.n_answered or not self.thresholds:
            return 0
        missing = [t.n_missing for t in self.thresholds if t.n_missing is not None]
        return min(missing, default=None)


def one_of_evidence(
    scores: Scores,
    classes: Labels,
    y: LabelsLike,
    all_classes: Labels,
    *,
    per_class: bool = False,
    held_out: bool = False,
) -> Evidence:
    """The best label of each document; by predicted class if ``per_class``."""
    names = as_labels(classes)
    # Where no class was possible, no answer is right.
    known = scores.matrix.max(axis=1) > -np.inf
    right = (index_of(as_labels(y), names) == scores.choice) & known
    group = None
    if per_class:
        group = index_of(names, as_labels(all_classes))[scores.choice]
    return Evidence(
        np.where(known, scores.certainty, -np.inf),
        right,
        held_out,
        group,
        len(all_classes) if per_class else 1,
        scores.probabilistic,
    )


def any_of_evidence(
    margins: FloatMatrix,
    classes: Labels,
    y: LabelsLike,
    all_classes: Labels,
    *,
    held_out: bool = False,
) -> Evidence:
    """Every label decision of each document, by label.

    The decisions about one document depend on each other, so each label is a
    group of its own: its decisions come from different documents.
    """
    names = as_labels(classes)
    truth = label_matrix(label_sets(y, names), names)
    place = index_of(names, as_labels(all_classes))
    return Evidence(
        np.abs(margins).ravel(),
        ((margins >= 0) == truth).ravel(),
        held_out,
        np.tile(place, len(margins)),
        len(all_classes),
        about_labels=True,
    )


def training_evidence(
    groups: DuplicateGroups,
    labels: Labels,
    without: Callable[[IntVector, IntVector], Evidence | None],
    left_out: Callable[[IntVector], Evidence] | None = None,
    *,
    leaves_groups_out: bool = False,
    n_folds: int | Iterable[tuple[ArrayLike, ArrayLike]] = 5,
    seed: int = 0,
) -> Evidence:
    """An estimate from the training documents, each judged without itself.

    Copies of each other are one of the ``groups``, which is judged once, by its first
    document, by a model that has seen none of its members. ``labels`` are spread over
    the folds. ``without(train, held)`` fits on some rows and judges others; where it
    gives None, nothing can be fitted, and the answers count as wrong. Where there is
    ``left_out(rows)``, exact leave-one-out, it serves documents without copies, or all
    if it leaves copies out together (``leaves_groups_out``); folds serve the others.
    """
    first = groups.first
    judged = np.zeros(len(groups.group), dtype=bool)
    judged[first] = True
    parts: list[Evidence] = []
    if left_out is not None:
        size = np.bincount(groups.group)[groups.group[first]]
        alone = first if leaves_groups_out else first[size == 1]
        if len(alone):
            parts.append(left_out(alone))
        judged[alone] = False
    if judged.any():
        for train, fold in stratified_folds(labels, n_folds, seed, groups.group):
            test = fold[judged[fold]]
            if len(test):
                evidence = without(train, test)
                if evidence is None:
                    wrong = np.zeros(len(test), dtype=bool)
                    evidence = Evidence(np.full(len(test), -np.inf), wrong)
                parts.append(evidence)
    evidence = _joined(parts)
    evidence.n_copies = len(groups.group) - groups.n_groups
    return evidence


def _joined(parts: Sequence[Evidence]) -> Evidence:
    """Evidence of several folds together."""
    grouped = [part for part in parts if part.group is not None]
    alike = grouped or list(parts)
    return replace(
        alike[0],
        certainty=np.concatenate([part.certainty for part in alike]),
        correct=np.concatenate([part.correct for part in alike]),
        group=np.concatenate([part.group for part in grouped]) if grouped else None,
        novelty=None,
        n_copies=0,
    )


def strata(y: LabelsLike) -> Labels:
    """What is spread over folds: the label, or the first of several."""
    if is_multi_label(y):
        keys = [str(sorted(map(str, s or ()))[:1]) for s in label_sets(y)]
    else:
        keys = [str(label) for label in as_labels(y)]
    return np.unique(np.array(keys), return_inverse=True)[1].astype(np.int64)


def split_rows(
    X: DocumentsLike, labels: Labels, share: float, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """Training and calibration rows; near-duplicates stay on one side.

    Of each group of near-duplicates one document calibrates, so that the
    calibration documents are independent of the fitted ones and of each other.
    """
    groups = group_copies(X)
    train, calibration = stratified_split(labels, share, rng, groups.group)
    calibration = np.intersect1d(calibration, groups.first)
    if not len(calibration):
        raise DataError(
            f"no document is left for calibration: n_samples = {n_rows(X)}, "
            f"{groups.n_groups} without near-duplicates; give more, or pass "
            "calibration=(X, y)."
        )
    return np.sort(train), calibration


def calibration_rows(X: DocumentsLike, X_calibration: DocumentsLike) -> IntVector:
    """Calibration rows that repeat neither a training row nor an earlier one."""
    n_train = n_rows(X)
    texts, more = texts_of(X), texts_of(X_calibration)
    if texts is not None and more is not None:
        groups = group_near_duplicates([*texts, *more])
    else:
        groups = group_equal_rows(_stacked(X, X_calibration))
    first = groups.first
    rows = np.sort(first[first >= n_train] - n_train)
    if not len(rows):
        raise DataError(
            "calibration holds no document of its own: each repeats a training "
            "document; give documents that took no part in fitting."
        )
    return rows


def _stacked(X: Any, more: Any) -> Any:
    if sparse.issparse(X) or sparse.issparse(more):
        return sparse.vstack([sparse.csr_array(X), sparse.csr_array(more)])
    return np.vstack([np.asarray(X), np.asarray(more)])
