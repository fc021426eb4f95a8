"""What a document is: regions, words, phrases, vectors; side by side in one matrix."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from earmark.encoders.by_name import (
    Encoder,
    Vectors,
    load_encoder,
    parse_name,
    probe_vectors,
    same_encoder,
    text_key,
)
from earmark.exceptions import DataError, NotSupportedError
from earmark.features import HashedCounter, TfidfWeighting, WordCounter
from earmark.features.analysis import KnownTerms, known_terms
from earmark.features.word_counter import terms_by_column
from earmark.kernels.rows import canonical_rows, ridge_dual
from earmark.models.base.classifier import LinearRule
from earmark.models.shared.recipe import SHORT_TEXT
from earmark.models.shared.views import PHRASE, VECTOR, WORD
from earmark.parameters import default_parameters, offers, with_parameters
from earmark.pipeline.inputs import SINGLE, RegionTexts, column_of, joined, n_documents
from earmark.text.preparation import TextPreparation
from earmark.typing import BoolVector, FloatMatrix, IntVector, SparseMatrix


def encoded_texts(
    encoder: Encoder, texts: list[str], n_dimensions: int | None = None
) -> FloatMatrix:
    """A row of finite numbers for each text; equal texts are encoded once."""
    # While a model is fitted, without ``n_dimensions``, vectors are kept on disk.
    places = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    distinct = list(places)
    if isinstance(encoder, str):
        store = n_dimensions is None
        answer: Any = load_encoder(encoder).encoded(distinct, store=store)
    else:
        answer = encoder(distinct)
    try:
        vectors = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "TextClassifier.encoder must give an array of numbers, got "
            f"{type(answer).__name__} that cannot be read as one ({error})."
        ) from error
    _require_vectors(vectors, distinct, n_dimensions)
    return vectors[[places[text] for text in texts]]


def _require_vectors(
    vectors: FloatMatrix, texts: list[str], n_dimensions: int | None
) -> None:
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
        raise DataError(
            f"TextClassifier.encoder must give an array with a row for each of "
            f"the {len(texts)} texts, got shape {vectors.shape}."
        )
    if n_dimensions is not None and vectors.shape[1] != n_dimensions:
        raise DataError(
            f"TextClassifier.encoder must give {n_dimensions} numbers for each text, "
            f"as when the model was fitted, got {vectors.shape[1]}: use the same "
            "encoder."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise DataError(
            f"TextClassifier.encoder must give finite numbers, got NaN or "
            f"infinity for text {bad[0]}: {texts[bad[0]]!r:.60}."
        )


def vectors_from_words(
    known: SparseMatrix, vectors: FloatMatrix, rows: SparseMatrix
) -> FloatMatrix:
    """Vectors of more documents by ridge regression on words (penalty 1)."""
    mean = vectors.mean(axis=0)
    close = _CLOSE * float((vectors**2).sum())
    duals = ridge_dual(known, vectors - mean, 1.0, _MOST_STEPS, close)
    return np.asarray(rows @ (known.T @ duals) + mean)


def word_table(vectors: Vectors) -> Vectors:
    """Vectors of words without what all have in common: mean and first component."""
    # A word that the encoder does not know, all zeros, stays so.
    known = vectors.any(axis=1)
    rest = vectors[known].astype(np.float64)
    if len(rest):
        rest -= rest.mean(axis=0)
        _, directions = np.linalg.eigh(rest.T @ rest)
        first = directions[:, -1]
        rest -= np.outer(rest @ first, first)
    table = np.zeros(vectors.shape, dtype=np.float32)
    table[known] = rest
    return table


def make_counter(features: Any, n_jobs: int | None) -> Any:
    """The vectorizer that ``TextClassifier.features`` asks for, unfitted."""
    if features is None:
        return WordCounter(n_jobs=n_jobs)
    if isinstance(features, Mapping):
        options = {"n_jobs": n_jobs, **_prepared(dict(features))}
        known = default_parameters(WordCounter)
        for name in options.keys() - known.keys():
            raise TypeError(
                "TextClassifier.features must name parameters of WordCounter "
                f"({', '.join(known)}), stemmer or substitutions, got {name!r}."
            )
        return WordCounter(**options)
    if not offers(features, "fit_transform") or not offers(features, "transform"):
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
    common = {name: options[name] for name in shared if name in options}
    named["substitutions"] = named["substitutions"] or ()
    for done in ("lowercase", "strip_accents"):
        options.pop(done, None)
    step = TextPreparation(**named, **common)
    return {**options, "preprocessor": step, "lowercase": False}


@with_parameters()
class RegionFeatures(BaseEstimator):
    """One vectorizer (and weighting) for each region, their columns side by side."""

    counter: Any = field(kw_only=False)
    """Copied for each region."""
    weighting: TfidfWeighting | None = None
    """Copied for each region and applied to its counts; None keeps counts."""
    shared: bool = False
    """Give every region the terms of all of them, in the same order."""

    @classmethod
    def of_terms(cls, counter: WordCounter, terms: Mapping[str, Any]) -> Self:
        """Fitted features whose terms are known, region by region."""
        features = cls(counter)
        features.regions_ = list(terms)
        known = [list(names) for names in terms.values()]
        features.counters_ = [KnownTerms(counter, t) if t else None for t in known]
        features.weightings_ = [None] * len(known)
        features.widths_ = [len(names) for names in known]
        return features

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
        parts = []
        for region, counter, weighting in zip(
            self.regions_, self.counters_, self.weightings_, strict=True
        ):
            if counter is None:
                part = _no_columns(n_documents(texts))
            else:
                part = counter.transform(column_of(texts, region))
            parts.append(part if weighting is None else weighting.transform(part))
        return _side_by_side(parts)

    @property
    def blocks_(self) -> IntVector:
        """Region number of each column."""
        return np.repeat(np.arange(len(self.widths_)), self.widths_)

    def describe(self, column: int) -> tuple[str, str | None]:
        """Term and region of a column; the region is None when there is only one."""
        i = bisect_right(self._starts, column) - 1
        place = column - self._starts[i]
        if isinstance(self.counters_[i], HashedCounter):
            return f"column {place}", self._region(i)
        return str(self.counters_[i].get_feature_names_out()[place]), self._region(i)

    def hashed_terms(self, texts: RegionTexts) -> dict[int, tuple[str, str | None]]:
        """What ``describe`` cannot say of hashed columns: their terms in some texts."""
        return {
            start + column: (term, self._region(i))
            for i, (start, counter) in enumerate(
                zip(self._starts, self.counters_, strict=False)
            )
            if isinstance(counter, HashedCounter)
            for column, term in terms_by_column(
                counter, texts[self.regions_[i]]
            ).items()
        }

    @property
    def _starts(self) -> list[int]:
        """The first column of each region, and the number of columns."""
        starts: list[int] = np.concatenate(([0], np.cumsum(self.widths_))).tolist()
        return starts

    def _region(self, i: int) -> str | None:
        return None if self.regions_ == [SINGLE] else self.regions_[i]


def _no_columns(n_texts: int) -> SparseMatrix:
    return sparse.csr_array((n_texts, 0), dtype=np.int64)


def _side_by_side(parts: list[SparseMatrix]) -> SparseMatrix:
    return sparse.csr_array(
        parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")
    )


# Words put before and after each text, so that phrases know where it begins.
_START, _END = "startoftext", "endoftext"
_MOST_PHRASES = 20_000


# Of a larger pool so many distinct texts are encoded, unless the encoder is quick.
MOST_ENCODED = 10_000
_MOST_STEPS, _CLOSE = 30, 1e-10


@with_parameters()
class SemiFeatures(BaseEstimator):
    """Words, for short texts also phrases of two words, and an encoder's vectors."""

    counter: Any = field(kw_only=False)
    """Counts the words; the regions of a document are counted together."""
    encoder: Encoder | None = field(default=None, kw_only=False)
    """A name, or a function from a list of texts to an array with a row for each."""
    probes_: Vectors | None = None
    """What the encoder makes of the probe sentences; None where it cannot be asked."""
    table_: Vectors | None = None
    """The vector of each word, (n_words, n_dimensions), if the encoder reads the
    vocabulary instead of the documents; a document is then the sum of its words'
    vectors, by tf-idf."""
    table_weighting_: TfidfWeighting | None = None
    n_spared_: int = 0
    """Documents of the pool that were not encoded."""

    def fit_transform(self, texts: RegionTexts, pool: RegionTexts) -> SparseMatrix:
        """Learn the columns from all texts; labelled documents first, then the pool."""
        self.regions_ = list(texts)
        documents = [*self._joined(texts), *self._joined(pool)]
        self.words_ = clone(self.counter)
        words = self.words_.fit_transform(documents)
        self.phrases_ = self._phrase_counter(words.sum() / max(len(documents), 1))
        parts, kinds = [words], [WORD]
        if self.phrases_ is not None:
            parts.append(self.phrases_.fit_transform(_marked(documents)))
            kinds.append(PHRASE)
        if self.encoder is not None:
            self._learn_encoder(self.encoder, words)
            spared = self._spared(documents, n_documents(texts))
            self.n_spared_ = int(spared.sum())
            vectors = (
                self._taught(documents, words, spared)
                if spared.any()
                else self._vectors(documents, words)
            )
            parts.append(sparse.csr_array(vectors))
            kinds.append(VECTOR)
        self.kinds_ = np.repeat(kinds, [part.shape[1] for part in parts])
        return _side_by_side(parts)

    def transform(self, texts: RegionTexts) -> SparseMatrix:
        """The same columns for new texts."""
        documents = self._joined(texts)
        parts = [self.words_.transform(documents)]
        if self.phrases_ is not None:
            parts.append(self.phrases_.transform(_marked(documents)))
        if self.encoder is not None:
            width = int(np.count_nonzero(self.kinds_ == VECTOR))
            parts.append(sparse.csr_array(self._vectors(documents, parts[0], width)))
        return _side_by_side(parts)

    def _learn_encoder(self, encoder: Encoder, words: SparseMatrix) -> None:
        """What an encoder is known by; the vectors of the words if it reads those."""
        self.probes_ = self.table_ = self.table_weighting_ = None
        if not isinstance(encoder, str) or not parse_name(encoder).by_words:
            self.probes_ = probe_vectors(encoder)
            return
        terms = [str(term) for term in self.words_.get_feature_names_out()]
        self.table_ = word_table(load_encoder(encoder).encoded(terms, store=True))
        self.table_weighting_ = TfidfWeighting().fit(canonical_rows(words))

    def _spared(self, texts: list[str], n_labelled: int) -> BoolVector:
        """Documents of a large pool that are not worth a slow encoder's time."""
        # The sample that is encoded is drawn by the texts' hashes: it stays the same
        # when the pool grows or is put in another order, and so do cached vectors.
        spared = np.zeros(len(texts), dtype=bool)
        named = isinstance(self.encoder, str) and self.table_ is None
        if not named or load_encoder(str(self.encoder)).is_quick:
            return spared
        keys = {text: text_key(text) for text in set(texts[n_labelled:])}
        if len(keys) > MOST_ENCODED:
            last = sorted(keys.values())[MOST_ENCODED - 1]
            known = set(texts[:n_labelled])
            for i in range(n_labelled, len(texts)):
                spared[i] = keys[texts[i]] > last and texts[i] not in known
        return spared

    def _taught(
        self, texts: list[str], words: SparseMatrix, spared: BoolVector
    ) -> FloatMatrix:
        """Vectors of the sample, and for the rest what words tell about them."""
        known = np.flatnonzero(~spared)
        vectors = self._vectors([texts[i] for i in known], words)
        rows = canonical_rows(TfidfWeighting().fit_transform(canonical_rows(words)))
        both = np.empty((len(texts), vectors.shape[1]))
        both[known] = vectors
        both[spared] = vectors_from_words(rows[known], vectors, rows[spared])
        return both

    def _vectors(
        self, texts: list[str], words: SparseMatrix, width: int | None = None
    ) -> FloatMatrix:
        """The encoder's row for each text; ``width`` is None while fitting."""
        assert self.encoder is not None
        if self.table_ is None:
            return encoded_texts(self.encoder, texts, width)
        return np.asarray(self.word_weights(words) @ self.table_, dtype=np.float64)

    def word_weights(self, words: SparseMatrix) -> SparseMatrix:
        """What each word counts in the sum that is a document."""
        assert self.table_weighting_ is not None
        return canonical_rows(self.table_weighting_.transform(words))

    def knows(self, texts: list[str]) -> BoolVector:
        """Whether each text has a word of the documents."""
        return np.asarray(
            np.diff(sparse.csr_array(self.words_.transform(texts)).indptr) > 0
        )

    @property
    def needs_encoder(self) -> bool:
        """Whether new texts are encoded; a table of words is all that it takes."""
        return self.encoder is not None and self.table_ is None

    def use_encoder(self, encoder: Encoder) -> None:
        """Use an encoder again, if it is the model that the features were made by."""
        known = self.probes_
        probes = None if known is None else probe_vectors(encoder)
        if known is not None and (probes is None or not same_encoder(known, probes)):
            name = f"{self.encoder!r}, " if isinstance(self.encoder, str) else ""
            raise NotSupportedError(
                f"the encoder {encoder!r} is not the one that the model was trained "
                f"with ({name}{known.shape[1]} numbers for each text): its vectors of "
                "the probe sentences differ. Give load(..., encoder=...) the encoder "
                "that it was trained with, with the same weights, or train again."
            )
        self.encoder = encoder

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
        return joined({region: column_of(texts, region) for region in self.regions_})

    @property
    def terms_(self) -> Any:
        """The term of each column; empty for the encoder's."""
        names = list(self.words_.get_feature_names_out())
        if self.phrases_ is not None:
            names += list(self.phrases_.get_feature_names_out())
        names += [""] * (len(self.kinds_) - len(names))
        return np.asarray(names, dtype=object)

    def describe(self, column: int) -> tuple[str, str | None]:
        """Term of a column; regions are not told apart."""
        term = str(self.terms_[column])
        if self.kinds_[column] == PHRASE:
            term = term.replace(_START, "[start]").replace(_END, "[end]")
        return term, None


