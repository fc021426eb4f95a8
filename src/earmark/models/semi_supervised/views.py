"""Views: ways to see the same documents, learned from text without labels (SS3).

Each is a transformer on tf-idf rows. The dense ones are word tables: a document
is the sum of its words' vectors, so whatever is linear in the view is linear in
the words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from earmark.features import WordCounter
from earmark.kernels.rows import (
    canonical_rows,
    log_normalize,
    pair_counts,
    right_singular_vectors,
)
from earmark.parameters import with_parameters
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

# -- the vote ------------------------------------------------------------------------

# The view and the student of an encoder's vectors.
ENCODER = "encoder"
# All views together speak with the weight of three.
VIEWS_WEIGHT = 3.0


def vote_together(
    votes: Mapping[str, FloatMatrix], shares: Mapping[str, float]
) -> FloatMatrix:
    """The views' log-posteriors as one."""
    return np.asarray(VIEWS_WEIGHT * sum(shares[n] * vote for n, vote in votes.items()))


# Pseudo-documents that hold the common scale of all parts at 1.
_SCALE_STRENGTH = 0.1


def weigh(
    parts: Mapping[str, FloatMatrix],
    y: IntVector,
    prior: Mapping[str, float],
    strength: Mapping[str, float],
    scale: float = 1.0,
) -> dict[str, float]:
    """Weights of log-evidence by the likelihood of labels that it did not see (SS7)."""
    # ``strength`` holds the logarithm of each weight at the prior's, in
    # pseudo-documents. A common scale, of no further use, keeps a part from being
    # judged by how sure it is.
    names = list(parts)
    if not len(y) or len(names) == 1:
        return dict(prior)
    stacked = np.stack([parts[name] for name in names])
    first = np.array([prior[name] for name in names])
    pull = np.array([strength[name] for name in names])
    is_true = np.zeros(stacked.shape[1:], dtype=bool)
    is_true[np.arange(len(y)), y] = True

    def weights_of(moved: FloatVector) -> FloatVector:
        logs = log_normalize((np.log(first) + moved)[None])
        return np.asarray(first.sum() * np.exp(logs[0]))

    def loss(point: FloatVector) -> tuple[float, FloatVector]:
        moved, log_scale = point[:-1], point[-1]
        weights, factor = weights_of(moved), scale * np.exp(log_scale)
        blend = np.tensordot(weights, stacked, 1)
        log_proba = log_normalize(factor * blend)
        error = np.exp(log_proba) - is_true
        slope = factor * np.tensordot(stacked, error, 2)
        slope = weights * (slope - weights @ slope / first.sum()) + 2.0 * pull * moved
        rest = factor * (error * blend).sum() + 2.0 * _SCALE_STRENGTH * log_scale
        penalty = pull @ moved**2 + _SCALE_STRENGTH * log_scale**2
        return float(penalty - log_proba[is_true].sum()), np.append(slope, rest)

    start = np.zeros(len(names) + 1)
    best = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B")
    return dict(zip(names, weights_of(best.x[:-1]).tolist(), strict=True))


# -- the views -----------------------------------------------------------------------


def subword_matrix(
    terms: Sequence[str], n_min: int = 2, n_max: int = 5
) -> SparseMatrix:
    """Character n-grams of each term, times idf over terms, in unit rows."""
    counter = WordCounter(
        analyzer="char_wb", ngram_range=(n_min, n_max), lowercase=False, min_df=2
    )
    try:
        counts = counter.fit_transform([str(term) for term in terms])
    except ValueError:  # no n-gram is in two terms
        return sparse.csr_array((len(terms), 1))
    rows = canonical_rows(counts).astype(np.float64)
    df = np.bincount(rows.indices, minlength=rows.shape[1])
    rows.data *= (np.log((1 + len(terms)) / (1 + df)) + 1.0)[rows.indices]
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
    return rows


FloatTable = NDArray[np.float32]
_NEVER = np.float32(1e-30)


class TfidfView(TransformerMixin, BaseEstimator):
    """The tf-idf rows themselves."""

    def fit(self, X: SparseMatrix, y: object = None) -> Self:
        """Nothing to learn."""
        return self

    def transform(self, X: SparseMatrix) -> SparseMatrix:
        """Return X."""
        return X


