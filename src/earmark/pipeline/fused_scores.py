"""A linear model's class scores straight from raw text, without a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.features import TfidfWeighting, WordCounter
from earmark.features.fused import known_terms
from earmark.models._base import LinearRule
from earmark.pipeline.inputs import RegionTexts, n_documents
from earmark.pipeline.region_features import RegionFeatures
from earmark.typing import FloatMatrix

__all__ = ["FusedScorer", "fused_scorer"]

# Variants of TfidfWeighting that the fused pass computes, by its names for them.
_TF = {
    "natural": "raw",
    "boolean": "binary",
    "sublinear": "sublinear",
    "logarithm": "logarithm",
}
_NORM = {None: None, "cosine": "l2", "share": "l1"}


def fused_scorer(features: RegionFeatures, rule: LinearRule) -> FusedScorer | None:
    """A scorer for fitted features and a linear rule, or None where none can serve.

    None for vectorizers and weightings that have no fused pass, and for rows that
    are scaled as a whole but made of several regions.
    """
    if rule.unit and len(features.regions_) > 1:
        return None
    options = []
    for counter, weighting in zip(
        features.counters_, features.weightings_, strict=True
    ):
        option = {} if counter is None else _options(counter, weighting, rule)
        if option is None:
            return None
        options.append(option)
    return FusedScorer(features, rule, options)


class FusedScorer:
    """Linear scores of texts, region after region; made by ``fused_scorer``."""

    def __init__(
        self, features: RegionFeatures, rule: LinearRule, options: list[dict[str, Any]]
    ) -> None:
        self.rule = rule
        ends = np.cumsum(features.widths_).tolist()
        self._regions = [
            (region, known_terms(counter), rule.weights[end - width : end], option)
            for region, counter, width, end, option in zip(
                features.regions_,
                features.counters_,
                features.widths_,
                ends,
                options,
                strict=True,
            )
            if counter is not None
        ]

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """Class scores (n_documents, n_classes); a missing region counts as empty."""
        n_texts, rule = n_documents(texts), self.rule
        total = np.tile(rule.offset, (n_texts, 1))
        n_tokens = np.zeros(n_texts, dtype=np.int64)
        nothing = np.zeros(len(rule.offset))
        for region, terms, block, option in self._regions:
            if region in texts:
                part, known = terms.score(texts[region], block, nothing, **option)
                total += part
                n_tokens += known
        if rule.empty is not None:
            total[n_tokens == 0] = rule.empty
        return total


def _options(
    counter: Any, weighting: TfidfWeighting | None, rule: LinearRule
) -> dict[str, Any] | None:
    """Arguments of ``score_texts``, if it can do what features and rule ask for."""
    if not isinstance(counter, WordCounter):
        return None
    option: dict[str, Any] = {"tf": "raw", "idf": None, "norm": None}
    if weighting is not None:
        if weighting.tf not in _TF or weighting.norm not in _NORM:
            return None
        option["tf"], option["norm"] = _TF[weighting.tf], _NORM[weighting.norm]
        if weighting.idf != "none":
            option["idf"] = weighting.idf_
        # A factor of zero makes a known term vanish from the row.
        vanishes = option["idf"] is not None and not (option["idf"] > 0).all()
        if rule.binary or (rule.empty is not None and vanishes):
            return None
    if rule.binary:
        option["tf"] = "binary"
    if rule.unit:
        option["norm"] = "l2"
    return option
