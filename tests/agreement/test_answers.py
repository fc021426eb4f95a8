"""One order, one confidence, one score, whoever is asked: every model, all ways."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.decision import AbstainingClassifier, rank
from earmark.exceptions import DataError, NotSupportedError
from tests.agreement.models import DATA, fitted, fresh, model_names

each_model = pytest.mark.parametrize("name", model_names())
each_kind = pytest.mark.parametrize("kind", ["one", "two", "several", "long"])


def explained(classifier, texts):
    try:
        return classifier.explain(texts)
    except NotSupportedError:
        pytest.skip("the model cannot explain")


# -- rank ----------------------------------------------------------------------------


@each_kind
@each_model
def test_the_two_ways_to_rank_give_one_order(name, kind):
    classifier, texts = fitted(name, kind), fresh(kind)[0]
    for label in classifier.classes_.tolist():
        own = classifier.rank(texts, label)
        assert_array_equal(own, rank(classifier, texts, label).positions)


@each_kind
@each_model
def test_documents_are_ranked_by_the_certainty_of_their_answers(name, kind):
    classifier, texts = fitted(name, kind), fresh(kind)[0]
    decision = classifier.decide(texts)
    for column, label in enumerate(classifier.classes_.tolist()):
        order = classifier.rank(texts, label)
        if kind == "several":
            certainty = decision.certainty[order, column]
        else:
            answered = decision.best[order] == label
            certainty = decision.certainty[order][answered]
        assert (certainty[1:] <= certainty[:-1] + 1e-9).all()


@pytest.mark.parametrize("name", ["multinomial", "complement"])
def test_sure_documents_are_not_left_in_the_order_of_the_input(name):
    classifier, texts = fitted(name, "long"), fresh("long")[0]
    label = classifier.classes_[0]
    proba = classifier.predict_proba(texts)[:, 0]
    assert (proba == 1).sum() > 10
    order = classifier.rank(texts, label)[: (proba == 1).sum()]
    assert (np.diff(order) < 0).any()
    backwards = len(texts) - 1 - classifier.rank(texts[::-1], label)
    assert_array_equal(backwards[: len(order)], order)


# -- explain and decide ----------------------------------------------------------------


def assert_explained_as_decided(classifier, texts):
    decision = classifier.decide(texts)
    for row, found in enumerate(explained(classifier, texts)):
        if decision.any_of:
            place = classifier.classes_.tolist().index(found.label)
            assert found.confidence == decision.scores[row].max()
            assert found.confidence == decision.scores[row, place]
        else:
            assert found.label == decision.best[row]
            assert found.confidence == decision.confidence[row]
        certain = 0.994 < found.confidence <= 1.0
        words = "over 99%" if certain else f"{found.confidence:.0%}"
        assert f"{words} sure" in str(found)


@each_kind
@each_model
def test_explain_and_decide_give_one_label_and_one_confidence(name, kind):
    assert_explained_as_decided(fitted(name, kind), fresh(kind)[0])


@each_model
def test_they_do_so_with_a_learned_confidence(name):
    classifier = fitted(name, "mixed", learn_confidence=True)
    assert_explained_as_decided(classifier, fresh("mixed")[0])


def test_a_learned_confidence_is_among_those_compared():
    models = [fitted(name, "mixed", learn_confidence=True) for name in model_names()]
    adopted = [model for model in models if model.learned_confidence_ is not None]
    assert len(adopted) >= 5
    for model in adopted:
        sure = model.decide(fresh("mixed")[0]).confidence
        plain = model.predict_proba(fresh("mixed")[0]).max(axis=1)
        assert np.abs(sure - plain).max() > 0.05


@each_model
def test_they_do_so_where_the_model_abstains(name):
    classifier = fitted(name, "one", max_error=0.2, max_novelty=0.1)
    texts = [*fresh("one")[0], "zebra quokka lemur"]
    assert None in classifier.predict(texts).tolist()
    assert_explained_as_decided(classifier, texts)


@each_kind
@each_model
def test_one_score_is_explained_and_given(name, kind):
    classifier, texts = fitted(name, kind), fresh(kind)[0]
    scores = classifier.decision_function(texts)
    places = {label: c for c, label in enumerate(classifier.classes_.tolist())}
    for row, found in zip(scores, explained(classifier, texts), strict=True):
        terms = sum(term.contribution for term in found.terms)
        assert_allclose(
            terms + sum(found.constants.values()), found.score, atol=1e-8, rtol=1e-8
        )
        if kind == "several":
            expected = row[places[found.label]]
        elif row.ndim == 0:
            expected = row if places[found.label] else -row
        elif "other classes" in found.constants:
            expected = row[places[found.label]]
        else:  # margins: that over the runner-up
            expected = row[places[found.label]] - row[places[found.runner_up]]
        if np.isinf(expected):  # a probability of 1, which no sum of terms comes to
            assert np.sign(found.score) == np.sign(expected)
        else:
            assert_allclose(found.score, expected, atol=1e-7, rtol=1e-7)


@each_model
def test_all_that_holds_for_more_than_20_000_documents_too(name):
    test_the_two_ways_to_rank_give_one_order(name, "many")
    test_documents_are_ranked_by_the_certainty_of_their_answers(name, "many")
    test_explain_and_decide_give_one_label_and_one_confidence(name, "many")
    test_one_score_is_explained_and_given(name, "many")


@each_model
def test_log_odds_that_are_explained_are_those_of_the_probability(name):
    classifier, texts = fitted(name, "one"), fresh("one")[0]
    decision = classifier.decide(texts)
    for row, found in enumerate(explained(classifier, texts)):
        if "other classes" in found.constants:
            assert_allclose(found.score, decision.certainty[row], atol=1e-7, rtol=1e-7)


# -- score -----------------------------------------------------------------------------

_WEIGHT = np.resize([1.0, 2.0, 0.5], 60)


def assert_scores_are_equal(own, wrapped, kind):
    texts, labels = fresh(kind)
    some = [None if i % 4 == 0 else label for i, label in enumerate(labels)]
    for truth in (labels, some):
        for weight in (None, _WEIGHT):
            expected = own.score(texts, truth, weight)
            assert wrapped.score(texts, truth, weight) == expected


@pytest.mark.parametrize("kind", ["one", "several"])
@each_model
def test_both_classifiers_score_alike(name, kind):
    own = fitted(name, kind)
    if kind == "several":  # the wrapped one would tune cuts of its own
        wrapped = AbstainingClassifier(own, max_error=None)
        wrapped.estimator_, wrapped.any_of_, wrapped.classes_ = own, True, own.classes_
    else:
        plain = TextClassifier(name, random_state=0)
        wrapped = AbstainingClassifier(plain, max_error=None).fit(*DATA[kind][0])
    assert_scores_are_equal(own, wrapped, kind)


@pytest.mark.parametrize("name", ["multinomial", LinearSVC(random_state=0), "knn"])
def test_both_classifiers_score_alike_where_they_abstain(name):
    plain, calibration = TextClassifier(name, random_state=0), fresh("mixed")
    own = TextClassifier(name, random_state=0, max_error=0.3)
    own.fit(*DATA["one"][0], calibration=calibration)
    wrapped = AbstainingClassifier(plain, max_error=0.3)
    wrapped.fit(*DATA["one"][0], calibration=calibration)
    assert_scores_are_equal(own, wrapped, "one")


def test_an_abstention_on_a_document_without_a_label_is_not_right():
    texts, labels = fresh("one")
    model = AbstainingClassifier(TextClassifier("multinomial"), max_error=0.001)
    model.fit(*fresh("mixed"))
    assert set(model.predict(texts).tolist()) == {None}
    assert model.score(texts, labels) == 0.0
    assert model.score(texts, [*labels[:5], *[None] * 55]) == 0.0
    with pytest.raises(DataError, match="no label at all"):
        model.score(texts, [None] * 60)
