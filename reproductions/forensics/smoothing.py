"""Which preparation and smoothing give all naive Bayes figures of one paper at once.

Carlos & Rakshit (2016) state Laplace smoothing and little of how texts become terms.
The grid is alpha x tokens x terms; each corpus is counted once, and every setting
merges or drops columns of these counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from earmark.documents import load_corpus
from earmark.features import WordCounter
from earmark.models import MultinomialNaiveBayes
from earmark.typing import Labels, SparseMatrix
from reproductions.hierarchical.methods import hierarchical, naive_bayes
from reproductions.hierarchical.published import TABLE_1, TABLE_2
from reproductions.hierarchical.tasks import halved, held_back, load
from reproductions.study import Run, documents_p_value, mean_and_error

__all__ = ["PAPER", "counts_of", "distances", "equal_smoothing", "smoothing"]

ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0)
# Tokens: runs of letters; those of two letters or more; their Porter stems.
TOKENS = ("letters", "two letters or more", "stems")
TERMS = ("all", "no stop words", "in 2 documents or more", "in 5 documents or more")
CORPORA = {
    "r8": "R8",
    "r52": "R52",
    "20newsgroups": "20 Newsgroups",
    "imdb": "reviews",
}
# Corpus -> what the paper prints for naive Bayes and for hierarchical Bayes.
PAPER: Mapping[str, Mapping[str, float]] = {
    "reviews": {
        "naive Bayes": TABLE_1["naive Bayes, alpha 1"],
        "hierarchical Bayes": TABLE_1["hierarchical Bayes, alpha 1, H = 2"],
    },
    **{
        name: {
            "naive Bayes": row["naive Bayes, alpha 1"],
            "hierarchical Bayes": row["hierarchical Bayes, alpha 1"],
        }
        for name, row in TABLE_2.items()
    },
}
# Starts, iterations and nodes of the paper on reviews, and of our table 2.
_NODES = {"n_hidden": 2, "n_restarts": 50, "max_iter": 4}
_EQUAL = (0.03, 0.1, 1.0)


def smoothing(run: Run) -> dict[str, Any]:
    """Accuracy of naive Bayes on the official test parts, for every setting."""
    corpora = list(CORPORA.items())[: 1 if run.quick else None]
    cells: dict[str, dict[str, float]] = {}
    for name, title in corpora:
        run.progress(f"smoothing: {title}")
        for setting, accuracy in _grid(name).items():
            cells.setdefault(setting, {})[title] = accuracy
    return {
        setting: {"accuracy": row, **distances(row)} for setting, row in cells.items()
    }


def distances(row: Mapping[str, float]) -> dict[str, float]:
    """How far the accuracies are from the printed ones, in the mean and at most."""
    gaps = [abs(row[name] - PAPER[name]["naive Bayes"]) for name in row]
    return {"mean distance": float(np.mean(gaps)), "largest distance": max(gaps)}


def _grid(name: str) -> dict[str, float]:
    """Accuracy by "tokens, terms, alpha" on one corpus."""
    counts, words, y, n_train = _counted(name)
    accuracies: dict[str, float] = {}
    for tokens in TOKENS:
        X, names = counts_of(counts, words, tokens)
        documents = np.bincount(X[:n_train].indices, minlength=X.shape[1])
        for terms in TERMS:
            columns = np.flatnonzero(_chosen(terms, names, documents))
            train, test = X[:n_train, columns], X[n_train:, columns]
            for alpha in ALPHAS:
                model = MultinomialNaiveBayes(alpha=alpha).fit(train, y[:n_train])
                setting = f"{tokens}, {terms}, {alpha:g}"
                accuracies[setting] = float(model.score(test, y[n_train:]))
    return accuracies


def _counted(name: str) -> tuple[SparseMatrix, list[str], Labels, int]:
    """Runs of letters of a corpus, its training documents first."""
    regions = ["subject", "body"] if name == "20newsgroups" else None
    texts: list[str] = []
    labels: list[Any] = []
    sizes = []
    for part in ("train", "test"):
        documents = load_corpus(name, part, regions=regions)
        mine: Any = documents.texts
        if regions is not None:
            mine = ["\n".join(pair) for pair in zip(*mine.values(), strict=True)]
        texts += list(mine)
        labels += list(documents.labels or [])
        sizes.append(len(mine))
    counter = WordCounter(token_pattern="[a-z]+")
    counts = counter.fit_transform(texts)
    words = counter.get_feature_names_out().tolist()
    return counts.tocsr(), words, np.asarray(labels), sizes[0]


def counts_of(
    counts: SparseMatrix, words: Sequence[str], tokens: str
) -> tuple[SparseMatrix, list[str]]:
    """The counts of one kind of token, and how each is spelled."""
    if tokens == "letters":
        return counts, list(words)
    long = [i for i, word in enumerate(words) if len(word) > 1]
    counts, words = counts[:, long], [words[i] for i in long]
    if tokens != "stems":
        return counts, words
    from Stemmer import Stemmer  # earmark[stem]

    # A stem is spelled as its first word, so that stop words stay known.
    _, first, merged = np.unique(
        Stemmer("porter").stemWords(words), return_index=True, return_inverse=True
    )
    ones = np.ones(len(words), dtype=counts.dtype)
    onto = sparse.csr_array((ones, (np.arange(len(words)), merged)))
    return (counts @ onto).tocsr(), [words[i] for i in first]


def _chosen(terms: str, words: Sequence[str], documents: Any) -> Any:
    """Which columns take part."""
    if terms == "no stop words":
        return np.array([word not in ENGLISH_STOP_WORDS for word in words])
    least = {"all": 1, "in 2 documents or more": 2, "in 5 documents or more": 5}
    return documents >= least[terms]


def equal_smoothing(run: Run) -> dict[str, Any]:
    """What hidden nodes add to naive Bayes where both have the same alpha."""
    results: dict[str, Any] = {}
    for name, title in list(CORPORA.items())[: 1 if run.quick else None]:
        corpus = load(name, title)
        n_draws = 1 if run.quick else 3
        tasks = list(
            halved(corpus, 5000, n_draws)
            if name == "imdb"
            else held_back(corpus, 0.1, n_draws)
        )
        tests = [task.test for task in tasks]
        results[title] = {}
        for alpha in _EQUAL:
            run.progress(f"equal smoothing: {title}, alpha {alpha:g}")
            theirs = [naive_bayes(task, [alpha]) for task in tasks]
            ours = [
                hierarchical(task, seed, alpha=alpha, **_NODES)[0]
                for seed, task in enumerate(tasks)
            ]
            accuracy = {
                "naive Bayes": [float(each.mean()) for each in theirs],
                "hierarchical Bayes": [float(each.mean()) for each in ours],
            }
            ours_less_theirs = np.subtract(
                accuracy["hierarchical Bayes"], accuracy["naive Bayes"]
            )
            results[title][f"{alpha:g}"] = {
                **{key: mean_and_error(values) for key, values in accuracy.items()},
                "gain": mean_and_error(ours_less_theirs.tolist()),
                "p over documents": documents_p_value(ours, theirs, tests),
            }
    return results
