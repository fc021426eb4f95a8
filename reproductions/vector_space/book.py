"""The chapter's worked examples, to the digits printed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq

from earmark.features import TfidfWeighting, WordCounter
from earmark.models import LinearClassifier, NeighborsClassifier, RocchioClassifier
from earmark.typing import FloatVector

__all__ = ["distortion", "examples", "projection", "similarity_measures"]

# Table 13.1: four training documents and a test document.
TRAIN = (
    "Chinese Beijing Chinese",
    "Chinese Chinese Shanghai",
    "Chinese Macao",
    "Tokyo Japan Chinese",
)
TEST = "Chinese Chinese Chinese Tokyo Japan"
LABELS = ("China", "China", "China", "not China")
# Table 14.4: a linear classifier for the class "interest" of Reuters-21578.
WEIGHTS = {
    "prime": 0.70,
    "rate": 0.67,
    "interest": 0.63,
    "rates": 0.60,
    "discount": 0.46,
    "bundesbank": 0.43,
    "dlrs": -0.71,
    "world": -0.35,
    "sees": -0.33,
    "year": -0.25,
    "group": -0.24,
    "dlr": -0.24,
}


def examples() -> dict[str, Any]:
    """Table 14.1 and examples 14.1-14.3."""
    counter = WordCounter().fit(TRAIN)
    weighting = TfidfWeighting.from_smart("ltc").fit(counter.transform(TRAIN))
    vectors = weighting.transform(counter.transform([*TRAIN, TEST]))
    model = RocchioClassifier().fit(vectors[:4], LABELS)
    # The book writes the hyperplane for China, the first class here.
    w, b = -model.coef_[0], float(model.intercept_[0])
    nearest = NeighborsClassifier(1).fit(vectors[:4], LABELS)
    dense = vectors.toarray()
    return {
        "terms": counter.get_feature_names_out().tolist(),
        "table 14.1": {
            "vectors": _rounded(dense),
            "centroids": dict(
                zip(model.classes_.tolist(), _rounded(model.prototypes_), strict=True)
            ),
        },
        "example 14.1": {
            "distances": dict(
                zip(
                    model.classes_.tolist(),
                    _rounded(model.distances(vectors[4:])[0]),
                    strict=True,
                )
            ),
            "assigned": str(model.predict(vectors[4:])[0]),
            "w": _rounded(w),
            "b": b,
            "w.d of d1 .. d5": _rounded(dense @ w),
        },
        "example 14.2": {
            "distances of d5 from d1 .. d4": _rounded(
                np.linalg.norm(dense[:4] - dense[4], axis=1)
            ),
            "assigned by 1NN": str(nearest.predict(vectors[4:])[0]),
        },
        "example 14.3": {
            "rate discount dlrs world": _linear("rate discount dlrs world"),
            "prime dlrs": _linear("prime dlrs"),
        },
        "exercise 14.2": _relabelled(),
    }


def distortion() -> dict[str, float]:
    """Exercise 14.1: angles whose distortion angle / sin(angle) is 1.01, 1.05, 1.1."""
    return {
        str(ratio): float(brentq(lambda a, r=ratio: a / np.sin(a) - r, 1e-6, 3.0))
        for ratio in (1.01, 1.05, 1.1)
    }


def projection() -> dict[str, Any]:
    """Figure 14.2: distances on the semicircle and on its projection.

    The book's 1.06 for x1, x3 is the chord; the arc is 1.12.
    """

    def pair(left: float, right: float) -> dict[str, float]:
        there, here = (np.array([x, np.sqrt(1 - x * x)]) for x in (left, right))
        return {
            "projected": abs(left - right),
            "chord": float(np.linalg.norm(there - here)),
            "arc": float(abs(np.arcsin(left) - np.arcsin(right))),
        }

    return {"x2 x3": pair(-0.2, 0.0), "x1 x3": pair(-0.9, 0.0)}


def similarity_measures() -> dict[str, Any]:
    """Exercise 14.6: which of a, b, c is nearest to x, by three measures."""
    names, points, x = ["a", "b", "c"], [[0.5, 1.5], [4, 4], [8, 6]], [[2.0, 2.0]]
    answers: dict[str, Any] = {}
    measures: dict[str, Literal["dot", "cosine", "euclidean"]] = {
        "dot product": "dot",
        "cosine": "cosine",
        "Euclidean distance": "euclidean",
    }
    for title, metric in measures.items():
        model = NeighborsClassifier(3, metric=metric, random_state=0)
        model.fit(points, names)
        near = model.kneighbors if metric == "euclidean" else model.most_similar
        value, places = near(x)
        values = dict(zip((names[i] for i in places[0]), value[0], strict=True))
        answers[title] = {
            "nearest": names[places[0, 0]],
            "values": {name: float(values[name]) for name in names},
        }
    return answers


def _linear(document: str) -> float:
    """The score of the linear classifier of table 14.4, b = 0 (figure 14.9)."""
    words = set(document.split())
    row = [[float(term in words) for term in WEIGHTS]]
    rule = LinearClassifier(list(WEIGHTS.values()), b=0.0)
    return round(float(rule.decision_function(row)[0]), 10)


def _relabelled() -> dict[str, Any]:
    """Rocchio gives a training document another label than it had."""
    X = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [1, 2]])
    y = ["wide", "wide", "wide", "wide", "narrow"]
    model = RocchioClassifier().fit(X, y)
    return {
        "documents": X.tolist(),
        "labels": y,
        "assigned": model.predict(X).tolist(),
    }


def _rounded(values: FloatVector) -> Any:
    # + 0.0 turns a negative zero into zero.
    return (np.round(values, 2) + 0.0).tolist()
