"""Terms x character n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from earmark.features import WordCounter
from earmark.kernels.rows import canonical_rows
from earmark.typing import SparseMatrix

__all__ = ["subword_matrix"]


def subword_matrix(terms: Any, n_min: int = 2, n_max: int = 5) -> SparseMatrix:
    """Character n-grams of each term, times idf over terms, in unit rows.

    A term is padded by one space on each side; n-grams of a single term are left
    out.
    """
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
