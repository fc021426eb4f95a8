"""Which documents choose among the restarts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from earmark.kernels.keys import rekeyed
from earmark.models.em import EMSettings, run_em
from earmark.models.hierarchical.multinomial import MultinomialProblem
from earmark.models.hierarchical.nodes import ClassNodes, NodeProblem
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, Matrix

__all__ = [
    "ClassDocuments",
    "Posterior",
    "Restarts",
    "Search",
    "ValidationScores",
    "hold_out",
]


def hold_out(
    keys: NDArray[np.uint64],
    y_index: IntVector,
    weight: FloatVector,
    fraction: float,
    seed: np.uint64,
) -> BoolVector:
    """Mark about ``fraction`` of the weight of every class for validation.

    The documents' content decides, so equal documents are always on the same side,
    and a document of weight 2 counts as two equal ones. A class whose share is less
    than half a document, or that has only one, keeps all; so the mark may be empty.
    """
    held = np.zeros(len(keys), dtype=bool)
    for c in np.unique(y_index):
        mine = np.flatnonzero((y_index == c) & (weight > 0))
        distinct, group = np.unique(rekeyed(keys[mine], seed), return_inverse=True)
        mass = np.bincount(group, weights=weight[mine])
        middle = np.cumsum(mass) - mass / 2
        chosen = middle < fraction * mass.sum()
        if len(distinct) > 1 and not chosen.all():
            held[mine] = chosen[group]
    return held


Posterior = Literal["sum_of_products", "product_of_sums"]

# Restarts run in blocks whose weights take at most this much; two such arrays live.
_BLOCK_BYTES = 64_000_000


class Events(Protocol):
    """An event model: makes the EM problem of one class."""

    @property
    def dtype(self) -> Any:
        """Type of the passes."""

    def problem(self, X: Matrix, weight: FloatVector, n_nodes: int) -> NodeProblem:
        """EM for the nodes of the class that these documents make up."""


@dataclass(frozen=True)
class ClassDocuments:
    """The training documents of one class."""

    X: Matrix
    weight: FloatVector
    keys: NDArray[np.uint64]
    seeds: NDArray[np.uint64]
    """One for each restart."""


@dataclass(frozen=True)
class Restarts:
    """How the restarts of one class went."""

    evidence: FloatMatrix
    """log P(x|c) of the validation documents, (n_validation, n_kept)."""
    kept: IntVector
    """Numbers of the restarts in ``evidence``."""
    bounds: FloatMatrix
    """Bound before each M-step, (n_restarts, max_iter); NaN after the end."""
    converged: BoolVector

    def without_evidence(self) -> Restarts:
        """The same, once the evidence has been used."""
        return replace(self, evidence=np.empty((0, 0)))


@dataclass
class ValidationScores:
    """How well every candidate does on validation data, built up class by class."""

    y_index: IntVector
    weight: FloatVector
    _own: Any = None
    _best: Any = None
    _best_class: Any = None
    _total: Any = None

    def add(self, c: int, joint: FloatMatrix) -> None:
        """Take log P(x, c) of one class, (n_validation, n_candidates)."""
        if self._own is None:
            self._own = np.full_like(joint, -np.inf)
            self._best = np.full_like(joint, -np.inf)
            self._best_class = np.zeros(joint.shape, dtype=np.int64)
            self._total = np.full_like(joint, -np.inf)
        mine = self.y_index == c
        self._own[mine] = joint[mine]
        better = joint > self._best
        self._best_class[better] = c
        np.maximum(self._best, joint, out=self._best)
        np.logaddexp(self._total, joint, out=self._total)

    def results(self) -> dict[str, FloatVector]:
        """Accuracy, mean log P(y|x) and mean log P(x, y) of each candidate."""
        correct = self._best_class == self.y_index[:, None]
        sums = {
            "accuracy": self.weight @ correct,
            "log_loss": self.weight @ (self._own - self._total),
            "likelihood": self.weight @ self._own,
        }
        return {name: total / self.weight.sum() for name, total in sums.items()}


@dataclass(frozen=True)
class Search:
    """Everything that the restarts have in common."""

    events: Events
    n_hidden: int
    posterior: Posterior
    settings: EMSettings
    n_jobs: int | None

    def run(
        self, classes: Sequence[ClassDocuments], X_validation: Matrix
    ) -> Iterator[Restarts]:
        """All restarts of each class in turn, several classes at a time."""
        jobs = (
            delayed(self.restarts)(documents, X_validation) for documents in classes
        )
        yield from self._parallel(jobs)

    def chosen(
        self, classes: Sequence[ClassDocuments], restarts: IntVector
    ) -> Iterator[ClassNodes]:
        """The nodes of one restart of each class: run again alone, same bytes."""
        jobs = (
            delayed(self.single)(documents, int(r))
            for documents, r in zip(classes, restarts, strict=True)
        )
        yield from self._parallel(jobs)

    def refitted(
        self, classes: Sequence[ClassDocuments], nodes: Sequence[ClassNodes]
    ) -> Iterator[ClassNodes]:
        """EM continued from these nodes, on these documents."""
        jobs = (
            delayed(self.continued)(documents, start)
            for documents, start in zip(classes, nodes, strict=True)
        )
        yield from self._parallel(jobs)

    # -- one class ----------------------------------------------------------------

    def restarts(self, documents: ClassDocuments, X_validation: Matrix) -> Restarts:
        """Run all restarts of one class, block by block."""
        problem = self._problem(documents)
        rows = problem.document_rows(X_validation)
        n_restarts, max_iter = len(documents.seeds), self.settings.max_iter
        evidence = np.empty((X_validation.shape[0], n_restarts))
        bounds = np.full((n_restarts, max_iter), np.nan)
        converged = np.zeros(n_restarts, dtype=bool)
        kept = np.ones(n_restarts, dtype=bool)
        for block in self._blocks(problem, n_restarts):
            seeds = documents.seeds[block]
            for run in run_em(
                problem.start(documents.keys, seeds),
                problem.step,
                problem.maximize,
                self.settings,
                n_restarts=len(seeds),
                take=problem.take,
            ):
                place = block.start + run.restarts
                bounds[place, : run.n_iter] = run.bounds
                converged[place] = run.ending == "converged"
                kept[place] = run.ending != "dropped"
                if run.ending != "dropped":
                    evidence[:, place] = self._evidence(problem, run.params, rows)
        numbers = self._ranked(kept, bounds)
        return Restarts(evidence[:, numbers], numbers, bounds, converged)

    def single(self, documents: ClassDocuments, restart: int) -> ClassNodes:
        """The nodes of one restart."""
        problem = self._problem(documents)
        seeds = documents.seeds[restart : restart + 1]
        return self._ended(problem, problem.start(documents.keys, seeds))

    def continued(self, documents: ClassDocuments, nodes: ClassNodes) -> ClassNodes:
        """The nodes after more EM."""
        problem = self._problem(documents, len(nodes.log_weight))
        return self._ended(problem, problem.params_of(nodes))

    def _ended(self, problem: NodeProblem, params: Any) -> ClassNodes:
        settings = EMSettings(self.settings.max_iter, self.settings.tol)
        (run,) = run_em(params, problem.step, problem.maximize, settings)
        return problem.nodes(run.params)

    def _problem(
        self, documents: ClassDocuments, n_nodes: int | None = None
    ) -> NodeProblem:
        """A class has no more nodes than different documents to put in them.

        The product of sums is naive Bayes whatever the nodes hold (HB6), so there
        the number stays as asked for.
        """
        if n_nodes is None:
            n_nodes = self.n_hidden
            if self.posterior == "sum_of_products":
                n_nodes = min(n_nodes, len(np.unique(documents.keys)))
        return self.events.problem(documents.X, documents.weight, n_nodes)

    def _evidence(self, problem: NodeProblem, params: Any, rows: Any) -> FloatMatrix:
        if self.posterior == "product_of_sums":
            assert isinstance(problem, MultinomialProblem)
            return problem.linear_evidence(params, rows)
        return problem.evidence(params, rows)

    def _blocks(self, problem: NodeProblem, n_restarts: int) -> list[slice]:
        """Blocks of restarts of bounded memory."""
        columns = problem.rows.matrix.shape[1] * problem.n_nodes
        size = _BLOCK_BYTES // (columns * np.dtype(self.events.dtype).itemsize)
        step = max(1, size)
        return [slice(s, s + step) for s in range(0, n_restarts, step)]

    def _ranked(self, kept: BoolVector, bounds: FloatMatrix) -> IntVector:
        """Which restarts become candidates, and in which order.

        All of them by number; or, where some were dropped, as many of the likeliest
        as every class has, best first.
        """
        drop_after = self.settings.drop_after
        if drop_after is None or drop_after >= self.settings.max_iter:
            return np.flatnonzero(kept)
        last = np.array([row[~np.isnan(row)][-1] for row in bounds])
        last[~kept] = -np.inf
        quota = max(1, int(np.floor(self.settings.keep * len(kept))))
        return np.argsort(-last, kind="stable")[:quota]

    def _parallel(self, jobs: Any) -> Iterator[Any]:
        yield from Parallel(
            n_jobs=self.n_jobs, prefer="threads", return_as="generator"
        )(jobs)
