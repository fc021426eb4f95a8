"""Very long, very many, very odd: finite answers or one clear error."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.exceptions import DataError
from earmark.features import HashedCounter, WordCounter
from earmark.models import BernoulliNaiveBayes, MultinomialNaiveBayes
from earmark.models.base.declaration import MODELS


@pytest.mark.parametrize("n_tokens", [10_000_000])
def test_ten_million_words_in_one_document_keep_probabilities(n_tokens, rng):
    """1,000 classes; the counts of a document of ten million words."""
    X = sparse.random_array((2000, 500), density=0.05, rng=rng, format="csr")
    X.data = np.ceil(X.data * 3)
    y = np.arange(2000) % 1000
    model = MultinomialNaiveBayes().fit(X, y)
    long = sparse.csr_array(np.full((1, 500), n_tokens // 500))
    proba = model.predict_proba(long)
    assert np.isfinite(proba).all()
    assert abs(proba.sum() - 1) < 1e-9


def test_a_document_of_millions_of_words_is_counted():
    text = "alpha beta " * 1_000_000
    assert WordCounter().fit_transform([text]).toarray().tolist() == [[10**6, 10**6]]


def test_counts_at_the_edge_of_32_bits_add_up():
    edge = np.int32(2**31 - 1)
    X = sparse.csr_matrix(np.full((4, 2), edge, dtype=np.int32))
    model = MultinomialNaiveBayes().fit(X, ["a", "a", "b", "b"])
    assert model.statistics_.tokens.toarray().tolist() == [[2 * int(edge)] * 2] * 2


@pytest.mark.parametrize("name", MODELS.names())
@pytest.mark.parametrize("text", ["", "   \n\t", "never seen words only"])
def test_documents_without_a_known_word_are_answered(name, text):
    texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"] * 3
    y = ["spam", "ham", "spam", "ham"] * 3
    model = TextClassifier(name, random_state=0).fit(texts, y)
    proba = model.predict_proba([text])
    assert np.isfinite(proba).all()
    assert abs(proba.sum() - 1) < 1e-9
    if name == "multinomial":
        np.testing.assert_allclose(proba, [[0.5, 0.5]], atol=1e-12)


@pytest.mark.parametrize("name", MODELS.names())
def test_texts_without_any_word_are_one_clear_error(name):
    with pytest.raises(ValueError, match=r"word|vocabulary|term"):
        TextClassifier(name).fit(["", " ", "\n", "\t "], ["a", "b", "a", "b"])


@pytest.mark.parametrize("name", ["multinomial", LinearSVC(random_state=0)])
@pytest.mark.parametrize("odd", [None, float("nan"), 7, b"bytes"])
@pytest.mark.parametrize("wrap", [list, tuple, lambda x: np.array(x, dtype=object)])
def test_what_is_no_text_is_named_by_row(name, odd, wrap):
    with pytest.raises((TypeError, ValueError), match=r"row 2|document 2"):
        TextClassifier(name).fit(wrap(["a word", "b word", odd]), ["x", "y", "x"])


@pytest.mark.parametrize("counter", [WordCounter(), HashedCounter(n_features=16)])
def test_no_documents_are_an_error_with_advice(counter):
    with pytest.raises((DataError, ValueError), match=r"document|vocabulary"):
        counter.fit_transform([])


@pytest.mark.parametrize(
    "labels",
    [
        ["ham", "spam"],
        [b"ham".decode(), "späm"],
        [0, 1],
        [-5, 7],
        [False, True],
        list(range(2)),
    ],
)
def test_labels_come_back_as_they_were_given(labels):
    texts = ["cheap pills", "lunch at noon"] * 5
    y = labels * 5
    for name in ("multinomial", LinearSVC(random_state=0), "knn"):
        found = TextClassifier(name, random_state=0).fit(texts, y).predict(texts)
        assert found.tolist() == y


def test_ten_thousand_classes(rng):
    X = sparse.random_array((20_000, 300), density=0.02, rng=rng, format="csr")
    X.data[:] = 1
    y = np.arange(20_000) % 10_000
    model = BernoulliNaiveBayes().fit(X, y)
    proba = model.predict_proba(X[:3])
    assert proba.shape == (3, 10_000)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
