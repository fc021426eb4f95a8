"""Backpropagation by hand: the exercise sheet's network, one point, one step.

The sheet prints 0.909 for the loss, from the rounded probability 0.403; the exact
value is 0.9078 (its equation 43). Its equation 45 lacks a minus sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.models import MultilayerPerceptron
from earmark.typing import FloatVector

__all__ = ["worked_example"]

W1 = np.array([[0.4, 0.87], [0.58, 0.34]])
W2 = np.array([[0.12, 0.87], [0.82, 0.31], [0.77, 0.9]])
X, TARGET, CLASSES, ETA = np.array([[0.3, 0.7]]), [3], [1, 2, 3], 0.05

# Equation of the sheet -> what it prints.
PRINTED: dict[str, Any] = {
    "39: W1 x": [0.729, 0.412],
    "40: tanh": [0.622, 0.39],
    "41: W2 z": [0.414, 0.631, 0.83],
    "42: softmax": [0.266, 0.331, 0.403],
    "43: loss": 0.909,
    "52: dE/dw5": 0.165,
    "54: W1 after a step": [[0.401, 0.873], [0.583, 0.346]],
    "55: W2 after a step": [[0.112, 0.865], [0.81, 0.304], [0.789, 0.912]],
    "56: W1 x": [0.731, 0.417],
    "57: tanh": [0.624, 0.394],
    "58: W2 z": [0.411, 0.625, 0.852],
    "59: softmax": [0.264, 0.327, 0.41],
    "60: loss": 0.892,
}


def worked_example() -> dict[str, Any]:
    """Each equation's value beside the printed one, and the largest difference."""
    before = _model(eta=1e-300)
    after = _model(eta=ETA)
    first, second = (weights.T for weights in after.coefs_)
    step = (W2[0, 0] - second[0, 0]) / ETA
    values = [
        *_forward(before),
        step,
        first.tolist(),
        second.tolist(),
        *_forward(after),
    ]
    rows = []
    for (equation, printed), value in zip(PRINTED.items(), values, strict=True):
        gap = float(np.abs(np.asarray(value) - np.asarray(printed)).max())
        rows.append(
            {"equation": equation, "value": value, "printed": printed, "gap": gap}
        )
    return {"rows": rows, "eta": ETA}


def _model(eta: float) -> MultilayerPerceptron:
    return MultilayerPerceptron(
        hidden=(2,),
        solver="sgd",
        eta=eta,
        fit_intercept=False,
    ).partial_fit(X, TARGET, classes=CLASSES, start_weights=[W1.T, W2.T])


def _forward(model: MultilayerPerceptron) -> list[Any]:
    """Inputs and outputs of the hidden units, scores, probabilities, loss."""
    first, _ = model.coefs_
    inputs: FloatVector = (X @ first)[0]
    scores = model.decision_function(X)[0]
    proba = model.predict_proba(X)[0]
    loss = -float(np.log(proba[CLASSES.index(TARGET[0])]))
    hidden = np.tanh(inputs)
    return [inputs.tolist(), hidden.tolist(), scores.tolist(), proba.tolist(), loss]