def _marked(texts: list[str]) -> list[str]:
    return [f"{_START} {text} {_END}" for text in texts]


# Variants of TfidfWeighting that the fused pass computes, by its names for them.
_TF = {
    "natural": "raw",
    "boolean": "binary",
    "sublinear": "sublinear",
    "logarithm": "logarithm",
}
_NORM = {None: None, "cosine": "l2", "share": "l1"}


def fused_scorer(features: RegionFeatures, rule: LinearRule) -> FusedScorer | None:
    """A scorer for fitted features and a linear rule, or None where none can serve."""
    # Rows that are scaled as a whole must not be made of several regions.
    if rule.unit and len(features.regions_) > 1:
        return None
    fitted = (features.counters_, features.weightings_, features.widths_)
    regions, start = [], 0
    for region, counter, weighting, width in zip(
        features.regions_, *fitted, strict=True
    ):
        if counter is None:
            continue
        option = _options(counter, weighting, rule)
        if option is None:
            return None
        block = rule.weights[start : start + width]
        regions.append((region, known_terms(counter), block, option))
        start += width
    return FusedScorer(rule, regions)


@dataclass(frozen=True, eq=False)
class FusedScorer:
    """Linear scores of texts, region after region; made by ``fused_scorer``."""

    rule: LinearRule
    regions: list[tuple[str, KnownTerms, FloatMatrix, dict[str, Any]]]

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """Class scores (n_documents, n_classes); a missing region counts as empty."""
        n_texts, rule = n_documents(texts), self.rule
        total = np.tile(rule.offset, (n_texts, 1))
        n_tokens = np.zeros(n_texts, dtype=np.int64)
        nothing = np.zeros(len(rule.offset))
        for region, terms, block, option in self.regions:
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
    if not isinstance(counter, WordCounter | KnownTerms):
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
