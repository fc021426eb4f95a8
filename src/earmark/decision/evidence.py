"""Evidence: answers to documents that the answering model had not seen (AB1).

It comes from calibration documents, which took no part in fitting, or from the
training documents, each judged by a model without it: exact leave-one-out where
the model has it, else folds. There near-duplicates count once and never stand on both
sides: a document is no evidence about its own copy. Of calibration documents all count,
and those that repeat no other are judged by themselves as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy import special

from earmark.decision.decision import Scores, read_scores
from earmark.decision.guarantee import (
    Coverages,
    Threshold,
    estimated_threshold,
    guaranteed_thresholds,
)
from earmark.inputs.labels import (
    as_labels,
    index_of,
    label_matrix,
    label_sets,
)
from earmark.parameters import AtLeastOne
from earmark.stored import floats, integers, stored, truths
from earmark.typing import (
    BoolVector,
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


@stored
@dataclass(eq=False)
class Evidence:
    """How certain the model was of answers to unseen documents, and if rightly."""

    certainty: Annotated[FloatVector, floats("n_answers", finite=False)]
    """Log-odds of the best label, or its margin over the second; for several labels per
    document the distance of each label's score from its cut, (n_answers,)."""
    correct: Annotated[BoolVector, truths("n_answers")]
    """Whether the answer is right, (n_answers,)."""
    held_out: bool = False
    """Whether the documents took no part in fitting. Only then does a threshold come
    with a guarantee; otherwise it is an estimate."""
    group: Annotated[IntVector, integers("n_answers")] | None = None
    """The threshold that each answer belongs to: of its label, or of the predicted
    class. None: there is one for all, (n_answers,)."""
    n_groups: AtLeastOne = 1
    """How many thresholds there are."""
    probabilistic: bool = True
    """Whether ``certainty`` is log-odds."""
    about_labels: bool = False
    """Whether each label is decided on by itself."""
    novelty: Annotated[FloatVector, floats("n_answers", low=0, high=1)] | None = None
    """p-value that the document is like the training documents, (n_answers,)."""
    n_copies: int = 0
    """Documents that nearly repeat another: not in an estimate, or not distinct."""
    distinct: Annotated[BoolVector, truths("n_answers")] | None = None
    """Whether the document repeats neither a training document nor an earlier one,
    (n_answers,); None: all do not."""
    weight: Annotated[FloatVector, floats("n_answers", low=0)] | None = None
    """What each answer counts in the accuracy, where labelled documents were not drawn
    as classes are among the unlabelled ones; None: all alike, (n_answers,)."""
    n_drawn_from: int = 0
    """Documents that those judged were drawn from by lot; 0: none was left out so."""

    def __len__(self) -> int:
        return len(self.correct)

    @property
    def accuracy(self) -> float:
        """Share of right answers if every document is answered."""
        return float(np.average(self.correct, weights=self.weight))

    @property
    def n_independent(self) -> float:
        """As how many independent answers these speak of the accuracy."""
        # Models that share documents err alike: left-out answers count half.
        n = float(len(self)) if self.held_out else 0.5 * len(self)
        if self.weight is None:
            return n
        return n * float(self.weight.mean() ** 2 / (self.weight**2).mean())

    @property
    def confidence(self) -> FloatVector:
        """What people read: probabilities of the best label, or margins."""
        return special.expit(self.certainty) if self.probabilistic else self.certainty

    def among_ordinary(self, max_novelty: float | None) -> Evidence:
        """The evidence if documents with so small a p-value are never answered."""
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
        self, max_error: float, level: float, min_coverage: Coverages = None
    ) -> list[Threshold]:
        """From which certainty on to answer, so that ``max_error`` holds for all."""
        group = np.zeros(len(self), np.int64) if self.group is None else self.group
        if not self.held_out:
            members = (group == number for number in range(self.n_groups))
            return [
                estimated_threshold(self.certainty[rows], self.correct[rows], max_error)
                for rows in members
            ]
        answers = self.certainty, self.correct, group, self.n_groups
        promised = max_error, level
        return guaranteed_thresholds(
            *answers,
            *promised,
            min_coverage=min_coverage,
            pool_rare=not self.about_labels,
            distinct=self.distinct,
        )

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report group numbers beyond the number of groups."""
        if self.group is not None and self.group.max(initial=-1) >= self.n_groups:
            yield ".group must be below n_groups"


def any_of_evidence(
    margins: FloatMatrix,
    classes: Labels,
    y: LabelsLike,
    all_classes: Labels,
    *,
    held_out: bool = False,
) -> Evidence:
    """Every label decision of each document, by label."""
    # Decisions about one document depend on each other, so each label is a group.
    names = as_labels(classes)
    truth = label_matrix(label_sets(y, names), names)
    return Evidence(
        np.abs(margins).ravel(),
        ((margins >= 0) == truth).ravel(),
        held_out,
        np.tile(index_of(names, as_labels(all_classes)), len(margins)),
        len(all_classes),
        about_labels=True,
    )


@dataclass(frozen=True, eq=False)
class Judge:
    """Holds the answers of a model against labels, for any classifier of any X."""

    classes: Labels
    """All of them, also those that a model of a fold lacks."""
    multi_label: bool = False
    """Whether each label is decided on by itself, by its ``decision_function``."""
    per_class: bool = False
    """Whether each predicted class has a threshold of its own."""
    ranked: Callable[[Scores, DocumentsLike], Scores] | None = None
    """Gives the scores of documents the certainty by which they are ranked."""
    class_share: FloatVector | None = None
    """Of the classes among unlabelled documents, where somebody knows."""

    def evidence(
        self, model: Estimator, X: DocumentsLike, y: LabelsLike, held_out: bool = False
    ) -> Evidence:
        """The answers of a model to documents that it has not seen."""
        if not self.multi_label:
            return self.of_best(read_scores(model, X), model.classes_, X, y, held_out)
        answers = model.decision_function(X), model.classes_
        return any_of_evidence(*answers, y, self.classes, held_out=held_out)

    def of_best(
        self,
        scores: Scores,
        classes: Labels,
        X: DocumentsLike,
        y: LabelsLike,
        held_out: bool = False,
    ) -> Evidence:
        """The best label of each document; ``classes`` are those of the scores."""
        scores = scores if self.ranked is None else self.ranked(scores, X)
        names = as_labels(classes)
        known = scores.matrix.max(axis=1) > -np.inf  # else no answer is right
        every = as_labels(self.classes)
        group = index_of(names, every)[scores.choice]
        evidence = Evidence(
            np.where(known, scores.certainty, -np.inf),
            (index_of(as_labels(y), names) == scores.choice) & known,
            held_out,
            group if self.per_class else None,
            len(self.classes) if self.per_class else 1,
            scores.probabilistic,
        )
        if self.class_share is not None and not held_out:
            own = index_of(as_labels(y), every)
            drawn = np.bincount(own, minlength=len(every)) / len(own)
            evidence.weight = self.class_share[own] / drawn[own]
        return evidence
