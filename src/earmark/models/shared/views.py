"""Views: ways to see the same documents, learned from text without labels (SS3).

Words and phrases by tf-idf; sums of word vectors that the documents themselves give;
and the vectors of an encoder. All rows have length 1. Whatever is linear in the sums is
linear in the words, once a document and so its lengths are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from earmark.features import TfidfWeighting
from earmark.features.columns import Rows
from earmark.features.vectors import unit
from earmark.kernels.rows import (
    canonical_rows,
    pair_counts,
    presence,
    right_singular_vectors,
)
from earmark.parameters import estimator
from earmark.stored import floats, instance, integers, stored
from earmark.typing import (
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
    Matrix,
    SparseMatrix,
)

_NEVER = np.float32(1e-30)
# Words that get a vector by the company they keep: the most frequent.
_PPMI_WORDS = 5000
# Below this mean of words per document phrases count as much as words.
_PHRASES_HALVED = 10.0


@estimator
class WordTables(TransformerMixin, BaseEstimator):
    """Documents as sums of word vectors, of three kinds side by side.

    Latent semantic analysis, and twice the words' positive pointwise mutual
    information: scaled by the roots of its singular values, and by the values with each
    word brought to length 1, so that rare words count like frequent ones.
    """

    table_: Annotated[FloatTable, floats("n_terms", "n_numbers")] = field(init=False)
    mean_: Annotated[FloatVector, floats("n_numbers")] = field(init=False)

    n_components: int = field(default=100, kw_only=False)
    random_state: int = field(default=0, kw_only=False)

    def fit(self, X: SparseMatrix, y: object = None) -> Self:
        """Learn word vectors, and the mean document, from tf-idf rows."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: SparseMatrix, y: object = None) -> FloatMatrix:
        """Learn, and give the vectors of the same documents."""
        rank, seed = min(self.n_components, *X.shape), self.random_state
        lsa, _ = leading_vectors(X.astype(np.float32), rank, seed)
        df = np.bincount(X.indices, minlength=X.shape[1])
        # The most frequent first: the pairs met most often then lie close together.
        chosen = np.argsort(-df, kind="stable")[:_PPMI_WORDS]
        together = ppmi(pair_counts(canonical_rows(X[:, chosen])))
        vectors, values = leading_vectors(together, rank, seed)
        kinds = [lsa]
        for words in (vectors * np.sqrt(values), unit(vectors * values)):
            table = np.zeros((X.shape[1], rank))
            table[chosen, : words.shape[1]] = words
            kinds.append(table)
        # Half precision is enough, and half of a model file.
        table = np.hstack(kinds).astype(np.float16)
        self.table_ = np.ascontiguousarray(table, dtype=np.float32)
        self.mean_ = np.zeros(self.table_.shape[1])
        self.mean_ = self._units(self._sums(X)).mean(axis=0)
        return self.transform(X)

    def transform(self, X: SparseMatrix) -> FloatMatrix:
        """Unit vectors of documents, (n_documents, 3 n_components)."""
        return self._parts(self._units(self._sums(X)) - self.mean_)

    def effects(self, row: SparseMatrix) -> tuple[FloatMatrix, FloatVector]:
        """What a unit of each term adds to a document's vector, and what the mean adds.

        ``row`` is the document's tf-idf, and the terms are those that it has.
        """
        total = self._sums(row)
        first = self._lengths(total)
        rest = self._units(total) - self.mean_
        length = first * self._lengths(rest) * np.sqrt(3.0)
        mean = -self.mean_ * first[0] / length[0]
        return self.table_[row.indices] / length, mean

    def _sums(self, X: SparseMatrix) -> FloatMatrix:
        """The word vectors of each document, added up."""
        # The product copies a table of single precision whole; few documents use little
        # of it.
        if X.nnz < len(self.table_) // 2:
            used = np.unique(X.indices)
            return np.asarray(X[:, used] @ self.table_[used], dtype=np.float64)
        return np.asarray(X @ self.table_, dtype=np.float64)

    def _units(self, vectors: Any) -> FloatMatrix:
        """Each of the three parts brought to length 1."""
        vectors = np.asarray(vectors, dtype=np.float64)
        return np.asarray(vectors / self._lengths(vectors))

    def _parts(self, vectors: FloatMatrix) -> FloatMatrix:
        """Each part brought to length 1, and all together."""
        parts: FloatMatrix = self._units(vectors) / np.sqrt(3.0)
        return parts

    def _lengths(self, vectors: FloatMatrix) -> FloatMatrix:
        """The length of a number's part, for each number; 1 in parts that are all 0."""
        n, width = vectors.shape
        parts = vectors.reshape(n, 3, width // 3)
        lengths = np.linalg.norm(parts, axis=2)
        return np.repeat(np.where(lengths > 0, lengths, 1.0), width // 3, axis=1)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "table_" in state:
            state["table_"] = state["table_"].astype(np.float16)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "table_" in state:
            state = {**state, "table_": np.float32(state["table_"])}
        super().__setstate__(state)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a table that does not have three parts."""
        if sizes["n_numbers"] % 3:
            yield ".table_ must have three parts"


@stored
class VectorView(TransformerMixin, BaseEstimator):
    """Vectors of an encoder, stretched where documents differ, of length 1 (SS6)."""

    stretch_: Annotated[FloatMatrix, floats("n_dimensions", "n_dimensions")]

    def fit(self, X: FloatMatrix, y: object = None) -> Self:
        """Learn how much the documents differ along each axis."""
        rows = unit(X)
        spread, axes = np.linalg.eigh(rows.T @ rows / len(rows))
        factor = (np.maximum(spread, 0.0) + 0.1 * spread.mean()) ** 0.25
        self.stretch_ = (axes * factor) @ axes.T
        return self

    def transform(self, X: FloatMatrix) -> FloatMatrix:
        """Unit vectors."""
        return unit(X @ self.stretch_)


def leading_vectors(M: Any, rank: int, seed: int) -> Any:
    """Right singular vectors and singular values of a matrix that is at hand."""
    transposed = sparse.csr_array(M.T) if sparse.issparse(M) else M.T
    times = M.__matmul__, transposed.__matmul__
    return right_singular_vectors(
        *times, M.shape[1], min(rank, *M.shape), n_power=2, seed=seed
    )


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


@dataclass(frozen=True)
class Seen:
    """The same documents in every view, and as terms for naive Bayes."""

    views: Mapping[str, Matrix]
    terms: SparseMatrix
    """ln(1 + tf) of the words."""

    def followed_by(self, other: Seen) -> Seen:
        """These documents, and then the other ones."""
        views = {name: _stacked(m, other.views[name]) for name, m in self.views.items()}
        return Seen(views, _stacked(self.terms, other.terms))

    def take(self, rows: IntVector) -> Seen:
        """Some of the documents."""
        views = {name: matrix[rows] for name, matrix in self.views.items()}
        return Seen(views, self.terms[rows])


def _stacked(first: Matrix, second: Matrix) -> Matrix:
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack([first, second], format="csr"))
    return np.concatenate([first, second])


@stored
class FewLabelViews(BaseEstimator):
    """From counts of words and phrases, and vectors, to the views."""

    n_words_: int
    words_: Annotated[IntVector, integers(None)]
    n_phrases_: int
    phrase_share_: float
    """What phrases count beside words."""
    word_weighting_: Annotated[TfidfWeighting, instance(TfidfWeighting, fitted=True)]
    phrase_weighting_: (
        Annotated[TfidfWeighting, instance(TfidfWeighting, fitted=True)] | None
    )
    tables_: WordTables | None
    encoder_: VectorView | None

    def __init__(
        self, min_df: int = 2, n_components: int = 100, random_state: int = 0
    ) -> None:
        self.min_df = min_df
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Rows, weight: FloatVector | None = None) -> Self:
        """Learn the weights of words only."""
        self._learn_words(X, weight)
        return self

    def fit_transform(self, X: Rows, y: object = None) -> Seen:
        """Learn every view, and give the documents in each."""
        self._learn_words(X, None)
        n_tokens = X.blocks[0].sum() / max(len(X), 1)
        self.phrase_share_ = min(1.0, _PHRASES_HALVED / max(n_tokens, 1e-12))
        phrases = X.of("phrase")
        if phrases is not None:
            self.n_phrases_ = int(phrases.shape[1])
            self.phrase_weighting_ = TfidfWeighting().fit(phrases)
        words = self.words(X)
        self.tables_ = WordTables(self.n_components, self.random_state)
        views: dict[str, Matrix] = {
            "words": self._beside_phrases(X, words),
            "tables": self.tables_.fit_transform(words),
        }
        if X.of("vector") is not None:
            self.encoder_ = VectorView().fit(X.of("vector"))
            views["encoder"] = self.encoder_.transform(X.of("vector"))
        return Seen(views, self._terms(X))

    def _learn_words(self, X: Rows, weight: FloatVector | None) -> None:
        counts = X.blocks[0]
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        words = np.flatnonzero(df >= self.min_df)
        self.n_words_ = int(counts.shape[1])
        self.words_ = words if len(words) else np.arange(self.n_words_)
        self.n_phrases_, self.phrase_share_, self.phrase_weighting_ = 0, 1.0, None
        self.word_weighting_ = _weighting(counts[:, self.words_], weight)
        self.tables_ = self.encoder_ = None

    @property
    def term_columns(self) -> IntVector:
        """Columns of the words that are used, and after them of the phrases."""
        phrases = self.n_words_ + np.arange(self.n_phrases_)
        return np.concatenate([self.words_, phrases])

    def words(self, X: Rows) -> SparseMatrix:
        """Tf-idf of the words."""
        weighted = self.word_weighting_.transform(X.blocks[0][:, self.words_])
        return canonical_rows(weighted)

    def transform(self, X: Rows) -> Seen:
        """New documents in every view."""
        words = self.words(X)
        views: dict[str, Matrix] = {"words": self._beside_phrases(X, words)}
        if self.tables_ is not None:
            views["tables"] = self.tables_.transform(words)
        if self.encoder_ is not None:
            views["encoder"] = self.encoder_.transform(X.of("vector"))
        return Seen(views, self._terms(X))

    def names(self, X: Rows) -> Seen:
        """Class names in every view; unlike documents, they have their own mean."""
        vectors = X.of("vector")
        if vectors is not None and len(vectors) > 1:
            own, kinds = vectors - vectors.mean(axis=0), X.kinds
            both = zip(X.blocks, kinds, strict=True)
            X = Rows(tuple(own if k == "vector" else b for b, k in both), kinds)
        return self.transform(X)

    def _beside_phrases(self, X: Rows, words: SparseMatrix) -> SparseMatrix:
        """Tf-idf of words, and of phrases beside them where there are some."""
        if self.phrase_weighting_ is None:
            return words
        share = self.phrase_share_
        phrases = self.phrase_weighting_.transform(X.of("phrase")) * share
        both = sparse.hstack([words, phrases], format="csr")
        return canonical_rows(both / np.sqrt(1.0 + share**2))

    def _terms(self, X: Rows) -> SparseMatrix:
        terms = canonical_rows(X.blocks[0][:, self.words_]).copy()
        terms.data = np.log1p(terms.data)
        return terms

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report words, phrases or tables that do not fit the columns."""
        n_words = len(self.words_)
        fits = (
            self.words_.max(initial=-1) < self.n_words_
            and self.word_weighting_.n_features_in_ == n_words
            and (self.phrase_weighting_ is not None or self.n_phrases_ == 0)
        )
        if self.phrase_weighting_ is not None:
            fits = fits and self.phrase_weighting_.n_features_in_ == self.n_phrases_
        if not fits:
            yield ": words_ or phrases do not fit the columns"
        tables = self.tables_
        if tables is not None and len(tables.table_) != n_words:
            yield ": tables_ do not fit the columns"


def _weighting(X: SparseMatrix, weight: FloatVector | None) -> TfidfWeighting:
    """Tf-idf fitted to documents; one of weight 2 counts as two."""
    if weight is None or (weight == 1.0).all():
        return TfidfWeighting().fit(X)
    frequency = np.asarray(presence(canonical_rows(X), np.float64).T @ weight)
    return TfidfWeighting().fit_frequencies(frequency, float(weight.sum()))
