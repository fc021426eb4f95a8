"""Views: ways to see the same documents, learned from text without labels (SS3).

Each is a transformer on tf-idf rows. The dense ones are word tables: a document
is the sum of its words' vectors, so whatever is linear in the view is linear in
the words. ``RecipeFeatures`` makes of columns of counts all that the recipe looks at;
``document_parts`` takes its sum apart again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from earmark.features import TfidfWeighting, WordCounter
from earmark.features.columns import Rows
from earmark.features.scoring import ScoreParts
from earmark.kernels.rows import (
    canonical_rows,
    pair_counts,
    presence,
    right_singular_vectors,
)
from earmark.models.shared.recipe import Material, Names, Recipe, prior_offset
from earmark.parameters import estimator
from earmark.stored import floats, in_file, instance, integers, stored, words
from earmark.typing import (
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    SparseMatrix,
)


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


@stored
class TfidfView(TransformerMixin, BaseEstimator):
    """The tf-idf rows themselves."""

    def fit(self, X: SparseMatrix, y: object = None) -> Self:
        """Nothing to learn."""
        return self

    def transform(self, X: SparseMatrix) -> SparseMatrix:
        """Return X."""
        return X


@stored
class VectorView(TransformerMixin, BaseEstimator):
    """Vectors of a sentence encoder: unit length, centred, turned, unit length."""

    mean_: Annotated[FloatVector, floats("n_dimensions")]
    turn_: Annotated[FloatMatrix, floats("n_dimensions", "n_dimensions")]

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

    mean_: Annotated[FloatVector, floats("n_components")]
    table_: Annotated[FloatMatrix, floats("n_terms", "n_components")]

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


@estimator
class LsaView(WordTableView):
    """Latent semantic analysis: the leading right singular vectors of X."""

    centred = False

    n_components: int = field(default=100, kw_only=False)
    random_state: int = field(default=0, kw_only=False)

    def _word_vectors(self, X: SparseMatrix) -> FloatTable:
        rows = X.astype(np.float32)
        vectors, _ = leading_vectors(rows, self.n_components, 2, self.random_state)
        return np.asarray(vectors)


@estimator
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


@estimator
class SubwordView(WordTableView):
    """Words by their letters, for short texts: latent semantic analysis of n-grams."""

    centred = False

    terms: Annotated[Sequence[str], in_file(words())] = field(default=(), kw_only=False)
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


# Kinds of columns: counts of words, counts of phrases, numbers of an encoder.


def make_view(view: Estimator, n_components: int, terms: Any, seed: int) -> Any:
    """A view by name, or the transformer that was given."""
    if not isinstance(view, str):
        return view
    size: dict[str, Any] = {"n_components": n_components, "random_state": seed}
    makers: dict[str, Callable[[], Any]] = {
        "tfidf": TfidfView,
        "lsa": lambda: LsaView(**size),
        "ppmi": lambda: PpmiView(**size),
        "ppmi-full": lambda: PpmiView(exponent=1.0, **size),
        "ppmi-unit": lambda: PpmiView(exponent=1.0, unit_words=True, **size),
        "subword": lambda: SubwordView(terms, **size),
    }
    if view not in makers:
        raise ValueError(
            f"SemiSupervisedClassifier.views must hold transformers or names among "
            f"{', '.join(makers)}, got {view!r}."
        )
    return makers[view]()


@stored
class RecipeFeatures(BaseEstimator):
    """Tf-idf of words and phrases, word tables and encoder vectors of documents."""

    n_words_: int
    words_: Annotated[IntVector, integers(None)]
    phrases_: Annotated[IntVector, integers(None)]
    word_weighting_: Annotated[TfidfWeighting, instance(TfidfWeighting, fitted=True)]
    phrase_weighting_: (
        Annotated[TfidfWeighting, instance(TfidfWeighting, fitted=True)] | None
    )
    tables_: dict[str, WordTableView]
    encoder_: VectorView | None

    def __init__(self, min_df: int = 2, phrases: bool = False) -> None:
        self.min_df = min_df
        self.phrases = phrases

    def fit(self, X: Rows, weight: FloatVector | None = None) -> Self:
        """Choose the words and learn the weights of words and phrases."""
        counts, phrases = X.of("word"), X.of("phrase")
        vectors = X.of("vector")
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        words = np.flatnonzero(df >= self.min_df)
        self.n_words_ = int(counts.shape[1])
        self.words_ = words if len(words) else np.arange(self.n_words_)
        n_phrases = phrases.shape[1] if phrases is not None and self.phrases else 0
        self.phrases_ = np.arange(n_phrases)
        self.word_weighting_ = _weighting(counts[:, self.words_], weight)
        self.phrase_weighting_ = None
        if n_phrases:
            self.phrase_weighting_ = _weighting(phrases, weight)
        self.tables_: dict[str, WordTableView] = {}
        self.encoder_: VectorView | None = None
        if vectors is not None:
            self.encoder_ = VectorView().fit(vectors)
        return self

    @property
    def term_columns(self) -> IntVector:
        """Columns of the words that are used, and after them of the phrases."""
        return np.concatenate([self.words_, self.n_words_ + self.phrases_])

    def words(self, X: Rows) -> SparseMatrix:
        """Tf-idf of the words."""
        weighted = self.word_weighting_.transform(X.of("word")[:, self.words_])
        return canonical_rows(weighted)

    def material(
        self,
        X: Rows,
        views: dict[str, Any],
        recipe: Recipe,
        names: Names | None = None,
    ) -> Material:
        """Fit the views on all documents but the names, which come first."""
        words = self.words(X)
        seen = {name: view.fit_transform(words) for name, view in views.items()}
        if recipe.table_weight:
            self.tables_ = {
                name: view
                for name, view in views.items()
                if isinstance(view, WordTableView)
            }
        if self.encoder_ is not None:
            seen["encoder"] = self.encoder_.transform(X.of("vector"))
        material = self._in_every_form(X, words, seen, recipe)
        if names is None:
            return material
        words = self.words(names.rows)
        seen = {name: view.transform(words) for name, view in views.items()}
        if self.encoder_ is not None:
            vectors = names.rows.of("vector")
            # Names are nothing like documents: their own mean is taken off.
            mean = unit(vectors).mean(axis=0) if len(vectors) > 1 else 0.0
            seen["encoder"] = self.encoder_.turned(unit(vectors) - mean)
        own = self._in_every_form(names.rows, words, seen, recipe)
        return own.followed_by(material)

    def _in_every_form(
        self, X: Rows, words: SparseMatrix, seen: dict[str, Any], recipe: Recipe
    ) -> Material:
        terms = canonical_rows(X.of("word")[:, self.words_]).copy()
        terms.data = np.log1p(terms.data)
        students = self._students(X, words, seen)
        if self.phrase_weighting_ is not None:
            seen = {**seen, "phrases": students["words"]}
        if not recipe.supervised_weight:
            del students["supervised"]
        return Material(seen, students, terms)

    def students(self, X: Rows) -> dict[str, Matrix]:
        """What each student looks at, for new documents."""
        words = self.words(X)
        seen = {name: view.transform(words) for name, view in self.tables_.items()}
        if self.encoder_ is not None:
            seen["encoder"] = self.encoder_.transform(X.of("vector"))
        return self._students(X, words, seen)

    def _students(
        self, X: Rows, words: SparseMatrix, seen: dict[str, Any]
    ) -> dict[str, Matrix]:
        blocks: dict[str, Matrix] = {"words": self.words_and_phrases(X, words)}
        if self.tables_:
            tables = np.hstack([seen[name] for name in self.tables_])
            blocks["tables"] = tables / np.sqrt(len(self.tables_))
        if self.encoder_ is not None:
            blocks["encoder"] = seen["encoder"]
        blocks["supervised"] = words
        return blocks

    def words_and_phrases(self, X: Rows, words: SparseMatrix) -> SparseMatrix:
        """Tf-idf of words, and of phrases beside them where there are some."""
        if self.phrase_weighting_ is None:
            return words
        phrases = self.phrase_weighting_.transform(X.of("phrase"))
        both = sparse.hstack([words, phrases], format="csr")
        return canonical_rows(both / np.sqrt(2.0))

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Columns are among those there are, weighted one by one, and in the tables."""
        weighted = [(self.words_, self.word_weighting_)]
        if self.phrase_weighting_ is not None:
            weighted.append((self.phrases_, self.phrase_weighting_))
        fits = self.words_.max(initial=-1) < self.n_words_ and all(
            weighting.n_features_in_ == len(columns) for columns, weighting in weighted
        )
        rising = np.array_equal(self.phrases_, np.arange(len(self.phrases_)))
        alone = self.phrase_weighting_ is None and len(self.phrases_) > 0
        if not fits or not rising or alone:
            yield ": words_ or phrases_ do not fit the columns"
        tables = [vars(view).get("table_") for view in self.tables_.values()]
        if any(
            table is not None and len(table) != len(self.words_) for table in tables
        ):
            yield ": tables_ do not fit the columns"


