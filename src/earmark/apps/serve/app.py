"""The service: a few routes around one model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from earmark import __version__
from earmark.apps.serve.batching import MicroBatcher
from earmark.apps.serve.metrics import Metrics
from earmark.apps.serve.openapi import describe
from earmark.apps.serve.reload import ModelHolder
from earmark.apps.web.bodies import require_json
from earmark.apps.web.guard import Guard, Limits
from earmark.apps.web.replies import EXCEPTION_HANDLERS, Refusal, as_json, static_files

__all__ = ["make_app"]

_PUBLIC = ("/", "/docs", "/healthz", "/readyz", "/static/")
_ROUTES = frozenset(
    {"/", "/classify", "/docs", "/model", "/healthz", "/readyz", "/metrics"}
    | {"/openapi.json"}
)


def make_app(
    model: str | Path,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: frozenset[str] | None = None,
    reload_seconds: float = 1.0,
) -> Guard:
    """An ASGI application that serves one model file.

    Parameters
    ----------
    model : path
        A model file; loaded before the function returns.
    limits : Limits, optional
        How much a request may ask for.
    token : str, optional
        Bearer token to ask for.
    hosts : frozenset of str, optional
        Host names to answer to; None answers to all.
    reload_seconds : float, default=1.0
        How often to look whether the file was replaced; 0 never looks.

    Returns
    -------
    Guard
        Give it to uvicorn or any other ASGI server.

    """
    service = _Service(Path(model), limits or Limits(), token, hosts, reload_seconds)
    return service.guard


class _Service:
    def __init__(
        self,
        path: Path,
        limits: Limits,
        token: str | None,
        hosts: frozenset[str] | None,
        reload_seconds: float,
    ) -> None:
        self.limits = limits
        self.metrics = Metrics()
        self.holder = ModelHolder(
            path, limits, lambda result: self.metrics.reloads.labels(result).inc()
        )
        self.batcher = MicroBatcher(self.metrics.batches.observe)
        self.reload_seconds = reload_seconds
        self.files = static_files("serve")
        self.is_ready = True
        self.guard = Guard(
            self._application(),
            limits=limits,
            token=token,
            hosts=hosts,
            public=_PUBLIC,
            routes=_ROUTES,
            observe=self.metrics.observe,
        )
        self.metrics.watch_in_flight(lambda: self.guard.in_flight)
        self.metrics.watch_recent(lambda: self.holder.served.model.recent)

    def _application(self) -> Starlette:
        app = Starlette(
            routes=[
                Route("/classify", self.classify, methods=["POST"]),
                Route("/", self.page),
                Route("/docs", self.docs),
                Route("/model", self.model),
                Route("/healthz", self.healthz),
                Route("/readyz", self.readyz),
                Route("/metrics", self.show_metrics),
                Route("/openapi.json", self.openapi),
                Mount("/static", self.files),
            ],
            exception_handlers=EXCEPTION_HANDLERS,
            lifespan=self._lifespan,
        )
        app.router.redirect_slashes = False
        return app

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        watcher = None
        if self.reload_seconds:
            watcher = asyncio.create_task(self.holder.watch(self.reload_seconds))
        yield
        self.is_ready = False
        if watcher is not None:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher
        self.batcher.close()

    async def classify(self, request: Request) -> Response:
        """Label documents."""
        scope = request.scope
        require_json(scope)
        served = self.holder.served
        job = served.reader.job(scope["earmark.body"])
        seconds = self.limits.answer_seconds
        try:
            results = await self.batcher.answer(job, served.model, seconds)
        except TimeoutError:
            raise Refusal(503, "slow", f"no answer within {seconds:g} s.") from None
        self.metrics.documents.inc(len(results))
        served.model.recent.add(results)
        n_abstained = sum(result["abstained"] for result in results)
        if n_abstained:
            self.metrics.abstained.inc(n_abstained)
        scope["earmark"]["documents"] = len(results)
        return as_json({"results": results})

    async def model(self, request: Request) -> Response:
        """What is served."""
        served = self.holder.served
        model = served.model
        classifier = model.classifier
        return as_json(
            {
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
                "loaded_at": round(served.loaded_at, 3),
                "earmark": __version__,
                "limits": {
                    "body_bytes": self.limits.body,
                    "text_characters": self.limits.text,
                    "documents": self.limits.batch,
                },
                **model.facts,
            }
        )

    async def healthz(self, request: Request) -> Response:
        """The process lives."""
        return as_json({"status": "ok"})

    async def readyz(self, request: Request) -> Response:
        """A model answers."""
        if not self.is_ready:
            raise Refusal(503, "stopping", "shutting down.")
        return as_json({"status": "ready"})

    async def show_metrics(self, request: Request) -> Response:
        """Numbers for Prometheus."""
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def openapi(self, request: Request) -> Response:
        """The description of the service for the model that is loaded."""
        with_token = self.guard.token is not None
        return as_json(describe(self.holder.served.reader.request, with_token))

    async def page(self, request: Request) -> Response:
        """The page to try the model on."""
        return await self.files.get_response("serve.html", request.scope)

    async def docs(self, request: Request) -> Response:
        """The page that shows the OpenAPI description, without any network."""
        return await self.files.get_response("docs.html", request.scope)
