"""One fit of HierarchicalBayes: parameters, documents held out, starts compared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from earmark.kernels.keys import fingerprints
from earmark.kernels.rows import canonical_rows
from earmark.models.em import EMSettings
from earmark.models.hierarchical.gaussian import GaussianEvents
from earmark.models.hierarchical.multinomial import MultinomialEvents
from earmark.models.hierarchical.nodes import ClassNodes
from earmark.models.hierarchical.search import (
    ClassDocuments,
    Events,
    Restarts,
    Search,
    ValidationScores,
    hold_out,
)
from earmark.models.progress import FitProgress
from earmark.parameters import require_in_range, require_integer, require_one_of
from earmark.typing import BoolVector, Estimator, FloatVector, IntVector, Matrix

__all__ = ["Fit", "TrainingData", "as_list", "check_parameters"]


def as_list(value: Any) -> list[Any]:
    """A parameter that may hold one value or several, as a list."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return list(value)
    return [value]


def check_parameters(model: Estimator) -> None:
    """Raise for the first parameter that makes no sense."""
    require_one_of(model, "event_model", ("multinomial", "gaussian"))
    require_one_of(model, "em", ("soft", "hard"))
    require_one_of(model, "posterior", ("sum_of_products", "product_of_sums"))
    require_one_of(model, "hidden_prior", ("tokens", "documents"))
    require_one_of(model, "select", ("accuracy", "log_loss"))
    require_one_of(model, "dtype", ("float64", "float32"))
    require_integer(model, "n_restarts", low=1)
    if model.max_iter is not None:
        require_integer(model, "max_iter", low=1)
    require_in_range(model, "tol", low=0.0)
    require_in_range(
        model, "validation_fraction", low=0.0, high=0.9, hint="a share of the documents"
    )
    require_in_range(model, "var_floor", low=0.0, open_low=True)
    require_in_range(model, "keep", low=0.0, high=1.0, open_low=True)
    if model.drop_after is not None:
        require_integer(model, "drop_after", low=1)
    _require_each(model, "n_hidden", Integral, 1, "a whole number >= 1")
    _require_each(model, "alpha", Real, 0, "a number >= 0")
    if model.event_model == "gaussian" and model.posterior == "product_of_sums":
        raise ValueError(
            "HierarchicalBayes.posterior must be 'sum_of_products' for Gaussian nodes, "
            "got 'product_of_sums'; the product of sums has no Gaussian form."
        )


def _require_each(model: Estimator, name: str, kind: Any, low: int, rule: str) -> None:
    values = as_list(getattr(model, name))
    where = f"{type(model).__name__}.{name}"
    if not values:
        raise ValueError(f"{where} must hold at least one value, got an empty list.")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, kind):
            raise TypeError(
                f"{where} must be {rule}, or a list of such, got {value!r}."
            )
        if not low <= value < float("inf"):
            raise ValueError(f"{where} must be {rule}, got {value!r}.")


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
    results: dict[str, FloatVector]
    """What ``ValidationScores`` found, by name."""


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
        held = self._held_out()
        learned = self._classes(~held & (self.data.weight > 0))
        settings = list(itertools.product(self._alphas(), as_list(self.model.n_hidden)))
        trials = []
        total = len(settings) * self.n_classes
        with FitProgress(
            self.model, total, "EM", verbose=self.model.verbose
        ) as progress:
            for alpha, n_hidden in settings:
                trials.append(self._trial(alpha, n_hidden, learned, held, progress))
        best, candidate = self._best(trials)
        trial = trials[best]
        chosen = np.array([r.kept[candidate] for r in trial.restarts])
        search = self._search(trial.alpha, trial.n_hidden)
        nodes = list(search.chosen(learned, chosen))
        if held.any() and self.model.refit:
            nodes = list(search.refitted(self._classes(self.data.weight > 0), nodes))
        return {
            **self._node_attributes(nodes),
            **self._trial_attributes(trials, best, candidate, chosen),
        }

    # -- data -----------------------------------------------------------------------

    def _n_restarts(self) -> int:
        """Starts differ only if some class has more than one node."""
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
        found = []
        for c in range(self.n_classes):
            mine = np.flatnonzero(mask & (self.data.y_index == c))
            found.append(
                ClassDocuments(
                    self.data.X[mine],
                    self.data.weight[mine],
                    self.keys[mine],
                    self.seeds[c],
                )
            )
        return found

    def _validation(self, held: BoolVector) -> tuple[Matrix, IntVector, FloatVector]:
        """Documents to choose by: given, held out, or all of them."""
        data = self.data
        if data.validation is not None:
            X, y_index = data.validation
            return X, y_index, np.ones(len(y_index))
        mask = held if held.any() else data.weight > 0
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
        model = self.model
        max_iter = model.max_iter
        if max_iter is None:
            max_iter = 100 if model.event_model == "gaussian" else 5
        settings = EMSettings(max_iter, model.tol, model.drop_after, model.keep)
        return Search(
            self._events(alpha), n_hidden, model.posterior, settings, model.n_jobs
        )

    def _trial(
        self,
        alpha: float,
        n_hidden: int,
        learned: list[ClassDocuments],
        held: BoolVector,
        progress: FitProgress,
    ) -> Trial:
        """All restarts of all classes under one pair of settings."""
        X, y_index, weight = self._validation(held)
        scores = ValidationScores(y_index, weight)
        restarts = []
        for c, done in enumerate(self._search(alpha, n_hidden).run(learned, X)):
            scores.add(c, done.evidence + self.model.class_log_prior_[c])
            restarts.append(done.without_evidence())
            progress.task_done()
        return Trial(alpha, n_hidden, restarts, scores.results())

    def _best(self, trials: list[Trial]) -> tuple[int, int]:
        """Trial and candidate that validate best, then are likeliest (HB8).

        What is left of ties goes to the earlier one.
        """
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
        kept = list(zip(restarts, chosen, strict=True))
        iterations = [int(np.sum(~np.isnan(r.bounds[n]))) for r, n in kept]
        return {
            "alpha_": trials[best].alpha,
            "trials_": [
                {
                    "alpha": t.alpha,
                    "n_hidden": int(t.n_hidden),
                    "score": float(row.max()),
                }
                for t, row in zip(trials, scores, strict=True)
            ],
            "restart_scores_": scores,
            "best_restart_": chosen,
            "validation_score_": float(scores[best, candidate]),
            "bounds_": np.stack([r.bounds for r in restarts]),
            "converged_": all(bool(r.converged[n]) for r, n in kept),
            "n_iter_": max(iterations),
        }
