"""Texts as an encoder's vectors, for a baseline that sees nothing else."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from earmark.encoders import load_encoder
from earmark.pipeline.inputs import joined
from earmark.typing import FloatMatrix


class EncoderVectors(TransformerMixin, BaseEstimator):
    """Unit vectors of texts; every process loads the encoder for itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, X: Any, y: object = None) -> Self:
        """Nothing to learn."""
        return self

    def transform(self, X: Any) -> FloatMatrix:
        """A row for each text; several columns are one text."""
        texts = joined(X) if isinstance(X, dict) else list(X)
        vectors = load_encoder(self.name).encoded(texts, store=True)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float64)
