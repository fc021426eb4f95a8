"""The service: a few routes around one model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from earmark import __version__
from earmark.apps.serve.metrics import Metrics
from earmark.apps.serve.model import MicroBatcher, ModelHolder, ServedModel
from earmark.apps.serve.schemas import describe
from earmark.apps.web.guard import Guard, Limits, logger
from earmark.apps.web.replies import Refusal, as_json, router, static_files
from earmark.exceptions import DataError, EarmarkError
from earmark.whole_files import append_lines, json_line, mend_json_lines

__all__ = ["make_app"]

_PUBLIC = ("/", "/docs", "/healthz", "/readyz", "/static/")
_NEVER_LEARNED = "a text was not learned with its label, or not as often."


def make_app(
    model: str | Path | Sequence[str | Path],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: frozenset[str] | None = None,
    reload_seconds: float = 1.0,
    canary: float = 0.0,
    learn: bool = False,
    feedback: Path | None = None,
) -> Guard:
    """An ASGI application that serves model files, loaded before it returns.

    The first model answers, unless a request names another (``/classify?model=NAME``)
    or it is the turn of the second, which labels the share ``canary`` of the others.
    Without ``hosts`` it answers to every host name. ``reload_seconds`` is how often to
    look whether a file was replaced; 0 never looks. To ``learn`` (POST /learn and
    /forget change the model and its file) takes a token, models that can, and folders
    that can be written. POST /feedback appends texts and the labels that people say are
    right to the file ``feedback``, as JSON lines.
    """
    paths = [model] if isinstance(model, (str, Path)) else list(model)
    if learn and token is None:
        raise DataError("a model that learns over HTTP needs a token.")
    if canary and len(paths) < 2:
        raise DataError("a canary needs a second model.")
    service = _Service(
        *([Path(path) for path in paths], limits or Limits(), token, hosts),
        *(reload_seconds, canary, learn, feedback),
    )
    return service.guard


@dataclass
class _Service:
    paths: list[Path]
    limits: Limits
    token: str | None
    hosts: frozenset[str] | None
    reload_seconds: float
    canary: float
    learns: bool
    feedback_file: Path | None

    def __post_init__(self) -> None:
        self.metrics = Metrics(
            lambda: self.guard.in_flight, lambda: self.first.model.recent
        )
        self.holders = {
            path.name.removesuffix(".earmark"): ModelHolder(
                path, self.limits, lambda how: self.metrics.reloads.labels(how).inc()
            )
            for path in self.paths
        }
        if len(self.holders) < len(self.paths):
            words = "models that are served together need different file names."
            raise DataError(words)
        self.names = list(self.holders)
        self.first = self.holders[self.names[0]]
        self.batcher = MicroBatcher(self.metrics.batches.observe)
        self.files = static_files("serve")
        self.is_ready = True
        self._asked = 0
        posts = {"/classify": self.classify, "/learn": self.learn}
        posts |= {"/forget": self.learn, "/feedback": self.feedback}
        gets = {"/": self.page, "/docs": self.page, "/model": self.describe_model}
        gets |= {"/healthz": self.health, "/readyz": self.health}
        gets |= {"/metrics": self.show_metrics, "/openapi.json": self.openapi}
        self._router = router(posts, gets, self.files, self._lifespan)
        self.guard = Guard(
            self._route,
            limits=self.limits,
            token=self.token,
            hosts=self.hosts,
            public=_PUBLIC,
            routes=frozenset({*posts, *gets}),
            observe=self.metrics.observe,
        )
        if self.learns:
            self._check_learning()
        if self.feedback_file is not None:
            self._mend(self.feedback_file)

    def _mend(self, file: Path) -> None:
        """Cut off what a service that was killed wrote of its last feedback."""
        n_bytes = mend_json_lines(file)
        if n_bytes:
            facts = {"file": str(file), "bytes": n_bytes}
            logger.warning("torn feedback cut off", extra={"facts": facts})

    def _check_learning(self) -> None:
        """Refuse, at the start, a model or folder that could not learn."""
        for holder in self.holders.values():
            if not holder.model.can_learn:
                name = holder.model.classifier.model_name_
                raise DataError(
                    f"{holder.path}: {name} cannot learn one by one; serve it without "
                    "--learn, or train a model that can: earmark train DATA --model "
                    "multinomial"
                )
            holder.check_folder()

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the router; /classify goes straight to its handler."""
        asked = (scope.get("method"), scope.get("path"))
        if asked == ("POST", "/classify"):
            reply = await self.classify(Request(scope))
            await reply(scope, receive, send)
        else:
            await self._router(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        watchers = [
            asyncio.create_task(holder.watch(self.reload_seconds))
            for holder in self.holders.values()
            if self.reload_seconds
        ]
        yield
        self.is_ready = False
        for watcher in watchers:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher
        self.batcher.close()

    async def classify(self, request: Request) -> Response:
        """Label documents."""
        scope = request.scope
        alone = len(self.names) == 1 and not scope["query_string"]
        name = self.names[0] if alone else self._chosen(request)
        model = self.holders[name].model
        job = model.reader.job(scope)
        seconds = self.limits.answer_seconds
        try:
            results = await self.batcher.answer(job, model, seconds)
        except TimeoutError:
            raise Refusal(503, "slow", f"no answer within {seconds:g} s.") from None
        self.metrics.documents.inc(len(results))
        model.recent.add(results)
        n_abstained = sum(result["abstained"] for result in results)
        if n_abstained:
            self.metrics.abstained.inc(n_abstained)
        scope["earmark"]["documents"] = len(results)
        several = {} if len(self.names) == 1 else {"X-Earmark-Model": name}
        return as_json({"results": results}, headers=several)

    def _chosen(self, request: Request) -> str:
        """The model that a request names, or the one whose turn it is."""
        if "model" in request.query_params:
            return self._named(request)
        # Every n-th request in even steps, so that the share is kept exactly.
        before, self._asked = self._asked, self._asked + 1
        is_canary = int(self._asked * self.canary) > int(before * self.canary)
        return self.names[1] if is_canary else self.names[0]

    def _named(self, request: Request) -> str:
        """The model that a request names, or the first."""
        name = request.query_params.get("model", self.names[0])
        if name not in self.holders:
            known = ", ".join(self.names)
            words = f"there is no model {name[:100]!r}; the models are {known}."
            raise Refusal(404, "model", words)
        return name

    async def learn(self, request: Request) -> Response:
        """Learn or forget labelled documents, exactly."""
        if not self.learns:
            raise Refusal(403, "off", "this service does not learn; see --learn.")
        holder = self.holders[self._named(request)]
        model = holder.model
        if not model.can_learn:
            raise Refusal(
                409, "model", f"{model.classifier.model_name_} cannot learn one by one."
            )
        columns, labels = model.reader.lesson(request.scope)
        _check_labels(model, labels)
        method = request.scope["path"].strip("/")
        try:
            await holder.change(method, model.documents(columns), labels)
        except (EarmarkError, ValueError) as error:
            # What is said of a word to forget would repeat the text.
            said = str(error) if method == "learn" else _NEVER_LEARNED
            raise Refusal(422, "labels", said) from None
        return as_json({"documents": len(labels), "labels": holder.model.labels})

    async def feedback(self, request: Request) -> Response:
        """Keep texts with the labels that people say are right."""
        if self.feedback_file is None:
            raise Refusal(403, "off", "this service keeps no feedback; see --feedback.")
        reader = self.holders[self._named(request)].model.reader
        columns, labels = reader.lesson(request.scope)
        rows = [
            {**{name: column[n] for name, column in columns.items()}, "label": label}
            for n, label in enumerate(labels)
        ]
        lines = b"".join(map(json_line, rows))
        try:
            await run_in_threadpool(append_lines, self.feedback_file, lines)
        except OSError as error:
            raise Refusal(
                503,
                "disk",
                f"the feedback was not kept: {self.feedback_file} cannot be written "
                f"({error.strerror}); send it again when there is room.",
            ) from None
        return as_json({"documents": len(rows)})

    async def describe_model(self, request: Request) -> Response:
        """What is served."""
        name = self._named(request)
        model = self.holders[name].model
        classifier = model.classifier
        return as_json(
            {
                "name": name,
                "names": self.names,
                "samples": model.samples(),
                "learns": self.learns and model.can_learn,
                "feedback": self.feedback_file is not None,
                "model": classifier.model_name_,
                "labels": model.labels,
                "several_labels": model.any_of,
                "regions": model.regions,
                "takes_texts": model.takes_texts,
                "can_explain": model.can_explain,
                "can_abstain": model.can_abstain,
                "max_error": classifier.max_error,
                "max_novelty": classifier.max_novelty,
                "summary": classifier.summary(),
                "loaded_at": round(model.loaded_at, 3),
                "earmark": __version__,
                "limits": {
                    "body_bytes": self.limits.body,
                    "text_characters": self.limits.text,
                    "documents": self.limits.batch,
                },
                **model.facts,
            }
        )

    async def health(self, request: Request) -> Response:
        """The process lives (/healthz); a model answers (/readyz)."""
        if request.scope["path"] == "/healthz":
            return as_json({"status": "ok"})
        if not self.is_ready:
            raise Refusal(503, "stopping", "shutting down.")
        return as_json({"status": "ready"})

    async def show_metrics(self, request: Request) -> Response:
        """Numbers for Prometheus."""
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def openapi(self, request: Request) -> Response:
        """The description of the service for the model that is loaded."""
        secured, keeps = self.token is not None, self.feedback_file is not None
        reader = self.first.model.reader
        return as_json(describe(reader, secured, self.learns, keeps))

    async def page(self, request: Request) -> Response:
        """The page to try the model on, or the one that shows its description."""
        is_docs = request.scope["path"] == "/docs"
        name = "docs.html" if is_docs else "serve.html"
        return await self.files.get_response(name, request.scope)


def _check_labels(model: ServedModel, labels: list[Any]) -> None:
    """Refuse labels that the model does not have: learning makes no new ones."""
    sets = [label if isinstance(label, list) else [label] for label in labels]
    unknown = [name for names in sets for name in names if name not in model.labels]
    if unknown:
        known = ", ".join(map(str, model.labels[:20]))
        more = len(model.labels) - 20
        raise Refusal(
            422,
            "labels",
            f"labels: this model has no label {str(unknown[0])[:100]!r}; it has "
            f"{known}{f' and {more} more' if more > 0 else ''}. Train it anew to add "
            "a label: earmark train",
        )
