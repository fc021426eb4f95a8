"""The model ``svm``: scikit-learn's linear support vector machine on tf-idf."""

from __future__ import annotations

from typing import Any

from earmark.models.base.declaration import Model
from earmark.typing import Estimator


def linear_svc(**parameters: Any) -> Estimator:
    """An unfitted LinearSVC; scikit-learn's machines are imported when it is made."""
    from sklearn.svm import LinearSVC

    return LinearSVC(**parameters)


MODEL = Model(
    "svm",
    linear_svc,
    "linear support vector machine on tf-idf (scikit-learn's LinearSVC)",
    fed="tfidf",
    takes=("random_state",),
)
