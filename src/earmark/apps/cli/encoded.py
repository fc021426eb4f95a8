"""Texts as an encoder's vectors, for a baseline of ``earmark compare``.

A module of its own, because scikit-learn is imported for its base classes.
"""

from __future__ import annotations

from typing import Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize

from earmark.documents.document import Documents, Texts
from earmark.encoders import load_encoder
from earmark.typing import FloatMatrix


class EncoderVectors(TransformerMixin, BaseEstimator):
    """Unit vectors of texts; every process loads the encoder for itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, X: Texts, y: object = None) -> Self:
        """Nothing to learn."""
        return self

    def transform(self, X: Texts) -> FloatMatrix:
        """A row for each text; several columns are one text."""
        texts = Documents(X if isinstance(X, dict) else list(X)).joined()
        vectors = load_encoder(self.name).encoded(texts, store=True)
        unit: FloatMatrix = normalize(vectors.astype(float))
        return unit
