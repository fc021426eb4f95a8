"""Normalising scores in log space."""

from __future__ import annotations

import numpy as np

from earmark.typing import FloatMatrix, FloatVector

__all__ = ["log_normalize", "logsumexp_rows"]


def logsumexp_rows(scores: FloatMatrix) -> FloatVector:
    """Log of the sum of exponentials of each row; -inf for a row of -inf."""
    top = scores.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(scores - shift[:, None]).sum(axis=1))
    return np.asarray(total + shift, dtype=np.float64)


def log_normalize(scores: FloatMatrix) -> FloatMatrix:
    """Subtract each row's log-sum-exp, so that the row's exponentials sum to 1 (NB5).

    A row of -inf stays as it is.
    """
    total = logsumexp_rows(scores)
    return scores - np.where(np.isneginf(total), 0.0, total)[:, None]