def _weighting(X: SparseMatrix, weight: FloatVector | None) -> TfidfWeighting:
    """Tf-idf fitted to documents; one of weight 2 counts as two."""
    if weight is None or (weight == 1.0).all():
        return TfidfWeighting().fit(X)
    frequency = np.asarray(presence(canonical_rows(X), np.float64).T @ weight)
    return TfidfWeighting().fit_frequencies(frequency, float(weight.sum()))


def document_parts(model: Estimator, row: Rows) -> ScoreParts:
    """Exact parts of one document's scores."""
    # A word-table view divides by the length of the document's vector: given the
    # document that is one number, so the words' shares still add up.
    features = model.features_
    words = features.words(row)
    linear = features.words_and_phrases(row, words) if model.used_pool_ else words
    # Columns of the student: the words, and after them the phrases.
    columns = features.term_columns[linear.indices]
    is_word = linear.indices < len(features.words_)
    values = dict(zip(words.indices.tolist(), words.data.tolist(), strict=True))
    tfidf = np.array([values.get(int(c), 0.0) for c in linear.indices[is_word]])
    tables, centre = _table_effects(model, words, linear.indices[is_word])

    def contributions(which: str) -> FloatMatrix:
        terms = np.zeros((len(columns), len(model.classes_)))
        for name, student in model.students_.items():
            weights = model.student_weights_[name] * getattr(student, which)
            if name == "words":
                terms += linear.data[:, None] * weights[linear.indices]
            elif name == "supervised":
                own = linear.indices[is_word]
                terms[is_word] += tfidf[:, None] * weights[own]
            elif name == "tables":
                terms[is_word] += tfidf[:, None] * (tables @ weights)
        return np.asarray(model.scale_ * terms)

    return ScoreParts(
        columns.astype(np.int64),
        contributions("weights_"),
        _constants(model, row, centre),
        labelled=contributions("labelled_weights_"),
    )


