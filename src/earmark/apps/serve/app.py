"""The service: a few routes around one model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from earmark import __version__
from earmark.apps.serve.batching import MicroBatcher
from earmark.apps.serve.metrics import Metrics
from earmark.apps.serve.openapi import describe
from earmark.apps.serve.reload import ModelHolder
from earmark.apps.serve.requests import parse_request
from earmark.apps.web.bodies import Scope
from earmark.apps.web.files import PageFiles
from earmark.apps.web.guard import Guard, Limits
from earmark.apps.web.media import require_json
from earmark.apps.web.refusals import answer_refusals
from earmark.apps.web.replies import Refusal, as_json, json_bytes

__all__ = ["make_app"]

_PUBLIC = frozenset({"/", "/healthz", "/readyz"})
_ROUTES = frozenset(
    {"/", "/classify", "/model", "/healthz", "/readyz", "/metrics", "/openapi.json"}
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
            path, lambda result: self.metrics.reloads.labels(result).inc()
        )
        self.batcher = MicroBatcher(self.metrics.batches.observe)
        self.reload_seconds = reload_seconds
        self.files = PageFiles("earmark.apps.web", "earmark.apps.serve")
        self.is_ready = True
        static = {f"/static/{name}" for name in self.files.names}
        self.guard = Guard(
            self._application(),
            limits=limits,
            token=token,
            hosts=hosts,
            public=_PUBLIC | static,
            routes=_ROUTES,
            direct={"/classify": self.classify},
            observe=self.metrics.observe,
        )
        self.metrics.watch_in_flight(lambda: self.guard.in_flight)

    def _application(self) -> FastAPI:
        app = FastAPI(
            title="earmark",
            version=__version__,
            docs_url=None,  # its page would load scripts from elsewhere
            redoc_url=None,
            openapi_url=None,
            lifespan=self._lifespan,
        )
        app.add_api_route("/classify", self.classify_route, methods=["POST"])
        for path, answer in (
            ("/", self.page),
            ("/static/{name}", self.file),
            ("/model", self.model),
            ("/healthz", self.healthz),
            ("/readyz", self.readyz),
            ("/metrics", self.show_metrics),
            ("/openapi.json", self.openapi),
        ):
            app.add_api_route(path, answer, methods=["GET"])
        answer_refusals(app)
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

    async def classify(self, scope: Scope) -> bytes:
        """Label documents: the body of the reply."""
        require_json(scope)
        model = self.holder.model
        job = parse_request(scope["earmark.body"], model, self.limits)
        seconds = self.limits.answer_seconds
        try:
            results = await self.batcher.answer(job, model, seconds)
        except TimeoutError:
            raise Refusal(503, "slow", f"no answer within {seconds:g} s.") from None
        self.metrics.documents.inc(len(results))
        n_abstained = sum(result["abstained"] for result in results)
        if n_abstained:
            self.metrics.abstained.inc(n_abstained)
        scope["earmark"]["documents"] = len(results)
        return json_bytes({"results": results})

    async def classify_route(self, request: Request) -> Response:
        """The same by way of the router, which knows the methods of the path."""
        body = await self.classify(request.scope)
        return Response(body, media_type="application/json")

    async def model(self) -> Response:
        """What is served."""
        model = self.holder.model
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
                "summary": classifier.summary(),
                "loaded_at": round(self.holder.loaded_at, 3),
                "earmark": __version__,
                "limits": {
                    "body_bytes": self.limits.body,
                    "text_characters": self.limits.text,
                    "documents": self.limits.batch,
                },
                **model.facts,
            }
        )

    async def healthz(self) -> Response:
        """The process lives."""
        return as_json({"status": "ok"})

    async def readyz(self) -> Response:
        """A model answers."""
        if not self.is_ready:
            raise Refusal(503, "stopping", "shutting down.")
        return as_json({"status": "ready"})

    async def show_metrics(self) -> Response:
        """Numbers for Prometheus."""
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def openapi(self) -> Response:
        """The description of the service for the model that is loaded."""
        with_token = self.guard.token is not None
        return as_json(describe(self.holder.model, self.limits, with_token))

    async def page(self, request: Request) -> Response:
        """The page to try the model on."""
        found = self.files.response("serve.html", request)
        assert found is not None
        return found

    async def file(self, name: str, request: Request) -> Response:
        """A file of the page."""
        found = self.files.response(name, request)
        if found is None:
            raise Refusal(404, "not_found", "there is no such path.")
        return found
