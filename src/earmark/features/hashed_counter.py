"""Count words into a fixed number of columns: for streams, without a vocabulary."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from earmark.exceptions import DataError
from earmark.features.analysis import Analysis, AnalysisMixin, csr_container
from earmark.kernels.text import count_hashed
from earmark.kernels.text_plain import CsrArrays, count_hashed_tokens
from earmark.parameters import require_integer, require_one_of, with_parameters
from earmark.typing import DocumentsLike, SparseMatrix

__all__ = ["HashedCounter", "terms_by_column"]


@with_parameters()
class HashedCounter(AnalysisMixin, BaseEstimator):
    r"""Turn documents into counts of hashed terms; nothing to fit, nothing to store.

    Parameters and results are those of scikit-learn's ``HashingVectorizer``; the
    usual settings run in compiled code on ``n_jobs`` threads. Different terms may
    share a column, and columns cannot be turned back into terms without documents
    that hold them.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor
        As in ``WordCounter``.
    tokenizer, stop_words, token_pattern, ngram_range, analyzer
        As in ``WordCounter``.
    n_features : int, default=2**20
        Number of columns.
    binary : bool, default=False
        Write 1 for every count.
    norm : {"l1", "l2"} or None, default="l2"
        Length to which each row is scaled.
    alternate_sign : bool, default=True
        Let the hash decide the sign of a count, so that collisions cancel on
        average instead of adding up.
    dtype : type, default=np.float64
        Of the matrix.
    n_jobs : int, default=None
        Threads; None means 1, -1 all processors. The result does not depend on it.

    Examples
    --------
    >>> HashedCounter(n_features=4, norm=None).transform(["to be or not to be"]).nnz
    3

    """

    n_features: int = 2**20
    binary: bool = False
    norm: str | None = "l2"
    alternate_sign: bool = True
    dtype: type = np.float64

    def fit(self, X: DocumentsLike = None, y: object = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        self._check()
        return self

    def partial_fit(self, X: DocumentsLike = None, y: object = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        return self.fit(X, y)

    def transform(self, X: DocumentsLike) -> SparseMatrix:
        """Counts by hashed column (n_documents, n_features)."""
        self._check()
        analysis, hashing = Analysis(self), (self.n_features, self.alternate_sign)
        scan = analysis.scan()
        if scan is None:
            return self._finish(count_hashed_tokens(analysis.tokens(X), *hashing))
        texts, n_threads = analysis.texts(X), analysis.n_threads
        return self._finish(count_hashed(texts, scan, *hashing, n_threads))

    def fit_transform(self, X: DocumentsLike, y: object = None) -> SparseMatrix:
        """The same as ``transform``."""
        return self.transform(X)

    def _finish(self, arrays: CsrArrays) -> SparseMatrix:
        indptr, indices, counts = arrays
        if len(indptr) == 1:
            raise DataError(f"{type(self).__name__}: no documents to count; give some.")
        data: NDArray[np.generic] = counts.astype(self.dtype)
        if self.binary:
            data.fill(1)
        shape = (len(indptr) - 1, self.n_features)
        X = csr_container()((data, indices, indptr), shape=shape)
        if self.norm is None:
            return X
        from sklearn.preprocessing import normalize

        return normalize(X, norm=self.norm, copy=False)

    def _check(self) -> None:
        Analysis(self).check()
        require_integer(self, "n_features", low=1, high=2**31 - 1)
        require_one_of(self, "norm", ("l1", "l2", None))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags


def terms_by_column(counter: HashedCounter, X: DocumentsLike) -> dict[int, str]:
    """The terms of some documents by their column; " | " between several.

    Examples
    --------
    >>> sorted(terms_by_column(HashedCounter(), ["to be or not"]).values())
    ['be', 'not', 'or', 'to']

    """
    terms = sorted({term for row in Analysis(counter).tokens(X) for term in row})
    alone = [[term] for term in terms]
    _, columns, _ = count_hashed_tokens(alone, counter.n_features, False)
    names: dict[int, str] = {}
    for term, column in zip(terms, columns.tolist(), strict=True):
        names[column] = f"{names[column]} | {term}" if column in names else term
    return names
