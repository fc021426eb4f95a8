"""Documents straight to class sums or to linear scores, without a matrix between.

The compiled passes need memory for the terms, not for the documents; their
results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from earmark.kernels import text_fused_plain
from earmark.kernels.backend import native
from earmark.kernels.term_merge import PackedTerms, pack_terms
from earmark.kernels.text import (
    Documents,
    Scan,
    TermTable,
    native_scan,
    native_texts,
    plain_analyzer,
)
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["ClassCounts", "count_by_class", "pack_by_class", "score_texts"]

ClassCounts: TypeAlias = tuple[IntVector, IntVector, IntVector, IntVector]
"""indptr and indices of a CSR matrix (n_classes, n_terms); tokens, documents."""

_TF = {"raw": 0, "binary": 1, "sublinear": 2, "logarithm": 3}
_NORM = {None: 0, "l2": 1, "l1": 2}


def count_by_class(
    documents: Documents,
    y_index: IntVector,
    n_classes: int,
    scan: Scan,
    n_threads: int = 1,
) -> tuple[list[str], *ClassCounts]:
    """Class sums of raw text (CS1), unpruned.

    Returns the sorted terms and the parts of two CSR matrices (n_classes, n_terms)
    of one structure: indptr, indices, token counts, document counts.
    """
    lib = native()
    if lib is None:
        return _plain(documents, y_index, n_classes, scan)
    sums = _sums(lib, documents, y_index, n_classes, scan, n_threads)
    return sums.terms(), *_filled(sums, n_classes)


def pack_by_class(
    documents: Documents,
    y_index: IntVector,
    n_classes: int,
    scan: Scan,
    n_threads: int = 1,
) -> tuple[PackedTerms, *ClassCounts]:
    """As ``count_by_class``, the terms as bytes: no Python string is made."""
    lib = native()
    if lib is None:
        parts = _plain(documents, y_index, n_classes, scan)
        return pack_terms(parts[0]), *parts[1:]
    sums = _sums(lib, documents, y_index, n_classes, scan, n_threads)
    return sums.packed_terms(), *_filled(sums, n_classes)


def _plain(
    documents: Documents, y_index: IntVector, n_classes: int, scan: Scan
) -> tuple[list[str], *ClassCounts]:
    tokens = map(plain_analyzer(scan), documents)
    return text_fused_plain.class_sums(tokens, y_index, n_classes)


def _sums(
    lib: Any,
    documents: Documents,
    y_index: IntVector,
    n_classes: int,
    scan: Scan,
    n_threads: int,
) -> Any:
    return lib.ClassSums(
        native_texts(lib, documents, scan),
        np.ascontiguousarray(y_index, dtype=np.int64),
        n_classes,
        native_scan(lib, scan),
        sorted(scan.stop_words),
        n_threads,
    )


def _filled(sums: Any, n_classes: int) -> ClassCounts:
    indptr = np.empty(n_classes + 1, dtype=np.int64)
    indices = np.empty(sums.n_entries, dtype=np.int32)
    tokens, presence = np.empty((2, sums.n_entries), dtype=np.int64)
    sums.fill(indptr, indices, tokens, presence)
    return indptr, indices, tokens, presence


def score_texts(
    documents: Documents,
    table: TermTable,
    weights: FloatMatrix,
    bias: FloatVector,
    *,
    tf: str = "raw",
    idf: FloatVector | None = None,
    norm: str | None = None,
    n_threads: int = 1,
) -> tuple[FloatMatrix, IntVector]:
    """Linear scores of raw text, and how many tokens of each document were known.

    score_dk = sum_w x_dw weights_wk / |x_d| + bias_k with x_dw = tf(count) idf_w;
    ``tf`` is "raw", "binary", "sublinear" (1 + ln count) or "logarithm" (1 + log10
    count), ``norm`` None, "l1" or "l2".
    """
    lib = native()
    if lib is None:
        tokens = map(plain_analyzer(table.scan), documents)
        return text_fused_plain.linear_scores(
            tokens, table.plain(), weights, bias, tf, idf, norm
        )
    scores = np.empty((len(documents), len(bias)), dtype=np.float64)
    n_tokens = np.empty(len(documents), dtype=np.int64)
    lib.score_texts(
        native_texts(lib, documents, table.scan),
        table.native(lib),
        _TF[tf],
        _NORM[norm],
        idf,
        np.ascontiguousarray(weights, dtype=np.float64),
        np.ascontiguousarray(bias, dtype=np.float64),
        scores,
        n_tokens,
        n_threads,
    )
    return scores, n_tokens
