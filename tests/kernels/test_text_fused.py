"""Fused passes equal the way through the matrix, compiled and plain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfTransformer

from earmark.features import WordCounter
from earmark.features.analysis import count_by_class, known_terms

TEXTS = [
    "the cat sat on the mat",
    "The dog sat",
    "",
    "ΟΔΟΣ the İstanbul cat cat cat",
    "mat mat dog the the the the",
    "unknown",
]
Y = np.array([0, 2, 2, 0, 2, 0])
COUNTERS = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "stop_words": ["the"]},
    {"analyzer": "char_wb", "ngram_range": (2, 3)},
    {"token_pattern": r"[a-z]+"},
]
both_kernels = pytest.mark.parametrize("switch", ["", "1"])


@pytest.fixture(params=["", "1"], ids=["compiled", "plain"])
def kernels(request, monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", request.param)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("parameters", COUNTERS)
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_class_sums_equal_sums_of_rows(parameters, n_jobs):
    counter = WordCounter(n_jobs=n_jobs, **parameters)
    terms, tokens, presence = count_by_class(counter, TEXTS, Y, 3)
    X = WordCounter(**parameters).fit(TEXTS)
    rows = X.transform(TEXTS).toarray()
    assert terms == X.get_feature_names_out().tolist()
    for c in range(3):
        assert_array_equal(tokens.toarray()[c], rows[c == Y].sum(axis=0))
        assert_array_equal(presence.toarray()[c], (rows[c == Y] > 0).sum(axis=0))
    assert tokens.dtype == presence.dtype == np.int64
    assert tokens.has_canonical_format
    assert_array_equal(tokens.indices, presence.indices)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("parameters", COUNTERS)
@pytest.mark.parametrize("norm", [None, "l1", "l2"])
@pytest.mark.parametrize("tf", ["raw", "binary", "sublinear"])
@pytest.mark.parametrize("with_idf", [True, False])
def test_scores_equal_the_product_with_the_matrix(parameters, norm, tf, with_idf, rng):
    counter = WordCounter(**parameters).fit(TEXTS[:-1])
    X = counter.transform(TEXTS)
    weighted = (X > 0).astype(float) if tf == "binary" else X.astype(float)
    transformer = TfidfTransformer(
        norm=norm, sublinear_tf=tf == "sublinear", use_idf=with_idf
    ).fit(weighted)
    weights, bias = rng.normal(size=(X.shape[1], 4)), rng.normal(size=4)
    idf = transformer.idf_ if with_idf else None
    scores, n_tokens = known_terms(counter).score(
        TEXTS, weights, bias, tf=tf, idf=idf, norm=norm
    )
    expected = transformer.transform(weighted) @ weights + bias
    assert_allclose(scores, expected, rtol=1e-12, atol=1e-13)
    assert_array_equal(n_tokens, np.asarray(X.sum(axis=1)).ravel())


@pytest.mark.usefixtures("kernels")
def test_logarithm_has_base_ten(rng):
    counter = WordCounter().fit(TEXTS)
    X = counter.transform(TEXTS).toarray()
    weights, bias = rng.normal(size=(X.shape[1], 2)), np.zeros(2)
    scores, _ = known_terms(counter).score(TEXTS, weights, bias, tf="logarithm")
    tf = np.where(X > 0, 1 + np.log10(np.maximum(X, 1)), 0)
    assert_allclose(scores, tf @ weights, rtol=1e-12, atol=1e-13)


def test_scores_do_not_depend_on_threads_and_plain_agrees(rng, monkeypatch):
    counter = WordCounter(ngram_range=(1, 2)).fit(TEXTS)
    weights = rng.normal(size=(len(counter.vocabulary_), 3))
    options = {"tf": "sublinear", "norm": "l2", "idf": rng.random(len(weights))}
    alone, _ = known_terms(counter).score(TEXTS * 9, weights, np.zeros(3), **options)
    counter.set_params(n_jobs=4)
    several, _ = known_terms(counter).score(TEXTS * 9, weights, np.zeros(3), **options)
    assert alone.tobytes() == several.tobytes()
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    plain, _ = known_terms(counter).score(TEXTS * 9, weights, np.zeros(3), **options)
    assert_allclose(plain, alone, rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("kernels")
def test_impossible_words_give_minus_infinity_not_nan():
    counter = WordCounter(vocabulary=["cat", "dog"])
    weights = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    scores, _ = known_terms(counter).score(["cat", "cat dog", ""], weights, np.zeros(2))
    assert_array_equal(scores, [[0, -np.inf], [-np.inf, -np.inf], [0, 0]])


words = st.lists(st.sampled_from(["aa", "bb", "cc", "Σας", "éé"]), max_size=9)


@given(st.lists(words.map(" ".join), min_size=1, max_size=6), st.data())
@settings(max_examples=30, deadline=None, derandomize=True)
def test_sums_of_parts_add_up_to_sums_of_all(texts, data):
    y = np.array([data.draw(st.integers(0, 2)) for _ in texts])
    cut = data.draw(st.integers(0, len(texts)))
    names = ["aa", "bb", "cc", "éé", "σας"]
    totals = []
    for part in (slice(0, len(texts)), slice(0, cut), slice(cut, None)):
        terms, tokens, presence = count_by_class(WordCounter(), texts[part], y[part], 3)
        wide = np.zeros((2, 3, len(names)), dtype=np.int64)
        at = [names.index(term) for term in terms]
        wide[:, :, at] = [tokens.toarray(), presence.toarray()]
        totals.append(wide)
    assert_array_equal(totals[0], totals[1] + totals[2])
