"""Gaussian naive Bayes on class moments, for real-valued features."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import numpy as np

from earmark.features.scoring import ScoreParts
from earmark.kernels.rows import dense_blocks, log_normalize
from earmark.models.base.classifier import JointClassifier
from earmark.models.shared.naive_bayes import ClassPrior
from earmark.parameters import NotNegative, estimator
from earmark.statistics import ClassMoments
from earmark.statistics.vector_sums import merge_moments
from earmark.stored import DERIVED, sizes
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
)

_TINY = float(np.finfo(np.float64).tiny)


@estimator
class GaussianNaiveBayes(JointClassifier, ClassPrior):
    """Every feature is normal within a class, independently of the others.

    For dense features such as embeddings or numbers. Sparse input is scored in
    dense blocks of bounded size.

    Parameters
    ----------
    class_prior : None, "uniform" or array-like of shape (n_classes,), default=None
        Prior probabilities; None estimates them from the class sizes.
    var_smoothing : float >= 0, default=1e-9
        Share of the largest overall variance that is added to every variance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    statistics_ : ClassMoments
        Weight, mean and centred sum of squares of each class.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Means and (smoothed) variances.
    class_log_prior_ : ndarray of shape (n_classes,)
        log P(class).
    n_features_in_ : int
        Width of X seen in ``fit``.

    Examples
    --------
    >>> model = GaussianNaiveBayes().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> model.predict([[2.0], [7.0]])
    array([0, 1])

    """

    class_log_prior_: Annotated[FloatVector, DERIVED] = field(init=False)

    statistics_: Annotated[
        ClassMoments, sizes(n_terms="n_features", n_classes="n_classes")
    ] = field(init=False)
    theta_: Annotated[FloatMatrix, DERIVED] = field(init=False)
    var_: Annotated[FloatMatrix, DERIVED] = field(init=False)

    class_prior: ArrayLike | str | None = None
    var_smoothing: NotNegative = 1e-9

    def _empty_statistics(self, classes: Labels, n_features: int) -> ClassMoments:
        return ClassMoments(classes, n_features)

    def _derive(self) -> None:
        docs = self.statistics_.docs
        self.class_log_prior_ = self._log_prior(docs)
        moments = self.statistics_
        self.theta_ = moments.mean
        weight, _, squares = moments.overall()
        floor = self.var_smoothing * squares.max(initial=0.0) / max(weight, _TINY)
        seen = np.where(moments.docs > 0, moments.docs, 1.0)
        self.var_ = np.maximum(moments.squares / seen[:, None] + floor, _TINY)

    def _joint_log_likelihood(self, X: Matrix) -> FloatMatrix:
        classes = list(zip(self.theta_, self.var_, strict=True))
        parts = [
            np.stack([_log_normal(block, *moments) for moments in classes], axis=1)
            for _, block in dense_blocks(X)
        ]
        return np.concatenate(parts) + self.class_log_prior_

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Log density of each feature in each class, and the prior (AB3)."""
        every = np.arange(self.n_features_in_)
        constants = {"class prior": self.class_log_prior_}
        return [
            ScoreParts(every, log_densities(row, self.theta_, self.var_).T, constants)
            for _, block in dense_blocks(self._validated(X))
            for row in block
        ]

    def _log_posteriors_without(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        prior = self._log_prior_without(own, weight)
        return log_normalize(self._log_likelihood_without(X, own, weight) + prior)

    def _log_likelihood_without(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        """Log P(x|c) of each row once it has left its own class (NB8)."""
        # One point leaves its class's mean and variance, and the overall variance
        # that ``var_smoothing`` refers to.
        blocks = [
            self._block_without(block, own[rows], weight[rows])
            for rows, block in dense_blocks(X)
        ]
        return np.concatenate(blocks)

    def _block_without(
        self, block: FloatMatrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        moments = self.statistics_
        none = np.zeros_like(block)
        lost = -weight[:, None]
        total, mean, squares = (np.asarray(m) for m in moments.overall())
        rest, _, left_squares = merge_moments(
            (np.full_like(lost, total), mean, squares), (lost, block, none)
        )
        largest = np.maximum(left_squares, 0.0).max(axis=1, initial=0.0)
        floor = self.var_smoothing * largest / np.maximum(rest[:, 0], _TINY)
        scores = np.empty((block.shape[0], len(self.classes_)))
        for c in range(len(self.classes_)):
            var = np.broadcast_to(
                moments.squares[c] / max(moments.docs[c], _TINY), block.shape
            ).copy()
            centre = np.broadcast_to(moments.mean[c], block.shape).copy()
            mine = own == c
            docs = np.full((int(mine.sum()), 1), moments.docs[c])
            size, centre[mine], own_squares = merge_moments(
                (docs, moments.mean[c], moments.squares[c]),
                (lost[mine], block[mine], none[mine]),
            )
            var[mine] = np.maximum(own_squares, 0.0) / np.maximum(size, _TINY)
            var = np.maximum(var + floor[:, None], _TINY)
            scores[:, c] = _log_normal(block, centre, var)
        return scores


def log_densities(
    values: FloatMatrix, mean: FloatMatrix, var: FloatMatrix
) -> FloatMatrix:
    """Log density of values under independent normals, broadcast together."""
    return -0.5 * (np.log(2.0 * np.pi * var) + (values - mean) ** 2 / var)


def _log_normal(block: FloatMatrix, mean: FloatMatrix, var: FloatMatrix) -> FloatVector:
    """Log density of each row under independent normals."""
    return np.asarray(log_densities(block, mean, var).sum(axis=1), dtype=np.float64)
