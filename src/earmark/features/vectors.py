"""The columns of an encoder: dense vectors of texts, or of the words they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from earmark.encoders.encoder import (
    Encoder,
    Vectors,
    load_encoder,
    parse_name,
    probe_vectors,
    reads_words,
    same_encoder,
    text_key,
)
from earmark.exceptions import DataError, NotSupportedError
from earmark.features.weighting import TfidfWeighting
from earmark.kernels.rows import canonical_rows, ridge_dual
from earmark.kernels.text import Documents
from earmark.stored import (
    either,
    floats,
    function,
    in_file,
    instance,
    none,
    size,
    stored,
    such,
)
from earmark.typing import (
    BoolVector,
    FloatMatrix,
    FloatVector,
    Labels,
    SparseMatrix,
)

# Of a larger pool so many distinct texts are encoded, unless the encoder is quick.
MOST_ENCODED = 10_000
_MOST_STEPS, _CLOSE = 30, 1e-10
# An encoder is of use if it knows so many of the words, in so many of the texts.
LEAST_KNOWN, _ASKED = 0.6, 2000


# A path on a network share would make the machine introduce itself to a stranger's.
_SHARES = ("//", "\\\\")
_ENCODER_NAME = such(
    "the name of an encoder",
    lambda v: isinstance(v, str) and not parse_name(v).place.startswith(_SHARES),
    (DataError,),
)
# What a file may hold of an encoder: one of a known kind, not on another's disk.
ENCODER = either(none, function, _ENCODER_NAME)


@stored
@dataclass(eq=False)
class EncoderColumns:
    """The vectors of one encoder, as columns of documents."""

    encoder: Annotated[Encoder, in_file(ENCODER)]
    """A name, or a function from a list of texts to an array with a row for each."""
    width: Annotated[int, size("n_columns")] = 0
    probes: Annotated[Vectors, floats(None, None)] | None = None
    """What the encoder makes of the probe sentences; None where it cannot be asked."""
    table: Annotated[Vectors, floats("n_words", "n_columns")] | None = None
    """The vector of each word, (n_words, n_dimensions), if the encoder reads the
    vocabulary instead of the documents; a document is then the sum of its words'
    vectors, by tf-idf."""
    weighting: (
        Annotated[
            TfidfWeighting, instance(TfidfWeighting, fitted=True, n_features="n_words")
        ]
        | None
    ) = None
    """Of the words, for the table."""
    mean: Annotated[FloatVector, floats("n_columns")] | None = None
    """Mean of the vectors of the documents, each brought to length 1."""
    n_spared: int = 0
    """Documents of the pool that were not encoded."""

    def fit_transform(
        self, texts: list[str], words: SparseMatrix, counter: Any, n_labelled: int
    ) -> FloatMatrix | None:
        """Take note of the encoder; the vectors of the texts, labelled ones first.

        None for an encoder that hardly knows their words.
        """
        encoder = self.encoder
        if known_share(encoder, texts) < LEAST_KNOWN:
            return None
        if isinstance(encoder, str) and reads_words(encoder):
            terms = [str(term) for term in counter.get_feature_names_out()]
            self.table = word_table(load_encoder(encoder).encoded(terms, store=True))
            self.weighting = TfidfWeighting().fit(canonical_rows(words))
        else:
            self.probes = probe_vectors(encoder)
        spared = self._spared(texts, n_labelled)
        self.n_spared = int(spared.sum())
        if spared.any():
            vectors = self._taught(texts, words, spared)
        else:
            vectors = self._vectors(texts, words)
        self.width = vectors.shape[1]
        vectors = unit(vectors)
        self.mean = vectors.sum(axis=0) / max(vectors.any(axis=1).sum(), 1)
        return self._centered(vectors)

    def transform(
        self, texts: Documents, words: SparseMatrix | None = None
    ) -> FloatMatrix:
        """The vectors of new texts, of which ``words`` are the counts.

        Their directions less the mean; 0 for a text that the encoder says nothing of.
        """
        return self._centered(unit(self._vectors(texts, words, self.width)))

    def by_word(
        self, text: str, words: SparseMatrix, terms: Labels
    ) -> tuple[list[str], FloatMatrix] | None:
        """Words of a text, and vectors whose sum less the mean is that of the text.

        ``words`` are its counts of ``terms``. None where its vector is no such sum.
        """
        if self.table is not None:
            weights = self.word_weights(words)
            vectors = weights.data[:, None] * self.table[weights.indices]
            length = float(np.linalg.norm(vectors.sum(axis=0))) or 1.0
            return terms[weights.indices].tolist(), vectors / length
        if not isinstance(self.encoder, str):
            return None
        return load_encoder(self.encoder).by_word(text)

    def _centered(self, vectors: FloatMatrix) -> FloatMatrix:
        """Subtract the mean from every row but those of zeros."""
        assert self.mean is not None
        return np.where(vectors.any(axis=1, keepdims=True), vectors - self.mean, 0.0)

    def word_weights(self, words: SparseMatrix) -> SparseMatrix:
        """What each word counts in the sum that is a document."""
        assert self.weighting is not None
        return canonical_rows(self.weighting.transform(words))

    @property
    def needs_encoder(self) -> bool:
        """Whether new texts are encoded; a table of words is all that it takes."""
        return self.table is None

    def use_encoder(self, encoder: Encoder) -> None:
        """Use an encoder again, if it is the model that the columns were made by."""
        known = self.probes
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

    def _spared(self, texts: list[str], n_labelled: int) -> BoolVector:
        """Documents of a large pool that are not worth a slow encoder's time."""
        # The sample that is encoded is drawn by the texts' hashes: it stays the same
        # when the pool grows or is put in another order, and so do cached vectors.
        spared = np.zeros(len(texts), dtype=bool)
        named = isinstance(self.encoder, str) and self.table is None
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
        self, texts: Documents, words: SparseMatrix | None, width: int | None = None
    ) -> FloatMatrix:
        """The encoder's row for each text; ``width`` is None while fitting."""
        if self.table is None:
            return encoded_texts(self.encoder, texts, width)
        assert words is not None
        return np.asarray(self.word_weights(words) @ self.table, dtype=np.float64)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a table of words without their weights, or a missing mean."""
        if (self.table is None) != (self.weighting is None):
            yield ".table and weighting do not fit"
        if self.mean is None:
            yield ".mean is missing"


def unit(vectors: FloatMatrix) -> FloatMatrix:
    """Rows of length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def known_share(encoder: Encoder, texts: Documents) -> float:
    """The share of the words of some texts that an encoder knows; 1 if nobody knows."""
    if not isinstance(encoder, str) or reads_words(encoder):
        return 1.0
    every = list(texts)
    step = max(1, len(every) // _ASKED)
    return load_encoder(encoder).known_share(every[::step])


def encoded_texts(
    encoder: Encoder, texts: Documents, n_dimensions: int | None = None
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
