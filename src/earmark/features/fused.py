"""Raw documents straight to class sums or scores, with a counter's analysis.

For linear models on counts: the matrix of documents is never made, so memory
grows with the vocabulary only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from earmark.features.word_counter import WordCounter
from earmark.kernels import text_fused, text_fused_plain
from earmark.kernels.term_merge import PackedTerms, pack_terms
from earmark.kernels.text import TermTable, count_columns
from earmark.kernels.text_plain import count_columns as count_token_columns
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

__all__ = [
    "KnownTerms",
    "count_by_class",
    "known_terms",
    "learn_vocabulary",
    "packed_by_class",
    "score_texts",
]


def count_by_class(
    counter: WordCounter, documents: Any, y_index: IntVector, n_classes: int
) -> tuple[list[str], SparseMatrix, SparseMatrix]:
    """Tokens and documents of every term in every class (CS1), unpruned.

    Parameters
    ----------
    counter : WordCounter
        How documents become terms; need not be fitted. Its pruning and its
        vocabulary are not applied.
    documents : sequence of str
        Any container that ``WordCounter.fit`` takes.
    y_index : ndarray of shape (n_documents,)
        Class of each document, 0 .. n_classes - 1.
    n_classes : int
        Number of classes.

    Returns
    -------
    terms : list of str
        Sorted.
    tokens, presence : csr_array of shape (n_classes, n_terms)
        Occurrences of the term, and documents with the term; int64, exact.

    Examples
    --------
    >>> terms, tokens, presence = count_by_class(
    ...     WordCounter(), ["to be to", "be it"], np.array([0, 1]), 2
    ... )
    >>> terms
    ['be', 'it', 'to']
    >>> tokens.toarray()
    array([[1, 0, 2],
           [1, 1, 0]])

    """
    y_index = np.asarray(y_index, dtype=np.int64)
    scan = counter._scan()
    if scan is None:
        tokens = counter._token_lists(documents)
        parts = text_fused_plain.class_sums(tokens, y_index, n_classes)
    else:
        texts = counter._read_for_kernel(documents)
        n_threads = counter._n_threads()
        parts = text_fused.count_by_class(texts, y_index, n_classes, scan, n_threads)
    terms, *sums = parts
    return terms, *_class_matrices(sums, n_classes, len(terms))


def packed_by_class(
    counter: WordCounter, documents: Any, y_index: IntVector, n_classes: int
) -> tuple[PackedTerms, SparseMatrix, SparseMatrix]:
    """``count_by_class`` with the terms as bytes, for counts that are merged."""
    scan = counter._scan()
    if scan is None:
        terms, *matrices = count_by_class(counter, documents, y_index, n_classes)
        return pack_terms(terms), *matrices
    texts, n_threads = counter._read_for_kernel(documents), counter._n_threads()
    packed, *sums = text_fused.pack_by_class(texts, y_index, n_classes, scan, n_threads)
    return packed, *_class_matrices(sums, n_classes, len(packed[1]) - 1)


def _class_matrices(
    sums: Sequence[IntVector], n_classes: int, n_terms: int
) -> tuple[SparseMatrix, SparseMatrix]:
    """Tokens and documents (n_classes, n_terms), of one structure."""
    indptr, indices, tokens, presence = sums
    shape = (n_classes, n_terms)
    return (
        sparse.csr_array((tokens, indices, indptr), shape=shape),
        sparse.csr_array((presence, indices, indptr), shape=shape),
    )


def learn_vocabulary(
    counter: WordCounter,
    terms: list[str],
    tokens: SparseMatrix,
    presence: SparseMatrix,
    n_documents: int,
) -> IntVector:
    """Fit the counter to what ``count_by_class`` returned; its pruning applies.

    Afterwards the counter has the vocabulary that ``fit`` on the same documents
    gives. Returns the places of the kept terms among ``terms``, ascending.

    Examples
    --------
    >>> counter = WordCounter(min_df=2)
    >>> texts = ["to be", "be it"]
    >>> sums = count_by_class(counter, texts, np.array([0, 1]), 2)
    >>> learn_vocabulary(counter, *sums, n_documents=2), counter.vocabulary_
    (array([0]), {'be': 0})

    """
    if counter.vocabulary is not None:
        raise ValueError(
            "learn_vocabulary needs a counter that learns its vocabulary, got one with "
            "a given vocabulary; take the columns of its terms instead."
        )
    counter._start()
    documents, occurrences = (
        np.asarray(m.sum(axis=0), dtype=np.int64).ravel() for m in (presence, tokens)
    )
    return counter._learn_frequencies(terms, documents, occurrences, n_documents)


def score_texts(
    counter: WordCounter,
    documents: Any,
    weights: FloatMatrix,
    bias: FloatVector,
    *,
    tf: str = "raw",
    idf: FloatVector | None = None,
    norm: str | None = None,
) -> tuple[FloatMatrix, IntVector]:
    """Linear scores of raw documents, without their matrix.

    Parameters
    ----------
    counter : WordCounter
        Fitted, or with a given vocabulary.
    documents : sequence of str
        Any container that ``WordCounter.transform`` takes.
    weights : ndarray of shape (n_terms, n_outputs)
        One row for each column of the counter.
    bias : ndarray of shape (n_outputs,)
        Added to every score.
    tf : {"raw", "binary", "sublinear", "logarithm"}, default="raw"
        The count, 1, 1 + ln(count) or 1 + log10(count). A counter with ``binary=True``
        counts 1.
    idf : ndarray of shape (n_terms,), default=None
        Factor of each term.
    norm : {"l1", "l2"}, default=None
        Divide the weighted counts by their length; an empty document stays empty.

    Returns
    -------
    scores : ndarray of shape (n_documents, n_outputs)
        Equal to those of the matrix to rounding.
    n_tokens : ndarray of shape (n_documents,)
        Tokens of the document that are in the vocabulary.

    Examples
    --------
    >>> counter = WordCounter(vocabulary=["be", "to"])
    >>> score_texts(counter, ["to be to"], np.array([[1.0], [10.0]]), np.array([0.5]))
    (array([[21.5]]), array([3]))

    """
    known = known_terms(counter)
    return known.score(documents, weights, bias, tf=tf, idf=idf, norm=norm)


def known_terms(counter: WordCounter) -> KnownTerms:
    """The analysis of a fitted counter over its terms, for call after call."""
    counter._check_vocabulary()
    table = None if counter._scan() is None else counter._term_table()
    known = KnownTerms(counter, counter._names() if table is None else table.terms)
    known._table = table
    return known


class KnownTerms:
    """A counter's analysis over terms that are known beforehand, without checks.

    What a fitted ``WordCounter`` does, for callers that keep the terms themselves:
    nothing is made but the look-up table.

    Parameters
    ----------
    counter : WordCounter
        How documents become terms; need not be fitted.
    terms : list of str
        Distinct terms, in the order of the columns.

    Examples
    --------
    >>> KnownTerms(WordCounter(), ["be", "to"]).transform(["to be to"]).toarray()
    array([[1, 2]])

    """

    def __init__(self, counter: WordCounter, terms: list[str]) -> None:
        self.counter = counter
        self.terms = terms
        self._table: TermTable | None = None

    def transform(self, documents: Any) -> SparseMatrix:
        """Counts of the terms (n_documents, n_terms)."""
        counter, table = self.counter, self._look_up()
        if table is None:
            tokens = counter._token_lists(documents)
            parts = count_token_columns(tokens, self._columns())
        else:
            texts = counter._read_for_kernel(documents)
            parts = count_columns(texts, table, counter._n_threads())
        return counter._matrix(parts, len(self.terms))

    def score(
        self,
        documents: Any,
        weights: FloatMatrix,
        bias: FloatVector,
        *,
        tf: str = "raw",
        idf: FloatVector | None = None,
        norm: str | None = None,
    ) -> tuple[FloatMatrix, IntVector]:
        """Linear scores and known tokens of each document; see ``score_texts``."""
        counter, table = self.counter, self._look_up()
        if counter.binary:
            tf = "binary"
        if table is None:
            tokens, columns = counter._token_lists(documents), self._columns()
            return text_fused_plain.linear_scores(
                tokens, columns, weights, bias, tf, idf, norm
            )
        texts, n_threads = counter._read_for_kernel(documents), counter._n_threads()
        options: Any = {"tf": tf, "idf": idf, "norm": norm, "n_threads": n_threads}
        return text_fused.score_texts(texts, table, weights, bias, **options)

    def _look_up(self) -> TermTable | None:
        """The table for the kernel, or None where the plain path serves."""
        scan = self.counter._scan()
        if scan is not None and (self._table is None or self._table.scan != scan):
            self._table = TermTable(self.terms, scan)
        return None if scan is None else self._table

    def _columns(self) -> dict[str, int]:
        return dict(zip(self.terms, range(len(self.terms)), strict=True))
