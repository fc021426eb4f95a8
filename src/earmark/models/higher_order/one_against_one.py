"""All pairs of classes together: their transforms, their classifiers, their vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from earmark.models.higher_order.pairs import PairProblem, fit_pair, pair_margin
from earmark.models.higher_order.transformer import pair_values
from earmark.typing import BoolVector, FloatMatrix, IntVector, Labels, SparseMatrix

__all__ = ["OneAgainstOne"]


@dataclass(frozen=True)
class OneAgainstOne:
    """One two-class problem for each pair of classes (HO7)."""

    log_present: FloatMatrix
    """log P(term present | class), (n_classes, n_features)."""
    log_absent: FloatMatrix
    """log P(term absent | class), (n_classes, n_features)."""
    held: BoolVector
    """Whether a training document of the class holds the term, of that shape."""
    normalize: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(0, 1), (0, 2), ..., (1, 2), ..."""
        n_classes = len(self.held)
        return [(j, k) for j in range(n_classes) for k in range(j + 1, n_classes)]

    def problem(self, first: int, second: int) -> PairProblem:
        """The transform (HO6) between two classes, on the terms of the two."""
        columns = np.flatnonzero(self.held[first] | self.held[second])
        present, absent = pair_values(
            self.log_present, self.log_absent, first, second, self.normalize
        )
        offset = absent[columns]
        return PairProblem(columns, present[columns] - offset, offset)

    def fit(
        self,
        base: Any,
        rows: SparseMatrix,
        y_index: IntVector,
        classes: Labels,
        n_jobs: int | None,
    ) -> list[Any]:
        """A classifier for each pair."""

        def fit_one(first: int, second: int) -> Any:
            mine = np.flatnonzero((y_index == first) | (y_index == second))
            problem = self.problem(first, second)
            features = problem.features(rows[mine])
            return fit_pair(base, problem, features, classes[y_index[mine]])

        fitted = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(fit_one)(*pair) for pair in self.pairs
        )
        return list(fitted)

    def scores(self, models: list[Any], rows: SparseMatrix) -> FloatMatrix:
        """Class scores of presence rows, (n_samples, n_classes)."""
        margins = np.empty((rows.shape[0], len(models)))
        for p, (pair, model) in enumerate(zip(self.pairs, models, strict=True)):
            margins[:, p] = pair_margin(model, self.problem(*pair), rows)
        if len(models) == 1:
            return np.asarray(margins * np.array([-0.5, 0.5]))
        return self._vote(margins)

    def _vote(self, margins: FloatMatrix) -> FloatMatrix:
        """Votes for each class, ties broken by summed margins.

        The summed margins are squashed into (-1/3, 1/3): they never outweigh a vote.
        """
        votes: FloatMatrix = np.zeros((len(margins), len(self.held)))
        sums = np.zeros_like(votes)
        for margin, (first, second) in zip(margins.T, self.pairs, strict=True):
            votes[:, second] += margin > 0
            votes[:, first] += margin <= 0
            sums[:, second] += margin
            sums[:, first] -= margin
        return np.asarray(votes + sums / (3 * (1 + np.abs(sums))))
