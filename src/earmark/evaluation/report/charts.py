"""Geometry of the report's charts: numbers in, SVG coordinates out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earmark.evaluation.coverage import AccuracyCoverage
from earmark.evaluation.reliability import Reliability
from earmark.evaluation.significance import wilson_interval
from earmark.typing import ArrayLike, JsonObject

__all__ = ["Chart", "coverage_chart", "learning_chart", "reliability_chart"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 16.0, 14.0, 40.0


@dataclass
class Chart:
    """One chart: axes as ticks, series as SVG paths, points with a label each."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    name: str
    log_x: bool = False
    width: float = 480.0
    height: float = 290.0
    x_ticks: list[tuple[float, str]] = field(default_factory=list)
    y_ticks: list[tuple[float, str]] = field(default_factory=list)
    paths: list[tuple[str, str]] = field(default_factory=list)
    points: list[JsonObject] = field(default_factory=list)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the plotting area."""
        return _LEFT, _TOP, self.width - _RIGHT, self.height - _BOTTOM

    def x(self, value: float) -> float:
        """Horizontal position of a value."""
        low, high = self.x_range
        if self.log_x:
            low, high, value = np.log(low), np.log(high), np.log(value)
        left, _, right, _ = self.box
        return round(left + (right - left) * float((value - low) / (high - low)), 1)

    def y(self, value: float) -> float:
        """Vertical position of a value."""
        low, high = self.y_range
        _, top, _, bottom = self.box
        return round(bottom - (bottom - top) * float((value - low) / (high - low)), 1)

    def line(self, kind: str, xs: ArrayLike, ys: ArrayLike) -> None:
        """Add a polyline of the given CSS class."""
        self.paths.append((kind, self._steps(xs, ys)))

    def band(self, xs: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        """Add a filled band between two lines."""
        there = np.asarray(xs)
        back = there[::-1]
        path = self._steps(there, low) + self._steps(back, np.asarray(high)[::-1], "L")
        self.paths.append(("band", path + "Z"))

    def point(self, kind: str, x: float, y: float, label: str, radius: float) -> None:
        """Add a dot; its label shows on hovering."""
        place = {"x": self.x(x), "y": self.y(y), "r": round(radius, 1)}
        self.points.append({"kind": kind, "label": label, **place})

    def shares_on_y(self, step: float) -> None:
        """Ticks in per cent on the vertical axis."""
        low, high = self.y_range
        values = np.arange(round(low / step + 0.499) * step, high + 1e-9, step)
        self.y_ticks = [(self.y(float(v)), f"{100 * v:.0f}") for v in values]

    def shares_on_x(self, step: float) -> None:
        """Ticks in per cent on the horizontal axis."""
        values = np.arange(0, self.x_range[1] + 1e-9, step)
        self.x_ticks = [(self.x(float(v)), f"{100 * v:.0f}") for v in values]

    def _steps(self, xs: ArrayLike, ys: ArrayLike, first: str = "M") -> str:
        pairs = zip(np.asarray(xs).tolist(), np.asarray(ys).tolist(), strict=True)
        steps = [f"{self.x(a):g},{self.y(b):g}" for a, b in pairs]
        return first + " L".join(steps)


def coverage_chart(curve: AccuracyCoverage, threshold: float | None) -> Chart:
    """Accuracy of the most confident answers, with the chosen point."""
    ranks = np.linspace(0, 1, 161)[1:] * float(curve.coverage[-1])
    # The first few per cent rest on a handful of documents: start where ten are.
    ranks = ranks[ranks * curve.n_documents >= min(10, curve.n_documents)]
    accuracy = np.array([curve.accuracy_at(float(share)) for share in ranks])
    low = max(0.0, np.floor((accuracy.min() - 0.02) * 10) / 10)
    chart = Chart(
        (0, 1), (low, 1), "documents answered, %", "right answers, %",
        "Accuracy against coverage",
    )  # fmt: skip
    chart.shares_on_y(0.1 if low < 0.65 else 0.05)
    chart.shares_on_x(0.2)
    chart.line("line", ranks, accuracy)
    if threshold is not None:
        share, right = curve.at_threshold(threshold)
        if right is not None:
            label = f"chosen: {100 * right:.1f} % right at {100 * share:.1f} % answered"
            chart.point("chosen", share, max(right, low), label, 6)
    return chart


def reliability_chart(figures: Reliability) -> Chart:
    """Share of right answers against stated confidence, with 95 % intervals."""
    chart = Chart(
        (0, 1), (0, 1), "stated confidence, %", "right answers, %",
        "Reliability diagram",
    )  # fmt: skip
    chart.shares_on_x(0.2)
    chart.shares_on_y(0.2)
    chart.line("ideal", [0, 1], [0, 1])
    filled = np.flatnonzero(figures.count > 0)
    most = figures.count.max()
    for b in filled:
        sure, right = float(figures.confidence[b]), float(figures.accuracy[b])
        n = int(figures.count[b])
        low, high = wilson_interval(round(right * n), n)
        chart.line("interval", [sure, sure], [low, high])
        label = (
            f"said {100 * sure:.1f} %, right {100 * right:.1f} % "
            f"({100 * low:.0f} to {100 * high:.0f} %), {n:,} answers"
        )
        chart.point("dot", sure, right, label, 3 + 6 * np.sqrt(figures.count[b] / most))
    return chart


def learning_chart(curve: Any) -> Chart:
    """Accuracy against number of labels, with interval and fitted curve."""
    sizes = np.asarray(curve.sizes, dtype=np.float64)
    far = curve.horizon
    ends = [float(np.min(curve.low)), float(np.max(curve.high)), curve.predict(far)]
    low = max(0.0, np.floor((min(ends) - 0.01) * 20) / 20)
    high = min(1.0, np.ceil((max(ends) + 0.01) * 20) / 20)
    chart = Chart(
        (float(sizes[0]), float(far)), (low, high), "labelled documents",
        "right answers, %", "Learning curve", log_x=True,
    )  # fmt: skip
    chart.shares_on_y(0.05 if high - low < 0.4 else 0.1)
    chart.x_ticks = [(chart.x(float(s)), f"{s:,.0f}") for s in _size_ticks(sizes, far)]
    chart.band(sizes, curve.low, curve.high)
    smooth = np.geomspace(sizes[0], far, 60)
    fitted = np.clip([curve.predict(float(s)) for s in smooth], low, high)
    chart.line("ideal", smooth, fitted)
    chart.line("line", sizes, curve.mean)
    for size, mean in zip(sizes, curve.mean, strict=True):
        label = f"{size:,.0f} labels: {100 * mean:.1f} % right"
        chart.point("dot", float(size), float(mean), label, 3.5)
    return chart


def _size_ticks(sizes: Any, far: float) -> list[float]:
    """Every size measured, thinned to what fits, and the horizon."""
    ticks = [float(far)]
    for size in sorted(map(float, sizes), reverse=True):
        if ticks[-1] / size >= (far / float(sizes[0])) ** (1 / 7):
            ticks.append(size)
    return ticks[::-1]
