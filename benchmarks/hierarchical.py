"""Repeated EM against a plain loop over restarts.

    python -m benchmarks hierarchical [--repeats 3]

50 restarts x 4 iterations, two hidden nodes a class, on the 25,000 IMDB training
reviews and the 27,000 terms that at least five of them hold. The peer is what one
writes first: for each class and each restart scipy's X @ log φ, a log-sum-exp, and
Xᵀ @ m. Both begin with random responsibilities and end with an M-step. CPU seconds of
one thread, interleaved, best of the repeats; memory is the peak of what each allocates
beside the counts.

The float32 row also states its drift from float64: the largest difference in log φ
after one iteration from the same parameters, and the mean difference of the documents'
responsibilities after all four.

    python -m benchmarks.hierarchical [--seeds 20]

asks which start wins: with the pass as it is, and with a column for every node; and
which place the winner had on the validation documents after each iteration. Stored in
benchmarks/results/hierarchical_winners.json.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from earmark.documents import load_corpus
from earmark.features import WordCounter
from earmark.kernels.keys import fingerprints
from earmark.kernels.mixture import Tiling
from earmark.models import HierarchicalBayes
from earmark.models.shared.em import EMSettings, run_em
from earmark.models.shared.mixture_nodes import MultinomialEvents, MultinomialProblem
from earmark.models.shared.mixture_search import Fit

N_RESTARTS, N_ITER, N_HIDDEN, ALPHA = 50, 4, 2, 1.0


@cache
def imdb_classes() -> list[Any]:
    """Counts of each class's training reviews, terms in at least five reviews."""
    train: Any = load_corpus("imdb", "train")
    X = sparse.csr_array(WordCounter(min_df=5).fit_transform(train.texts))
    labels = np.asarray(train.labels)
    return [X[labels == c].astype(np.float64) for c in np.unique(labels)]


def plain_loop(X: Any) -> list[Any]:
    """One class, one restart after another, with scipy."""
    rng = np.random.default_rng(0)
    n_samples, n_features = X.shape
    length, transposed = np.asarray(X.sum(axis=1)).ravel(), X.T
    fitted = []
    for _ in range(N_RESTARTS):
        m = rng.dirichlet(np.ones(N_HIDDEN), n_samples)
        bounds = []
        for _ in range(N_ITER):
            log_phi, log_weight = _maximized(transposed, m, length, n_features)
            scores = X @ log_phi + log_weight
            top = scores.max(axis=1, keepdims=True)
            m = np.exp(scores - top)
            total = m.sum(axis=1, keepdims=True)
            bounds.append(float((top + np.log(total)).sum()))
            m /= total
        fitted.append((bounds, _maximized(transposed, m, length, n_features)[1]))
    return fitted


def _maximized(transposed: Any, m: Any, length: Any, n_features: int) -> Any:
    mass = ALPHA * n_features + m.T @ length
    log_phi = np.log(transposed @ m + ALPHA) - np.log(mass)
    return log_phi, np.log(mass / mass.sum())


def problem_of(X: Any, dtype: Any) -> Any:
    """EM for the nodes of one class."""
    events = MultinomialEvents(ALPHA, "tokens", False, dtype)
    return events.problem(X, np.ones(X.shape[0]), N_HIDDEN)


def fused(X: Any, dtype: Any) -> Any:
    """One class, all restarts as one block, with the compiled pass."""
    problem = problem_of(X, dtype)
    seeds = np.arange(1, N_RESTARTS + 1, dtype=np.uint64)
    (run,) = run_em(
        problem.start(fingerprints(X), seeds),
        problem.step,
        problem.maximize,
        n_restarts=N_RESTARTS,
        settings=EMSettings(max_iter=N_ITER, tol=0.0),
        take=problem.take,
    )
    return problem, run.params


def _cpu(job: Callable[[], Any]) -> float:
    started = time.process_time()
    job()
    return time.process_time() - started


def _megabytes(job: Callable[[], Any]) -> float:
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def _row(dtype: Any, least: float, repeats: int) -> dict[str, Any]:
    classes = imdb_classes()

    def ours() -> None:
        for X in classes:
            fused(X, dtype)

    def theirs() -> None:
        for X in classes:
            plain_loop(X)

    times = [(_cpu(ours), _cpu(theirs)) for _ in range(repeats)]
    fast, slow = (min(column) for column in zip(*times, strict=True))
    memory, peer_memory = _megabytes(ours), _megabytes(theirs)
    name = np.dtype(dtype).name
    n_documents, n_terms = sum(X.shape[0] for X in classes), classes[0].shape[1]
    return {
        "job": f"repeated EM, IMDB {n_documents} x {n_terms}, "
        f"{N_RESTARTS} restarts x {N_ITER}, {name}",
        "peer": "scipy, one restart after another",
        "cpu_seconds": fast,
        "peer_cpu_seconds": slow,
        "cpu_ratio": slow / fast,
        "memory_ratio": memory / peer_memory,
        "megabytes": memory,
        "target": f">= {least:g}x, < 300 MB",
        "met": slow / fast >= least and memory < 300,
    }


