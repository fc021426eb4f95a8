"""Feed random texts to the compiled kernels and compare with the plain answers.

    python tests/trust/fuzzer.py SECONDS SEED

Meant for a build with sanitizers: any bad access ends the process. Documents mix
plain words with every corner of Unicode, very long tokens, NULs and lone surrogates.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from earmark.features import HashedCounter, WordCounter
from earmark.features.analysis import count_by_class, known_terms

PARAMETERS = (
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "binary": True},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "stop_words": "english"},
    {"max_features": 7, "min_df": 2},
)
ALPHABETS = (
    [chr(c) for c in range(32, 127)],
    [chr(c) for c in range(0x80, 0x250)],
    list("İıßΣσς\u0301\u200d\x00\ud800\udfff\U0001f600\U0001e943ǆﬁ"),
    ["the ", "of ", "cat ", "free "],
)


def word(chooser: random.Random) -> str:
    """Letters of one corner of Unicode, now and then very many of them."""
    length = chooser.choice([1, 2, 3, 5, 8, 15, 16, 17, 33, 300])
    if chooser.random() < 0.3:
        return "".join(chr(chooser.randrange(0x110000)) for _ in range(length))
    letters = chooser.choice(ALPHABETS)
    return "".join(chooser.choice(letters) for _ in range(length))


def document(chooser: random.Random) -> str:
    """Some words, from none to thousands."""
    n_words = chooser.choice([0, 1, 2, 5, 20, 200, 2000])
    known = [word(chooser) for _ in range(max(1, n_words // 4))]
    return " ".join(chooser.choice(known) for _ in range(n_words))


def compare(documents: list[str], parameters: dict[str, object]) -> None:
    """Counts as scikit-learn's, scores as those of the matrix."""
    counter, theirs = WordCounter(**parameters), CountVectorizer(**parameters)
    try:
        expected = theirs.fit_transform(documents)
    except ValueError:
        return  # nothing to count
    found = counter.fit_transform(documents)
    assert counter.vocabulary_ == theirs.vocabulary_, parameters
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(found, part), getattr(expected, part)), part
    weights = np.linspace(-1, 1, found.shape[1] * 2).reshape(-1, 2)
    scores, _ = known_terms(counter).score(documents, weights, np.zeros(2))
    np.testing.assert_allclose(scores, found @ weights, rtol=1e-9, atol=1e-9)
    y = np.arange(len(documents)) % 2
    count_by_class(counter, documents, y, 2)


def compare_hashes(documents: list[str]) -> None:
    """Hashed counts as scikit-learn's."""
    options = {"n_features": 64, "norm": None, "alternate_sign": False}
    found = HashedCounter(**options).transform(documents)
    theirs = HashingVectorizer(**options)
    assert (found != theirs.transform(documents)).nnz == 0


def main(seconds: float, seed: int) -> int:
    """Fuzz for some seconds; returns the number of corpora."""
    chooser = random.Random(seed)
    end, corpora = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        documents = [document(chooser) for _ in range(chooser.choice([1, 2, 8]))]
        compare(documents, chooser.choice(PARAMETERS))
        if chooser.random() < 0.2:
            compare_hashes(documents)
        corpora += 1
    return corpora


if __name__ == "__main__":
    sys.stdout.write(f"{main(float(sys.argv[1]), int(sys.argv[2]))} corpora\n")
