"""Pairs of newsgroups as count matrices, prepared as in section 3 of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from earmark.documents import load_corpus
from earmark.features import TextPreparation, WordCounter
from earmark.typing import IntVector, Labels, SparseMatrix

__all__ = ["PAIRS", "REGIONS", "Corpus", "Part", "load_news"]

REGIONS = ("subject", "body")

# The six of figure 1, in its order.
PAIRS: tuple[tuple[str, str], ...] = (
    ("alt.atheism", "talk.religion.misc"),
    ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    ("comp.graphics", "talk.politics.mideast"),
    ("alt.atheism", "sci.med"),
    ("rec.autos", "rec.motorcycles"),
    ("rec.sport.hockey", "soc.religion.christian"),
)


class Part:
    """Some documents on the terms of the training documents.

    ``regions`` holds the subject's columns beside the body's, over one
    vocabulary; ``whole`` their sum.
    """

    def __init__(self, subject: SparseMatrix, body: SparseMatrix, y: Labels) -> None:
        self.regions = sparse.hstack([subject, body], format="csr")
        self.whole = sparse.csr_matrix(subject + body)
        self.y = y

    @property
    def blocks(self) -> IntVector:
        """Region of each column of ``regions``."""
        return np.repeat([0, 1], self.whole.shape[1])


class Corpus:
    """Documents counted once; splits restrict the columns to the training part's."""

    def __init__(self, texts: Mapping[str, Sequence[str]], labels: Labels) -> None:
        steps = TextPreparation(substitutions=("number", "address"), stemmer="english")
        counter = WordCounter(preprocessor=steps, lowercase=False)
        counter.fit([text for region in REGIONS for text in texts[region]])
        self.counts = [counter.transform(texts[region]) for region in REGIONS]
        self.labels = labels

    def rows(self, groups: tuple[str, str]) -> IntVector:
        """The documents of two newsgroups."""
        return np.flatnonzero(np.isin(self.labels, groups))

    def split(
        self, train: IntVector, test: IntVector, dictionary: IntVector | None = None
    ) -> tuple[Part, Part]:
        """Training and test part, on the terms of some documents.

        Those are the training documents unless others are given.
        """
        held = [
            part[train if dictionary is None else dictionary] for part in self.counts
        ]
        known = np.flatnonzero(np.asarray((held[0] + held[1]).sum(axis=0)).ravel())
        subject, body = (part[:, known] for part in self.counts)
        parts = [
            Part(subject[rows], body[rows], self.labels[rows]) for rows in (train, test)
        ]
        return parts[0], parts[1]


def load_news(pairs: Sequence[tuple[str, str]]) -> Corpus:
    """The newsgroups of some pairs, out of the original 19,997 postings."""
    news: Any = load_corpus("20newsgroups-original", regions=list(REGIONS))
    labels = np.asarray(news.labels)
    rows = np.flatnonzero(np.isin(labels, sorted({g for pair in pairs for g in pair})))
    texts = {r: [news.texts[r][i] for i in rows] for r in REGIONS}
    return Corpus(texts, labels[rows])
