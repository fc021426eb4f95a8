"""The one EM loop: restarts side by side, tolerance, trace, early drop, best of n.

A model supplies two functions. ``step(params) -> (statistics, bound)`` is the E-step:
the expected statistics and the bound of every restart under ``params``.
``maximize(statistics) -> params`` is the M-step. Who computes the step, one machine
or the shards of many, does not matter to the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from earmark.typing import FloatMatrix, FloatVector, IntVector

Params = TypeVar("Params")
Statistics = TypeVar("Statistics")
Ending = Literal["converged", "max_iter", "dropped"]


@dataclass(frozen=True)
class EMSettings:
    """When a restart ends: its bound changes, or it ``moves``, by at most ``tol``."""

    # After ``drop_after`` iterations only the share ``keep`` with the best bounds goes
    # on.

    max_iter: int
    tol: float
    drop_after: int | None = None
    keep: float = 0.5
    moves: bool = False


@dataclass(frozen=True)
class EMRun(Generic[Params]):
    """Restarts that ended together."""

    restarts: IntVector  # their numbers, ascending
    params: Params  # parameters of these restarts, in this order
    bounds: FloatMatrix  # the bound before each M-step, (n_restarts, n_iter)
    ending: Ending  # why they ended

    @property
    def n_iter(self) -> int:
        """Iterations done."""
        return int(self.bounds.shape[1])


def run_em(
    params: Params,
    step: Callable[[Params], tuple[Statistics, FloatVector]],
    maximize: Callable[[Statistics], Params],
    settings: EMSettings,
    *,
    n_restarts: int = 1,
    take: Callable[[Params, IntVector], Params] | None = None,
) -> Iterator[EMRun[Params]]:
    """Run all restarts as one block; yield them in the groups in which they end."""
    # ``take(params, places)`` gives the parameters of some restarts. What a restart
    # comes to does not depend on the others of its block, unless some are dropped.
    if n_restarts > 1 and take is None:
        raise ValueError(f"run_em needs `take` to run {n_restarts} restarts, got None.")
    active = np.arange(n_restarts)
    trace = np.empty((n_restarts, 0))
    for _ in range(settings.max_iter):
        statistics, bound = step(params)
        params = maximize(statistics)
        trace = np.column_stack((trace, bound))
        endings = _endings(trace, settings, n_restarts)
        for ending in ("converged", "dropped", "max_iter"):
            place = np.flatnonzero(endings == ending)
            if len(place) == len(active):
                yield EMRun(active, params, trace, ending)
                return
            if len(place) and take is not None:
                yield EMRun(active[place], take(params, place), trace[place], ending)
        place = np.flatnonzero(endings == "")
        if not len(place):
            return
        if len(place) < len(active) and take is not None:
            active, params, trace = active[place], take(params, place), trace[place]


def _endings(
    trace: FloatMatrix, settings: EMSettings, n_restarts: int
) -> NDArray[np.str_]:
    """Why each restart ends with this iteration; empty if it goes on."""
    n_active, n_iter = trace.shape
    endings = np.full(n_active, "", dtype="<U9")
    if n_iter == settings.max_iter:
        endings[:] = "max_iter"
    elif n_iter == settings.drop_after:
        quota = max(1, int(np.ceil(settings.keep * n_restarts)))
        endings[np.argsort(-trace[:, -1], kind="stable")[quota:]] = "dropped"
    if settings.moves:
        endings[trace[:, -1] <= settings.tol] = "converged"
    elif n_iter > 1:
        change = np.abs(trace[:, -1] - trace[:, -2])
        small = change <= settings.tol * np.maximum(np.abs(trace[:, -1]), 1.0)
        endings[small] = "converged"
    return endings
