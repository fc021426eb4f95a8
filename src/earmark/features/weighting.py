"""Term weighting: tf, idf and length normalisation, each variant a named function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.kernels.rows import (
    canonical_rows,
    require_counts,
    row_lengths,
    scale_rows,
    unit_rows,
)
from earmark.parameters import require_one_of, with_parameters
from earmark.typing import FloatVector, IntVector, MatrixLike, SparseMatrix

# Documents with each term: whole numbers, but for documents that were weighted.
Frequencies: TypeAlias = IntVector | FloatVector

# -- term frequency: the stored counts of canonical rows -> weights ----------------


def natural(X: SparseMatrix) -> FloatVector:
    """SMART n: the count."""
    return np.asarray(X.data, dtype=np.float64)


def logarithm(X: SparseMatrix) -> FloatVector:
    """SMART l: 1 + log10 tf (VS1)."""
    return np.asarray(1.0 + np.log10(X.data))


def sublinear(X: SparseMatrix) -> FloatVector:
    """1 + ln tf, as scikit-learn's ``sublinear_tf``."""
    return np.asarray(1.0 + np.log(X.data))


def augmented(X: SparseMatrix) -> FloatVector:
    """SMART a: 0.5 + 0.5 tf / (largest tf of the document)."""
    return np.asarray(0.5 + 0.5 * X.data / _repeat(X, _row_maximum(X)))


def boolean(X: SparseMatrix) -> FloatVector:
    """SMART b: 1 for every term of the document."""
    return np.ones(len(X.data))


def log_average(X: SparseMatrix) -> FloatVector:
    """SMART L: (1 + log10 tf) / (1 + log10 of the document's mean tf)."""
    n_terms = np.maximum(np.diff(X.indptr), 1)
    mean = np.maximum(row_lengths(X) / n_terms, np.finfo(float).tiny)
    return np.asarray((1.0 + np.log10(X.data)) / _repeat(X, 1.0 + np.log10(mean)))


# -- inverse document frequency: N and df -> factor of each term -------------------


def none(n_documents: float, df: Frequencies) -> FloatVector:
    """SMART n: 1."""
    return np.ones(len(df))


def inverse(n_documents: float, df: Frequencies) -> FloatVector:
    """SMART t: log10(N / df) (VS1); a term that no document has gets log10 N."""
    return np.asarray(np.log10(n_documents / np.maximum(df, 1)))


def smooth(n_documents: float, df: Frequencies) -> FloatVector:
    """ln((1 + N) / (1 + df)) + 1, as scikit-learn's ``smooth_idf``."""
    return np.asarray(np.log((1 + n_documents) / (1 + df)) + 1.0)


def unsmoothed(n_documents: float, df: Frequencies) -> FloatVector:
    """ln(N / df) + 1, as scikit-learn without ``smooth_idf``."""
    return np.asarray(np.log(n_documents / np.maximum(df, 1)) + 1.0)


def probabilistic(n_documents: float, df: Frequencies) -> FloatVector:
    """SMART p: max(0, log10((N - df) / df))."""
    odds = (n_documents - df) / np.maximum(df, 1)
    return np.asarray(np.log10(np.maximum(odds, 1.0)))


# -- length: weighted rows -> rows of the length wanted ---------------------------


def cosine(X: SparseMatrix) -> SparseMatrix:
    """SMART c: rows of Euclidean length 1."""
    return unit_rows(X)


def share(X: SparseMatrix) -> SparseMatrix:
    """Rows whose absolute values sum to 1 (l1)."""
    return scale_rows(X, _inverse_or_zero(row_lengths(abs(X))))


def pivoted(X: SparseMatrix) -> SparseMatrix:
    """SMART u: divided by (1 - s) p + s u; u distinct terms, p their mean, s = 0.25."""
    distinct = np.diff(X.indptr).astype(np.float64)
    pivot = distinct[distinct > 0].mean() if distinct.any() else 1.0
    return scale_rows(X, 1.0 / (0.75 * pivot + 0.25 * np.maximum(distinct, 1.0)))


TF: Mapping[str, Callable[[SparseMatrix], FloatVector]] = {
    "natural": natural,
    "logarithm": logarithm,
    "sublinear": sublinear,
    "augmented": augmented,
    "boolean": boolean,
    "log_average": log_average,
}
IDF: Mapping[str, Callable[[float, Frequencies], FloatVector]] = {
    "none": none,
    "inverse": inverse,
    "smooth": smooth,
    "unsmoothed": unsmoothed,
    "probabilistic": probabilistic,
}
NORM: Mapping[str, Callable[[SparseMatrix], SparseMatrix]] = {
    "cosine": cosine,
    "share": share,
    "pivoted": pivoted,
}
_SMART: tuple[Mapping[str, Any], ...] = (
    {
        "n": "natural",
        "l": "logarithm",
        "a": "augmented",
        "b": "boolean",
        "L": "log_average",
    },
    {"n": "none", "t": "inverse", "p": "probabilistic"},
    {"n": None, "c": "cosine", "u": "pivoted"},
)


@with_parameters()
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
        "cosine" (l2), "share" (l1), "pivoted" or None.

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
        if "document_frequency_" not in vars(self):
            return self.fit(X)
        rows = self._rows(X, reset=False)
        self.n_documents_ += int(rows.shape[0])
        self.document_frequency_ = self.document_frequency_ + _document_frequency(rows)
        return self

    def transform(self, X: MatrixLike) -> SparseMatrix:
        """Weighted rows, sparse float64; X itself is left as it is."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        data = TF[self.tf](rows)
        if self.idf != "none":
            data = data * self.idf_[rows.indices]
        weighted = sparse.csr_matrix(
            (data, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape
        )
        if self.norm is not None:
            weighted = sparse.csr_matrix(NORM[self.norm](weighted))
        return weighted

    @property
    def idf_(self) -> FloatVector:
        """The factor of each term."""
        check_is_fitted(self)
        return IDF[self.idf](self.n_documents_, self.document_frequency_)

    def _check_parameters(self) -> None:
        require_one_of(self, "tf", TF)
        require_one_of(self, "idf", IDF)
        require_one_of(self, "norm", (None, *NORM))

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
    """One value a row -> one for each stored entry."""
    return np.repeat(values, np.diff(X.indptr))


def _row_maximum(X: SparseMatrix) -> FloatVector:
    return np.asarray(X.max(axis=1).toarray(), dtype=np.float64).ravel()


def _inverse_or_zero(values: FloatVector) -> FloatVector:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
