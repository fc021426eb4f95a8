"""Answers to training documents by models that were fitted without them.

By exact leave-one-out where the model has it, else in folds. Near-duplicates are left
out together: a document is no evidence about its own copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from earmark.decision.calibration import (
    LearnedConfidence,
    confidence_features,
    document_lengths,
    learn_confidence,
)
from earmark.decision.decision import Scores, log_probabilities
from earmark.decision.evidence import Evidence, Judge
from earmark.exceptions import DataError
from earmark.folds import n_rows, stratified_folds, stratified_split, take
from earmark.inputs.duplicates import (
    DuplicateGroups,
    group_copies,
    texts_of,
)
from earmark.inputs.labels import (
    as_labels,
    index_of,
    is_multi_label,
    label_sets,
)
from earmark.typing import (
    ArrayLike,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    LabelsLike,
)

# Documents times classes whose scores are held at a time.
_MOST_SCORES = 10_000_000
# Documents times classes that are judged in all, about ten seconds of exact
# leave-one-out; where there are more, documents are drawn by lot, not fewer than these.
_MOST_JUDGED = 100_000_000
_FEWEST_JUDGED = 1000


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Training documents, each to be judged by a model that was fitted without it."""

    X: DocumentsLike
    y: LabelsLike
    fitted: Callable[[IntVector], Estimator]
    """The model that learned from these rows only."""
    left_out: Callable[[IntVector], FloatMatrix] | None = None
    """Log probabilities of these rows by exact leave-one-out, if there is such a way;
    -inf: not judged."""
    leaves_groups_out: bool = False
    """Whether ``left_out`` leaves copies of a document out with it."""
    n_folds: int | Iterable[tuple[ArrayLike, ArrayLike]] = 5
    seed: int = 0
    weight: FloatVector | None = None
    """Of each document; one without takes no part in fitting."""

    def evidence(self, judge: Judge) -> Evidence:
        """An estimate: copies of each other are judged once, by the first of them."""
        groups = group_copies(self.X)
        parts = []
        for rows, known in self._left_out(groups, len(judge.classes)):
            X, y = take(self.X, rows), take(self.y, rows)
            if known is None:  # nothing can be fitted: the answers count as wrong
                wrong = np.zeros(len(rows), dtype=bool)
                parts.append(Evidence(np.full(len(rows), -np.inf), wrong))
            elif isinstance(known, np.ndarray):
                scores = Scores.from_log_proba(known)
                parts.append(judge.of_best(scores, judge.classes, X, y))
            else:
                parts.append(judge.evidence(known, X, y))
        evidence = _joined(parts)
        evidence.n_copies = len(groups.group) - groups.n_groups - _without_text(self.X)
        if len(self._by_lot(groups, len(judge.classes))) < groups.n_groups:
            evidence.n_drawn_from = groups.n_groups
        return evidence

    def learned_confidence(
        self, classes: Labels
    ) -> tuple[LearnedConfidence | None, IntVector]:
        """What ranks answers better than log-odds, if it does; the sizes of classes."""
        truth = index_of(as_labels(self.y), as_labels(classes))
        sizes = np.bincount(truth, minlength=len(classes))
        judged, scores = self.scores(classes)
        lengths = document_lengths(take(self.X, judged))
        features = confidence_features(scores, sizes, lengths)
        right = scores.choice == truth[judged]
        return learn_confidence(features, scores.certainty, right, self.seed), sizes

    def scores(self, classes: Labels) -> tuple[IntVector, Scores]:
        """Documents that do not repeat each other, and scores that never saw them."""
        names = as_labels(classes)
        groups = group_copies(self.X)
        drawn = np.sort(self._by_lot(groups, len(names)))
        log_proba = np.full((len(drawn), len(names)), -np.inf)
        for rows, known in self._left_out(groups, len(names)):
            places = np.searchsorted(drawn, rows)
            if isinstance(known, np.ndarray):
                log_proba[places] = known
            elif known is not None:
                columns = index_of(as_labels(known.classes_), names)
                seen = log_probabilities(known, take(self.X, rows))
                log_proba[np.ix_(places, columns)] = seen
        some = log_proba.max(axis=1) > -np.inf
        return drawn[some], Scores.from_log_proba(log_proba[some])

    def _by_lot(self, groups: DuplicateGroups, n_classes: int) -> IntVector:
        """The documents to judge: one of each group of copies, or some of these."""
        first = groups.first
        if self.weight is not None:
            first = first[self.weight[first] > 0]
        most = max(_FEWEST_JUDGED, _MOST_JUDGED // n_classes)
        if len(first) <= most:
            return first
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(first, most, replace=False))

    def _left_out(
        self, groups: DuplicateGroups, n_classes: int
    ) -> Iterator[tuple[IntVector, Any]]:
        """Rows that do not repeat each other, with a model that saw no copy of them.

        Log probabilities by exact leave-one-out, or a model that saw no copy of the
        rows; None: nothing could be fitted.
        """
        # Exact leave-one-out serves documents without copies, or all if it leaves
        # copies out together.
        first, left_out = self._by_lot(groups, n_classes), self.left_out
        is_due = np.zeros(len(groups.group), dtype=bool)
        is_due[first] = True
        size = np.bincount(groups.group)[groups.group[first]]
        alone = first if self.leaves_groups_out else first[size == 1]
        if left_out is not None and len(alone):
            is_due[alone] = False
            step = max(1, _MOST_SCORES // n_classes)  # as many as memory allows
            for some in np.split(alone, range(step, len(alone), step)):
                log_proba = left_out(some)
                known = log_proba.max(axis=1) > -np.inf
                known |= not self.leaves_groups_out
                yield some[known], log_proba[known]
        if not is_due.any():
            return
        several, strata = is_multi_label(self.y), _strata(self.y)
        folds = stratified_folds(strata, self.n_folds, self.seed, groups.group)
        for train, fold in folds:
            test = fold[is_due[fold]]
            if self.weight is not None:
                train = train[self.weight[train] > 0]
            if len(test):
                enough = several or len(np.unique(strata[train])) > 1
                yield test, self.fitted(train) if enough else None


def _joined(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several folds, joined into one."""
    grouped = [part for part in parts if part.group is not None]
    alike = grouped or list(parts)
    return replace(
        alike[0],
        certainty=np.concatenate([part.certainty for part in alike]),
        correct=np.concatenate([part.correct for part in alike]),
        group=np.concatenate([part.group for part in grouped]) if grouped else None,
        weight=_together([part.weight for part in alike]),
        novelty=None,
        n_copies=0,
    )


def _together(weights: Sequence[FloatVector | None]) -> FloatVector | None:
    known = [weight for weight in weights if weight is not None]
    return np.concatenate(known) if len(known) == len(weights) else None


def _strata(y: LabelsLike) -> Labels:
    """The label by which folds are stratified: of several labels, the first."""
    if is_multi_label(y):
        keys = [str(sorted(map(str, s or ()))[:1]) for s in label_sets(y)]
    else:
        keys = [str(label) for label in as_labels(y)]
    return np.unique(np.array(keys), return_inverse=True)[1].astype(np.int64)


def split_rows(
    X: DocumentsLike, y: LabelsLike, share: float, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """Training and calibration rows, whatever they repeat."""
    train, calibration = stratified_split(_strata(y), share, rng)
    if not len(calibration):
        raise DataError(
            f"no document is left for calibration: n_samples = {n_rows(X)}; give more, "
            "or pass calibration=(X, y)."
        )
    return np.sort(train), np.sort(calibration)


def calibration_evidence(
    judge: Judge,
    model: Estimator,
    training: DocumentsLike,
    X: DocumentsLike,
    y: LabelsLike,
    novelty: Callable[[DocumentsLike], FloatVector] | None = None,
) -> Evidence:
    """Evidence from documents that took no part in fitting; which of them repeat some.

    All count: a text that recurs among them is part of what will come. Those that
    repeat no other document are judged by themselves as well (see ``guarantee``).
    """
    n, rows = n_rows(X), calibration_rows(training, X)
    evidence = judge.evidence(model, X, y, held_out=True)
    each = len(evidence) // n
    if len(rows) < n:
        evidence.n_copies = n - len(rows)
        evidence.distinct = np.repeat(np.isin(np.arange(n), rows), each)
    if novelty is not None:
        evidence.novelty = np.repeat(novelty(X), each)
    return evidence


def _without_text(X: DocumentsLike) -> int:
    """How many documents repeat another only in having no text."""
    texts = texts_of(X) or ()
    return max(0, sum(not text.strip() for text in texts) - 1)


def calibration_rows(X: DocumentsLike, X_calibration: DocumentsLike) -> IntVector:
    """Calibration rows that repeat neither a training row nor an earlier one."""
    n_train = n_rows(X)
    texts, more = texts_of(X), texts_of(X_calibration)
    if texts is not None and more is not None:
        both: Any = [*texts, *more]
    else:
        both = _stacked(X, X_calibration)
    first = group_copies(both).first
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
