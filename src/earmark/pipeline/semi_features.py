"""Texts -> counts of words and phrases, and an encoder's vectors, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from earmark.features import WordCounter
from earmark.models.semi_supervised import PHRASE, SHORT_TEXT, VECTOR, WORD
from earmark.pipeline.encoding import encoded_texts
from earmark.pipeline.inputs import RegionTexts, n_documents
from earmark.typing import IntVector, SparseMatrix

__all__ = ["SemiFeatures"]

# Words put before and after each text, so that phrases know where it begins.
_START, _END = "startoftext", "endoftext"
_MOST_PHRASES = 20_000


class SemiFeatures(BaseEstimator):
    """Words, for short texts also phrases of two words, and an encoder's vectors.

    Parameters
    ----------
    counter : vectorizer
        Counts the words; the regions of a document are counted together.
    encoder : callable or None
        From a list of texts to an array with a row for each.

    """

    def __init__(self, counter: Any, encoder: Any = None) -> None:
        self.counter = counter
        self.encoder = encoder

    def fit_transform(self, texts: RegionTexts, pool: RegionTexts) -> SparseMatrix:
        """Learn the columns from all texts; labelled documents first, then the pool."""
        self.regions_ = list(texts)
        joined = [*self._joined(texts), *self._joined(pool)]
        self.words_ = clone(self.counter)
        words = self.words_.fit_transform(joined)
        self.phrases_ = self._phrase_counter(words.sum() / max(len(joined), 1))
        parts, kinds = [words], [WORD]
        if self.phrases_ is not None:
            parts.append(self.phrases_.fit_transform(_marked(joined)))
            kinds.append(PHRASE)
        if self.encoder is not None:
            parts.append(sparse.csr_array(encoded_texts(self.encoder, joined)))
            kinds.append(VECTOR)
        self.kinds_ = np.repeat(kinds, [part.shape[1] for part in parts])
        return _side_by_side(parts)

    def transform(self, texts: RegionTexts) -> SparseMatrix:
        """The same columns for new texts."""
        joined = self._joined(texts)
        parts = [self.words_.transform(joined)]
        if self.phrases_ is not None:
            parts.append(self.phrases_.transform(_marked(joined)))
        if self.encoder is not None:
            width = int(np.count_nonzero(self.kinds_ == VECTOR))
            vectors = encoded_texts(self.encoder, joined, width)
            parts.append(sparse.csr_array(vectors))
        return _side_by_side(parts)

    def _phrase_counter(self, n_tokens: float) -> WordCounter | None:
        """Phrases for short texts, unless the user says what to count."""
        counter = self.words_
        plain = isinstance(counter, WordCounter) and counter.ngram_range == (1, 1)
        if n_tokens >= SHORT_TEXT or not plain or counter.analyzer != "word":
            return None
        phrases: WordCounter = clone(counter)
        phrases.set_params(ngram_range=(2, 2), min_df=2, max_features=_MOST_PHRASES)
        return phrases

    def _joined(self, texts: RegionTexts) -> list[str]:
        """One text a document; a region that is missing counts as empty."""
        if len(self.regions_) == 1 and self.regions_[0] in texts:
            return list(texts[self.regions_[0]])
        empty = [""] * n_documents(texts)
        columns = [texts.get(region, empty) for region in self.regions_]
        return ["\n".join(row) for row in zip(*columns, strict=True)]

    @property
    def terms_(self) -> Any:
        """The term of each column; empty for the encoder's."""
        names = list(self.words_.get_feature_names_out())
        if self.phrases_ is not None:
            names += list(self.phrases_.get_feature_names_out())
        names += [""] * (len(self.kinds_) - len(names))
        return np.asarray(names, dtype=object)

    @property
    def blocks_(self) -> IntVector:
        """Kind of each column."""
        return self.kinds_

    def describe(self, column: int) -> tuple[str, str | None]:
        """Term of a column; regions are not told apart."""
        term = str(self.terms_[column])
        if self.kinds_[column] == PHRASE:
            term = term.replace(_START, "[start]").replace(_END, "[end]")
        return term, None


def _side_by_side(parts: list[Any]) -> SparseMatrix:
    return sparse.csr_array(sparse.hstack(parts, format="csr"))


def _marked(texts: list[str]) -> list[str]:
    return [f"{_START} {text} {_END}" for text in texts]
