"""TextClassifier with the higher-order models: paths in explanations, refusals."""

import pytest
from numpy.testing import assert_array_equal

import earmark
from earmark import TextClassifier
from earmark.exceptions import NotSupportedError
from earmark.models import HigherOrderNaiveBayes

TEXTS = [
    "goalie stops the puck",
    "puck drops in the playoffs",
    "the playoffs start tonight",
    "orbit of the shuttle",
    "the shuttle launch tonight",
    "launch of the probe",
]
LABELS = ["hockey"] * 3 + ["space"] * 3
NEW = ["the goalie in the playoffs", "probe in orbit"]


@pytest.mark.parametrize("name", ["higher-order", "higher-order-svm"])
def test_named_models_learn_and_round_trip(name, tmp_path):
    classifier = TextClassifier(name, random_state=0).fit(TEXTS, LABELS)
    assert_array_equal(classifier.predict(NEW), ["hockey", "space"])
    classifier.save(tmp_path / "model.earmark")
    again = earmark.load(tmp_path / "model.earmark")
    assert_array_equal(again.predict_proba(NEW), classifier.predict_proba(NEW))
    assert [e.terms for e in again.explain(NEW)] == [
        e.terms for e in classifier.explain(NEW)
    ]


def test_paths_name_the_terms_and_documents_that_link_them(tmp_path):
    classifier = TextClassifier("higher-order").fit(TEXTS, LABELS)
    classifier.save(tmp_path / "model.earmark")
    for model in (classifier, earmark.load(tmp_path / "model.earmark")):
        explanation = model.explain(NEW, paths=2)[0]
        assert 0 < len(explanation.paths) <= 2
        for path in explanation.paths:
            first, middle, last = path.terms
            left, right = (TEXTS[d].split() for d in path.documents)
            assert first in NEW[0].split()
            assert {first, middle} <= set(left)
            assert {middle, last} <= set(right)
            assert LABELS[path.documents[0]] == LABELS[path.documents[1]] == "hockey"
        assert "paths through documents of hockey" in str(explanation)
        assert explanation.to_dict()["paths"][0]["documents"]
    assert classifier.explain(NEW)[0].paths == ()


def test_models_without_paths_say_which_has_them():
    for model in ("multinomial", "svm"):
        classifier = TextClassifier(model).fit(TEXTS, LABELS)
        with pytest.raises(NotSupportedError, match="model='higher-order' has"):
            classifier.explain(NEW, paths=1)
    without = TextClassifier(HigherOrderNaiveBayes()).fit(TEXTS, LABELS)
    with pytest.raises(NotSupportedError, match="keep_documents=True"):
        without.explain(NEW, paths=1)


def test_weights_are_refused_by_name():
    with pytest.raises(NotSupportedError, match="HigherOrderNaiveBayes cannot weight"):
        TextClassifier("higher-order", class_weight="balanced").fit(TEXTS, LABELS)
