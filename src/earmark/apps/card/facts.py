"""What a model file tells about itself, gathered for the card."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earmark.decision.guarantee import several_words
from earmark.evaluation import accuracy_coverage, wilson_interval
from earmark.models.registry import MODELS
from earmark.persistence import ModelInfo
from earmark.pipeline import TextClassifier
from earmark.pipeline.files import load_with_info

__all__ = ["CardFacts", "Evaluation"]

_TARGETS = (0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Evaluation:
    """Accuracy of the model on documents it had not seen, as stored in the file."""

    n_answers: int
    """Documents, or with several labels per document the decisions about labels."""
    held_out: bool
    accuracy: float
    low: float
    high: float
    mean_confidence: float | None
    """None with several labels per document, where scores are no probabilities."""
    coverage: dict[float, float]
    """Accuracy wanted -> share of the documents that can be answered so."""


@dataclass(frozen=True)
class CardFacts:
    """Everything a card says, before it is put into words."""

    name: str
    info: ModelInfo
    model: str
    summary: str
    """What the model is, in a line."""
    classes: tuple[str, ...]
    is_multi_label: bool
    regions: tuple[str, ...]
    settings: dict[str, str]
    training: dict[str, Any]
    """As ``earmark train`` recorded it; empty when the model was made in Python."""
    evaluation: Evaluation | None
    promise: str | None
    terms: dict[str, tuple[str, ...]]
    """Class -> the words that speak most for it; empty if the model has none."""

    @classmethod
    def from_file(cls, path: Path, n_terms: int = 8) -> CardFacts:
        """Read a model file and gather what it says."""
        classifier, info = load_with_info(path)
        name = classifier.model_name_
        spec = MODELS.get(name)
        return cls(
            name=path.name,
            info=info,
            model=name,
            summary="a classifier of your own" if spec is None else spec.summary,
            classes=tuple(map(str, classifier.classes_.tolist())),
            is_multi_label=classifier.is_multi_label_,
            regions=tuple(classifier.region_names_ or ()),
            settings=_settings(classifier),
            training=dict(info.metadata.get("training_data", {})),
            evaluation=_evaluation(classifier),
            promise=_promise(classifier),
            terms=_terms(classifier, n_terms),
        )


def _settings(classifier: TextClassifier) -> dict[str, str]:
    """Constructor parameters that are not the default."""
    default = TextClassifier().get_params(deep=False)
    parameters = classifier.get_params(deep=False)
    return {
        key: str(value)
        for key, value in sorted(parameters.items())
        if key not in ("n_jobs", "verbose") and str(value) != str(default[key])
    }


def _evaluation(classifier: TextClassifier) -> Evaluation | None:
    evidence = classifier.evidence_
    if evidence is None or not len(evidence.correct):
        return None
    right, n = int(evidence.correct.sum()), len(evidence.correct)
    low, high = wilson_interval(right, n)
    # Only right or wrong is stored, not the labels: that is all the curve needs.
    answered = np.where(evidence.correct, "right", "wrong")
    curve = accuracy_coverage(["right"] * n, answered, evidence.certainty)
    return Evaluation(
        n_answers=n,
        held_out=bool(evidence.held_out),
        accuracy=right / n,
        low=float(low),
        high=float(high),
        mean_confidence=(
            None if classifier.is_multi_label_ else float(evidence.confidence.mean())
        ),
        coverage={target: curve.coverage_at(target) for target in _TARGETS},
    )


def _promise(classifier: TextClassifier) -> str | None:
    if classifier.max_error is None or classifier.evidence_ is None:
        return None
    return several_words(classifier.thresholds_)


def _terms(classifier: TextClassifier, top: int) -> dict[str, tuple[str, ...]]:
    words_by_label = classifier.telling_terms(top) if top else None
    return {
        str(label): tuple(word for word, _ in words)
        for label, words in (words_by_label or {}).items()
    }
