"""Hidden nodes fitted by EM: one map-reduce an iteration, all starts in it (HB8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from earmark.kernels.keys import fingerprints
from earmark.kernels.mixture import MixtureTotals, Tiling, mixture_start, mixture_step
from earmark.kernels.rows import canonical_rows
from earmark.models.base.parted import PartedRows, PartRows, class_counts
from earmark.models.shared.mixture_nodes import (
    MultinomialEvents,
    MultinomialProblem,
    NodeParams,
)
from earmark.models.shared.mixture_search import ClassDocuments, Fit, TrainingData
from earmark.statistics import ClassStatistics
from earmark.typing import BoolVector, Estimator, FloatVector, IntVector, Matrix


def search_in_parts(
    model: Estimator, rows: PartedRows, rng: np.random.RandomState
) -> dict[str, Any]:
    """The same search as in memory; every E-step is summed over the parts."""
    # The documents held out to choose by are brought here, as are 16 bytes for every
    # document; the others stay where they are.
    return PartsFit(model, rows, rng).run()


# -- tasks ------------------------------------------------------------------------


def _keys_of(rows: PartRows) -> Any:
    return fingerprints(canonical_rows(rows.X.astype(np.float64)))


def _some_rows(marks: dict[int, BoolVector], rows: PartRows) -> PartRows:
    """Those labelled rows of a part that a mark chooses."""
    mark = marks[rows.number]
    some = rows.rows[mark]
    return PartRows(rows.number, rows.X[mark], rows.y[mark], rows.pool, some)


def _start(
    problem: PartsProblem, seeds: Any, tiling: Tiling, rows: PartRows
) -> MixtureTotals:
    """Totals of the class's rows for random responsibilities."""
    X = problem.class_rows(rows)
    return mixture_start(problem.document_rows(X), fingerprints(X), seeds, tiling)


def _step(problem: PartsProblem, params: NodeParams, rows: PartRows) -> MixtureTotals:
    """Totals of the class's rows under parameters: the E-step of a part (HB3)."""
    return mixture_step(
        problem.document_rows(problem.class_rows(rows)),
        params.table,
        params.offset,
        params.tiling,
        hard=problem.hard,
    )


# -- the search, with documents elsewhere -------------------------------------------


@dataclass(frozen=True)
class RemoteClass:
    """The documents of one class, in the parts; what the search has for a matrix."""

    number: int
    data: PartedRows
    documents: IntVector  # Documents that hold each term
    tokens: FloatVector  # Tokens of each term


class PartsEvents(MultinomialEvents):
    """Multinomial nodes of classes whose documents are in parts."""

    def problem(self, X: Any, weight: FloatVector, n_nodes: int) -> PartsProblem:
        """EM for the nodes of a ``RemoteClass``."""
        return PartsProblem(X, weight, n_nodes, self)


class PartsProblem(MultinomialProblem):
    """EM for multinomial nodes whose sums are made in the parts."""

    def __init__(
        self,
        remote: RemoteClass,
        weight: FloatVector,
        n_nodes: int,
        events: MultinomialEvents,
    ) -> None:
        self._number = remote.number
        self._data: PartedRows | None = remote.data
        self._set_columns(remote.documents, n_nodes, events)
        none = sparse.csr_array((0, remote.data.n_features), dtype=np.float64)
        self.rows = self.document_rows(none)
        tokens = np.append(remote.tokens[self._terms], 0.0)
        self._set_base(tokens, float(weight.sum()))

    def start(self, keys: Any, seeds: Any) -> NodeParams:
        """First parameters: one M-step from random responsibilities (HB8)."""
        assert self._data is not None
        tiling = self._tiling(len(seeds))
        return self.maximize(self._data.sum("start", _start, self, seeds, tiling))

    def step(self, params: NodeParams) -> tuple[MixtureTotals, FloatVector]:
        """E-step, sums for the M-step, and the penalised log-likelihood."""
        assert self._data is not None
        totals: MixtureTotals = self._data.sum("step", _step, self, params)
        return totals, totals.bound + self._base_total + params.penalty

    def class_rows(self, rows: PartRows) -> Matrix:
        """The class's documents in a part, as counts."""
        mine = rows.X[rows.y == self._number]
        return canonical_rows(mine.astype(np.float64))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_data": None}


class PartsFit(Fit):
    """``Fit`` over documents that are not here; only their keys and classes are."""

    def __init__(self, model: Estimator, data: PartedRows, rng: Any) -> None:
        self.model = model
        self.remote = data
        self.n_classes = len(data.classes)
        self.keys = np.concatenate(data.gather("keys", _keys_of))
        y_index = data.labels()
        self.data = TrainingData(None, y_index, np.ones(len(y_index)), None)
        self._draw(rng)

    def _events(self, alpha: float) -> PartsEvents:
        model = self.model
        dtype = getattr(np, model.dtype)
        return PartsEvents(alpha, model.hidden_prior, model.em == "hard", dtype)

    def _classes(self, mask: BoolVector) -> list[ClassDocuments]:
        """The documents of each class among those marked, in their parts."""
        data = self.remote
        if not mask.all():
            ends = np.cumsum(list(data.sizes.values()))[:-1]
            marks = dict(zip(data.sizes, np.split(mask, ends), strict=True))
            data = data.mapped("some", _some_rows, marks)
        sums: ClassStatistics = data.sum("columns", class_counts, self.n_classes)
        presence, tokens = sums.presence.toarray(), sums.dense_tokens()
        documents = []
        for c in range(self.n_classes):
            mine = np.flatnonzero(mask & (self.data.y_index == c))
            remote: Any = RemoteClass(c, data, presence[c], tokens[c])
            known = (np.ones(len(mine)), self.keys[mine], self.seeds[c])
            documents.append(ClassDocuments(remote, *known))
        return documents

    def _validation(
        self, is_left_out: BoolVector
    ) -> tuple[Matrix, IntVector, FloatVector]:
        """Fetch documents to choose by from the parts: those left out, or all."""
        mask = (
            is_left_out if is_left_out.any() else np.ones(len(is_left_out), dtype=bool)
        )
        some = self.remote.picked(np.flatnonzero(mask))
        X = canonical_rows(some.X.astype(np.float64))
        return X, some.y, np.ones(len(some.y))
