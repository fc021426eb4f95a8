"""The trials of every table, with honest rows beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from earmark.models import HigherOrderNaiveBayes
from reproductions.higher_order.comparison import (
    TESTS,
    agreement,
    averages,
    comparison,
    improvements,
    means,
    roots,
    summary,
)
from reproductions.higher_order.data import (
    DataSet,
    draw_trial,
    load_data_sets,
    milder_religion,
)
from reproductions.higher_order.methods import BASELINES, CURVES, METHODS, UNSCALED
from reproductions.study import (
    Run,
    mean_and_error,
    paired_p_value,
)

__all__ = [
    "curves",
    "derive",
    "few_documents",
    "footnote_5",
    "leak_free",
    "milder_cross_postings",
    "unlabelled",
]

_FEW = 0.05
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_BAYES = {name: CURVES[name] for name in ("NB", "HONB")}


def few_documents(run: Run) -> dict[str, Any]:
    """Every method at 5 % training documents (tables 2, 4 and 5)."""
    return summary(_accuracies(load_data_sets(), METHODS, _FEW, run), METHODS)


def leak_free(run: Run) -> dict[str, Any]:
    """The same draws with terms ranked on the training documents of each trial."""
    sets = [data for data in load_data_sets() if data.ranked is not None]
    honest = {**CURVES, **BASELINES}
    return summary(_accuracies(sets, honest, _FEW, run, ranked_apart=True), honest)


def milder_cross_postings(run: Run) -> dict[str, Any]:
    """RELIGION without messages posted to two of its own classes only."""
    return summary(_accuracies([milder_religion()], _BAYES, _FEW, run), _BAYES)


def footnote_5(run: Run) -> dict[str, Any]:
    """HOSVM on log-ratios as they are, on the draws of ``few_documents``."""
    return summary(_accuracies(load_data_sets()[:6], UNSCALED, _FEW, run), UNSCALED)


def curves(run: Run) -> dict[str, Any]:
    """Figure 2: accuracy by share of the documents, with paired tests."""
    shares = (_SHARES[0], _SHARES[-1]) if run.quick else _SHARES
    sets = load_data_sets()[:6]
    by_share = {str(share): _accuracies(sets, CURVES, share, run) for share in shares}
    return {
        "means": {share: means(measured) for share, measured in by_share.items()},
        "tests": {
            share: comparison(measured, TESTS[:2])
            for share, measured in by_share.items()
        },
    }


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """Paired tests, the comparison with word clusters, the paper's statements."""
    few = result["few_documents"]
    trials = {
        name: {method: row["trials"] for method, row in methods.items()}
        for name, methods in few.items()
    }
    tests = comparison(trials, TESTS)
    return {
        "tests": tests,
        "table_3": improvements(few),
        "agreement": agreement(few, tests),
        "averages": averages(few),
        "roots": roots(few, result["footnote_5"]),
    }


def _accuracies(
    sets: Iterable[DataSet],
    methods: Mapping[str, Any],
    share: float,
    run: Run,
    ranked_apart: bool = False,
) -> dict[str, dict[str, list[float]]]:
    """Accuracy of each method on each trial of each data set."""
    results: dict[str, dict[str, list[float]]] = {}
    for data in sets:
        run.progress(f"{data.name}, {share:.0%}")
        results[data.name] = {method: [] for method in methods}
        for number in range(_trials(run)):
            trial = draw_trial(data, share, number, ranked_apart)
            # The matrices are small: threads of BLAS would only wait for each other.
            with threadpool_limits(1):
                for method, accuracy in methods.items():
                    results[data.name][method].append(accuracy(trial))
    return results


def _trials(run: Run) -> int:
    return 2 if run.quick else 8


def unlabelled(run: Run) -> dict[str, Any]:
    """HONB with half of the test documents as unlabelled, tested on the other half."""
    weights = (0.0, 0.01, 0.1, 1.0)
    results: dict[str, Any] = {}
    for data in load_data_sets()[:6]:
        by_weight: dict[str, list[float]] = {str(w): [] for w in weights}
        for number in range(_trials(run)):
            trial = draw_trial(data, _FEW, number)
            order = np.random.default_rng(number).permutation(len(trial.y_test))
            pool, rest = np.array_split(order, 2)
            for weight in weights:
                model = HigherOrderNaiveBayes(unlabelled_weight=weight)
                model.fit(trial.train, trial.y_train, unlabelled=trial.test[pool])
                score = model.score(trial.test[rest], trial.y_test[rest])
                by_weight[str(weight)].append(float(score))
        without = by_weight[str(weights[0])]
        results[data.name] = {
            w: {**mean_and_error(v), "p_against_none": paired_p_value(v, without)}
            for w, v in by_weight.items()
        }
    return results
