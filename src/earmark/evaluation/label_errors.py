"""Documents whose label the other documents contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from earmark.evaluation._labels import (
    as_labels,
    check_equal_length,
    check_true_labels,
    index_of,
)
from earmark.exceptions import DataError
from earmark.typing import ArrayLike

__all__ = ["SuspectedLabelError", "suspected_label_errors"]


@dataclass(frozen=True)
class SuspectedLabelError:
    """A document that the model, fitted without it, would label otherwise.

    Attributes
    ----------
    index : int
        Position of the document.
    given, suggested : label
        Its label, and the class the other documents speak for.
    margin : float
        log P(suggested|d) - log P(given|d), above 0.
    text : str or None
        The document, if texts were passed.

    """

    index: int
    given: Any
    suggested: Any
    margin: float
    text: str | None = None

    def with_text(self, text: str) -> SuspectedLabelError:
        """The same finding with its document."""
        return replace(self, text=text)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the text."""
        return {
            "index": self.index,
            "given": self.given,
            "suggested": self.suggested,
            "margin": self.margin,
        }


def suspected_label_errors(
    y: ArrayLike,
    loo_log_proba: ArrayLike,
    classes: ArrayLike,
    *,
    texts: Sequence[str] | None = None,
    min_margin: float = 0.0,
    top: int | None = None,
) -> list[SuspectedLabelError]:
    """Documents whose leave-one-out posterior contradicts their label, worst first.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        The labels as given.
    loo_log_proba : array-like of shape (n_documents, n_classes)
        Log posteriors of each document under the model fitted without it, such
        as ``leave_one_out(X, y)`` of the count models, or cross-validated ones.
    classes : array-like of shape (n_classes,)
        Labels of the columns.
    texts : sequence of str, optional
        Kept with the findings, for showing them.
    min_margin : float, default=0.0
        Smallest margin, in natural log units, that counts as a contradiction.
    top : int, optional
        Return at most so many.

    Returns
    -------
    list of SuspectedLabelError
        Ranked by margin, largest first; ties by position.

    Examples
    --------
    >>> log_p = np.log([[0.9, 0.1], [0.2, 0.8], [0.99, 0.01]])
    >>> [found.index for found in suspected_label_errors("abb", log_p, "ab")]
    [2]

    """
    labels, names = as_labels(y), as_labels(list(classes))  # type: ignore[arg-type]
    log_proba = np.asarray(loo_log_proba, dtype=np.float64)
    check_equal_length(y=labels, loo_log_proba=log_proba, texts=texts)
    check_true_labels(labels)
    index = index_of(labels, names)
    if log_proba.ndim != 2 or log_proba.shape[1] != len(names):
        raise DataError(
            f"loo_log_proba must be of shape (n_documents, {len(names)}), one column "
            f"per class, got shape {log_proba.shape}."
        )
    if (index < 0).any():
        row = int(np.flatnonzero(index < 0)[0])
        raise DataError(
            f"every label must be among the {len(names)} classes, got "
            f"{labels[row]!r} in row {row}."
        )
    rows = np.arange(len(labels))
    own = log_proba[rows, index]
    others = log_proba.copy()
    others[rows, index] = -np.inf
    rival = others.argmax(axis=1)
    with np.errstate(invalid="ignore"):  # -inf against -inf: no evidence, no finding
        margin = np.nan_to_num(others[rows, rival] - own, nan=-np.inf, posinf=np.inf)
    order = np.argsort(-margin, kind="stable")
    order = order[margin[order] > min_margin][:top]
    return [
        SuspectedLabelError(
            index=int(row),
            given=labels[row],
            suggested=names[rival[row]],
            margin=float(margin[row]),
            text=None if texts is None else texts[int(row)],
        )
        for row in order
    ]
