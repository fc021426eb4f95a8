"""Plain twins of the fused text kernels: token lists to class sums or scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["class_sums", "linear_scores"]


def class_sums(
    documents: Iterable[Iterable[str]], y_index: IntVector, n_classes: int
) -> tuple[list[str], IntVector, IntVector, IntVector, IntVector]:
    """Sorted terms and CSR parts (class x term) with token and document counts."""
    tokens: list[Counter[str]] = [Counter() for _ in range(n_classes)]
    presence: list[Counter[str]] = [Counter() for _ in range(n_classes)]
    for c, words in zip(y_index.tolist(), documents, strict=True):
        row = Counter(words)
        tokens[c].update(row)
        presence[c].update(row.keys())
    terms = sorted(set().union(*tokens))
    column = {term: k for k, term in enumerate(terms)}
    held = [sorted(row, key=column.__getitem__) for row in tokens]
    indptr = np.cumsum([0, *(len(names) for names in held)], dtype=np.int64)
    parts = (
        [column[t] for names in held for t in names],
        [row[t] for row, names in zip(tokens, held, strict=True) for t in names],
        [row[t] for row, names in zip(presence, held, strict=True) for t in names],
    )
    indices, n_tokens, n_documents = (np.array(p, dtype=np.int64) for p in parts)
    return terms, indptr, indices, n_tokens, n_documents


def linear_scores(
    documents: Iterable[Iterable[str]],
    vocabulary: Mapping[str, int],
    weights: FloatMatrix,
    bias: FloatVector,
    tf: str,
    idf: FloatVector | None,
    norm: str | None,
) -> tuple[FloatMatrix, IntVector]:
    """Scores (n_documents, n_outputs) and the number of known tokens of each."""
    scores, n_tokens = [], []
    for words in documents:
        counts = Counter(column for w in words if (column := _find(vocabulary, w)) >= 0)
        columns = list(counts)
        n_tokens.append(sum(counts.values()))
        x = np.array([_tf(tf, n) for n in counts.values()], dtype=np.float64)
        if idf is not None:
            x *= idf[columns]
        scores.append(x @ weights[columns] / _length(x, norm) + bias)
    return (
        np.array(scores, dtype=np.float64).reshape(-1, len(bias)),
        np.array(n_tokens, dtype=np.int64),
    )


def _find(vocabulary: Mapping[str, int], word: str) -> int:
    return vocabulary.get(word, -1)


def _tf(tf: str, count: int) -> float:
    if tf == "binary":
        return 1.0
    if tf == "sublinear":
        return 1.0 + math.log(count)
    return 1.0 + math.log10(count) if tf == "logarithm" else float(count)


def _length(x: FloatVector, norm: str | None) -> float:
    if norm is None:
        return 1.0
    length = math.sqrt(float(x @ x)) if norm == "l2" else float(np.abs(x).sum())
    return length or 1.0
