"""Near-duplicates: brute-force Jaccard as the oracle, kinds of input, speed."""

import re
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from earmark.inputs.duplicates import (
    duplicates_across,
    group_copies,
    group_equal_rows,
    group_near_duplicates,
)
from earmark.kernels.shingles import word_hashes


def shingles(text, width=3):
    words = re.findall(r"\w+", text.lower())
    last = max(len(words) - width + 1, 1)
    return {tuple(words[n : n + width]) for n in range(last)}


@pytest.fixture
def corpus(rng):
    vocabulary = [f"word{n}" for n in range(400)]
    texts = []
    for _ in range(150):
        words = list(rng.choice(vocabulary, rng.integers(5, 60)))
        texts.append(" ".join(words))
        for _ in range(rng.integers(0, 3)):  # copies with a few words changed
            copy = list(words)
            for place in rng.integers(0, len(copy), rng.integers(0, 4)):
                copy[place] = rng.choice(vocabulary)
            texts.append(" ".join(copy))
    order = rng.permutation(len(texts))
    return [texts[n] for n in order]


def test_groups_are_the_chains_of_similar_texts(corpus):
    found = group_near_duplicates(corpus, threshold=0.7)
    parent = list(range(len(corpus)))

    def root(n):
        while parent[n] != n:
            n = parent[n]
        return n

    sets = [shingles(text) for text in corpus]
    for a in range(len(corpus)):
        for b in range(a):
            if len(sets[a] & sets[b]) >= 0.7 * len(sets[a] | sets[b]):
                one, two = sorted((root(a), root(b)))
                parent[two] = one
    expected = np.array([root(n) for n in range(len(corpus))])
    same = (found.group[:, None] == found.group) == (expected[:, None] == expected)
    missed = np.sum(~same) / 2
    truly = (np.sum(expected[:, None] == expected) - len(corpus)) / 2
    assert missed <= 0.02 * truly
    assert not np.any(
        (found.group[:, None] == found.group) & (expected[:, None] != expected)
    )


def test_case_and_punctuation_do_not_count():
    found = group_near_duplicates(["Free entry, call NOW!", "free entry call now", "x"])
    assert found.group.tolist() == [0, 0, 1]
    assert [part.tolist() for part in found.sets] == [[0, 1]]
    assert found.share == pytest.approx(1 / 3)
    assert found.first.tolist() == [0, 2]


def test_texts_without_words_are_duplicates_of_each_other():
    assert group_near_duplicates(["", "!!", "a", " "]).group.tolist() == [0, 0, 1, 0]


def test_no_texts_give_no_groups():
    assert group_near_duplicates([]).n_groups == 0
    assert group_near_duplicates([]).share == 0.0


def test_word_hashes_tell_words_apart_wherever_they_stand():
    texts = ["alpha beta", "beta", "", "Beta; ÄRGER ärger  alpha"]
    hashes, counts = word_hashes(texts)
    a, b, none, c = np.split(hashes, np.cumsum(counts)[:-1])
    assert len(none) == 0
    assert a[1] == b[0] == c[0]
    assert c[1] == c[2] != c[3] == a[0]
    many = [f"w{n}" for n in range(50_000)]
    assert len(np.unique(word_hashes([" ".join(many)])[0])) == 50_000


def test_leak_from_training_to_test_is_found():
    train = ["the quick brown fox jumps over the lazy dog again", "something else"]
    test = ["new text", "The quick brown fox jumps over the lazy dog, again!"]
    assert duplicates_across(train, test) == [(1, 0)]


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.coo_array])
def test_equal_rows_are_grouped(kind):
    X = kind([[1, 0, 2], [0, 3, 0], [1, 0, 2], [0, 0, 0], [0, 0, 0]])
    assert group_equal_rows(X).group.tolist() == [0, 1, 0, 2, 2]
    assert group_copies(X).group.tolist() == [0, 1, 0, 2, 2]


def test_frames_and_dicts_of_regions_are_read_as_texts():
    frame = pd.DataFrame({"subject": ["a b", "c", "A, b"], "body": ["x", "y", "x"]})
    assert_array_equal(group_copies(frame).group, [0, 1, 0])
    columns = {name: frame[name].tolist() for name in frame}
    assert_array_equal(group_copies(columns).group, [0, 1, 0])
    assert_array_equal(group_copies(["a", None, "a"]).group, [0, 1, 0])


def test_thousands_of_texts_take_seconds(rng):
    vocabulary = np.array([f"word{n}" for n in range(5000)])
    texts = [" ".join(rng.choice(vocabulary, 100)) for _ in range(1500)]
    start = time.process_time()
    assert group_near_duplicates(texts + texts[:100]).share == pytest.approx(100 / 1600)
    assert time.process_time() - start < 5


def test_unusable_settings_are_refused():
    with pytest.raises(ValueError, match=r"threshold must be in \(0, 1\], got 0"):
        group_near_duplicates(["a"], threshold=0)
    with pytest.raises(ValueError, match="shingle must be >= 1"):
        group_near_duplicates(["a"], shingle=0)


def brute_force(texts, threshold, shingle=3):
    """Chains of texts whose sets of runs of words overlap, by looking at all pairs."""
    sets = []
    for text in texts:
        words = text.split()
        width = min(shingle, len(words))
        sets.append(
            {tuple(words[i : i + width]) for i in range(len(words) - width + 1)}
        )
    group = list(range(len(texts)))
    for i, one in enumerate(sets):
        for j in range(i):
            both, either = len(one & sets[j]), len(one | sets[j])
            if group[i] != group[j] and both >= threshold * either:
                low, high = sorted((group[i], group[j]))
                group = [low if g == high else g for g in group]
    return np.unique(group, return_inverse=True)[1].tolist()


@pytest.mark.parametrize("seed", range(20))
def test_groups_of_short_texts_are_those_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    texts = [
        " ".join(rng.choice(list("abcdefgh"), size))
        for size in rng.integers(0, 9, rng.integers(1, 14))
    ]
    texts += [f"{text} x" for text in texts[:3]] + texts[:2]
    found = group_near_duplicates(texts, threshold=0.6)
    assert found.group.tolist() == brute_force(texts, 0.6)