def _table_effects(
    model: Estimator, words: SparseMatrix, columns: Any
) -> tuple[FloatMatrix, FloatVector]:
    """What each word's unit moves in the tables' features, and what the mean does."""
    tables = model.features_.tables_
    effects, centres = [], []
    for view in tables.values():
        total = words @ view.table_.astype(np.float64)
        length = float(np.linalg.norm(total)) or 1.0
        rest = total / length - view.mean_
        again = (float(np.linalg.norm(rest)) or 1.0) if view.centred else 1.0
        effects.append(view.table_[columns] / (length * again))
        centres.append(-view.mean_ / again)
    if not tables:
        return np.zeros((len(columns), 0)), np.zeros(0)
    size = np.sqrt(len(tables))
    return np.hstack(effects) / size, np.concatenate(centres) / size


def encoder_by_words(
    model: Estimator, parts: ScoreParts, words: SparseMatrix, table: Matrix
) -> ScoreParts:
    """What an encoder adds, word by word, if its vector is ``words @ table``."""
    view, student = model.features_.encoder_, model.students_["encoder"]
    total = np.asarray(words @ table, dtype=np.float64)[0]
    length, mean = float(np.linalg.norm(total)) or 1.0, view.mean_ @ view.turn_
    again = float(np.linalg.norm((total / length) @ view.turn_ - mean)) or 1.0
    own = table[words.indices] @ view.turn_
    effects = words.data[:, None] * own / (length * again)
    factor = model.scale_ * model.student_weights_["encoder"]
    columns, places = np.unique(
        np.concatenate([parts.columns, words.indices]), return_inverse=True
    )

    def together(terms: FloatMatrix | None, weights: FloatMatrix) -> FloatMatrix:
        both = np.zeros((len(columns), len(model.classes_)))
        if terms is not None:
            both[places[: len(terms)]] += terms
        both[places[len(parts.columns) :]] += factor * (effects @ weights)
        return both

    rest = {name: v for name, v in parts.constants.items() if name != "encoder"}
    return replace(
        parts,
        columns=columns.astype(np.int64),
        terms=together(parts.terms, student.weights_),
        constants={**rest, "encoder's mean": -factor / again * mean @ student.weights_},
        labelled=together(parts.labelled, student.labelled_weights_),
    )


def _constants(
    model: Estimator, row: Rows, centre: FloatVector
) -> dict[str, FloatVector]:
    """Prior, bias, and what word tables and the encoder add as a whole."""
    features, students = model.features_, model.students_
    weights = model.student_weights_
    parts = {"bias": sum(weights[n] * s.offsets_ for n, s in students.items())}
    if model.used_pool_:
        share = model.class_share_
        parts["rare-class correction"] = prior_offset(share, model.prior_correction)
    if "tables" in students:
        mean = centre @ students["tables"].weights_
        parts["word-vector mean"] = weights["tables"] * mean
    if "encoder" in students:
        vector = features.encoder_.transform(row.of("vector"))[0]
        parts["encoder"] = weights["encoder"] * (vector @ students["encoder"].weights_)
    return {name: model.scale_ * part for name, part in parts.items()}
