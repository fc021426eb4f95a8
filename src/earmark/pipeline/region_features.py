"""Texts of one or several regions -> one sparse matrix, region after region."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from earmark.features import TfidfWeighting, WordCounter
from earmark.kernels.rows import canonical_rows
from earmark.pipeline.inputs import SINGLE, RegionTexts
from earmark.text.preparation import TextPreparation
from earmark.typing import IntVector, SparseMatrix

__all__ = ["RegionFeatures", "make_counter"]


def make_counter(features: Any, n_jobs: int | None) -> Any:
    """The vectorizer that ``TextClassifier.features`` asks for, unfitted."""
    if features is None:
        return WordCounter(n_jobs=n_jobs)
    if isinstance(features, Mapping):
        return WordCounter(**{"n_jobs": n_jobs, **_prepared(dict(features))})
    if not hasattr(features, "fit_transform") or not hasattr(features, "transform"):
        raise TypeError(
            "TextClassifier.features must be None, a dict of WordCounter parameters "
            f"or a vectorizer with fit_transform and transform, got {features!r}."
        )
    return features


def _prepared(options: dict[str, Any]) -> dict[str, Any]:
    """WordCounter parameters; ``substitutions`` and ``stemmer`` become one step."""
    named = {name: options.pop(name, None) for name in ("substitutions", "stemmer")}
    if not any(named.values()):
        return options
    if options.get("preprocessor") is not None:
        raise ValueError(
            "TextClassifier.features must not have both a preprocessor and "
            "substitutions or a stemmer; put them into the preprocessor."
        )
    shared = ("stop_words", "lowercase", "strip_accents")
    given = {name: options[name] for name in shared if name in options}
    named["substitutions"] = named["substitutions"] or ()
    for done in ("lowercase", "strip_accents"):
        options.pop(done, None)
    step = TextPreparation(**named, **given)
    return {**options, "preprocessor": step, "lowercase": False}


class RegionFeatures(BaseEstimator):
    """One vectorizer (and weighting) for each region, their columns side by side.

    Parameters
    ----------
    counter : vectorizer
        Copied for each region.
    weighting : TfidfWeighting or None
        Copied for each region and applied to its counts; None keeps counts.
    shared : bool, default=False
        Give every region the terms of all of them, in the same order.

    """

    def __init__(
        self,
        counter: Any,
        weighting: TfidfWeighting | None = None,
        shared: bool = False,
    ) -> None:
        self.counter = counter
        self.weighting = weighting
        self.shared = shared

    def fit_transform(self, texts: RegionTexts, counts: Any = None) -> SparseMatrix:
        """Learn vocabularies and weights; the matrix of the texts.

        ``counts`` is what ``count`` gives for them, if that is known already.
        """
        self.regions_ = list(texts)
        counters, parts = self.count(texts) if counts is None else counts
        self.counters_: list[Any] = counters
        parts = list(parts)
        # A region without a term has nothing to weigh.
        self.weightings_ = [
            clone(self.weighting) if self.weighting is not None and p.shape[1] else None
            for p in parts
        ]
        for i, weighting in enumerate(self.weightings_):
            if weighting is not None:
                rows = canonical_rows(parts[i])  # once for both
                parts[i] = weighting.fit(rows).transform(rows)
        self.widths_ = [int(part.shape[1]) for part in parts]
        return _side_by_side(parts)

    def count(self, columns: RegionTexts) -> tuple[list[Any], list[SparseMatrix]]:
        """Fitted counters and counts; a region without any text gets no column."""
        if self.shared:
            counter = clone(self.counter)
            counter.fit([text for column in columns.values() for text in column])
            parts = [counter.transform(column) for column in columns.values()]
            return [counter] * len(parts), parts
        counters, parts = [], []
        for column in columns.values():
            silent = len(columns) > 1 and not any(text.strip() for text in column)
            counter = None if silent else clone(self.counter)
            counters.append(counter)
            parts.append(
                _no_columns(len(column))
                if counter is None
                else counter.fit_transform(column)
            )
        return counters, parts

    def transform(self, texts: RegionTexts) -> SparseMatrix:
        """The matrix of new texts; a region that is missing counts as empty."""
        n_texts = len(next(iter(texts.values())))
        parts = []
        for region, counter, weighting in zip(
            self.regions_, self.counters_, self.weightings_, strict=True
        ):
            column = texts.get(region, [""] * n_texts)
            part = (
                _no_columns(n_texts) if counter is None else counter.transform(column)
            )
            parts.append(part if weighting is None else weighting.transform(part))
        return _side_by_side(parts)

    @property
    def blocks_(self) -> IntVector:
        """Region number of each column."""
        return np.repeat(np.arange(len(self.widths_)), self.widths_)

    def describe(self, column: int) -> tuple[str, str | None]:
        """Term and region of a column; the region is None when there is only one."""
        starts = np.concatenate(([0], np.cumsum(self.widths_)))
        i = bisect_right(starts.tolist(), column) - 1
        names = self.counters_[i].get_feature_names_out()
        region = self.regions_[i]
        shown = None if self.regions_ == [SINGLE] else region
        return str(names[column - int(starts[i])]), shown


def _no_columns(n_texts: int) -> SparseMatrix:
    return sparse.csr_array((n_texts, 0), dtype=np.int64)


def _side_by_side(parts: list[SparseMatrix]) -> SparseMatrix:
    return parts[0].tocsr() if len(parts) == 1 else sparse.hstack(parts, format="csr")
