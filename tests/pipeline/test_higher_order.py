"""TextClassifier with the higher-order models: paths in explanations, refusals."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.svm import LinearSVC

import earmark
from earmark import TextClassifier
from earmark.exceptions import ModelFormatError, NotSupportedError
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


def test_a_file_with_more_paths_of_a_term_than_paths_is_refused(tmp_path):
    classifier = TextClassifier("higher-order").fit(TEXTS, LABELS)
    classifier.model_.path_count_.data[0] = 2**62
    classifier.save(tmp_path / "model.earmark")
    with pytest.raises(ModelFormatError, match="path_count_ exceeds path_total_"):
        earmark.load(tmp_path / "model.earmark")


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


def test_paths_number_the_rows_that_were_given():
    labels = [LABELS[d // 2] if d % 2 else None for d in range(12)]
    texts = [TEXTS[d // 2] if d % 2 else "not labelled" for d in range(12)]
    with_gaps = TextClassifier("higher-order").fit(texts, labels)
    plain = TextClassifier("higher-order").fit(TEXTS, LABELS)
    for gaps, straight in zip(
        with_gaps.explain(NEW, paths=3), plain.explain(NEW, paths=3), strict=True
    ):
        for path, same in zip(gaps.paths, straight.paths, strict=True):
            assert path.terms == same.terms
            assert path.documents == tuple(2 * d + 1 for d in same.documents)


def test_paths_name_the_region_of_each_term():
    mails = {"subject": [t.split()[0] for t in TEXTS], "body": TEXTS}
    classifier = TextClassifier("higher-order").fit(mails, LABELS)
    new = {"subject": ["goalie"], "body": ["playoffs"]}
    for path in classifier.explain(new, paths=2)[0].paths:
        for term in path.terms:
            assert term.startswith(("subject: ", "body: "))


def test_a_senseless_number_of_paths_is_refused():
    classifier = TextClassifier("higher-order").fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="paths must be at least 0, got -1"):
        classifier.explain(NEW, paths=-1)
    with pytest.raises(TypeError):
        classifier.explain(NEW, paths=1.5)


def test_unlabelled_texts_are_used_only_when_the_model_is_set_to():
    pool = ["the goalie shoots", "goalie and puck", "shuttle orbit", "probe in orbit"]
    asked = TextClassifier(HigherOrderNaiveBayes(unlabelled_weight=0.5))
    asked.fit(TEXTS, LABELS, unlabelled=pool)
    assert "4 unlabelled documents are used" in asked.summary()
    X = asked.columns_.rows({"text": TEXTS}).matrix
    by_hand = HigherOrderNaiveBayes(unlabelled_weight=0.5)
    by_hand.fit(X, LABELS, unlabelled=asked.columns_.rows({"text": pool}).matrix)
    plain = TextClassifier("higher-order").fit(TEXTS, LABELS, unlabelled=pool)
    assert "4 unlabelled documents were not used" in plain.summary()
    assert_array_equal(asked.model_.path_total_, by_hand.path_total_)
    assert (asked.model_.path_total_ > plain.model_.path_total_).all()


def test_models_without_paths_say_which_has_them():
    for model in ("multinomial", LinearSVC(random_state=0)):
        classifier = TextClassifier(model).fit(TEXTS, LABELS)
        with pytest.raises(NotSupportedError, match="model='higher-order' has"):
            classifier.explain(NEW, paths=1)
    without = TextClassifier(HigherOrderNaiveBayes()).fit(TEXTS, LABELS)
    with pytest.raises(NotSupportedError, match="keep_documents=True"):
        without.explain(NEW, paths=1)


def test_weights_that_are_not_whole_are_refused_by_name():
    with pytest.raises(NotSupportedError, match="HigherOrderNaiveBayes counts"):
        TextClassifier("higher-order", class_weight="balanced").fit(
            TEXTS[:-1], LABELS[:-1]
        )
