"""Numbers for Prometheus."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy

from earmark._optional import require
from earmark.typing import FloatVector, JsonObject

__all__ = ["Metrics", "Recent"]

# Documents that the shares and distances are about.
_N_RECENT = 1_000
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)


class Metrics:
    """Counters of one application, in a registry of their own."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, in_flight: Callable[[], int], recent: Callable[[], Recent]):
        client = require("prometheus_client", "count requests")
        registry = client.CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Any:
            return client.Counter(f"earmark_{name}", text, labels, registry=registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Any:
            return client.Histogram(
                f"earmark_{name}", text, buckets=buckets, registry=registry
            )

        def gauge(name: str, text: str, look: Callable[[], float]) -> None:
            one = client.Gauge(f"earmark_{name}", text, registry=registry)
            one.set_function(look)

        self.text: Callable[[], bytes] = lambda: client.generate_latest(registry)
        self._requests = counter("requests", "Requests answered.", "path", "status")
        self._seconds = histogram("request_seconds", "Time to answer.", _SECONDS)
        self.documents = counter("documents", "Documents classified.")
        self.abstained = counter("abstained", "Documents left undecided.")
        self.batches = histogram(
            "batch_requests",
            "Requests answered in one call of the model.",
            (1, 2, 4, 8, 16, 32, 64, 128, 256),
        )
        self.reloads = counter("model_reloads", "Replaced model files.", "result")
        gauge("in_flight", "Requests at work now.", in_flight)
        gauge(
            "novel_share",
            "Share of the last 1,000 documents that are unlike the training documents.",
            lambda: recent().novel_share,
        )
        gauge(
            "confidence_drift",
            "Kolmogorov-Smirnov distance of the last 1,000 confidences from those of "
            "documents that the model was calibrated on.",
            lambda: recent().confidence_drift,
        )
        self._known: dict[tuple[str, int], Any] = {}

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        key = (path, status)
        if key not in self._known:
            self._known[key] = self._requests.labels(path, str(status))
        self._known[key].inc()
        self._seconds.observe(seconds)


class Recent:
    """The latest answers of one model, beside confidences it was calibrated on."""

    def __init__(self, calibration: FloatVector | None, max_novelty: float) -> None:
        self._calibration = calibration
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
        known, new = self._calibration, list(self._confidence)
        if known is None or not len(known) or not new:
            return float("nan")
        return float(scipy.stats.ks_2samp(known, new, method="asymp").statistic)
