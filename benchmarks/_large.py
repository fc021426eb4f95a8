"""Large files that nobody wrote: one label of twelve, and any of 28 labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks._zipf import folder

N_WORDS = 60_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgk"))


def _words(rng: np.random.Generator) -> np.ndarray:
    lengths = rng.integers(2, 10, N_WORDS)
    names = ["".join(rng.choice(LETTERS, n)) for n in lengths]
    # Rare words get a number, so that no two are the same.
    return np.array(
        [w if i < 2000 else f"{w}{i}" for i, w in enumerate(names)], dtype=object
    )


def _topics(rng: np.random.Generator, n: int) -> np.ndarray:
    """Cumulative distributions over words, Zipf's law with accents of each topic."""
    logs = -np.log(np.arange(N_WORDS) + 2.7) + 0.9 * rng.standard_normal((n, N_WORDS))
    shares = np.exp(logs)
    return np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)


def _texts(
    rng: np.random.Generator,
    words: np.ndarray,
    topics: np.ndarray,
    topic: np.ndarray,
    lengths: np.ndarray,
) -> list[str]:
    """Texts whose words come from the topic given for each of them."""
    ids = np.empty(len(topic), dtype=np.int64)
    for t in range(len(topics)):
        rows = np.flatnonzero(topic == t)
        ids[rows] = np.searchsorted(topics[t], rng.random(len(rows)))
    drawn = words[np.minimum(ids, N_WORDS - 1)].tolist()
    ends = np.cumsum(lengths).tolist()
    starts = [0, *ends[:-1]]
    return [" ".join(drawn[a:b]) for a, b in zip(starts, ends, strict=True)]


def one_label(n_documents: int, n_classes: int = 12) -> Path:
    """A csv file of about 550 bytes per document, half of it common words."""
    out = folder() / f"large-{n_documents}.csv"
    if out.exists():
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    words, topics = _words(rng), _topics(rng, n_classes)
    part = out.with_suffix(".part")
    with part.open("w") as file:
        file.write("text,label\n")
        for start in range(0, n_documents, 25_000):
            n = min(25_000, n_documents - start)
            y, lengths = rng.integers(0, n_classes, n), rng.poisson(60, n) + 5
            texts = _texts(rng, words, topics, np.repeat(y, lengths), lengths)
            rows = zip(texts, y.tolist(), strict=True)
            file.writelines(f"{text},class{c}\n" for text, c in rows)
    part.rename(out)
    return out


def any_labels(n_documents: int, n_labels: int = 28) -> Path:
    """A csv file of short texts with no, one or several labels each."""
    out = folder() / f"any-{n_documents}.csv"
    if out.exists():
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    words, topics = _words(rng), _topics(rng, n_labels)
    share = 0.15 * rng.random(n_labels) ** 2 + 0.003
    has = rng.random((n_documents, n_labels)) < share
    lengths = rng.poisson(10, n_documents) + 3
    owner = np.repeat(np.arange(n_documents), lengths)
    noise = rng.random((len(owner), n_labels))
    topic = np.where(has[owner], noise, -noise).argmax(axis=1)
    texts = _texts(rng, words, topics, topic, lengths)
    part = out.with_suffix(".part")
    with part.open("w") as file:
        file.write("text,label\n")
        for text, row in zip(texts, has, strict=True):
            labels = "|".join(f"l{c}" for c in np.flatnonzero(row)) or "|"
            file.write(f"{text},{labels}\n")
    part.rename(out)
    return out


def languages(n_languages: int, n_each: int, seed: int) -> tuple[list[str], list[str]]:
    """Texts in languages with sounds of their own and words that hardly recur."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for language in range(n_languages):
        own = np.random.default_rng(language)
        letters = own.permutation(list("abcdefghijklmnopqrstuvwxyzäöüßøåéèñç"))[:14]
        pairs = np.array([a + b for a in letters[:7] for b in letters[7:]])
        weight = own.gamma(0.7, size=len(pairs))
        for _ in range(n_each):
            sizes = rng.integers(1, 5, rng.integers(3, 9))
            drawn = rng.choice(pairs, sizes.sum(), p=weight / weight.sum())
            parts = np.split(drawn, np.cumsum(sizes)[:-1])
            texts.append(" ".join("".join(part) for part in parts))
            labels.append(f"language {language}")
    return texts, labels
