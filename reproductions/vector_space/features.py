"""From texts to tf-idf vectors, as every part of this reproduction does it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

from earmark.documents import load_corpus
from earmark.features import TfidfWeighting, WordCounter
from earmark.typing import Labels, SparseMatrix

__all__ = ["Split", "corpus", "f1_table", "vectors"]

Split = tuple[SparseMatrix, Labels, SparseMatrix, Labels]


def vectors(
    train: Sequence[str], test: Sequence[str], *, smart: str = "ltc", **options: Any
) -> tuple[SparseMatrix, SparseMatrix]:
    """Vectors by SMART letters: ltc is the chapter's weighting (equation 6.14)."""
    counter = WordCounter(**options)
    counts = counter.fit_transform(train)
    weighting = TfidfWeighting.from_smart(smart)
    return (
        weighting.fit_transform(counts),
        weighting.transform(counter.transform(test)),
    )


@lru_cache(maxsize=2)
def corpus(
    name: str, most: int | None = None, seed: int = 0, smart: str = "ltc"
) -> Split:
    """A corpus with its official split as vectors, shuffled, at most ``most`` each."""
    rng = np.random.default_rng(seed)
    parts = [
        documents.take(rng.permutation(len(documents))[:most].tolist())
        for documents in (load_corpus(name, "train"), load_corpus(name, "test"))
    ]
    texts = (cast("list[str]", part.texts) for part in parts)
    X, test = vectors(*texts, smart=smart)
    return X, np.array(parts[0].labels), test, np.array(parts[1].labels)


def f1_table(scores: Any) -> dict[str, Any]:
    """Micro, macro and per-class F1 of ``multi_label_scores``."""
    return {
        "micro F1": scores.micro.f1,
        "macro F1": scores.macro.f1,
        "subset accuracy": scores.subset_accuracy,
        "F1 by class": {str(each.label): each.f1 for each in scores.per_class[:20]},
    }
