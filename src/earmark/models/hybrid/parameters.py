"""What the hybrid's constructor parameters mean for a matrix of some width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from earmark.exceptions import DataError
from earmark.models.hybrid.regions import EVENT_MODELS
from earmark.models.hybrid.statistics import RegionStatistics
from earmark.typing import IntVector, Labels

__all__ = ["empty_statistics", "smoothing_values"]


def smoothing_values(alpha: Any) -> tuple[float, ...]:
    """The values of alpha to try, in the order given."""
    values = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    if values.ndim != 1 or not len(values) or not (values > 0).all():
        raise ValueError(
            f"HybridBayes.alpha must be > 0, or several such values, got {alpha!r}."
        )
    return tuple(values.tolist())


def empty_statistics(
    classes: Labels,
    n_features: int,
    blocks: Any,
    event_model: str | Sequence[str],
    shared: bool,
) -> RegionStatistics:
    """Statistics of no document, on the regions that the parameters describe."""
    columns = _columns(blocks, n_features)
    kinds = _event_models(event_model, len(columns))
    widths = sorted({len(c) for c in columns})
    if shared and (len(widths) != 1 or set(kinds) != {"multinomial"}):
        raise DataError(
            "HybridBayes.vocabulary='shared' needs multinomial regions whose "
            f"columns are the same terms; got widths {widths} and event models {kinds}."
        )
    return RegionStatistics(classes, columns, kinds, shared)


def _columns(blocks: Any, n_features: int) -> list[IntVector]:
    """The columns of each region, in the order of the region numbers."""
    if blocks is None:
        return [np.arange(n_features)]
    region = np.asarray(blocks)
    if region.shape != (n_features,):
        raise DataError(
            f"HybridBayes.blocks must give a region for each of the {n_features} "
            f"columns of X, got shape {region.shape}."
        )
    return [np.flatnonzero(region == number) for number in np.unique(region)]


def _event_models(event_model: str | Sequence[str], n_regions: int) -> list[str]:
    one = isinstance(event_model, str)
    kinds = [str(event_model)] * n_regions if one else list(event_model)
    if len(kinds) != n_regions or any(kind not in EVENT_MODELS for kind in kinds):
        raise ValueError(
            f"HybridBayes.event_model must be one of {tuple(EVENT_MODELS)}, or one "
            f"for each of the {n_regions} regions, got {event_model!r}."
        )
    return kinds
