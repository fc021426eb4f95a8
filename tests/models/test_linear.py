"""A linear rule that is given, not learned."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from earmark.exceptions import DataError
from earmark.models import LinearClassifier, RocchioClassifier

# Table 14.4 and example 14.3 of Manning, Raghavan and Schütze (2008).
TERMS = {"prime": 0.70, "rate": 0.67, "discount": 0.46, "dlrs": -0.71, "world": -0.35}


def document(text):
    return [[float(term in text.split()) for term in TERMS]]


def test_example_14_3():
    rule = LinearClassifier(list(TERMS.values()), 0.0, classes=("rest", "interest"))
    for text, value, label in (
        ("rate discount dlrs world", 0.07, "interest"),
        ("prime dlrs", -0.01, "rest"),
    ):
        assert_allclose(rule.decision_function(document(text)), [value], atol=1e-12)
        assert rule.predict(document(text)).tolist() == [label]


def test_the_hyperplane_of_rocchio_answers_as_rocchio(rng):
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    model = RocchioClassifier(normalize=False).fit(X, y)
    w, b = model.coef_[0], -model.intercept_[0]
    mu = model.prototypes_
    assert_allclose(w, mu[1] - mu[0])  # equation 14.3 and exercise 14.15
    assert_allclose(b, 0.5 * (mu[1] @ mu[1] - mu[0] @ mu[0]))
    rule = LinearClassifier(w, b, classes=(0, 1))
    assert rule.predict(X).tolist() == model.predict(X).tolist()
    assert rule.predict(sparse.csr_array(X)).tolist() == model.predict(X).tolist()
    assert rule.score(X, y) == model.score(X, y)
    scores = rule.linear_rule()
    gap = (X @ scores.weights + scores.offset) @ [-1, 1]
    assert_allclose(gap, rule.decision_function(X))


def test_a_point_on_the_hyperplane_is_not_beyond_it():
    assert LinearClassifier([1.0], 2.0).predict([[2.0], [2.1]]).tolist() == [
        False,
        True,
    ]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(DataError, match="one finite number per column"):
        LinearClassifier([[1.0]])
    with pytest.raises(DataError, match="classes must be two labels"):
        LinearClassifier([1.0], classes=("a",))
    with pytest.raises(DataError, match="X must have 1 columns"):
        LinearClassifier([1.0]).predict([[1.0, 2.0]])
