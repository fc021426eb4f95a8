"""From the scores of any classifier to the one value that every way of deciding gives.

What is ranked or thresholded is the log-odds of the best label, which keeps apart
what a probability would round to 1; what people read is the probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from earmark.decision.guarantee import Threshold
from earmark.exceptions import DataError, NotSupportedError
from earmark.features.scoring import class_columns
from earmark.inputs.labels import as_labels, label_array, object_array
from earmark.kernels.rows import log_normalize, logsumexp_rows
from earmark.parameters import offers
from earmark.tables import html_block
from earmark.typing import (
    ArrayLike,
    BoolVector,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
)


@dataclass(frozen=True, eq=False)
class Scores:
    """Class scores of documents."""

    matrix: FloatMatrix
    """Log probabilities, or margins where ``probabilistic`` is false, (n_documents,
    n_classes)."""
    probabilistic: bool
    """Whether the model gives probabilities."""
    choice: IntVector
    """The best class, (n_documents,)."""
    certainty: FloatVector
    """Log-odds of the best class against all others together, or its margin over the
    second: unlike a probability it does not run together at 1, (n_documents,)."""

    @classmethod
    def from_log_proba(cls, log_proba: FloatMatrix) -> Scores:
        """Scores from log probabilities (n_documents, n_classes)."""
        rows = np.arange(len(log_proba))
        choice = log_proba.argmax(axis=1).astype(np.int64)
        if log_proba.shape[1] == 1:  # one class: nothing to be unsure about
            return cls(log_proba, True, choice, np.full(len(rows), np.inf))
        others = log_proba.copy()
        others[rows, choice] = -np.inf
        rest = logsumexp_rows(others)
        return cls(log_proba, True, choice, log_proba[rows, choice] - rest)

    @classmethod
    def from_margins(cls, margins: FloatMatrix) -> Scores:
        """Scores from margins (n_documents, n_classes)."""
        best = np.partition(margins, -2, axis=1)[:, -2:]
        choice = margins.argmax(axis=1).astype(np.int64)
        return cls(margins, False, choice, best[:, 1] - best[:, 0])

    @property
    def readable(self) -> FloatMatrix:
        """What people read: probabilities, or margins."""
        return np.exp(self.matrix) if self.probabilistic else self.matrix

    @property
    def confidence(self) -> FloatVector:
        """The probability of the best class, or its margin over the second."""
        return special.expit(self.certainty) if self.probabilistic else self.certainty


def log_odds(log_proba: ArrayLike) -> FloatVector:
    """Log-odds from log probabilities, exact also where 1 - P would round to 0."""
    values = np.asarray(log_proba, dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds: FloatVector = values - np.log(-np.expm1(values))
    return odds


def class_log_odds(log_scores: FloatMatrix) -> FloatMatrix:
    """Log P(c) - log P(not c) for every class, of scores that need not sum to 1."""
    log_p = log_normalize(log_scores)
    rows, best = np.arange(len(log_p)), log_p.argmax(axis=1)
    odds = log_odds(log_p)
    # For the best class P may round to 1.
    odds[rows, best] = Scores.from_log_proba(log_p).certainty
    return odds


def has_probabilities(model: Estimator) -> bool:
    """Whether a classifier gives class probabilities by itself."""
    return offers(model, "predict_log_proba") or offers(model, "predict_proba")


def log_probabilities(model: Estimator, X: DocumentsLike) -> FloatMatrix:
    """Log class probabilities, (n_documents, n_classes), of a model that has them."""
    with np.errstate(divide="ignore"):  # a probability of 0 is a score of -inf
        if offers(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(X), dtype=np.float64)
        return np.log(np.asarray(model.predict_proba(X), dtype=np.float64))


def read_scores(model: Estimator, X: DocumentsLike) -> Scores:
    """Scores by predict_log_proba, predict_proba or decision_function."""
    if has_probabilities(model):
        return Scores.from_log_proba(log_probabilities(model, X))
    if not offers(model, "decision_function"):
        raise NotSupportedError(
            f"{type(model).__name__} has neither predict_proba nor decision_function; "
            "abstaining needs to know how sure the classifier is."
        )
    return Scores.from_margins(class_columns(model.decision_function(X)))


def _decides_each_label(model: Estimator) -> bool:
    """Whether a fitted classifier decides on each label by itself."""
    several = getattr(model, "any_of_", getattr(model, "is_multi_label_", False))
    return bool(several)


def class_certainty(model: Estimator, X: DocumentsLike) -> FloatMatrix:
    """How surely each class is a document's, (n_documents, n_classes).

    Log-odds of the class against all others together, or the lead of its score over
    the best other one; of several labels the distance of each score from its cut.
    """
    if _decides_each_label(model):
        cuts = np.asarray(model.decision_function(X), dtype=np.float64)
        return np.column_stack([-cuts, cuts]) if cuts.ndim == 1 else cuts
    scores = read_scores(model, X)
    if scores.probabilistic:
        return class_log_odds(scores.matrix)
    margins = scores.matrix
    second, best = np.partition(margins, -2, axis=1)[:, -2:].T
    is_best = np.arange(margins.shape[1]) == scores.choice[:, None]
    lead: FloatMatrix = margins - np.where(is_best, second[:, None], best[:, None])
    return lead


class Ranking(NamedTuple):
    """Documents in the order of their fit to a class."""

    positions: IntVector
    """Rows of X, best first."""
    scores: FloatVector
    """Their certainty of the class, falling."""


def rank(
    model: Estimator, X: DocumentsLike, label: Any, top: int | None = None
) -> Ranking:
    """Order documents by how well they fit a class, without deciding on any (VS4).

    Parameters
    ----------
    model : fitted classifier
        Asked for ``predict_log_proba`` or ``predict_proba``, else for
        ``decision_function``. The order is by certainty: log-odds of the class against
        the others, which do not run together where probabilities are 1, or the lead
        of its score over the best other one.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Whatever ``model`` takes.
    label : label
        One of ``model.classes_``.
    top : int, optional
        How many documents to return; all by default.

    Returns
    -------
    ranking : Ranking
        Positions and certainties, best first; equal ones keep the order of X.

    Examples
    --------
    >>> from earmark.models import RocchioClassifier
    >>> model = RocchioClassifier().fit([[2, 0], [0, 1]], ["sport", "trade"])
    >>> rank(model, [[1, 3], [1, 0], [1, 1]], "sport", top=2).positions.tolist()
    [1, 2]

    """
    place = np.flatnonzero(np.asarray(model.classes_) == label)
    if len(place) != 1:
        known = ", ".join(repr(c) for c in np.asarray(model.classes_)[:10].tolist())
        raise DataError(f"cannot rank for {label!r}: the model's classes are {known}.")
    if not (has_probabilities(model) or offers(model, "decision_function")):
        raise NotSupportedError(
            f"{type(model).__name__} has neither decision_function nor predict_proba; "
            "ranking needs scores."
        )
    column = class_certainty(model, X)[:, int(place[0])]
    order = np.argsort(-column, kind="stable")[:top]
    return Ranking(order.astype(np.int64), column[order])


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided about each document, and on what ground.

    Attributes
    ----------
    labels : ndarray of shape (n_documents,)
        One-of: the label, or None for an abstention. Any-of: a tuple of labels,
        or None where no label could be decided on.
    scores : ndarray of shape (n_documents, n_classes)
        The scores behind the decision: probabilities where the model has them.
    classes : ndarray of shape (n_classes,)
        Labels of the columns.
    abstained : ndarray of bool
        One-of: shape (n_documents,). Any-of: shape (n_documents, n_classes), one
        entry per label decision.
    confidence : ndarray of shape (n_documents,)
        One-of: the probability (or margin) of the best label, also where the
        decision was to abstain. Any-of: that of the least certain label decision.
        NaN where no document had a label: then nobody knows.
    novelty : ndarray of shape (n_documents,) or None
        p-value that the document is like the training documents: the smaller, the
        more foreign. None if not measured.
    max_novelty : float or None
        Documents with a ``novelty`` of this or less are foreign, and not answered.
    best : ndarray of shape (n_documents,) or None
        The answer that would have been given without abstaining.
    certainty : ndarray or None
        What is held against the thresholds: log-odds of the best label, or its
        margin; any-of: distance of each label's score from its cut, signed,
        shape (n_documents, n_classes).

    Examples
    --------
    >>> made = Decision(
    ...     labels=np.array(["a", None], dtype=object), scores=np.eye(2),
    ...     classes=np.array(["a", "b"]), abstained=np.array([False, True]),
    ...     confidence=np.array([1.0, 0.5]),
    ... )
    >>> made.coverage
    0.5

    """

    labels: Labels
    scores: FloatMatrix
    classes: Labels
    abstained: BoolVector
    confidence: FloatVector
    novelty: FloatVector | None = None
    max_novelty: float | None = None
    best: Labels | None = None
    certainty: FloatMatrix | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        head = ["document", "label", "confidence"]
        head += ["novelty"] if self.novelty is not None else []
        rows = [
            [n, "(abstained)" if label is None else label, _read(self.confidence[n])]
            + ([] if self.novelty is None else [f"{self.novelty[n]:.3f}"])
            for n, label in enumerate(self.labels.tolist())
        ]
        words = f"{len(self):,} documents, {100 * self.coverage:.1f} % answered"
        return html_block("Decision", [words], head, rows)

    @property
    def any_of(self) -> bool:
        """Whether each label was decided on by itself."""
        return self.abstained.ndim == 2

    @property
    def coverage(self) -> float:
        """Share of documents (any-of: of label decisions) that were decided."""
        return float(1 - self.abstained.mean()) if self.abstained.size else float("nan")

    @property
    def foreign(self) -> BoolVector:
        """Documents called unlike the training documents."""
        if self.novelty is None or self.max_novelty is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.novelty <= self.max_novelty)

    def of_unknown_confidence(self) -> Decision:
        """The same where no label ever told how often such answers are right."""
        return replace(self, confidence=np.full(len(self), np.nan))

    def with_novelty(
        self, novelty: FloatVector, max_novelty: float | None = None
    ) -> Decision:
        """The same with p-values; foreign documents are not answered."""
        decision = replace(self, novelty=novelty, max_novelty=max_novelty)
        return decision if max_novelty is None else decision._without_foreign()

    def take(self, rows: IntVector | slice) -> Decision:
        """The same for some of the documents."""
        names = {one.name for one in fields(self)} - {"classes", "max_novelty"}
        columns = {name: getattr(self, name) for name in names}
        known = {name: c[rows] for name, c in columns.items() if c is not None}
        return replace(self, **known)

    def at(self, thresholds: Sequence[Threshold]) -> Decision:
        """The same documents decided at other thresholds; none answers them all."""
        assert self.certainty is not None
        assert self.best is not None
        cut = np.array([t.value for t in thresholds] or [-np.inf])
        if self.any_of:
            abstained = np.abs(self.certainty) < cut
            labels = label_tuples((self.certainty >= 0) & ~abstained, self.classes)
            labels[abstained.all(axis=1)] = None
        else:
            if len(cut) > 1:  # one per predicted class
                cut = cut[self.scores.argmax(axis=1)]
            abstained = self.certainty < cut
            labels = self.best.astype(object) if thresholds else self.best
            if thresholds:
                labels[abstained] = None
        decided = replace(self, labels=labels, abstained=abstained)
        return decided if self.max_novelty is None else decided._without_foreign()

    def _without_foreign(self) -> Decision:
        labels, abstained = self.labels.astype(object), self.abstained.copy()
        labels[self.foreign] = None
        abstained[self.foreign] = True
        return replace(self, labels=labels, abstained=abstained)


