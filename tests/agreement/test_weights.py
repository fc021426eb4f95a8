"""Class weights are weights of documents, with one label per document and several."""

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.parameters import offers
from tests.agreement.models import DATA, fitted, fresh, model_names

each_model = pytest.mark.parametrize("name", model_names())
FACTOR = {"crafts": 3.0}


def attempt(name, kind, *, class_weight=None, sample_weight=None):
    """The probabilities of a weighted fit; else the error that refuses it."""
    classifier = TextClassifier(name, random_state=0, class_weight=class_weight)
    try:
        classifier.fit(*DATA[kind][0], sample_weight=sample_weight)
    except (ValueError, TypeError) as error:
        return str(error)
    return classifier.predict_proba(fresh(kind)[0])


@each_model
def test_a_class_weight_is_the_weight_of_its_documents(name):
    labels = np.array(DATA["one"][0][1])
    weighted = attempt(name, "one", class_weight=FACTOR)
    repeated = attempt(name, "one", sample_weight=np.where(labels == "crafts", 3.0, 1))
    assert type(weighted) is type(repeated)
    if isinstance(weighted, str):
        assert "weight" in weighted
        assert "weight" in repeated
    else:
        np.testing.assert_array_equal(weighted, repeated)
        plain = fitted(name, "one").predict_proba(fresh("one")[0])
        assert np.abs(weighted - plain).max() > 1e-4


@each_model
def test_with_several_labels_a_weight_is_about_its_own_label(name):
    weighted = attempt(name, "several", class_weight=FACTOR)
    if isinstance(weighted, str):
        assert "weight" in weighted
        return
    classifier = fitted(name, "several")
    plain = classifier.predict_proba(fresh("several")[0])
    column = classifier.classes_.tolist().index("crafts")
    others = np.delete(np.arange(plain.shape[1]), column)
    assert np.abs(weighted - plain)[:, column].max() > 1e-4
    if not offers(classifier.model_.estimator, "fit_labels"):  # which share settings
        np.testing.assert_array_equal(weighted[:, others], plain[:, others])
