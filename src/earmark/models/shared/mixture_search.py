"""One fit of HierarchicalBayes: documents held out, restarts of EM, starts compared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from earmark.kernels.keys import fingerprints, rekeyed
from earmark.kernels.rows import canonical_rows
from earmark.models.shared.em import EMSettings, run_em
from earmark.models.shared.fit_progress import fit_progress
from earmark.models.shared.mixture_nodes import (
    ClassNodes,
    GaussianEvents,
    MultinomialEvents,
    MultinomialProblem,
    NodeProblem,
)
from earmark.parameters import as_list
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
)


def hold_out(
    keys: NDArray[np.uint64],
    y_index: IntVector,
    weight: FloatVector,
    fraction: float,
    seed: np.uint64,
) -> BoolVector:
    """Mark about ``fraction`` of the weight of every class for validation."""
    # The content decides: equal documents are on one side, and weight 2 is two of them.
    # A class whose share is less than half a document keeps all.
    is_left_out = np.zeros(len(keys), dtype=bool)
    for c in np.unique(y_index):
        mine = np.flatnonzero((y_index == c) & (weight > 0))
        distinct, group = np.unique(rekeyed(keys[mine], seed), return_inverse=True)
        mass = np.bincount(group, weights=weight[mine])
        middle = np.cumsum(mass) - mass / 2
        chosen = middle < fraction * mass.sum()
        if len(distinct) > 1 and not chosen.all():
            is_left_out[mine] = chosen[group]
    return is_left_out


# Restarts run in blocks whose weights take at most this much; two such arrays live.
_BLOCK_BYTES = 64_000_000


# Either makes the EM problem of one class.
Events = MultinomialEvents | GaussianEvents
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class ClassDocuments:
    """The training documents of one class."""

    X: Matrix
    weight: FloatVector
    keys: NDArray[np.uint64]
    seeds: NDArray[np.uint64]  # one for each restart


@dataclass(frozen=True)
class Restarts:
    """How the restarts of one class went."""

    evidence: FloatMatrix
    """log P(x|c) of the validation documents, (n_validation, n_kept)."""
    kept: IntVector  # numbers of the restarts in ``evidence``
    bounds: FloatMatrix
    """Bound before each M-step, (n_restarts, max_iter); NaN after the end."""
    converged: BoolVector


def validation_results(
    joints: Iterable[FloatMatrix], y_index: IntVector, weight: FloatVector
) -> dict[str, FloatVector]:
    """Accuracy, mean log P(y|x) and mean log P(x, y) of each candidate."""
    # log P(x, c) of one class after another, (n_documents, n_candidates) each.
    own = best = total = np.array(-np.inf)
    best_class = np.array(0)
    for c, joint in enumerate(joints):
        own = np.where((y_index == c)[:, None], joint, own)
        best_class = np.where(joint > best, c, best_class)
        best, total = np.maximum(best, joint), np.logaddexp(total, joint)
    sums = {
        "accuracy": weight @ (best_class == y_index[:, None]),
        "log_loss": weight @ (own - total),
        "likelihood": weight @ own,
    }
    return {name: values / weight.sum() for name, values in sums.items()}


@dataclass(frozen=True)
class Search:
    """EM for the nodes of each class, under one pair of settings."""

    model: Estimator
    events: Events
    n_hidden: int

    @property
    def settings(self) -> EMSettings:
        """When a start ends."""
        usual = 100 if self.model.event_model == "gaussian" else 5
        max_iter = usual if self.model.max_iter is None else self.model.max_iter
        return EMSettings(
            max_iter, self.model.tol, self.model.drop_after, self.model.keep
        )

    def of_each(
        self,
        task: Callable[..., Outcome],
        classes: Sequence[ClassDocuments],
        *more: Iterable[Any],
    ) -> Iterator[Outcome]:
        """A method below for each class in turn, several classes at a time."""
        jobs = (
            delayed(task)(*arguments) for arguments in zip(classes, *more, strict=True)
        )
        how = {"prefer": "threads", "return_as": "generator"}
        yield from Parallel(n_jobs=self.model.n_jobs, **how)(jobs)

    # -- one class ----------------------------------------------------------------

    def restarts(self, documents: ClassDocuments, X_validation: Matrix) -> Restarts:
        """Run all restarts of one class, block by block."""
        problem = self._problem(documents)
        rows = problem.document_rows(X_validation)
        n_restarts, max_iter = len(documents.seeds), self.settings.max_iter
        evidence = np.empty((X_validation.shape[0], n_restarts))
        bounds = np.full((n_restarts, max_iter), np.nan)
        converged = np.zeros(n_restarts, dtype=bool)
        survives = np.ones(n_restarts, dtype=bool)
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
                survives[place] = run.ending != "dropped"
                if run.ending != "dropped":
                    evidence[:, place] = self._evidence(problem, run.params, rows)
        numbers = self._ranked(survives, bounds)
        return Restarts(evidence[:, numbers], numbers, bounds, converged)

    def single(self, documents: ClassDocuments, restart: int) -> ClassNodes:
        """The nodes of one restart: run again alone, same bytes."""
        problem = self._problem(documents)
        seeds = documents.seeds[restart : restart + 1]
        return self._ended(problem, problem.start(documents.keys, seeds))

    def continued(self, documents: ClassDocuments, nodes: ClassNodes) -> ClassNodes:
        """EM continued from these nodes, on these documents."""
        problem = self._problem(documents, len(nodes.log_weight))
        return self._ended(problem, problem.params_of(nodes))

    def _ended(self, problem: NodeProblem, params: Any) -> ClassNodes:
        settings = EMSettings(self.settings.max_iter, self.settings.tol)
        (run,) = run_em(params, problem.step, problem.maximize, settings)
        return problem.nodes(run.params)

    def _problem(
        self, documents: ClassDocuments, n_nodes: int | None = None
    ) -> NodeProblem:
        """Prepare a class for EM, with at most one node per different document."""
        # The product of sums is naive Bayes whatever the nodes hold (HB6).
        if n_nodes is None:
            n_nodes = self.n_hidden
            if self.model.posterior == "sum_of_products":
                n_nodes = min(n_nodes, len(np.unique(documents.keys)))
        return self.events.problem(documents.X, documents.weight, n_nodes)

    def _evidence(self, problem: NodeProblem, params: Any, rows: Any) -> FloatMatrix:
        if self.model.posterior == "product_of_sums":
            assert isinstance(problem, MultinomialProblem)
            return problem.linear_evidence(params, rows)
        return problem.evidence(params, rows)

    def _blocks(self, problem: NodeProblem, n_restarts: int) -> list[slice]:
        """Divide the restarts into blocks that fit in memory."""
        columns = problem.rows.matrix.shape[1] * problem.n_nodes
        size = _BLOCK_BYTES // (columns * np.dtype(self.events.dtype).itemsize)
        step = max(1, size)
        return [slice(s, s + step) for s in range(0, n_restarts, step)]

    def _ranked(self, survives: BoolVector, bounds: FloatMatrix) -> IntVector:
        """The candidates: all by number or, where some dropped, the likeliest first."""
        drop_after = self.settings.drop_after
        if drop_after is None or drop_after >= self.settings.max_iter:
            return np.flatnonzero(survives)
        last = np.array([row[~np.isnan(row)][-1] for row in bounds])
        last[~survives] = -np.inf
        quota = max(1, int(np.floor(self.settings.keep * len(survives))))
        return np.argsort(-last, kind="stable")[:quota]


@dataclass(frozen=True)
class TrainingData:
    """Validated documents, and those to choose by if they were given."""

    X: Matrix
    y_index: IntVector
    weight: FloatVector
    validation: tuple[Matrix, IntVector] | None


@dataclass(frozen=True)
class Trial:
    """One pair of settings, and how its candidates did."""

    alpha: float
    n_hidden: int
    restarts: list[Restarts]
    results: dict[str, FloatVector]  # what ``validation_results`` says, by name


class Fit:
    """One call of ``fit``: hold out, search, choose, run the chosen start again."""

    def __init__(
        self, model: Estimator, data: TrainingData, rng: np.random.RandomState
    ) -> None:
        self.model = model
        self.data = data
        self.n_classes = int(data.y_index.max()) + 1
        self.keys = fingerprints(canonical_rows(data.X))
        self._draw(rng)

    def _draw(self, rng: np.random.RandomState) -> None:
        """Seeds of the split and of every start of every class."""
        draws = rng.randint(0, 2**31, size=(2, 1 + self.n_classes * self._n_restarts()))
        high, low = draws.astype(np.uint64)
        seeds = (high << np.uint64(32)) | low
        self.split_seed = seeds[0]
        self.seeds = seeds[1:].reshape(self.n_classes, -1)

    def run(self) -> dict[str, Any]:
        """Fitted attributes by name."""
        is_left_out = self._held_out()
        learned = self._classes(~is_left_out & (self.data.weight > 0))
        settings = list(itertools.product(self._alphas(), as_list(self.model.n_hidden)))
        trials = []
        total = len(settings) * self.n_classes
        with fit_progress(
            self.model, total, "EM", verbose=self.model.verbose
        ) as task_done:
            for alpha, n_hidden in settings:
                trials.append(
                    self._trial(alpha, n_hidden, learned, is_left_out, task_done)
                )
        best, candidate = self._best(trials)
        trial = trials[best]
        chosen = np.array([r.kept[candidate] for r in trial.restarts])
        search = self._search(trial.alpha, trial.n_hidden)
        nodes = list(search.of_each(search.single, learned, chosen.tolist()))
        if is_left_out.any() and self.model.refit:
            every = self._classes(self.data.weight > 0)
            nodes = list(search.of_each(search.continued, every, nodes))
        return {
            **self._node_attributes(nodes),
            **self._trial_attributes(trials, best, candidate, chosen),
        }

    # -- data -----------------------------------------------------------------------

    def _n_restarts(self) -> int:
        """How many restarts: one if no class has more than one node."""
        single = all(n == 1 for n in as_list(self.model.n_hidden))
        return 1 if single else int(self.model.n_restarts)

    def _alphas(self) -> list[float]:
        if self.model.event_model == "gaussian":
            return [0.0]
        return [float(alpha) for alpha in as_list(self.model.alpha)]

    def _held_out(self) -> BoolVector:
        """Documents that only choose; none if there is nothing to choose."""
        n_candidates = self._n_restarts() * len(self._alphas())
        n_candidates *= len(as_list(self.model.n_hidden))
        if self.data.validation is not None or n_candidates == 1:
            return np.zeros(len(self.keys), dtype=bool)
        return hold_out(
            self.keys,
            self.data.y_index,
            self.data.weight,
            self.model.validation_fraction,
            self.split_seed,
        )

    def _classes(self, mask: BoolVector) -> list[ClassDocuments]:
        """The documents of each class among those marked."""
        data, places = self.data, range(self.n_classes)
        rows = [np.flatnonzero(mask & (data.y_index == c)) for c in places]
        return [
            ClassDocuments(data.X[mine], data.weight[mine], self.keys[mine], seeds)
            for mine, seeds in zip(rows, self.seeds, strict=True)
        ]

    def _validation(
        self, is_left_out: BoolVector
    ) -> tuple[Matrix, IntVector, FloatVector]:
        """Documents to choose by: given, held out, or all of them."""
        data = self.data
        if data.validation is not None:
            X, y_index = data.validation
            return X, y_index, np.ones(len(y_index))
        mask = is_left_out if is_left_out.any() else data.weight > 0
        rows = np.flatnonzero(mask)
        return data.X[rows], data.y_index[rows], data.weight[rows]

    # -- search -----------------------------------------------------------------------

    def _events(self, alpha: float) -> Events:
        model, data = self.model, self.data
        hard, dtype = model.em == "hard", getattr(np, model.dtype)
        if model.event_model == "gaussian":
            return GaussianEvents.of(
                data.X, data.weight, var_floor=model.var_floor, hard=hard, dtype=dtype
            )
        return MultinomialEvents(alpha, model.hidden_prior, hard, dtype)

    def _search(self, alpha: float, n_hidden: int) -> Search:
        return Search(self.model, self._events(alpha), n_hidden)

    def _trial(
        self,
        alpha: float,
        n_hidden: int,
        learned: list[ClassDocuments],
        is_left_out: BoolVector,
        task_done: Callable[[], None],
    ) -> Trial:
        """All restarts of all classes under one pair of settings."""
        X, y_index, weight = self._validation(is_left_out)
        restarts: list[Restarts] = []
        search = self._search(alpha, n_hidden)

        def joints() -> Iterator[FloatMatrix]:
            runs = search.of_each(search.restarts, learned, [X] * len(learned))
            for done, log_prior in zip(runs, self.model.class_log_prior_, strict=True):
                restarts.append(replace(done, evidence=np.empty((0, 0))))
                task_done()
                yield done.evidence + log_prior

        results = validation_results(joints(), y_index, weight)
        return Trial(alpha, n_hidden, restarts, results)

    def _best(self, trials: list[Trial]) -> tuple[int, int]:
        """Trial and candidate that validate best, then likeliest, then first (HB8)."""
        score = np.array([t.results[self.model.select] for t in trials])
        likelihood = np.array([t.results["likelihood"] for t in trials])
        # Sums in another order must not make a difference where there is none.
        ranked = np.lexsort((-likelihood.round(6).ravel(), -score.round(9).ravel()))
        trial, candidate = np.unravel_index(ranked[0], score.shape)
        return int(trial), int(candidate)

    # -- attributes -------------------------------------------------------------------

    def _node_attributes(self, nodes: list[ClassNodes]) -> dict[str, Any]:
        sizes = np.array([len(n.log_weight) for n in nodes])
        columns = zip(*(n.values for n in nodes), strict=True)
        values = [np.concatenate(parts) for parts in columns]
        names = ("theta_", "var_") if len(values) == 2 else ("feature_log_prob_",)
        return {
            "n_hidden_": sizes,
            "node_class_": np.repeat(np.arange(len(sizes)), sizes),
            "node_log_weight_": np.concatenate([n.log_weight for n in nodes]),
            **dict(zip(names, values, strict=True)),
        }

    def _trial_attributes(
        self, trials: list[Trial], best: int, candidate: int, chosen: IntVector
    ) -> dict[str, Any]:
        scores = np.array([t.results[self.model.select] for t in trials])
        restarts = trials[best].restarts
        winners = list(zip(restarts, chosen, strict=True))
        iterations = [int(np.sum(~np.isnan(r.bounds[n]))) for r, n in winners]
        return {
            "alpha_": trials[best].alpha,
            "trials_": [
                dict(alpha=t.alpha, n_hidden=int(t.n_hidden), score=float(row.max()))
                for t, row in zip(trials, scores, strict=True)
            ],
            "restart_scores_": scores,
            "best_restart_": chosen,
            "validation_score_": float(scores[best, candidate]),
            "bounds_": np.stack([r.bounds for r in restarts]),
            "converged_": all(bool(r.converged[n]) for r, n in winners),
            "n_iter_": max(iterations),
        }
