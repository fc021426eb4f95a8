"""Routing: rank documents for a class without deciding on any of them (VS4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from earmark.exceptions import DataError, NotSupportedError
from earmark.typing import FloatVector, IntVector

__all__ = ["Ranking", "rank"]


class Ranking(NamedTuple):
    """Documents in the order of their fit to a class."""

    positions: IntVector
    """Rows of X, best first."""
    scores: FloatVector
    """Their scores, falling."""


def rank(model: Any, X: Any, label: Any, top: int | None = None) -> Ranking:
    """Order documents by how well they fit a class.

    Parameters
    ----------
    model : fitted classifier
        Asked for ``decision_function``, else for ``predict_log_proba`` or
        ``predict_proba``.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Whatever ``model`` takes.
    label : label
        One of ``model.classes_``.
    top : int, optional
        How many documents to return; all by default.

    Returns
    -------
    ranking : Ranking
        Positions and scores, best first; equal scores keep the order of X.

    Examples
    --------
    >>> from earmark.models import RocchioClassifier
    >>> model = RocchioClassifier().fit([[2, 0], [0, 1]], ["sport", "trade"])
    >>> rank(model, [[1, 3], [1, 0], [1, 1]], "sport", top=2).positions.tolist()
    [1, 2]

    """
    place = np.flatnonzero(np.asarray(model.classes_) == label)
    if len(place) != 1:
        known = ", ".join(repr(c) for c in np.asarray(model.classes_)[:10].tolist())
        raise DataError(f"cannot rank for {label!r}: the model's classes are {known}.")
    scores = _scores(model, X)
    if scores.ndim == 1:  # two classes: the margin of the second
        scores = np.column_stack([-scores, scores])
    column = scores[:, int(place[0])]
    order = np.argsort(-column, kind="stable")[:top]
    return Ranking(order.astype(np.int64), column[order])


def _scores(model: Any, X: Any) -> Any:
    for method in ("decision_function", "predict_log_proba", "predict_proba"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X), dtype=np.float64)
    raise NotSupportedError(
        f"{type(model).__name__} has neither decision_function nor predict_proba; "
        "ranking needs scores."
    )
