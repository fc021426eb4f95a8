"""Which passes each model makes over the parts."""

from __future__ import annotations

from typing import Any

from earmark.distributed.job import Job
from earmark.exceptions import NotSupportedError
from earmark.pipeline.count_engine import CountEngine

__all__ = ["train"]


def train(engine: Any, job: Job) -> None:
    """Fit the engine to the parts; one pass for the count models."""
    if isinstance(engine, CountEngine):
        _train_counts(engine, job)
        return
    raise NotSupportedError("this model cannot be fitted in parts")


def _train_counts(engine: CountEngine, job: Job) -> None:
    """Accumulate, merge, finalise: the statistics are the model."""
    engine.estimator._check_parameters()
    counts = job.count(engine.counter)
    engine.regions_ = list(counts.labelled)
    engine.statistics_ = [
        counts.labelled.pop(region).statistics() for region in engine.regions_
    ]
    engine._finalise()
