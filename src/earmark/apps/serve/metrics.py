"""Numbers for Prometheus."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from earmark._optional import require
from earmark.typing import FloatVector, JsonObject

__all__ = ["Metrics", "Recent"]

# Documents that the shares and distances are about.
_N_RECENT = 1_000


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
        self._novel_share = make(
            made.Gauge,
            "novel_share",
            "Share of the last 1,000 documents that are unlike the training documents.",
        )
        self._confidence_drift = make(
            made.Gauge,
            "confidence_drift",
            "Kolmogorov-Smirnov distance of the last 1,000 confidences from those of "
            "documents that the model was calibrated on.",
        )
        self._known: dict[tuple[str, int], Any] = {}

    def watch_in_flight(self, count: Callable[[], float]) -> None:
        """Where to look up the number of requests at work."""
        self._in_flight.set_function(count)

    def watch_recent(self, recent: Callable[[], Recent]) -> None:
        """Where to look up the latest answers of the model that serves."""
        self._novel_share.set_function(lambda: recent().novel_share)
        self._confidence_drift.set_function(lambda: recent().confidence_drift)

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


class Recent:
    """The latest answers of one model, beside what it was calibrated on.

    Parameters
    ----------
    calibration : ndarray or None
        Confidences of documents that the model had not seen.
    max_novelty : float
        Documents with a p-value of this or less are foreign.

    """

    def __init__(self, calibration: FloatVector | None, max_novelty: float) -> None:
        self._calibration = None if calibration is None else np.sort(calibration)
        self._max_novelty = max_novelty
        self._confidence: deque[float] = deque(maxlen=_N_RECENT)
        self._novelty: deque[float] = deque(maxlen=_N_RECENT)

    def add(self, results: Iterable[JsonObject]) -> None:
        """Take down the confidence, and the p-value, of each answer."""
        for result in results:
            if result["confidence"] is not None:
                self._confidence.append(result["confidence"])
            if "novelty" in result:
                self._novelty.append(result["novelty"])

    @property
    def novel_share(self) -> float:
        """Share of foreign documents; NaN before the first, or without p-values."""
        if not self._novelty:
            return float("nan")
        return float(np.mean(np.asarray(self._novelty) <= self._max_novelty))

    @property
    def confidence_drift(self) -> float:
        """Largest distance of the two distributions; NaN where one is missing."""
        known, new = self._calibration, np.sort(np.asarray(self._confidence))
        if known is None or not len(known) or not len(new):
            return float("nan")
        places = np.concatenate([known, new])
        below = np.searchsorted(known, places, side="right") / len(known)
        return float(
            np.abs(below - np.searchsorted(new, places, side="right") / len(new)).max()
        )