class VectorView(TransformerMixin, BaseEstimator):
    """Vectors of a sentence encoder: unit length, centred, turned, unit length."""

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the mean of the unit vectors, and how much they differ where."""
        self.mean_ = unit(X).mean(axis=0)
        centred = unit(unit(X) - self.mean_)
        spread, axes = np.linalg.eigh(centred.T @ centred / len(centred))
        # (eigenvalue + .1 mean)^.25 of each principal axis (SS6).
        stretch = (np.maximum(spread, 0.0) + 0.1 * spread.mean()) ** 0.25
        self.turn_ = (axes * stretch) @ axes.T
        return self

    def transform(self, X: Any) -> Any:
        """Unit vectors around the mean."""
        return self.turned(unit(X) - self.mean_)

    def turned(self, centred: Any) -> Any:
        """Unit vectors of what is around a mean."""
        return unit(centred @ self.turn_)


class WordTableView(TransformerMixin, BaseEstimator, ABC):
    """Documents as sums of word vectors: X @ table_, of unit length, centred."""

    centred = True

    @abstractmethod
    def _word_vectors(self, X: SparseMatrix) -> FloatTable:
        """A vector for each column of X."""

    def fit(self, X: SparseMatrix, y: object = None) -> Self:
        """Learn word vectors, and the mean document, from tf-idf rows."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: SparseMatrix, y: object = None) -> Any:
        """Learn, and give the vectors of the same documents."""
        self.table_ = np.ascontiguousarray(self._word_vectors(X), dtype=np.float32)
        self.mean_ = np.zeros(self.table_.shape[1])
        vectors = unit(X @ self.table_)
        if not self.centred:
            return vectors
        self.mean_ = vectors.mean(axis=0)
        return unit(vectors - self.mean_)

    def transform(self, X: SparseMatrix) -> Any:
        """Unit document vectors, (n_documents, n_components)."""
        vectors = unit(X @ self.table_)
        return unit(vectors - self.mean_) if self.centred else vectors


def unit(vectors: Any) -> Any:
    """Rows of length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


@with_parameters()
class LsaView(WordTableView):
    """Latent semantic analysis: the leading right singular vectors of X."""

    centred = False

    n_components: int = field(default=100, kw_only=False)
    random_state: int = field(default=0, kw_only=False)

    def _word_vectors(self, X: SparseMatrix) -> FloatTable:
        rows = X.astype(np.float32)
        vectors, _ = leading_vectors(rows, self.n_components, 2, self.random_state)
        return np.asarray(vectors)


@with_parameters()
class PpmiView(WordTableView):
    """Words by the company they keep: positive pointwise mutual information."""

    # Only the ``n_terms`` most frequent get a vector, so the square matrix stays small.
    # ``unit_words`` lets rare words count like frequent ones; better for short texts.

    n_components: int = field(default=100, kw_only=False)
    exponent: float = field(default=0.5, kw_only=False)
    unit_words: bool = field(default=False, kw_only=False)
    n_terms: int = field(default=5000, kw_only=False)
    random_state: int = field(default=0, kw_only=False)

    def _word_vectors(self, X: SparseMatrix) -> FloatTable:
        df = np.bincount(X.indices, minlength=X.shape[1])
        # The most frequent first: the pairs met most often then lie close together.
        chosen = np.argsort(-df, kind="stable")[: self.n_terms]
        M = ppmi(pair_counts(canonical_rows(X[:, chosen])))
        V, S = leading_vectors(M, self.n_components, 2, self.random_state)
        words = V * S**self.exponent
        table = np.zeros((X.shape[1], words.shape[1]), dtype=np.float32)
        table[chosen] = unit(words) if self.unit_words else words
        return table


@with_parameters()
class SubwordView(WordTableView):
    """Words by their letters, for short texts: latent semantic analysis of n-grams."""

    centred = False

    terms: Sequence[str] = field(default=(), kw_only=False)
    n_components: int = field(default=100, kw_only=False)
    random_state: int = field(default=0, kw_only=False)

    def _word_vectors(self, X: SparseMatrix) -> FloatTable:
        G = subword_matrix(self.terms).astype(np.float32)
        rows = X.astype(np.float32)
        # The product of documents x terms and terms x n-grams is never formed.
        V, _ = right_singular_vectors(
            lambda Q: rows @ (G @ Q),
            lambda Q: G.T @ (rows.T @ Q),
            G.shape[1],
            min(self.n_components, *rows.shape, G.shape[1]),
            n_power=2,
            seed=self.random_state,
        )
        return np.asarray(G @ V)


def leading_vectors(M: Any, rank: int, n_power: int, seed: int) -> Any:
    """Right singular vectors and singular values of a matrix that is at hand."""
    transposed = sparse.csr_array(M.T) if sparse.issparse(M) else M.T
    times = M.__matmul__, transposed.__matmul__
    size = M.shape[1], min(rank, *M.shape)
    return right_singular_vectors(*times, *size, n_power=n_power, seed=seed)


def ppmi(together: FloatTable) -> FloatTable:
    """max(0, ln(C_ij * sum C / (C_i * C_j))), in place of the pair counts C."""
    totals = together.sum(axis=1, dtype=np.float64)
    logs = np.log(np.where(totals > 0, totals, 1.0)).astype(np.float32)
    overall = np.float32(np.log(max(float(totals.sum()), 1.0)))
    for i, row in enumerate(together):
        # A pair that never meets gets a large negative number, and so 0 in the end.
        np.log(np.maximum(row, _NEVER, out=row), out=row)
        row += (overall - logs[i]) - logs
        np.maximum(row, 0.0, out=row)
    return together
