"""The six data sets of the paper, prepared as it says, and their random trials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from earmark.documents import Documents, load_corpus
from earmark.features import TermSelector, WordCounter
from earmark.typing import IntVector, Labels, SparseMatrix

__all__ = [
    "GROUPS",
    "DataSet",
    "Trial",
    "draw_trial",
    "load_data_sets",
    "milder_religion",
    "newsgroups",
    "sampled",
]

# Table 1 of the paper: subsets of the 20 Newsgroups.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "RELIGION": ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
    "SCIENCE": ("sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    "POLITICS": (
        "talk.politics.guns",
        "talk.politics.mideast",
        "talk.politics.misc",
    ),
    "COMP": (
        "comp.graphics",
        "comp.os.ms-windows.misc",
        "comp.sys.ibm.pc.hardware",
        "comp.sys.mac.hardware",
        "comp.windows.x",
    ),
}
N_TERMS = 2000
N_DOCUMENTS = 500  # of each newsgroup, at most
_WORD = re.compile(r"[a-z]{2,}")


@dataclass(frozen=True)
class DataSet:
    """Term counts and labels; ``ranked`` are the columns that all labels chose."""

    name: str
    counts: SparseMatrix
    y: Labels
    ranked: IntVector | None = None


@dataclass(frozen=True)
class Trial:
    """One random division, on the terms that its training part holds."""

    train: SparseMatrix
    y_train: Labels
    test: SparseMatrix
    y_test: Labels
    documents: IntVector
    """Which documents of the set are tested."""


@lru_cache(maxsize=1)
def load_data_sets(seed: int = 0) -> list[DataSet]:
    """Four newsgroup subsets, Citeseer, and Cora with seven and with six classes."""
    X, topics = load_term_matrix("citeseer", n_terms=3703)
    citeseer = DataSet("Citeseer", X, np.array(topics))
    X, topics = load_term_matrix("cora", n_terms=1433)
    area = np.array(topics)
    six = np.flatnonzero(area != "Rule_Learning")
    messages = load_corpus("20newsgroups-original")
    return [
        *(sampled(newsgroups(messages, name), seed) for name in GROUPS),
        citeseer,
        DataSet("Cora", X, area),
        DataSet("Cora, six classes", X[six], area[six]),
    ]


def load_term_matrix(name: str, n_terms: int) -> tuple[SparseMatrix, list[str]]:
    """Binary document-term matrix and labels of "cora" or "citeseer"."""
    documents = load_corpus(name)
    terms = documents.columns["terms"]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in terms])])
    indices = np.fromiter((t for row in terms for t in row), dtype=np.int32)
    data = np.ones(len(indices), dtype=np.int64)
    shape = (len(terms), n_terms)
    X = sparse.csr_array((data, indices, indptr.astype(np.int32)), shape=shape)
    X.sort_indices()
    return X, documents.labels or []


def milder_religion(seed: int = 0) -> DataSet:
    """RELIGION without the messages posted to two of its own three classes only."""
    messages = load_corpus("20newsgroups-original")
    return sampled(newsgroups(messages, "RELIGION", GROUPS["RELIGION"]), seed)


def newsgroups(
    messages: Documents, name: str, among: tuple[str, ...] | None = None
) -> DataSet:
    """All messages of a subset without cross-postings, prepared.

    A cross-posting is a message posted to two of the twenty groups (or of those
    in ``among``). That leaves 448 messages of talk.religion.misc, all of which are
    taken, and more than 500 of every other class. Dropping every message with a
    second group of any name would leave 169 of talk.politics.misc.
    """
    labels = np.array(messages.labels)
    known = set(labels.tolist() if among is None else among)
    rows = [
        d
        for d, cell in enumerate(messages.columns["newsgroups"])
        if labels[d] in GROUPS[name]
        and len(known & {group.strip() for group in cell.split(",")}) < 2
    ]
    texts = [str(messages.texts[d]) for d in rows]  # type: ignore[index]
    return _prepared(name, texts, labels[rows])


def _prepared(name: str, texts: list[str], y: Labels) -> DataSet:
    """Stop words, Porter stems, df >= 3, 2000 terms by information gain.

    Terms are ranked before documents are sampled, in the paper's order; the
    ranking sees the labels of what will be test documents. The other terms stay
    in ``counts`` for the rows that rank on training documents only.
    """
    counts = WordCounter(analyzer=_stems(), min_df=3).fit_transform(texts)
    return DataSet(name, counts, y, _best_terms(counts, y))


def sampled(data: DataSet, seed: int) -> DataSet:
    """At most 500 random documents of each class."""
    rng, y = np.random.default_rng(seed), data.y
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(y == c))[:N_DOCUMENTS] for c in np.unique(y)]
    )
    return DataSet(data.name, data.counts[rows].tocsr(), y[rows], data.ranked)


def _stems() -> Any:
    from Stemmer import Stemmer  # earmark[stem]

    porter = Stemmer("porter")

    def analyze(text: str) -> list[str]:
        words = [w for w in _WORD.findall(text.lower()) if w not in ENGLISH_STOP_WORDS]
        return list(porter.stemWords(words))

    return analyze


def _best_terms(counts: SparseMatrix, y: Labels) -> IntVector:
    """The columns with the largest information gain, ascending."""
    selector = TermSelector("information_gain", k=N_TERMS).fit(counts, y)
    return np.asarray(selector.get_support(indices=True), dtype=np.int64)


def draw_trial(
    data: DataSet, share: float, number: int, leak_free: bool = False
) -> Trial:
    """Train on a random share of each class, test on the rest (trial ``number``).

    Terms of no training document are dropped. ``leak_free`` ranks terms on the
    training documents alone; the division is the same.
    """
    rng = np.random.default_rng([number, round(1000 * share)])
    picked = [
        rng.permutation(np.flatnonzero(data.y == c))[
            : max(2, round(share * int(np.sum(data.y == c))))
        ]
        for c in np.unique(data.y)
    ]
    train = np.sort(np.concatenate(picked))
    test = np.setdiff1d(np.arange(len(data.y)), train)
    columns = np.arange(data.counts.shape[1]) if data.ranked is None else data.ranked
    if leak_free and data.ranked is not None:
        columns = _best_terms(data.counts[train], data.y[train])
    known = data.counts[train][:, columns]
    seen = np.flatnonzero(np.asarray((known > 0).sum(axis=0)).ravel())
    unknown = data.counts[test][:, columns[seen]]
    return Trial(
        known[:, seen].tocsr(), data.y[train], unknown.tocsr(), data.y[test], test
    )
