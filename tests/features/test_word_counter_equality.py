"""WordCounter = CountVectorizer, bit for bit, on corpora of any Unicode."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from earmark.features import WordCounter

PARAMETER_SETS = {
    "default": {},
    "bigrams": {"ngram_range": (1, 2)},
    "only-long-ngrams": {"ngram_range": (2, 3), "min_df": 2},
    "few-features": {"max_features": 5},
    "few-binary-float-features": {
        "max_features": 4,
        "binary": True,
        "dtype": np.float32,
        "ngram_range": (1, 2),
    },
    "stop-words": {"stop_words": ["the", "aa", "σας", "ab"], "ngram_range": (1, 3)},
    "case-and-single-letters": {"lowercase": False, "token_pattern": r"\w+"},
    "accents": {"strip_accents": "unicode", "dtype": np.float64},
    "characters": {"analyzer": "char", "ngram_range": (1, 3)},
    "characters-in-words": {
        "analyzer": "char_wb",
        "ngram_range": (2, 4),
        "max_df": 0.9,
    },
    "pruned": {"min_df": 2, "max_df": 0.8, "strip_accents": "ascii"},
    "own-pattern": {"token_pattern": r"[^\s,]+", "ngram_range": (1, 2)},
}
# Letters with a story: dotted I, sigmas, sharp s, ligatures, combining marks, astral
# letters and digits, lone surrogates, NUL, exotic spaces.
TELLING = (
    "aAbB1_ \n\t,İıΣσςßẞﬁǅéÉ\u0301\u0345\u00a0\u2028\x1c\x00\x85жЖ東ก٣𝓐𐐀𐐨😀\ud800\udfff"
)
WORDS = ["the", "aa", "ab", "AA", "Σας", "ΟΔΟΣ", "İstanbul", "naïve", "e\u0301te", "x"]

characters = st.one_of(
    st.sampled_from(TELLING), st.characters(exclude_categories=()), st.just(" ")
)
texts = st.one_of(
    st.text(characters, max_size=25),
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
    st.lists(st.sampled_from(WORDS) | st.text(characters, max_size=3)).map("-".join),
)
corpora = st.lists(texts, min_size=1, max_size=8)
ODD = [
    "ΑΣ ΑΣΑ Σ. ΣΣ a\u0301Σ",
    "İİ I\u0307 İi",
    "a\x00b nul\x00 \ud800x\udfff \U0001d4d0\U0001d4d1",
    "",
    " \u2028\x1c\x85 ",
    "w" * 40 + " " + "w" * 40 + "v",
]


def assert_same_matrix(ours, theirs):
    assert type(ours) is type(theirs)
    assert ours.shape == theirs.shape
    for part in ("indptr", "indices", "data"):
        left, right = getattr(ours, part), getattr(theirs, part)
        assert left.dtype == right.dtype
        assert left.tobytes() == right.tobytes(), part


def assert_same(parameters, corpus, other):
    theirs, ours = CountVectorizer(**parameters), WordCounter(n_jobs=2, **parameters)
    try:
        expected = theirs.fit_transform(corpus)
    except ValueError:
        with pytest.raises(ValueError, match=r"vocabulary|terms remain|max_df"):
            ours.fit_transform(corpus)
        return
    assert_same_matrix(ours.fit_transform(corpus), expected)
    assert list(ours.vocabulary_.items()) == list(theirs.vocabulary_.items())
    assert_same_matrix(ours.transform(other), theirs.transform(other))
    fixed = {**parameters, "vocabulary": theirs.vocabulary_, "lowercase": False}
    given_, theirs_given = WordCounter(**fixed), CountVectorizer(**fixed)
    assert_same_matrix(given_.transform(other), theirs_given.transform(other))


def equality_test(n_examples):
    @settings(
        max_examples=n_examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(corpus=corpora, other=corpora)
    @example(corpus=ODD, other=ODD[::-1])
    def run(parameters, corpus, other):
        assert_same(parameters, corpus, other)

    return run


by_name = pytest.mark.parametrize("name", PARAMETER_SETS)


@by_name
@pytest.mark.filterwarnings("ignore::earmark.exceptions.EarmarkWarning")
def test_equal_on_any_unicode(name):
    equality_test(13)(parameters=PARAMETER_SETS[name])


@pytest.mark.slow
@by_name
@pytest.mark.filterwarnings("ignore::earmark.exceptions.EarmarkWarning")
def test_equal_on_two_thousand_corpora(name):
    equality_test(170)(parameters=PARAMETER_SETS[name])


@by_name
@pytest.mark.filterwarnings("ignore::earmark.exceptions.EarmarkWarning")
def test_plain_twin_equals_compiled(name, monkeypatch):
    parameters = PARAMETER_SETS[name]
    corpus = [*ODD, *WORDS, "the aa the ab Σας, the ΟΔΟΣ", "the aa"] * 2
    compiled = WordCounter(**parameters)
    X, Y = compiled.fit_transform(corpus), compiled.transform(ODD)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    plain = WordCounter(**parameters)
    assert_same_matrix(plain.fit_transform(corpus), X)
    assert_same_matrix(plain.transform(ODD), Y)
    assert list(plain.vocabulary_.items()) == list(compiled.vocabulary_.items())


def read_corpus(name):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = f"{os.environ['EARMARK_DATA']}/{name}.parquet"
    texts = parquet.read_table(path, columns=["text"])["text"].to_pylist()
    order = np.random.default_rng(0).permutation(len(texts))
    return [texts[k] for k in order]


@pytest.mark.corpus
@pytest.mark.slow
@by_name
@pytest.mark.parametrize("corpus", ["20newsgroups_bydate", "imdb"])
def test_equal_on_the_benchmark_corpora(name, corpus):
    parameters = PARAMETER_SETS[name]
    train, test = read_corpus(f"{corpus}_train"), read_corpus(f"{corpus}_test")
    if parameters.get("analyzer", "word") != "word" or "ngram_range" in parameters:
        train, test = train[:3000], test[:1000]  # scikit-learn would need minutes
    if "max_features" in parameters:
        parameters = {**parameters, "max_features": 5000}
    assert_same(parameters, train, test)


@pytest.mark.corpus
@pytest.mark.slow
def test_equal_bigrams_on_the_whole_of_imdb():
    assert_same({"ngram_range": (1, 2)}, read_corpus("imdb_train"), [])
