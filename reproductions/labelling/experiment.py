"""The runs, the comparison and the coverage of the estimate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from earmark.documents import Documents, load_corpus
from earmark.pipeline.labelling import LabellingLoop
from reproductions.intervals import bootstrap_interval, wilson_interval
from reproductions.study import Run, mean_and_error, paired_p_value

__all__ = ["CORPORA", "comparisons", "coverage", "settings", "simulate", "study"]

# Name -> part of the corpus that documents are drawn from.
CORPORA: Mapping[str, str | None] = {
    "20newsgroups": "train",
    "r8": "train",
    "imdb": "train",
    "sms": None,
}
N_DOCUMENTS = 3000
N_TEST = 1000
N_LABELS = 200
# The model may be an answer behind, as it is for a quick person.
REFIT_EVERY = 2
POINTS = tuple(range(20, N_LABELS + 1, 20))


def simulate(
    documents: Documents, strategy: str, seed: int, points: tuple[int, ...] = POINTS
) -> dict[str, Any]:
    """One person, one strategy: the true accuracy and the estimate after n answers."""
    rng = np.random.default_rng(seed)
    drawn = documents.take(rng.permutation(len(documents))[:N_DOCUMENTS])
    labels = drawn.labels
    assert labels is not None
    n_test = min(N_TEST, len(drawn) // 2)
    test = np.arange(n_test)
    loop = LabellingLoop(drawn.joined(), strategy=strategy, random_state=seed)
    loop.check_order = loop.check_order[loop.check_order >= n_test]
    loop.learn_order = loop.learn_order[loop.learn_order >= n_test]
    curve = []
    for n_answers in range(1, points[-1] + 1):
        pick = loop.next_pick()
        assert pick is not None
        loop.answer(pick.document, [labels[pick.document]])
        due = strategy == "active" and n_answers % REFIT_EVERY == 0
        if due or n_answers in points:
            loop.refit()
        if n_answers in points:
            curve.append(_point(loop, test, labels, n_answers))
    return {"seed": seed, "curve": curve}


def _point(
    loop: LabellingLoop, test: Any, labels: list[Any], n_answers: int
) -> dict[str, Any]:
    guesses = loop.view.guesses(test)
    right = [guess == (labels[d],) for guess, d in zip(guesses, test, strict=True)]
    estimate = loop.view.estimate
    return {
        "n": n_answers,
        "accuracy": float(np.mean(right)),
        "estimate": estimate.accuracy,
        "low": estimate.low,
        "high": estimate.high,
        "checks": estimate.n_documents,
    }


def settings(run: Run) -> dict[str, Any]:
    """How the study is run."""
    return {
        "documents": N_DOCUMENTS,
        "never asked": N_TEST,
        "labels": _points(run)[-1],
        "answers between refits": REFIT_EVERY,
        "paired runs": 2 if run.quick else 10,
        "model": "blend",
        "share kept apart": 0.2,
    }


def _points(run: Run) -> tuple[int, ...]:
    return POINTS[:3] if run.quick else POINTS


def study(run: Run) -> dict[str, Any]:
    """Every simulated person on every corpus; the active arm has some runs more."""
    n_paired, n_active = (2, 2) if run.quick else (10, 13)
    corpora = {}
    for name, part in CORPORA.items():
        documents = load_corpus(name, part)  # type: ignore[arg-type]
        runs: dict[str, list[dict[str, Any]]] = {"active": [], "random": []}
        for seed in range(n_active):
            for strategy in runs if seed < n_paired else ("active",):
                person = simulate(documents, strategy, seed, _points(run))
                runs[strategy].append(person)
                reached = person["curve"][-1]["accuracy"]
                run.progress(f"{name}, {strategy}, run {seed}: {reached:.3f}")
        corpora[name] = {"runs": runs}
    return corpora


def comparisons(corpora: Mapping[str, Any], n_paired: int) -> dict[str, Any]:
    """Both arms of every corpus at the last point, and the paired difference."""
    return {
        name: compared(corpus["runs"], n_paired) for name, corpus in corpora.items()
    }


def compared(runs: dict[str, list[Any]], n_paired: int) -> dict[str, Any]:
    """Both arms at the last point, and the paired difference."""

    def last(strategy: str) -> list[float]:
        return [run["curve"][-1]["accuracy"] for run in runs[strategy][:n_paired]]

    active, random = last("active"), last("random")
    gap = np.asarray(active) - np.asarray(random)
    return {
        "active": mean_and_error(active),
        "random": mean_and_error(random),
        "difference": mean_and_error(gap),
        "difference_interval": list(bootstrap_interval(gap)),
        "p_value": paired_p_value(active, random),
        "not_below": bool(gap.mean() >= 0 or bootstrap_interval(gap)[1] >= 0),
    }


def coverage(corpora: Mapping[str, Any]) -> dict[str, Any]:
    """How often the 95 % interval of the estimate holds the true accuracy."""
    last = [
        run["curve"][-1]
        for corpus in corpora.values()
        for run in corpus["runs"]["active"]
    ]
    hits = sum(p["low"] <= p["accuracy"] <= p["high"] for p in last)
    narrower = [
        (*wilson_interval(round(p["estimate"] * p["checks"]), p["checks"]), p)
        for p in last
    ]
    return {
        "runs": len(last),
        "covered": hits,
        "covered_by_wilson": sum(l <= p["accuracy"] <= h for l, h, p in narrower),
        "share": hits / len(last),
        "interval": list(wilson_interval(hits, len(last))),
        "mean_width": float(np.mean([p["high"] - p["low"] for p in last])),
        "mean_bias": float(np.mean([p["estimate"] - p["accuracy"] for p in last])),
    }
