"""Term weighting: tf, idf and length normalisation, each variant a formula by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.kernels.rows import (
    canonical_rows,
    inverse_or_zero,
    require_counts,
    row_lengths,
    scale_rows,
    squared_lengths,
    unit_rows,
)
from earmark.parameters import estimator, require_one_of
from earmark.stored import EXACT, counts, number, size
from earmark.typing import FloatVector, IntVector, MatrixLike, SparseMatrix

# Documents with each term: whole numbers, but for documents that were weighted.
Frequencies: TypeAlias = IntVector | FloatVector

# The stored counts of canonical rows -> weights.
TF: Mapping[str, Callable[[SparseMatrix], FloatVector]] = {
    "natural": lambda X: np.asarray(X.data, dtype=np.float64),  # SMART n
    "logarithm": lambda X: np.asarray(1.0 + np.log10(X.data)),  # SMART l (VS1)
    "sublinear": lambda X: np.asarray(1.0 + np.log(X.data)),  # as scikit-learn's
    # SMART a: 0.5 + 0.5 tf / (largest tf of the document).
    "augmented": lambda X: 0.5 + 0.5 * X.data / _repeat(X, X.max(axis=1).toarray()),
    "boolean": lambda X: np.ones(len(X.data)),  # SMART b
    # SMART L: (1 + log10 tf) / (1 + log10 of the document's mean tf).
    "log_average": lambda X: (1.0 + np.log10(X.data)) / (1.0 + np.log10(_means(X))),
}
# N and the documents with each term -> factor of each term.
IDF: Mapping[str, Callable[[float, Frequencies], FloatVector]] = {
    "none": lambda n, df: np.ones(len(df)),  # SMART n
    # SMART t (VS1); a term that no document has gets log10 N.
    "inverse": lambda n, df: np.asarray(np.log10(n / np.maximum(df, 1))),
    # As scikit-learn with and without ``smooth_idf``.
    "smooth": lambda n, df: np.asarray(np.log((1 + n) / (1 + df)) + 1.0),
    "unsmoothed": lambda n, df: np.asarray(np.log(n / np.maximum(df, 1)) + 1.0),
    # SMART p: max(0, log10((N - df) / df)).
    "probabilistic": lambda n, df: np.log10(
        np.maximum((n - df) / np.maximum(df, 1), 1.0)
    ),
}
# Weighted rows -> rows of the length wanted.
NORM: Mapping[str, Callable[[SparseMatrix], SparseMatrix]] = {
    "cosine": unit_rows,  # SMART c: Euclidean length 1
    # Absolute values sum to 1 (l1).
    "share": lambda X: scale_rows(X, inverse_or_zero(row_lengths(abs(X)))),
    "pivoted": lambda X: scale_rows(X, 1.0 / _pivoted_lengths(X)),  # SMART u
}
# As "cosine", with the length of the whole document, unknown terms among it (LM1).
WHOLE = "whole"
_SMART: tuple[Mapping[str, Any], ...] = (
    dict(n="natural", l="logarithm", a="augmented", b="boolean", L="log_average"),
    {"n": "none", "t": "inverse", "p": "probabilistic"},
    {"n": None, "c": "cosine", "u": "pivoted"},
)


@estimator
class TfidfWeighting(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Weigh counts by term frequency, rarity and document length.

    Parameters
    ----------
    tf : str, default="sublinear"
        "natural", "logarithm", "sublinear", "augmented", "boolean" or
        "log_average".
    idf : str, default="smooth"
        "none", "inverse", "smooth", "unsmoothed" or "probabilistic".
    norm : str or None, default="cosine"
        "cosine" (l2), "share" (l1), "pivoted", "whole" or None. "whole" divides by the
        length that a document has with all its terms: an unknown one, of which
        ``transform`` gets the number, weighs as a term of one document does.

    Attributes
    ----------
    document_frequency_ : ndarray of shape (n_features,)
        Number of documents with each term, exactly.
    n_documents_ : int
        Number of documents seen.
    idf_ : ndarray of shape (n_features,)
        The factor of each term.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to
       Information Retrieval, section 6.4.3 and chapter 14.

    Examples
    --------
    >>> weighting = TfidfWeighting.from_smart("ltc")
    >>> weighting.fit_transform([[1, 0], [1, 2]]).toarray()
    array([[0., 0.],
           [0., 1.]])

    """

    document_frequency_: Annotated[Any, counts("n_features")] = field(init=False)
    n_documents_: Annotated[float, number(0, EXACT)] = field(init=False)
    n_features_in_: Annotated[int, size("n_features")] = field(init=False)

    tf: str = "sublinear"
    idf: str = "smooth"
    norm: str | None = "cosine"

    @classmethod
    def from_smart(cls, letters: str) -> Self:
        """The weighting that three SMART letters name, such as "ltc" (VS1)."""
        if len(letters) != 3 or any(
            letter not in table for letter, table in zip(letters, _SMART, strict=True)
        ):
            wanted = ", ".join("".join(table) for table in _SMART)
            raise ValueError(
                f"letters must be three SMART letters, one each of {wanted}, "
                f"got {letters!r}."
            )
        tf, idf, norm = (t[letter] for letter, t in zip(letters, _SMART, strict=True))
        return cls(tf=tf, idf=idf, norm=norm)

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Count the documents with each term."""
        self._check_parameters()
        rows = self._rows(X, reset=True)
        self.n_documents_: float = int(rows.shape[0])
        self.document_frequency_: Frequencies = _document_frequency(rows)
        return self

    def fit_frequencies(
        self, document_frequency: Frequencies, n_documents: float
    ) -> Self:
        """Learn from documents that were counted elsewhere, in parts or by weight.

        ``document_frequency`` has the documents with each term, out of
        ``n_documents``.
        """
        self._check_parameters()
        self.n_documents_ = n_documents
        self.document_frequency_ = document_frequency
        self.n_features_in_ = len(document_frequency)
        return self

    def partial_fit(self, X: MatrixLike, y: object = None) -> Self:
        """Count more documents over the same columns."""
        if not hasattr(self, "document_frequency_"):
            return self.fit(X)
        rows = self._rows(X, reset=False)
        self.n_documents_ += int(rows.shape[0])
        self.document_frequency_ = self.document_frequency_ + _document_frequency(rows)
        return self

    def transform(
        self, X: MatrixLike, n_unknown: IntVector | None = None
    ) -> SparseMatrix:
        """Weighted rows, sparse float64; X itself is left as it is.

        ``n_unknown`` has the number of unknown terms of each document; None: 0.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        data = TF[self.tf](rows)
        if self.idf != "none":
            data = data * self.idf_[rows.indices]
        weighted = sparse.csr_matrix(
            (data, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape
        )
        if self.norm == WHOLE:
            squares = squared_lengths(weighted)
            if n_unknown is not None:
                squares += self.unknown_ * n_unknown
            weighted = scale_rows(weighted, inverse_or_zero(np.sqrt(squares)))
        elif self.norm is not None:
            weighted = NORM[self.norm](weighted)
        return sparse.csr_matrix(weighted)

    @property
    def idf_(self) -> FloatVector:
        """The factor of each term."""
        check_is_fitted(self)
        return IDF[self.idf](self.n_documents_, self.document_frequency_)

    @property
    def unknown_(self) -> float:
        """What an unknown term adds to the square of a whole document's length."""
        check_is_fitted(self)
        return float(IDF[self.idf](self.n_documents_, np.ones(1))[0] ** 2)

    def _check_parameters(self) -> None:
        require_one_of(self, "tf", TF)
        require_one_of(self, "idf", IDF)
        require_one_of(self, "norm", (None, *NORM, WHOLE))

    def _rows(self, X: MatrixLike, *, reset: bool) -> SparseMatrix:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        rows = canonical_rows(X)
        require_counts(rows, f"{type(self).__name__} takes")
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _document_frequency(rows: SparseMatrix) -> IntVector:
    return np.bincount(rows.indices, minlength=rows.shape[1]).astype(np.int64)


def _repeat(X: SparseMatrix, values: FloatVector) -> FloatVector:
    """One value per row -> one for each stored entry."""
    return np.repeat(np.asarray(values).ravel(), np.diff(X.indptr))


def _means(X: SparseMatrix) -> FloatVector:
    """The mean count of the entry's document, for each stored entry."""
    n_terms = np.maximum(np.diff(X.indptr), 1)
    return _repeat(X, np.maximum(row_lengths(X) / n_terms, np.finfo(float).tiny))


def _pivoted_lengths(X: SparseMatrix) -> FloatVector:
    """Distinct terms of each document, pulled three quarters towards their mean."""
    distinct = np.diff(X.indptr).astype(np.float64)
    pivot = distinct[distinct > 0].mean() if distinct.any() else 1.0
    return np.asarray(0.75 * pivot + 0.25 * np.maximum(distinct, 1.0))
