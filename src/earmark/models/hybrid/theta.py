"""The discriminative part of the hybrid: region weights and class biases (HY2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from earmark.models.softmax import cross_entropy
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector

__all__ = ["fit_some", "fit_theta", "negative_log_likelihood", "region_scores"]


def region_scores(
    features: Sequence[FloatMatrix], weight: FloatVector, bias: FloatVector
) -> FloatMatrix:
    """θ_0c + Σ_r θ_r b_rc for each document (HY2)."""
    scores = weight[0] * features[0] + bias
    for theta, values in zip(weight[1:], features[1:], strict=True):
        scores += theta * values
    return np.asarray(scores)


def negative_log_likelihood(
    theta: FloatVector,
    features: Sequence[FloatMatrix],
    own: IntVector,
    sample_weight: FloatVector,
    l2: float,
) -> tuple[float, FloatVector]:
    """Conditional negative log-likelihood with l2/2 |θ_r|², and its gradient.

    ``theta`` holds the R region weights, then the K biases.
    """
    n_regions = len(features)
    weight, bias = theta[:n_regions], theta[n_regions:]
    scores = region_scores(features, weight, bias)
    loss, residual = cross_entropy(scores, own, sample_weight)
    slope = [float(np.einsum("ij,ij->", residual, values)) for values in features]
    gradient = np.concatenate([slope, residual.sum(axis=0)])
    gradient[:n_regions] += l2 * weight
    return loss + 0.5 * l2 * float(weight @ weight), gradient


def fit_some(
    features: Sequence[FloatMatrix],
    own: IntVector,
    sample_weight: FloatVector,
    useful: BoolVector,
    l2: float,
) -> tuple[FloatVector, FloatVector, float]:
    """``fit_theta`` on some of the documents, over the classes that they have.

    Any other class gets the lowest of the biases.
    """
    n_classes = features[0].shape[1]
    fitted = np.unique(own[useful])
    if not useful.all() or len(fitted) < n_classes:
        rows = np.flatnonzero(useful)
        features = [values[np.ix_(rows, fitted)] for values in features]
        own, sample_weight = np.searchsorted(fitted, own[rows]), sample_weight[rows]
    theta, some_bias, loss = fit_theta(features, own, sample_weight, l2)
    bias = np.full(n_classes, some_bias.min())
    bias[fitted] = some_bias
    return theta, bias - bias.mean(), loss


def fit_theta(
    features: Sequence[FloatMatrix],
    own: IntVector,
    sample_weight: FloatVector,
    l2: float,
) -> tuple[FloatVector, FloatVector, float]:
    """Maximise the conditional likelihood of the documents (HY3).

    minimise   Σ_d s_d (−log P_θ(y_d | x_d)) + l2/2 Σ_r (θ_r σ_r)²
    with       P_θ(c | x) ∝ exp(θ_0c + Σ_r θ_r b_rc(x)),  Σ_c θ_0c = 0

    convex in θ. σ_r is the spread of region r's features, so that the penalty
    does not depend on their units. Returns the region weights, the biases, and
    the mean log loss at the optimum.
    """
    # A constant added to all classes of a document changes no probability:
    # centring the features conditions the problem.
    centred = [values - values.mean(axis=1, keepdims=True) for values in features]
    spread = np.array([_spread(values, sample_weight) for values in centred])
    # One class after the other in memory: sums over classes are then sums of columns.
    scaled = [
        np.asfortranarray(values / s) for values, s in zip(centred, spread, strict=True)
    ]
    n_classes = features[0].shape[1]
    start = np.zeros(len(features) + n_classes)
    found = scipy.optimize.minimize(
        negative_log_likelihood,
        start,
        args=(scaled, own, sample_weight, l2),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-7 * sample_weight.sum()},
    )
    weight = found.x[: len(features)] / spread
    bias = found.x[len(features) :]
    loss, _ = negative_log_likelihood(found.x, scaled, own, sample_weight, 0.0)
    return weight, bias - bias.mean(), loss / float(sample_weight.sum())


def _spread(values: FloatMatrix, sample_weight: FloatVector) -> float:
    """Root mean square of the features; 1 where a region says nothing."""
    mean_square = float(sample_weight @ (values**2).mean(axis=1)) / float(
        sample_weight.sum()
    )
    return float(np.sqrt(mean_square)) if mean_square > 0 else 1.0
