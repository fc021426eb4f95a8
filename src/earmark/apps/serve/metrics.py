"""Numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from earmark._optional import require

__all__ = ["Metrics"]


class Metrics:
    """Counters of one application, in a registry of their own."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        made = require("prometheus_client", "count requests")
        self._made = made
        self._registry = made.CollectorRegistry()

        def make(kind: Any, name: str, text: str, labels: Any = (), **more: Any) -> Any:
            return kind(
                f"earmark_{name}", text, labels, registry=self._registry, **more
            )

        self.requests = make(
            made.Counter, "requests", "Requests answered.", ("path", "status")
        )
        self.seconds = make(
            made.Histogram,
            "request_seconds",
            "Time to answer.",
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
        )
        self.documents = make(made.Counter, "documents", "Documents classified.")
        self.abstained = make(made.Counter, "abstained", "Documents left undecided.")
        self.batches = make(
            made.Histogram,
            "batch_requests",
            "Requests answered in one call of the model.",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
        )
        self.reloads = make(
            made.Counter, "model_reloads", "Replaced model files.", ("result",)
        )
        self._in_flight = make(made.Gauge, "in_flight", "Requests at work now.")
        self._known: dict[tuple[str, int], Any] = {}

    def watch_in_flight(self, count: Callable[[], float]) -> None:
        """Where to look up the number of requests at work."""
        self._in_flight.set_function(count)

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        key = (path, status)
        if key not in self._known:
            self._known[key] = self.requests.labels(path, str(status))
        self._known[key].inc()
        self.seconds.observe(seconds)

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        shown: bytes = self._made.generate_latest(self._registry)
        return shown
