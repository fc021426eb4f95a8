"""Raw text straight to scores: the same answers as through the matrix."""

import numpy as np
import pytest
from earmark.pipeline.matrix_engine import class_scores
from numpy.testing import assert_allclose
from sklearn.linear_model import RidgeClassifier

from earmark import TextClassifier, load
from earmark.decision.decision import log_probabilities
from earmark.documents import docstring_corpus
from earmark.features import TfidfWeighting
from earmark.models import NBSVM, RocchioClassifier, SoftmaxRegression

LINEAR = ("softmax", "nbsvm", "svm", "rocchio")


@pytest.fixture(scope="module")
def corpus():
    documents = docstring_corpus()
    texts = [
        " ".join(regions) for regions in zip(*documents.texts.values(), strict=True)
    ]
    chosen = np.random.default_rng(0).permutation(len(texts))[:300]
    return [texts[i] for i in chosen], np.asarray(documents.labels)[chosen]


def unseen(texts):
    return [*texts[:50], "", "qqqqq zzzzz", texts[0] + " qqqqq"]


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("name", LINEAR)
def test_scores_are_those_of_the_matrix(corpus, name, n_classes):
    texts, labels = corpus
    y = np.unique(labels, return_inverse=True)[1] % n_classes
    engine = TextClassifier(name, random_state=0).fit(texts, y).engine_
    assert engine._scorer() is not None
    X = {engine.region_names[0]: unseen(texts)}
    expected = class_scores(engine.model_, engine.matrix(X))
    assert_allclose(engine.scores(X), expected, rtol=1e-10, atol=1e-12)


def test_probabilities_of_rocchio_are_those_of_the_matrix(corpus):
    texts, y = corpus
    classifier = TextClassifier("rocchio").fit(texts, y)
    engine = classifier.engine_
    X = engine.matrix({engine.region_names[0]: unseen(texts)})
    expected = log_probabilities(engine.model_, X)
    found = classifier.predict_log_proba(unseen(texts))
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [*LINEAR, "complement", "multinomial", "bernoulli"])
def test_predicting_with_a_linear_model_makes_no_matrix(corpus, name, monkeypatch):
    texts, y = corpus
    classifier = TextClassifier(name, random_state=0).fit(texts, y)
    expected = classifier.predict(texts)

    def refuse(*_):
        raise AssertionError("a matrix was made")

    monkeypatch.setattr(type(classifier.engine_), "matrix", refuse)
    for answer in (classifier.predict(texts), classifier.decide(texts).labels):
        assert answer.tolist() == expected.tolist()
    assert np.isfinite(classifier.predict_log_proba(unseen(texts))).all()


@pytest.mark.parametrize(
    "model",
    [
        NBSVM(rows="indicators"),
        NBSVM(rows="given"),
        NBSVM(rows="unit"),
        SoftmaxRegression(),
        RocchioClassifier(metric="euclidean"),
        RidgeClassifier(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("regions", [1, 2])
def test_estimators_and_regions_agree_with_the_matrix(corpus, model, regions):
    texts, y = corpus
    columns = {"head": [t[:60] for t in texts], "rest": [t[60:] for t in texts]}
    X = texts if regions == 1 else columns
    classifier = TextClassifier(model).fit(X, y)
    engine = classifier.engine_
    given = classifier._texts(X)
    expected = class_scores(engine.model_, engine.matrix(given))
    assert_allclose(engine.scores(given), expected, rtol=1e-9, atol=1e-11)


def test_a_weight_of_zero_for_a_known_term_goes_through_the_matrix(corpus):
    texts = ["all alike", "all other", "all alike too"]
    classifier = TextClassifier(RocchioClassifier()).fit(texts, ["a", "b", "a"])
    engine = classifier.engine_
    engine.features.set_params(weighting=TfidfWeighting.from_smart("ltc"))
    engine.fit(classifier._texts(texts), np.array(["a", "b", "a"]))
    assert engine._scorer() is None
    lone = classifier._texts(["all"])  # a known term, but no direction
    expected = class_scores(engine.model_, engine.matrix(lone))
    assert_allclose(engine.scores(lone), expected)


def test_a_saved_model_makes_its_scorer_again(corpus, tmp_path):
    texts, y = corpus
    classifier = TextClassifier("nbsvm", random_state=0).fit(texts, y)
    expected = classifier.predict_proba(texts)
    classifier.save(tmp_path / "m.earmark")
    again = load(tmp_path / "m.earmark")
    assert again.engine_._fused is None
    assert (again.predict_proba(texts) == expected).all()


def test_a_new_fit_forgets_the_old_scorer(corpus):
    texts, y = corpus
    classifier = TextClassifier("softmax").fit(texts, y)
    engine, given = classifier.engine_, classifier._texts(texts)
    before = engine.scores(given)
    engine.fit(given, np.roll(y, 1))
    expected = class_scores(engine.model_, engine.matrix(given))
    assert_allclose(engine.scores(given), expected, rtol=1e-10, atol=1e-12)
    assert not np.allclose(before, expected)