def _read(confidence: float) -> str:
    return "unknown" if np.isnan(confidence) else f"{confidence:.3f}"


def one_of_decision(scores: Scores, classes: Labels) -> Decision:
    """The best label of each document."""
    best = classes[scores.choice]
    return Decision(
        labels=best,
        scores=scores.readable,
        classes=classes,
        abstained=np.zeros(len(best), dtype=bool),
        confidence=scores.confidence,
        best=best,
        certainty=scores.certainty,
    )


def any_of_decision(
    margins: FloatMatrix, proba: FloatMatrix, classes: Labels
) -> Decision:
    """Labels with a margin of 0 and more."""
    best = label_tuples(margins >= 0, classes)
    return Decision(
        labels=best,
        scores=proba,
        classes=classes,
        abstained=np.zeros(margins.shape, dtype=bool),
        confidence=special.expit(np.abs(margins).min(axis=1)),
        best=best,
        certainty=margins,
    )


def label_tuples(is_label: BoolVector, classes: Labels) -> Labels:
    """The labels of each document, as tuples."""
    names = as_labels(classes)
    return object_array([tuple(names[c] for c in np.flatnonzero(r)) for r in is_label])


def indicator_answers(decision: Decision, n_columns: int) -> Labels:
    """Label decisions as a matrix of 0 and 1; NaN: undecided."""
    assert decision.certainty is not None
    columns = decision.classes.astype(np.int64)
    matrix: Labels = np.zeros((len(decision), n_columns), dtype=np.int64)
    matrix[:, columns] = decision.certainty >= 0
    if not decision.abstained.any():
        return matrix
    gaps = matrix.astype(np.float64)
    gaps[:, columns] = np.where(decision.abstained, np.nan, gaps[:, columns])
    return gaps


def with_abstain_label(labels: Labels, abstain_label: object) -> Labels:
    """Labels with something else than None for abstentions; plain if of one type.

    Examples
    --------
    >>> with_abstain_label(np.array([2, None], dtype=object), -1)
    array([ 2, -1])

    """
    if abstain_label is None or labels.dtype != object:
        return labels
    return label_array([abstain_label if label is None else label for label in labels])
