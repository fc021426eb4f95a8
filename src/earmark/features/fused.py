"""Raw documents straight to counts, class sums or scores, with a counter's analysis.

For linear models on counts: the matrix of documents is never made, so memory
grows with the vocabulary only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.features.analysis import Analysis, csr_container
from earmark.kernels import text, text_plain
from earmark.kernels.term_merge import PackedTerms, pack_terms
from earmark.kernels.text import TermTable
from earmark.kernels.text_plain import ClassCounts, CsrArrays
from earmark.typing import (
    DocumentsLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    SparseMatrix,
)

if TYPE_CHECKING:
    from earmark.features.word_counter import WordCounter

__all__ = [
    "KnownTerms",
    "count_by_class",
    "count_matrix",
    "known_terms",
    "packed_by_class",
]


def count_by_class(
    counter: WordCounter, documents: DocumentsLike, y_index: IntVector, n_classes: int
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
    >>> from earmark.features import WordCounter
    >>> terms, tokens, presence = count_by_class(
    ...     WordCounter(), ["to be to", "be it"], np.array([0, 1]), 2
    ... )
    >>> terms
    ['be', 'it', 'to']
    >>> tokens.toarray()
    array([[1, 0, 2],
           [1, 1, 0]])

    """
    analysis, y_index = Analysis(counter), np.asarray(y_index, dtype=np.int64)
    scan = analysis.scan()
    if scan is None:
        tokens = analysis.tokens(documents)
        terms, sums = text_plain.class_sums(tokens, y_index, n_classes)
    else:
        texts, n_threads = analysis.texts(documents), analysis.n_threads
        terms, sums = text.count_by_class(texts, y_index, n_classes, scan, n_threads)
    return terms, *_class_matrices(sums, n_classes, len(terms))


def packed_by_class(
    counter: WordCounter, documents: DocumentsLike, y_index: IntVector, n_classes: int
) -> tuple[PackedTerms, SparseMatrix, SparseMatrix]:
    """``count_by_class`` with the terms as bytes, for counts that are merged."""
    analysis = Analysis(counter)
    scan = analysis.scan()
    if scan is None:
        terms, *matrices = count_by_class(counter, documents, y_index, n_classes)
        return pack_terms(terms), *matrices
    texts, n_threads = analysis.texts(documents), analysis.n_threads
    packed, sums = text.pack_by_class(texts, y_index, n_classes, scan, n_threads)
    return packed, *_class_matrices(sums, n_classes, len(packed[1]) - 1)


def _class_matrices(
    sums: ClassCounts, n_classes: int, n_terms: int
) -> tuple[SparseMatrix, SparseMatrix]:
    """Tokens and documents (n_classes, n_terms), of one structure."""
    indptr, indices, tokens, presence = sums
    shape = (n_classes, n_terms)
    return (
        sparse.csr_array((tokens, indices, indptr), shape=shape),
        sparse.csr_array((presence, indices, indptr), shape=shape),
    )


def count_matrix(
    arrays: CsrArrays, n_terms: int, binary: bool, dtype: type
) -> SparseMatrix:
    """CSR arrays -> the container that scikit-learn is configured to return."""
    indptr, indices, counts = arrays
    if binary:
        counts.fill(1)
    data: NDArray[np.generic] = counts.astype(dtype, copy=False)
    return csr_container()((data, indices, indptr), shape=(len(indptr) - 1, n_terms))


def known_terms(counter: WordCounter) -> KnownTerms:
    """The analysis of a fitted counter over its terms, for call after call."""
    return KnownTerms(counter, counter.get_feature_names_out().tolist())


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
    >>> from earmark.features import WordCounter
    >>> known = KnownTerms(WordCounter(), ["be", "to"])
    >>> known.transform(["to be to"]).toarray()
    array([[1, 2]])
    >>> known.score(["to be to"], np.array([[1.0], [10.0]]), np.array([0.5]))
    (array([[21.5]]), array([3]))

    """

    def __init__(self, counter: WordCounter, terms: list[str]) -> None:
        self.counter = counter
        self.terms = terms
        self._table: TermTable | None = None
        self._columns: dict[str, int] | None = None

    def transform(self, documents: DocumentsLike) -> SparseMatrix:
        """Counts of the terms (n_documents, n_terms)."""
        analysis, table = Analysis(self.counter), self._look_up()
        if table is None:
            tokens = analysis.tokens(documents)
            arrays = text_plain.count_columns(tokens, self._dictionary())
        else:
            texts = analysis.texts(documents)
            arrays = text.count_columns(texts, table, analysis.n_threads)
        counter = self.counter
        return count_matrix(arrays, len(self.terms), counter.binary, counter.dtype)

    def score(
        self,
        documents: DocumentsLike,
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
        documents : sequence of str
            Any container that ``WordCounter.transform`` takes.
        weights : ndarray of shape (n_terms, n_outputs)
            One row for each term.
        bias : ndarray of shape (n_outputs,)
            Added to every score.
        tf : {"raw", "binary", "sublinear", "logarithm"}, default="raw"
            The count, 1, 1 + ln(count) or 1 + log10(count). A counter with
            ``binary=True`` counts 1.
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

        """
        analysis, table = Analysis(self.counter), self._look_up()
        if self.counter.binary:
            tf = "binary"
        if table is None:
            tokens, columns = analysis.tokens(documents), self._dictionary()
            return text_plain.linear_scores(
                tokens, columns, weights, bias, tf, idf, norm
            )
        return text.score_texts(
            analysis.texts(documents),
            table,
            weights,
            bias,
            tf=tf,
            idf=idf,
            norm=norm,
            n_threads=analysis.n_threads,
        )

    def _look_up(self) -> TermTable | None:
        """The table for the kernels, or None where the plain path serves."""
        scan = Analysis(self.counter).scan()
        if scan is None:
            return None
        if self._table is None or self._table.scan != scan:
            self._table = TermTable(self.terms, scan)
        return self._table

    def _dictionary(self) -> dict[str, int]:
        if self._columns is None:
            self._columns = {term: column for column, term in enumerate(self.terms)}
        return self._columns
