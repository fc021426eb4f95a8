"""The students' sum, taken apart word by word, and by where it was learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from earmark.models.base import ScoreParts
from earmark.models.semi_supervised.recipe import prior_offset
from earmark.typing import Estimator, FloatMatrix, FloatVector, Matrix, SparseMatrix


def document_parts(model: Estimator, row: SparseMatrix) -> ScoreParts:
    """Exact parts of one document's scores."""
    # A word-table view divides by the length of the document's vector: given the
    # document that is one number, so the words' shares still add up.
    features = model.features_
    words = features.words(row)
    linear = features.words_and_phrases(row, words) if model.used_pool_ else words
    # Columns of the student: the words, and after them the phrases.
    columns = np.concatenate([features.words_, features.phrases_])[linear.indices]
    is_word = linear.indices < len(features.words_)
    values = dict(zip(words.indices.tolist(), words.data.tolist(), strict=True))
    tfidf = np.array([values.get(int(c), 0.0) for c in linear.indices[is_word]])
    tables, centre = _table_effects(model, words, linear.indices[is_word])

    def contributions(which: str) -> FloatMatrix:
        terms = np.zeros((len(columns), len(model.classes_)))
        for name, student in model.students_.items():
            weights = model.student_weights_[name] * getattr(student, which)
            if name == "words":
                terms += linear.data[:, None] * weights[linear.indices]
            elif name == "supervised":
                own = linear.indices[is_word]
                terms[is_word] += tfidf[:, None] * weights[own]
            elif name == "tables":
                terms[is_word] += tfidf[:, None] * (tables @ weights)
        return np.asarray(model.scale_ * terms)

    return ScoreParts(
        columns.astype(np.int64),
        contributions("weights_"),
        _constants(model, row, centre),
        labelled=contributions("labelled_weights_"),
    )


def _table_effects(
    model: Estimator, words: SparseMatrix, columns: Any
) -> tuple[FloatMatrix, FloatVector]:
    """What each word's unit moves in the tables' features, and what the mean does."""
    tables = model.features_.tables_
    effects, centres = [], []
    for view in tables.values():
        total = words @ view.table_.astype(np.float64)
        length = float(np.linalg.norm(total)) or 1.0
        rest = total / length - view.mean_
        again = (float(np.linalg.norm(rest)) or 1.0) if view.centred else 1.0
        effects.append(view.table_[columns] / (length * again))
        centres.append(-view.mean_ / again)
    if not tables:
        return np.zeros((len(columns), 0)), np.zeros(0)
    size = np.sqrt(len(tables))
    return np.hstack(effects) / size, np.concatenate(centres) / size


def encoder_by_words(
    model: Estimator, parts: ScoreParts, words: SparseMatrix, table: Matrix
) -> ScoreParts:
    """What an encoder adds, word by word, if its vector is ``words @ table``."""
    view, student = model.features_.encoder_, model.students_["encoder"]
    total = np.asarray(words @ table, dtype=np.float64)[0]
    length, mean = float(np.linalg.norm(total)) or 1.0, view.mean_ @ view.turn_
    again = float(np.linalg.norm((total / length) @ view.turn_ - mean)) or 1.0
    own = table[words.indices] @ view.turn_
    effects = words.data[:, None] * own / (length * again)
    factor = model.scale_ * model.student_weights_["encoder"]
    columns, places = np.unique(
        np.concatenate([parts.columns, words.indices]), return_inverse=True
    )

    def together(terms: FloatMatrix | None, weights: FloatMatrix) -> FloatMatrix:
        both = np.zeros((len(columns), len(model.classes_)))
        if terms is not None:
            both[places[: len(terms)]] += terms
        both[places[len(parts.columns) :]] += factor * (effects @ weights)
        return both

    rest = {name: v for name, v in parts.constants.items() if name != "encoder"}
    return replace(
        parts,
        columns=columns.astype(np.int64),
        terms=together(parts.terms, student.weights_),
        constants={**rest, "encoder's mean": -factor / again * mean @ student.weights_},
        labelled=together(parts.labelled, student.labelled_weights_),
    )


def _constants(
    model: Estimator, row: SparseMatrix, centre: FloatVector
) -> dict[str, FloatVector]:
    """Prior, bias, and what word tables and the encoder add as a whole."""
    weights = model.student_weights_
    bias = sum(weights[n] * student.offsets_ for n, student in model.students_.items())
    found = {"bias": model.scale_ * bias}
    if model.used_pool_:
        found["rare-class correction"] = model.scale_ * prior_offset(
            model.class_share_, model.prior_correction
        )
    if "tables" in model.students_:
        student = model.students_["tables"]
        found["word-vector mean"] = model.scale_ * (
            weights["tables"] * (centre @ student.weights_)
        )
    if "encoder" in model.students_:
        features = model.features_
        vector = features.encoder_.transform(features.encoded(row))[0]
        student = model.students_["encoder"]
        found["encoder"] = (
            model.scale_ * weights["encoder"] * (vector @ student.weights_)
        )
    return found
