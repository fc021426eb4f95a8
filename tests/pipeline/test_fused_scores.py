"""Raw text straight to scores: the same answers as through the matrix."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC

from earmark import TextClassifier, load
from earmark.decision.decision import log_probabilities
from earmark.documents import docstring_corpus
from earmark.features import TfidfWeighting
from earmark.inputs.training import TrainingData
from earmark.models import RocchioClassifier, SoftmaxRegression
from earmark.models.base.classifier import class_scores

LINEAR = ("softmax", LinearSVC(random_state=0), "rocchio")


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
    fitted = TextClassifier(name, random_state=0).fit(texts, y).text_model_
    assert fitted.scorer is not None
    X = {fitted.columns.regions[0]: unseen(texts)}
    expected = class_scores(fitted.model, fitted.rows(X))
    assert_allclose(fitted.scores(X), expected, rtol=1e-10, atol=1e-12)


def test_probabilities_of_rocchio_are_those_of_the_matrix(corpus):
    texts, y = corpus
    classifier = TextClassifier("rocchio").fit(texts, y)
    X = classifier.columns_.rows({"text": unseen(texts)}).matrix
    expected = log_probabilities(classifier.model_, X)
    found = classifier.predict_log_proba(unseen(texts))
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [*LINEAR, "complement", "multinomial", "bernoulli"])
def test_predicting_with_a_linear_model_makes_no_matrix(corpus, name, monkeypatch):
    texts, y = corpus
    classifier = TextClassifier(name, random_state=0).fit(texts, y)
    expected = classifier.predict(texts)

    def refuse(*_):
        raise AssertionError("a matrix was made")

    monkeypatch.setattr(type(classifier.columns_), "rows", refuse)
    for answer in (classifier.predict(texts), classifier.decide(texts).labels):
        assert answer.tolist() == expected.tolist()
    assert np.isfinite(classifier.predict_log_proba(unseen(texts))).all()


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(random_state=0),
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
    fitted = classifier.text_model_
    given = classifier._texts(X)
    expected = class_scores(fitted.model, fitted.rows(given))
    assert_allclose(fitted.scores(given), expected, rtol=1e-9, atol=1e-11)


def test_a_weight_of_zero_for_a_known_term_goes_through_the_matrix(corpus):
    texts = ["all alike", "all other", "all alike too"]
    classifier = TextClassifier(RocchioClassifier()).fit(texts, ["a", "b", "a"])
    plan = classifier.plan_
    template = replace(plan.columns, weighting=TfidfWeighting.from_smart("ltc"))
    data = TrainingData({"text": texts}, np.array(["a", "b", "a"]))
    fitted = replace(plan, columns=template).fit(data)
    assert fitted.scorer is None
    lone = {"text": ["all"]}  # a known term, but no direction
    expected = class_scores(fitted.model, fitted.rows(lone))
    assert_allclose(fitted.scores(lone), expected)


def test_a_saved_model_makes_its_scorer_again(corpus, tmp_path):
    texts, y = corpus
    classifier = TextClassifier(random_state=0).fit(texts, y)
    expected = classifier.predict_proba(texts)
    classifier.save(tmp_path / "m.earmark")
    again = load(tmp_path / "m.earmark")
    assert "scorer" not in vars(again.text_model_)
    assert (again.predict_proba(texts) == expected).all()


def test_a_new_fit_forgets_the_old_scorer(corpus):
    texts, y = corpus
    classifier = TextClassifier("softmax").fit(texts, y)
    given = classifier._texts(texts)
    before = classifier.text_model_.scores(given)
    fitted = classifier.fit(texts, np.roll(y, 1)).text_model_
    expected = class_scores(fitted.model, fitted.rows(given))
    assert_allclose(fitted.scores(given), expected, rtol=1e-10, atol=1e-12)
    assert not np.allclose(before, expected)
