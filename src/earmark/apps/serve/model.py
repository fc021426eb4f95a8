"""A loaded model with what the service needs to know about it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from earmark.apps.serve.metrics import Recent
from earmark.apps.web.replies import finite
from earmark.decision import Decision, Threshold
from earmark.decision.novelty import USUAL_LEVEL
from earmark.exceptions import DataError, EarmarkError
from earmark.pipeline import TextClassifier
from earmark.pipeline.files import load_with_info
from earmark.typing import FloatMatrix, JsonObject

__all__ = ["Job", "ServedModel", "explanation_data"]

_SAMPLE = "the quick brown fox jumps over the lazy dog " * 4
_TERMS_SHOWN = 20
_SAMPLES, _SAMPLE_WORDS = 6, 6


@dataclass(slots=True)
class Job:
    """Documents to classify, and how."""

    texts: dict[str, list[str]]
    top_k: int | None = None
    explain: bool = False
    max_error: float | None = None

    @property
    def n_documents(self) -> int:
        """How many documents."""
        return len(next(iter(self.texts.values())))

    @property
    def n_characters(self) -> int:
        """How much text in all."""
        return sum(len(t) for column in self.texts.values() for t in column)


class ServedModel:
    """A classifier, verified by answering once.

    Attributes
    ----------
    regions : list of str
        Region names; a single text is the region "text".
    takes_texts : bool
        Whether plain texts are enough.
    can_explain, can_abstain : bool
        What this model can do.
    recent : Recent
        Its latest answers, for the metrics.
    seconds_per_call, seconds_per_character : float
        Measured at loading; decides what is worth a thread.

    """

    def __init__(self, classifier: TextClassifier, facts: dict[str, Any]) -> None:
        self.classifier = classifier
        self.facts = facts
        names = classifier.region_names_
        self._split = names is not None and classifier.regions == "email"
        self.takes_texts = names is None or self._split
        self.regions = ["text"] if names is None or self._split else names
        self.labels = [_plain(label) for label in classifier.classes_.tolist()]
        self._keys = [label_key(label) for label in self.labels]
        self.any_of = classifier.is_multi_label_
        self.can_abstain = not self.any_of and classifier.evidence_ is not None
        evidence = None if self.any_of else classifier.evidence_
        calibration = None if evidence is None else evidence.confidence
        self.recent = Recent(calibration, classifier.max_novelty or USUAL_LEVEL)
        self._thresholds = lru_cache(maxsize=256)(self._thresholds_at)
        self._verify()

    @classmethod
    def from_file(cls, path: Path) -> ServedModel:
        """Load and verify a model file."""
        classifier, manifest = load_with_info(path)
        facts = {
            "fingerprint": manifest.fingerprint,
            "bytes": manifest.file_size,
            "written_by": f"earmark {manifest.earmark_version}",
        }
        return cls(classifier, facts)

    @property
    def why_not_abstain(self) -> str:
        """A sentence for requests whose max_error cannot be served."""
        if self.any_of:
            return "not for models that give several labels per document."
        return "this model holds no evidence of its accuracy."

    @property
    def can_learn(self) -> bool:
        """Whether documents can be learned and forgotten one by one."""
        return hasattr(self.classifier, "partial_fit") and hasattr(
            self.classifier, "forget"
        )

    def samples(self) -> list[str]:
        """Texts to try: the most indicative words of the first labels."""
        terms = self.classifier.telling_terms(_SAMPLE_WORDS)
        if terms is None or not self.takes_texts:
            return []
        texts = [" ".join(term for term, _ in listed) for listed in terms.values()]
        return [text for text in texts if text][:_SAMPLES]

    def classify(self, jobs: Sequence[Job]) -> list[list[dict[str, Any]]]:
        """The results of each job; all their documents go through in one call."""
        columns = {
            name: [text for job in jobs for text in job.texts[name]]
            for name in self.regions
        }
        documents = self._documents(columns)
        decision = self.classifier.decide(documents)
        as_decided, answers, start = _results(decision), [], 0
        for job in jobs:
            rows = slice(start, start + job.n_documents)
            start = rows.stop
            results = as_decided[rows]
            if job.max_error is not None:
                thresholds = self._thresholds(job.max_error)
                results = _results(decision.take(rows).at(thresholds))
            if job.top_k is not None:
                self._add_scores(job.top_k, results, decision.scores[rows])
            if job.explain:
                self._add_explanations(results, self._documents(job.texts))
            answers.append(results)
        return answers

    def _add_scores(
        self, top_k: int, results: list[JsonObject], proba: FloatMatrix
    ) -> None:
        order = np.argsort(-proba, axis=1, kind="stable")[:, :top_k]
        for result, columns, row in zip(results, order, proba, strict=True):
            result["scores"] = {self._keys[c]: finite(float(row[c])) for c in columns}

    def _add_explanations(self, results: list[dict[str, Any]], documents: Any) -> None:
        explained = self.classifier.explain(documents, top=_TERMS_SHOWN)
        for result, explanation in zip(results, explained, strict=True):
            result["explanation"] = explanation_data(explanation)

    def _documents(self, columns: dict[str, list[str]]) -> Any:
        return columns["text"] if self.takes_texts else columns

    def _thresholds_at(self, max_error: float) -> list[Threshold]:
        classifier = self.classifier
        assert classifier.evidence_ is not None
        evidence = classifier.evidence_.among_ordinary(classifier.max_novelty)
        return evidence.thresholds(
            max_error, classifier.confidence, classifier.min_coverage
        )

    def _verify(self) -> None:
        """Answer once, to see that it works, what it can do, and how fast."""
        sample = Job({name: [_SAMPLE] for name in self.regions}, top_k=1)
        (result,) = self.classify([sample])
        expected = {"label", "confidence", "abstained", "scores"}
        if set(result[0]) - {"novelty"} != expected:
            raise DataError("the model does not answer as it should.")
        self.can_explain = True
        try:
            self.classifier.explain(self._documents(sample.texts))
        except EarmarkError:
            self.can_explain = False
        one, many = (_seconds(self, sample, n) for n in (1, 50))
        self.seconds_per_character = max(many - one, 1e-9) / (49 * len(_SAMPLE))
        self.seconds_per_call = one

    def seconds(self, job: Job) -> float:
        """About how long a job takes."""
        factor = 3.0 if job.explain else 1.0
        return factor * (
            self.seconds_per_call + job.n_characters * self.seconds_per_character
        )


def _results(decision: Decision) -> list[JsonObject]:
    """Label and confidence of each document as plain data."""
    results: list[JsonObject] = [
        {
            "label": list(label) if isinstance(label, tuple) else label,
            "confidence": finite(confidence),
            "abstained": label is None,
        }
        for label, confidence in zip(
            decision.labels.tolist(), decision.confidence.tolist(), strict=True
        )
    ]
    if decision.novelty is not None:
        for result, p in zip(results, decision.novelty.tolist(), strict=True):
            result["novelty"] = p
    return results


def _seconds(model: ServedModel, job: Job, n_jobs: int) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        model.classify([job] * n_jobs)
        best = min(best, time.perf_counter() - started)
    return best


def explanation_data(explanation: Any) -> dict[str, Any]:
    """An explanation as plain data; what is not shown is summed up in ``rest``."""
    shown = explanation.terms[:_TERMS_SHOWN]
    rest = sum(t.contribution for t in explanation.terms[_TERMS_SHOWN:])
    return {
        "label": _plain(explanation.label),
        "runner_up": _plain(explanation.runner_up),
        "score": finite(explanation.score),
        "terms": [
            {"term": t.term, "contribution": finite(t.contribution)}
            | ({} if t.region is None else {"region": t.region})
            for t in shown
        ],
        "rest": finite(float(rest)),
        "constants": {k: finite(v) for k, v in explanation.constants.items()},
        "note": explanation.note,
    }


def label_key(label: Any) -> str:
    """A label as the name of a JSON member."""
    return label if isinstance(label, str) else str(label)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
