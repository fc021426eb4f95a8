"""Points in the plane: the XOR function (figures 1-2) and the shapes (table 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.models import (
    GaussianNaiveBayes,
    HierarchicalBayes,
    MultinomialNaiveBayes,
)
from earmark.typing import BoolVector, FloatMatrix
from reproductions.hierarchical.published import TABLE_4
from reproductions.hierarchical.shapes import SHAPES, draw
from reproductions.study import (
    Progress,
    mean_and_error,
    paired_p_value,
)

__all__ = ["XOR_LABELS", "XOR_POINTS", "shape_model", "shapes", "xor", "xor_models"]

XOR_POINTS = np.array([[1.0, 1.0], [5.0, 5.0], [1.0, 5.0], [5.0, 1.0]])
XOR_LABELS = np.array([0, 0, 1, 1])


def xor_models(seed: int) -> dict[str, Any]:
    """The classifiers of figure 2, and the linear one among the hierarchical."""
    hierarchical = {
        "multinomial hierarchical Bayes": HierarchicalBayes(random_state=seed),
        "Gaussian hierarchical Bayes": HierarchicalBayes(
            event_model="gaussian", random_state=seed
        ),
        "product of sums": HierarchicalBayes(
            posterior="product_of_sums", random_state=seed
        ),
    }
    models: dict[str, Any] = {"naive Bayes": MultinomialNaiveBayes(), **hierarchical}
    return {name: m.fit(XOR_POINTS, XOR_LABELS) for name, m in models.items()}


def xor(n_seeds: int) -> dict[str, Any]:
    """How many of the seeds get all four points right (HB9)."""
    right: dict[str, int] = {}
    for seed in range(n_seeds):
        for name, model in xor_models(seed).items():
            learned = bool((model.predict(XOR_POINTS) == XOR_LABELS).all())
            right[name] = right.get(name, 0) + learned
    naive = xor_models(0)["naive Bayes"]
    return {
        "seeds": n_seeds,
        "all four points right": right,
        "P(1) of naive Bayes at the four points": naive.predict_proba(XOR_POINTS)[
            :, 1
        ].tolist(),
    }


def shape_model(X: FloatMatrix, y: BoolVector, seed: int) -> HierarchicalBayes:
    """Ten Gaussian nodes a class: 1000 points train, the next 250 choose the start."""
    model = HierarchicalBayes(
        event_model="gaussian",
        n_hidden=10,
        n_restarts=10,
        max_iter=100,
        random_state=seed,
    )
    model.fit(X[:1000], y[:1000], validation=(X[1000:1250], y[1000:1250]))
    return model


def shapes(n_draws: int, say: Progress) -> dict[str, Any]:
    """Table 4: 1000 training, 250 validation and 1000 test points of each shape."""
    rows = {}
    for shape in SHAPES:
        say(f"table 4: {shape}")
        naive, hierarchical = [], []
        for seed in range(n_draws):
            X, y = draw(shape, 2250, seed)
            plain = GaussianNaiveBayes().fit(X[:1000], y[:1000])
            nodes = shape_model(X, y, seed)
            naive.append(float(plain.score(X[1250:], y[1250:])))
            hierarchical.append(float(nodes.score(X[1250:], y[1250:])))
        paper = TABLE_4.get(shape, {})
        rows[shape] = {
            "naive Bayes": {**mean_and_error(naive), "paper": paper.get("naive Bayes")},
            "hierarchical Bayes": {
                **mean_and_error(hierarchical),
                "paper": paper.get("hierarchical Bayes"),
                "p against naive Bayes": paired_p_value(hierarchical, naive),
            },
        }
    return rows
