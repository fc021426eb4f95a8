"""A model that answers: loaded and verified, asked in batches, replaced as a whole.

Short jobs are collected in one turn of the event loop and answered in one call of
the model, right there: a call costs far more than one more short text, and nobody
waits for a timer. Long jobs go to a thread, so that short ones pass them.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from earmark.apps.changes import recorded
from earmark.apps.serve.metrics import Recent
from earmark.apps.serve.schemas import Job, RequestReader
from earmark.apps.web.guard import Limits, logger
from earmark.apps.web.replies import Refusal, finite
from earmark.decision import Decision, Threshold
from earmark.decision.novelty import USUAL_LEVEL
from earmark.documents import Documents
from earmark.exceptions import DataError, EarmarkError
from earmark.inputs.labels import plain
from earmark.parameters import offers
from earmark.pipeline import TextClassifier
from earmark.pipeline.files import load_with_info
from earmark.typing import FloatMatrix, JsonObject
from earmark.whole_files import changed_by_one, check_target

__all__ = ["MicroBatcher", "ModelHolder", "ServedModel"]

_SAMPLE = "the quick brown fox jumps over the lazy dog " * 4
_TERMS_SHOWN = 20
_SAMPLES, _SAMPLE_WORDS = 6, 6
# The event loop may be busy for so long at a time.
_INLINE_SECONDS = 0.004
_MOST_JOBS = 256

Results = list[JsonObject]
# Time, size and number of a file: others, if it was replaced.
Signature = tuple[int, int, int]


class ServedModel:
    """A classifier, verified by answering once, with the reader of its requests."""

    def __init__(
        self,
        classifier: TextClassifier,
        facts: JsonObject,
        limits: Limits | None = None,
    ) -> None:
        self.classifier = classifier
        self.facts = facts
        self.loaded_at = time.time()
        names = classifier.region_names_
        split = names is not None and classifier.regions == "email"
        self.takes_texts = names is None or split
        # A single text is the region "text".
        self.regions = ["text"] if names is None or split else names
        self.labels = classifier.classes_.tolist()
        self.any_of = classifier.is_multi_label_
        evidence = None if self.any_of else classifier.evidence_
        self.can_abstain = evidence is not None
        # Whether documents can be learned and forgotten one by one.
        self.can_learn = offers(classifier, "partial_fit") and offers(
            classifier, "forget"
        )
        calibration = None if evidence is None else evidence.confidence
        self.recent = Recent(calibration, classifier.max_novelty or USUAL_LEVEL)
        self._thresholds = lru_cache(maxsize=256)(self._thresholds_at)
        self._verify()
        self.reader = RequestReader(self, limits or Limits())

    @classmethod
    def from_file(cls, path: Path, limits: Limits | None = None) -> ServedModel:
        """Load and verify a model file."""
        classifier, manifest = load_with_info(path)
        facts = {
            "fingerprint": manifest.fingerprint,
            "bytes": manifest.file_size,
            "written_by": f"earmark {manifest.earmark_version}",
        }
        return cls(classifier, facts, limits)

    @property
    def why_not_abstain(self) -> str:
        """A sentence for requests whose max_error cannot be served."""
        if self.any_of:
            return "not for models that give several labels per document."
        return "this model holds no evidence of its accuracy."

    def samples(self) -> list[str]:
        """Texts to try: the most indicative words of the first labels."""
        terms = self.classifier.telling_terms(_SAMPLE_WORDS)
        if terms is None or not self.takes_texts:
            return []
        texts = [" ".join(term for term, _ in listed) for listed in terms.values()]
        return [text for text in texts if text][:_SAMPLES]

    def documents(self, columns: dict[str, list[str]]) -> Any:
        """Texts by region as the classifier takes them."""
        return columns["text"] if self.takes_texts else columns

    def classify(self, jobs: Sequence[Job]) -> list[Results]:
        """The results of each job; all their documents go through in one call."""
        columns = {
            name: [text for job in jobs for text in job.texts[name]]
            for name in self.regions
        }
        decision = self.classifier.decide(self.documents(columns))
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
                documents = self.documents(job.texts)
                explained = self.classifier.explain(documents, top=_TERMS_SHOWN)
                for result, explanation in zip(results, explained, strict=True):
                    result["explanation"] = explanation_data(explanation)
            answers.append(results)
        return answers

    def _add_scores(self, top_k: int, results: Results, proba: FloatMatrix) -> None:
        order = np.argsort(-proba, axis=1, kind="stable")[:, :top_k]
        names = [str(label) for label in self.labels]
        for result, columns, row in zip(results, order, proba, strict=True):
            result["scores"] = {names[c]: finite(float(row[c])) for c in columns}

    def _thresholds_at(self, max_error: float) -> list[Threshold]:
        classifier = self.classifier
        assert classifier.evidence_ is not None
        evidence = classifier.evidence_.among_ordinary(classifier.max_novelty)
        return evidence.thresholds(max_error, classifier.level, classifier.min_coverage)

    def _verify(self) -> None:
        """Answer once, to see that it works, what it can do, and how fast."""
        sample = Job({name: [_SAMPLE] for name in self.regions}, top_k=1)
        (result,) = self.classify([sample])
        expected = {"label", "confidence", "abstained", "scores"}
        if set(result[0]) - {"novelty"} != expected:
            raise DataError("the model does not answer as it should.")
        self.can_explain = True
        try:
            self.classifier.explain(self.documents(sample.texts))
        except EarmarkError:
            self.can_explain = False

        def seconds(n_jobs: int) -> float:
            times = []
            for _ in range(3):
                started = time.perf_counter()
                self.classify([sample] * n_jobs)
                times.append(time.perf_counter() - started)
            return min(times)

        self.seconds_per_call, many = seconds(1), seconds(50)
        more = max(many - self.seconds_per_call, 1e-9)
        self.seconds_per_character = more / (49 * len(_SAMPLE))

    def seconds(self, job: Job) -> float:
        """About how long a job takes."""
        factor = 3.0 if job.explain else 1.0
        return factor * (
            self.seconds_per_call + job.n_characters * self.seconds_per_character
        )


def _results(decision: Decision) -> Results:
    """Label and confidence of each document as plain data."""
    results: Results = [
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


def explanation_data(explanation: Any) -> JsonObject:
    """An explanation as plain data; what is not shown is summed up in ``rest``."""
    rest = sum(t.contribution for t in explanation.terms[_TERMS_SHOWN:])
    return {
        "label": plain(explanation.label),
        "runner_up": plain(explanation.runner_up),
        "score": finite(explanation.score),
        "terms": [
            {"term": t.term, "contribution": finite(t.contribution)}
            | ({} if t.region is None else {"region": t.region})
            for t in explanation.terms[:_TERMS_SHOWN]
        ],
        "rest": finite(float(rest)),
        "constants": {k: finite(v) for k, v in explanation.constants.items()},
        "note": explanation.note,
    }


class MicroBatcher:
    """Answers jobs; ``observe`` is called with the number of jobs of each batch."""

    def __init__(self, observe: Callable[[int], None]) -> None:
        self._observe = observe
        self._waiting: list[tuple[Job, ServedModel, asyncio.Future[Results]]] = []
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="earmark")

    async def answer(self, job: Job, model: ServedModel, seconds: float) -> Results:
        """The results of one job; a long one that takes more is a TimeoutError."""
        loop = asyncio.get_running_loop()
        if model.seconds(job) > _INLINE_SECONDS:
            self._observe(1)
            working = loop.run_in_executor(self._threads, model.classify, [job])
            (results,) = await asyncio.wait_for(working, seconds)
            return results
        future: asyncio.Future[Results] = loop.create_future()
        self._waiting.append((job, model, future))
        if len(self._waiting) == 1:
            loop.call_soon(self._flush)
        return await future

    def close(self) -> None:
        """Wait for the threads."""
        self._threads.shutdown()

    def _flush(self) -> None:
        """Answer what waits on one model, as much as fits into one turn."""
        model = self._waiting[0][1]
        taken, seconds = 0, 0.0
        for job, wanted, _ in self._waiting:
            seconds += model.seconds(job) - (model.seconds_per_call if taken else 0.0)
            over = taken and (seconds > _INLINE_SECONDS or taken >= _MOST_JOBS)
            if over or wanted is not model:
                break
            taken += 1
        batch, self._waiting = self._waiting[:taken], self._waiting[taken:]
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._observe(len(batch))
        _settle(model, batch)


def _settle(model: ServedModel, batch: list[Any]) -> None:
    live = [(job, future) for job, _, future in batch if not future.done()]
    if not live:
        return
    try:
        answers = model.classify([job for job, _ in live])
    except Exception as error:
        if len(live) == 1:
            live[0][1].set_exception(error)
            return
        for entry in batch:  # one bad job must not fail the others
            _settle(model, [entry])
        return
    for (_, future), results in zip(live, answers, strict=True):
        future.set_result(results)


class ModelHolder:
    """The model in use; a file renamed onto its own is verified, and only then used."""

    def __init__(
        self, path: Path, limits: Limits, observe: Callable[[str], None]
    ) -> None:
        self.path = path
        self.limits = limits
        self._observe = observe
        self._signature = _signature(path)
        # Whoever holds it may set the model, and with it the signature of its file.
        self._changing = asyncio.Lock()
        self.model = ServedModel.from_file(path, limits)

    def check_folder(self) -> None:
        """Refuse to learn where the file could not be replaced."""
        try:
            check_target(self.path)
        except OSError as error:
            raise DataError(
                f"{error.filename}: {error.strerror}, where --learn replaces the "
                "model; move it to another folder."
            ) from None

    async def change(self, method: str, documents: Any, labels: list[Any]) -> None:
        """Learn or forget documents exactly; the file is replaced by the new model."""
        # Made beside the one that serves: an answer comes from before or after.
        loop = asyncio.get_running_loop()
        async with self._changing:
            try:
                changed = await loop.run_in_executor(
                    None, self._changed, method, documents, labels
                )
            except OSError as error:
                raise Refusal(
                    503,
                    "folder",
                    f"the model {self.path} cannot be replaced: {error.strerror}.",
                ) from None
            self.model, self._signature = changed

    def _changed(
        self, method: str, documents: Any, labels: list[Any]
    ) -> tuple[ServedModel, Signature | None]:
        """The model after the change, and the signature of the file it is in now."""
        # Another service, or a command, may change the same file.
        with changed_by_one(self.path):
            try:
                classifier, info = load_with_info(self.path)
            except EarmarkError as error:
                raise Refusal(503, "model", str(error)) from None
            # What it knows about its errors will not hold after the change.
            classifier.set_params(max_error=None, max_novelty=None)
            {"learn": classifier.partial_fit, "forget": classifier.forget}[method](
                documents, labels
            )
            change = Documents(documents, labels)
            facts, _ = recorded(info.metadata, change, added=method == "learn")
            target = check_target(self.path)
            new = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
            try:
                classifier.save(new, metadata=facts)
                model = ServedModel.from_file(new, self.limits)
                signature = _signature(new)
                os.replace(new, target)
            finally:
                new.unlink(missing_ok=True)
            return model, signature

    async def watch(self, seconds: float) -> None:
        """Look at the file every so often, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            await self.refresh()

    def _is_new(self, signature: Signature | None) -> bool:
        return signature is not None and signature != self._signature

    async def refresh(self) -> bool:
        """Take over the file if it changed and is good; else keep what serves."""
        if not self._is_new(_signature(self.path)):
            return False
        loop = asyncio.get_running_loop()
        # A lesson that is learned meanwhile would be undone by the file of before.
        async with self._changing:
            signature = _signature(self.path)
            if not self._is_new(signature):
                return False
            try:
                model = await loop.run_in_executor(
                    None, ServedModel.from_file, self.path, self.limits
                )
            except Exception as error:
                # Another attempt only when the file changes again.
                self._signature = signature
                facts = {"error": type(error).__name__, "why": str(error)}
                logger.error("model refused", extra={"facts": facts})
                self._observe("refused")
                return False
            self.model, self._signature = model, signature
        logger.warning("model reloaded", extra={"facts": dict(self.model.facts)})
        self._observe("loaded")
        return True


def _signature(path: Path) -> Signature | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
