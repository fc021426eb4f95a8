"""Evidence about a fitted engine: how certain it was, and if rightly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from earmark.decision.decision import Scores
from earmark.decision.evidence import (
    Evidence,
    any_of_evidence,
    calibration_rows,
    one_of_evidence,
    strata,
    training_evidence,
)
from earmark.decision.learned_confidence import unseen_log_proba
from earmark.evaluation.duplicates import group_copies
from earmark.folds import stratified_folds
from earmark.pipeline.choice import Engine
from earmark.pipeline.inputs import RegionTexts, take
from earmark.pipeline.matrix_engine import SemiEngine
from earmark.typing import FloatMatrix, FloatVector, IntVector, Labels

__all__ = ["Ranked", "calibration_evidence", "left_out_evidence", "unseen_scores"]

Ranked = Callable[[Scores, RegionTexts], Scores]
"""Scores of documents with the certainty by which they are to be ranked."""

# Documents times classes whose scores are held at a time.
_MOST_SCORES = 10_000_000


def calibration_evidence(
    engine: Engine,
    training: RegionTexts,
    texts: RegionTexts,
    labels: Labels,
    ranked: Ranked,
    novelty: Callable[[RegionTexts], FloatVector] | None = None,
) -> Evidence:
    """Evidence from documents that took no part in fitting.

    Near-duplicates of training documents and of each other count once: they are not
    independent. ``novelty`` gives the p-values of documents.
    """
    rows = calibration_rows(training, texts)
    judged = take(texts, rows)
    evidence = _judged(engine, judged, labels[rows], engine.classes_, ranked, True)
    evidence.n_copies = len(labels) - len(rows)
    if novelty is not None:
        evidence.novelty = np.repeat(novelty(judged), len(evidence) // len(rows))
    return evidence


def left_out_evidence(
    engine: Engine,
    make: Callable[[], Engine],
    texts: RegionTexts,
    labels: Labels,
    weight: FloatVector | None,
    pool: RegionTexts | None,
    ranked: Ranked,
) -> Evidence:
    """An estimate from the training documents, each judged without itself.

    A model that learned from a pool is judged with the pool.
    """

    def without(train: IntVector, held: IntVector) -> Evidence | None:
        if not engine.multi_label and len(set(labels[train].tolist())) < 2:
            return None  # one class is left: there is nothing to fit
        known = None if weight is None else weight[train]
        other = make().fit(take(texts, train), labels[train], known, pool)
        return _judged(other, take(texts, held), labels[held], engine.classes_, ranked)

    left_out = _left_out(engine, texts, labels, weight, ranked)
    return training_evidence(
        group_copies(texts),
        strata(labels),
        without,
        left_out,
        leaves_groups_out=isinstance(engine, SemiEngine),
    )


def unseen_scores(
    engine: Engine,
    make: Callable[[], Engine],
    texts: RegionTexts,
    labels: Labels,
    weight: FloatVector | None,
    pool: RegionTexts,
) -> FloatMatrix:
    """Log-probabilities of the training documents, each by a model without it.

    -inf where a document was not judged.
    """
    if isinstance(engine, SemiEngine) and engine.model_.left_out_ is not None:
        known, seen = engine.model_.left_out_
        log_proba = np.full((len(labels), len(engine.classes_)), -np.inf)
        log_proba[known] = seen
        return log_proba
    if engine.leaves_one_out:
        return engine.leave_one_out(texts, labels, weight)

    def judged(train: IntVector, held: IntVector) -> tuple[Labels, FloatMatrix]:
        known = None if weight is None else weight[train]
        other = make().fit(take(texts, train), labels[train], known, pool)
        return other.classes_, other.log_probabilities(take(texts, held))

    folds = stratified_folds(strata(labels), 5, 0, group_copies(texts).group)
    return unseen_log_proba(len(labels), engine.classes_, folds, judged)


def _judged(
    engine: Engine,
    texts: RegionTexts,
    labels: Labels,
    classes: Labels,
    ranked: Ranked,
    held_out: bool = False,
) -> Evidence:
    if engine.multi_label:
        margins = engine.scores(texts)
        return any_of_evidence(
            margins, engine.classes_, labels, classes, held_out=held_out
        )
    scores = ranked(Scores.from_log_proba(engine.log_probabilities(texts)), texts)
    return one_of_evidence(scores, engine.classes_, labels, classes, held_out=held_out)


def _left_out(
    engine: Engine,
    texts: RegionTexts,
    labels: Labels,
    weight: FloatVector | None,
    ranked: Ranked,
) -> Callable[[IntVector], Evidence] | None:
    """What judges documents without refitting, if the model has such a way."""

    def judged(log_proba: FloatMatrix, rows: IntVector) -> Evidence:
        scores = ranked(Scores.from_log_proba(log_proba), take(texts, rows))
        return one_of_evidence(scores, engine.classes_, labels[rows], engine.classes_)

    if isinstance(engine, SemiEngine):
        if engine.model_.left_out_ is None:
            return None
        known, log_proba = engine.model_.left_out_
        place = np.full(len(labels), -1)
        place[known] = np.arange(len(known))

        def held_out_in_fitting(rows: IntVector) -> Evidence:
            rows = rows[place[rows] >= 0]
            return judged(log_proba[place[rows]], rows)

        return held_out_in_fitting
    if not engine.leaves_one_out:
        return None

    def one_by_one(rows: IntVector) -> Evidence:
        """So many at a time as memory allows."""
        step = max(1, _MOST_SCORES // len(engine.classes_))
        blocks = []
        for some in np.split(rows, range(step, len(rows), step)):
            known = None if weight is None else weight[some]
            blocks.append(engine.leave_one_out(take(texts, some), labels[some], known))
        return judged(np.concatenate(blocks), rows)

    return one_by_one
