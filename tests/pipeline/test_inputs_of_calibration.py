"""What calibration documents may be, and what is said of those that are not."""

import pytest
from sklearn.svm import LinearSVC

from earmark import TextClassifier, load
from earmark.documents import support_corpus
from earmark.exceptions import DataError, EarmarkWarning

CORPUS = support_corpus()
TEXTS, TOPICS = CORPUS.texts[:100], CORPUS.labels[:100]
MORE, THEIRS = CORPUS.texts[100:], CORPUS.labels[100:]


def fit(labels):
    classifier = TextClassifier("multinomial", max_error=0.4)
    return classifier.fit(TEXTS, TOPICS, calibration=(MORE, labels))


def test_lists_beside_single_labels_are_refused():
    with pytest.raises(DataError, match="one label per document"):
        fit([[topic] for topic in THEIRS])


def test_labels_of_which_none_is_known_are_refused():
    with pytest.raises(DataError, match="learned none of its labels, zzz"):
        fit(["zzz"] * len(MORE))


def test_labels_that_differ_in_case_are_pointed_out():
    with pytest.warns(EarmarkWarning, match="differ only by case"):
        fit([topic.title() if topic == "delivery" else topic for topic in THEIRS])


@pytest.mark.parametrize("change", ["partial_fit", "forget"])
@pytest.mark.filterwarnings("ignore:what max_")
def test_a_model_that_lost_its_evidence_is_saved_and_loaded(change, tmp_path):
    classifier = fit(THEIRS)
    getattr(classifier, change)(TEXTS[:3], TOPICS[:3])
    classifier.save(tmp_path / "m.earmark")
    again = load(tmp_path / "m.earmark")
    assert (again.predict_proba(MORE) == classifier.predict_proba(MORE)).all()


def test_a_parameter_that_load_would_refuse_is_not_saved(tmp_path):
    classifier = TextClassifier(LinearSVC(random_state=0)).fit(TEXTS, TOPICS)
    with pytest.raises(ValueError, match="max_error"):
        classifier.set_params(max_error=7)
    assert classifier.max_error is None
    classifier.max_error = 7
    with pytest.raises(ValueError, match="max_error"):
        classifier.save(tmp_path / "m.earmark")
    assert not list(tmp_path.iterdir())
