"""Accuracy of a model on documents in parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from earmark.distributed.executor import Executor
from earmark.distributed.predicting import SentModel
from earmark.documents.parts import Part
from earmark.evaluation import Report
from earmark.evaluation.labels import label_array
from earmark.exceptions import DataError, NotSupportedError
from earmark.typing import FloatMatrix


def _judged(model: SentModel, part: Part) -> tuple[list[str], list[Any], FloatMatrix]:
    """True labels, answers and probabilities of the labelled documents of a part."""
    classifier = model.classifier()
    true: list[str] = []
    answers: list[Any] = []
    blocks = [np.zeros((0, len(classifier.classes_)))]
    for batch in part.batches():
        if batch.labels is None:
            raise DataError(f"{part.name}: no label column; name it with --label.")
        decision = classifier.decide(batch.texts)
        is_labelled = batch.labels.codes >= 0
        true += [label for label in batch.labels.values() if label is not None]
        pairs = zip(decision.labels.tolist(), is_labelled.tolist(), strict=True)
        answers += [label for label, there in pairs if there]
        blocks.append(decision.scores[is_labelled])
    return true, answers, np.concatenate(blocks)


def report_of_parts(
    model: SentModel, parts: Sequence[Part], executor: Executor, title: str
) -> Report:
    """The report of ``TextClassifier.report``, without texts as examples.

    Brings n_classes numbers per document here.
    """
    classifier = model.classifier()
    if classifier.is_multi_label_:
        raise NotSupportedError(
            "several labels per document are evaluated in memory only; leave out "
            "--dask."
        )
    judgements = executor.gather("judged", partial(_judged, model), parts)
    true = [label for labels, _, _ in judgements for label in labels]
    if not true:
        raise DataError(
            "no labelled document in the parts; name the label with --label."
        )
    answers = label_array([label for _, labels, _ in judgements for label in labels])
    return Report.from_predictions(
        np.asarray(true),
        answers,
        proba=np.concatenate([block for _, _, block in judgements]),
        classes=classifier.classes_,
        threshold=classifier.threshold_ if classifier.thresholds_ else None,
        top_terms=classifier.telling_terms(),
        title=title,
    )
