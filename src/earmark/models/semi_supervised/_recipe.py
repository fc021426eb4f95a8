"""From few labels and a pool to students: the recipe, top to bottom (SS3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.kernels.logspace import log_normalize
from earmark.models.semi_supervised._blend import (
    ENCODER,
    learned_share,
    vote_together,
)
from earmark.models.semi_supervised._em import naive_bayes_em
from earmark.models.semi_supervised.students import LinearStudent
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix, SparseMatrix

__all__ = [
    "LONG",
    "SHORT",
    "SHORT_TEXT",
    "Learned",
    "Material",
    "Recipe",
    "learn",
    "prior_offset",
    "total_scores",
]

# Mean tokens a document below which texts count as short.
SHORT_TEXT = 50.0
# A document counts as at most so many independent tokens in the Bayes step (SS2).
_EVIDENCE = 10.0
_ALPHA = 0.1


@dataclass(frozen=True)
class Recipe:
    """What differs between long and short texts."""

    name: str
    views: tuple[str, ...]
    n_steps: int
    """Rounds of naive Bayes over the pool."""
    pool_weight: float
    """What a pool document counts there."""
    table_weight: float = 0.0
    """Weight of a second student, on the word-table views."""
    supervised_weight: float = 0.0
    """Weight of the model that saw labelled documents only."""
    phrases: bool = False
    """Whether the student sees phrases beside words."""

    def student_weights(
        self, students: Iterable[str], encoder_share: float | None = None
    ) -> dict[str, float]:
        """What each student counts in the sum of scores.

        A student on an encoder's vectors has the share that they had in the vote.
        """
        known = {
            "words": 1.0,
            "tables": self.table_weight,
            "supervised": self.supervised_weight,
        }
        names = list(students)
        weights = {name: known[name] for name in names if name != ENCODER}
        if encoder_share is None:
            return weights
        odds = encoder_share / (1.0 - encoder_share)
        return {**weights, ENCODER: odds * sum(weights.values())}


LONG = Recipe("long texts", ("tfidf", "lsa", "ppmi"), n_steps=1, pool_weight=0.5)
SHORT = Recipe(
    "short texts",
    ("tfidf", "ppmi-full", "ppmi-unit", "subword"),
    n_steps=10,
    pool_weight=0.2,
    table_weight=0.5,
    supervised_weight=0.5,
    phrases=True,
)


@dataclass(frozen=True)
class Material:
    """The same documents, labelled ones first, in every form the recipe needs."""

    views: Mapping[str, Matrix]
    """View name -> features, for the voters."""
    students: Mapping[str, Matrix]
    """Student name -> features."""
    terms: SparseMatrix
    """ln(1 + tf), for naive Bayes."""

    def take(self, rows: IntVector) -> Material:
        """Some of the documents."""
        return Material(
            {name: matrix[rows] for name, matrix in self.views.items()},
            {name: matrix[rows] for name, matrix in self.students.items()},
            self.terms[rows],
        )


@dataclass(frozen=True)
class Learned:
    """Students, and how the classes share the labelled documents and the pool."""

    students: dict[str, LinearStudent]
    class_share: FloatVector
    pool_confidence: float
    """Mean confidence of the labels given to the pool."""
    student_weights: dict[str, float]
    """What each student counts in the sum of scores."""
    encoder_share: float | None
    """What an encoder's view counted in the vote; None without one."""


def learn(
    material: Material,
    y: IntVector,
    n_classes: int,
    recipe: Recipe,
    *,
    student: Any = None,
    voter: Any = None,
    label_weight: FloatVector | None = None,
    pool_factor: float = 1.0,
) -> Learned:
    """Let the views label the pool together, then train the students on all.

    y has the class numbers of the first ``len(y)`` documents; the rest is the pool.
    Each document there stands for ``pool_factor`` documents, if it is a sample.
    """
    n_labelled = len(y)
    weight = np.ones(n_labelled) if label_weight is None else label_weight
    # Each view votes on the pool with a model of its own.
    voters = {
        name: LinearStudent(voter).fit(view[:n_labelled], y, weight)
        for name, view in material.views.items()
    }
    votes = {
        name: voters[name].log_probabilities(view[n_labelled:])
        for name, view in material.views.items()
    }
    known = {name: view[:n_labelled] for name, view in material.views.items()}
    share = learned_share(known, y, voter, weight)
    evidence = vote_together(votes, share)
    # Naive Bayes, started by the votes and anchored to them, looks at all words.
    posterior = naive_bayes_em(
        material.terms[:n_labelled],
        y,
        material.terms[n_labelled:],
        np.exp(log_normalize(2.0 * evidence)),
        weight=recipe.pool_weight * pool_factor,
        alpha=_ALPHA,
        evidence=_EVIDENCE,
        anchor=evidence,
        max_iter=recipe.n_steps,
        sample_weight=weight,
    ).posterior
    # The whole pool with hard labels; how sure they are is their weight.
    confidence = posterior.max(axis=1)
    labels = np.concatenate([y, posterior.argmax(axis=1)])
    n_pool = pool_factor * len(confidence)
    label_factor = min(5.0, 1.0 + 0.2 * n_pool / n_labelled)
    pool_weights = 0.3 * pool_factor * confidence
    weights = np.concatenate([label_factor * weight, pool_weights])
    is_labelled = np.arange(len(labels)) < n_labelled
    students = {
        name: voters["tfidf"]
        if name == "supervised"
        else LinearStudent(student).fit(features, labels, weights, is_labelled)
        for name, features in material.students.items()
    }
    sizes = np.bincount(y, minlength=n_classes) + pool_factor * posterior.sum(axis=0)
    return Learned(
        students,
        sizes / sizes.sum(),
        float(confidence.mean()),
        recipe.student_weights(students, share),
        share,
    )


def total_scores(
    students: Mapping[str, LinearStudent],
    weights: Mapping[str, float],
    features: Mapping[str, Matrix],
    offset: FloatVector,
) -> FloatMatrix:
    """Weighted sum of the students' scores, and an offset for each class."""
    return offset + sum(
        weights[name] * student.scores(features[name])
        for name, student in students.items()
    )


def prior_offset(class_share: FloatVector, correction: float) -> FloatVector:
    """Take a little of a class's share off, so that rare ones are not swallowed."""
    return np.asarray(-correction * np.log(class_share))
