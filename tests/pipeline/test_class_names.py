"""TextClassifier by class names: with few labels, and with none."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import LinearSVC

import earmark
from earmark import TextClassifier
from earmark.exceptions import DataError
from earmark.models import SemiSupervisedClassifier
from earmark.pipeline.text_filter import TextFilter
from tests.pipeline.test_few_labels import texts

NAMES = {"garden": "rose tulip", "kitchen": ["oven", "butter"], "sea": "sail harbour"}


@pytest.fixture(scope="module")
def corpus():
    X, y = texts(300, 0)
    X_test, y_test = texts(100, 1)
    return X, y, X_test, y_test


@pytest.fixture(scope="module")
def unlabelled(corpus):
    return TextClassifier(class_names=NAMES, random_state=0).fit(corpus[0])


def test_names_alone_start_the_recipe_and_the_summary_says_what_is_unknown(
    corpus, unlabelled
):
    *_, X_test, y_test = corpus
    assert np.mean(unlabelled.predict(X_test) == y_test) > 0.9
    told = unlabelled.summary()
    assert "accuracy and confidence are unknown" in told
    assert "earmark label" in told
    assert "kitchen (oven, butter)" in told
    assert unlabelled.evidence_ is None


def test_no_labels_is_the_same_as_names_and_rows_without_labels(corpus, unlabelled):
    X, _, X_test, _ = corpus
    other = TextClassifier("semi-supervised", class_names=NAMES, random_state=0)
    other.fit(X, [None] * len(X), classes=["sea", "garden", "kitchen"])
    assert_array_equal(other.predict_proba(X_test), unlabelled.predict_proba(X_test))


def test_the_order_of_names_does_not_matter(corpus, unlabelled):
    X, _, X_test, _ = corpus
    turned = dict(reversed(NAMES.items()))
    other = TextClassifier(class_names=turned, random_state=0).fit(X)
    assert_array_equal(other.predict_proba(X_test), unlabelled.predict_proba(X_test))


def test_a_name_is_a_document_of_its_weight():
    """Two equal names of one class count as much as one."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (40, 12)) + np.repeat(np.eye(2, 12), 20, axis=0).astype(int)
    X[X.sum(axis=1) == 0, 0] = 1
    name = sparse.csr_array(np.eye(2, 12))
    y = np.full(40, None, dtype=object)
    settings = {"calibration_folds": 0}
    ours = SemiSupervisedClassifier(**settings, min_pool=1)
    ours.fit(X, y, names=(name, ["a", "b"]))
    again = SemiSupervisedClassifier(**settings, min_pool=1)
    again.fit(X, y, names=(sparse.vstack([name, name]), ["a", "b", "a", "b"]))
    assert_array_equal(
        ours.students_["words"].weights_.round(6),
        again.students_["words"].weights_.round(6),
    )


def test_weight_zero_and_none_are_the_model_without_names(corpus):
    X, y, X_test, _ = corpus
    labels = [label if i < 12 else None for i, label in enumerate(y)]
    none = TextClassifier("semi-supervised", class_names=None, random_state=0)
    none.set_params(model=SemiSupervisedClassifier(min_pool=100)).fit(X, labels)
    zero = TextClassifier(
        SemiSupervisedClassifier(min_pool=100, name_weight=0.0),
        class_names=NAMES,
        random_state=0,
    ).fit(X, labels)
    some = clone(zero).set_params(model__name_weight=1.0).fit(X, labels)
    expected = none.predict_proba(X_test)
    assert_array_equal(zero.predict_proba(X_test), expected)
    assert (some.predict_proba(X_test) != expected).any()


def test_codes_are_ignored(corpus):
    X, y, X_test, _ = corpus
    codes = {"garden": "C01", "kitchen": "C02", "sea": "C03"}
    labels = [codes[label] if i < 12 else None for i, label in enumerate(y)]
    model = SemiSupervisedClassifier(min_pool=100)
    auto, none = (
        TextClassifier(model, class_names=names, random_state=0).fit(X, labels)
        for names in ("auto", None)
    )
    assert_array_equal(auto.predict_proba(X_test), none.predict_proba(X_test))
    assert "class names" not in auto.summary()


def test_a_class_without_a_label_is_learned_by_its_name(corpus):
    X, y, X_test, y_test = corpus
    labels = [v if i < 40 and v != "sea" else None for i, v in enumerate(y)]
    fitted = TextClassifier(class_names=NAMES, random_state=0).fit(X, labels)
    assert np.mean(fitted.predict(X_test) == y_test) > 0.9


def test_names_survive_the_file(corpus, unlabelled, tmp_path):
    unlabelled.save(tmp_path / "names.earmark")
    again = earmark.load(tmp_path / "names.earmark")
    assert again.class_names == NAMES
    assert again.summary() == unlabelled.summary()
    X_test = corpus[2]
    assert_array_equal(again.predict_proba(X_test), unlabelled.predict_proba(X_test))


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({}, {}, r"y is missing.*class_names=\{label: text\}"),
        ({}, {"classes": ["qqq", "zzz"]}, "no labelled document for 'qqq', 'zzz'"),
        ({"class_names": None}, {"classes": ["sail", "oven"]}, "say too little"),
        ({"class_names": NAMES, "max_error": 0.1}, {}, "max_error needs labelled"),
        ({"class_names": NAMES, "multi_label": True}, {}, "multi_label needs labelled"),
        (
            {"class_names": NAMES, "model": LinearSVC(random_state=0)},
            {},
            "model='semi-supervised'",
        ),
    ],
)
def test_what_names_cannot_do_is_refused(corpus, settings, given, message):
    with pytest.raises(DataError, match=message):
        TextClassifier(**settings).fit(corpus[0], **given)


def test_accuracy_is_not_estimated_without_labels(corpus, unlabelled):
    X = corpus[0]
    with pytest.raises(DataError, match="no label at all"):
        unlabelled.measure_confidence(X, [None] * len(X))


def test_two_classes_have_not_the_same_description(corpus):
    same = {**NAMES, "ocean": "Sail  harbour"}
    with pytest.raises(DataError, match="'sea' and 'ocean' have the same description"):
        TextClassifier(class_names=same).fit(corpus[0])


def test_without_labels_nobody_knows_how_sure_answers_are(unlabelled, corpus, tmp_path):
    *_, X_test, _ = corpus
    assert np.isnan(unlabelled.decide(X_test[:3]).confidence).all()
    (explanation,) = unlabelled.explain(X_test[:1])
    assert explanation.confidence is None
    assert "nobody knows how sure" in str(explanation)
    assert "unknown" in unlabelled.decide(X_test[:1])._repr_html_()
    with pytest.raises(DataError, match="needs a model that learned from labels"):
        TextFilter(unlabelled, ["sea"], 0.5).mask(X_test[:3])
    kept = TextFilter(unlabelled, ["sea"]).mask(X_test)
    assert (kept == (unlabelled.predict(X_test) == "sea")).all()
    unlabelled.save(tmp_path / "m.earmark")
    again = earmark.load(tmp_path / "m.earmark")
    assert np.isnan(again.decide(X_test[:3]).confidence).all()


def test_a_few_labels_are_enough_to_speak_again(corpus):
    X, y, X_test, _ = corpus
    model = TextClassifier("semi-supervised", class_names=NAMES)
    model.fit(X[:10], y[:10], unlabelled=X[10:])
    assert np.isfinite(model.decide(X_test[:3]).confidence).all()