def em_float64(repeats: int = 3) -> dict[str, Any]:
    """The default type."""
    return _row(np.float64, 4.0, repeats)


def em_float32(repeats: int = 3) -> dict[str, Any]:
    """Half the bytes; the drift is stated."""
    row = _row(np.float32, 4.0, repeats)
    X = imdb_classes()[0]
    row["drift_of_one_iteration"] = _drift_of_one_iteration(X)
    row["mean_drift_of_responsibilities"] = _drift_of_responsibilities(X)
    return row


def _drift_of_one_iteration(X: Any) -> float:
    exact, params = fused(X, np.float64)
    short = problem_of(X, np.float32)
    rounded = type(params)(
        params.table.astype(np.float32),
        params.offset.astype(np.float32),
        params.penalty,
        params.tiling,
    )
    after = [p.maximize(p.step(q)[0]) for p, q in ((exact, params), (short, rounded))]
    return float(np.abs(after[0].table - after[1].table).max())


def _drift_of_responsibilities(X: Any) -> float:
    shares = []
    for dtype in (np.float64, np.float32):
        problem, params = fused(X, dtype)
        drawn = []
        for restart in range(5):
            nodes = problem.nodes(problem.take(params, np.array([restart])))
            scores = X @ nodes.values[0].T + nodes.log_weight
            share = np.exp(scores - scores.max(axis=1, keepdims=True))
            drawn.append(share / share.sum(axis=1, keepdims=True))
        shares.append(np.array(drawn))
    return float(np.abs(shares[0] - shares[1]).mean())


ROWS = (em_float64, em_float32)


# -- which start wins ---------------------------------------------------------------


def winners(corpus: str, n_seeds: int) -> dict[str, Any]:
    """The winners of one corpus, beside those of the unanchored pass."""
    train: Any = load_corpus(corpus, "train")
    X = WordCounter(min_df=5).fit_transform(train.texts)
    same, places = 0, []
    for seed in range(n_seeds):
        model, accuracy = _fitted(X, train.labels, seed)
        winner = model.best_restart_[0]
        places.append([int(np.sum(row > row[winner])) + 1 for row in accuracy])
        whole, _ = _fitted(X, train.labels, seed, _unanchored)
        same += bool(np.array_equal(whole.best_restart_, model.best_restart_))
    return {
        "corpus": corpus,
        "seeds": n_seeds,
        "same_winner": same,
        "places_of_the_winner": places,
        "worst_place_after_each_iteration": np.max(places, axis=0).tolist(),
    }


def _unanchored(problem: Any, n_restarts: int) -> Tiling:
    return Tiling(n_restarts, problem.n_nodes)


def _fitted(X: Any, y: Any, seed: int, tiling: Any = None) -> tuple[Any, Any]:
    """A fit, and each start's validation accuracy after 1, 2, ... iterations."""
    fits: list[Any] = []
    usual_tiling, usual_run = MultinomialProblem._tiling, Fit.run

    def run(fit: Any) -> Any:
        fits.append(fit)
        return usual_run(fit)

    model = HierarchicalBayes(alpha=0.3, n_restarts=N_RESTARTS, random_state=seed)
    MultinomialProblem._tiling = tiling or usual_tiling  # type: ignore[method-assign]
    Fit.run = run  # type: ignore[method-assign]
    try:
        model.fit(X, y)
    finally:
        MultinomialProblem._tiling = usual_tiling  # type: ignore[method-assign]
        Fit.run = usual_run  # type: ignore[method-assign]
    if tiling is not None:
        return model, None
    (fit,) = fits
    held = fit._held_out()
    learned, accuracy = fit._classes(~held), []
    for n_iter in range(1, model.bounds_.shape[2] + 1):
        model.max_iter = n_iter
        trial = fit._trial(0.3, 2, learned, held, _Silent())
        accuracy.append(trial.results["accuracy"])
    return model, np.array(accuracy)


class _Silent:
    def task_done(self) -> None:
        """No progress is shown."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    n_seeds = parser.parse_args().seeds
    rows = [winners(corpus, n_seeds) for corpus in ("imdb", "r8")]
    command = f"python -m benchmarks.hierarchical --seeds {n_seeds}"
    text = json.dumps({"command": command, "rows": rows}, indent=1) + "\n"
    folder = Path(__file__).parent / "results"
    (folder / "hierarchical_winners.json").write_text(text)
    for row in rows:
        print({name: row[name] for name in row if not name.startswith("places")})


if __name__ == "__main__":
    main()
