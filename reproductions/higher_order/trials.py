"""The trials of every table, with honest rows beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from earmark.models import HigherOrderNaiveBayes
from reproductions.higher_order.comparison import (
    TESTS,
    Answers,
    agreement,
    averages,
    comparison,
    improvements,
    means,
    summary,
)
from reproductions.higher_order.data import (
    DataSet,
    draw_trial,
    load_data_sets,
    milder_religion,
)
from reproductions.higher_order.methods import BASELINES, CURVES, METHODS, UNSCALED
from reproductions.study import Run, mean_and_error

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
    return summary(_answers(load_data_sets(), METHODS, _FEW, run))


def leak_free(run: Run) -> dict[str, Any]:
    """The same draws with terms ranked on the training documents of each trial."""
    sets = [data for data in load_data_sets() if data.ranked is not None]
    honest = {**CURVES, **BASELINES}
    return summary(_answers(sets, honest, _FEW, run, ranked_apart=True))


def milder_cross_postings(run: Run) -> dict[str, Any]:
    """RELIGION without messages posted to two of its own classes only."""
    return summary(_answers([milder_religion()], _BAYES, _FEW, run))


def footnote_5(run: Run) -> dict[str, Any]:
    """What dividing by the root adds to HOSVM, on the draws of ``few_documents``."""
    (name,) = UNSCALED
    methods = {"HOSVM": CURVES["HOSVM"], **UNSCALED}
    return {
        data: {**mean_and_error(mine.accuracies(name)), **mine.tested("HOSVM", name)}
        for data, mine in _answers(load_data_sets()[:6], methods, _FEW, run).items()
    }


def curves(run: Run) -> dict[str, Any]:
    """Figure 2: accuracy by share of the documents, with paired tests."""
    shares = (_SHARES[0], _SHARES[-1]) if run.quick else _SHARES
    sets = load_data_sets()[:6]
    by_share = {str(share): _answers(sets, CURVES, share, run) for share in shares}
    return {
        "means": {share: means(answers) for share, answers in by_share.items()},
        "tests": {
            share: comparison(summary(answers), TESTS[:2])
            for share, answers in by_share.items()
        },
    }


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """Paired tests, the comparison with word clusters, the paper's statements."""
    few = result["few_documents"]
    tests = comparison(few, TESTS)
    return {
        "tests": tests,
        "table_3": improvements(few),
        "agreement": agreement(few, tests),
        "averages": averages(few),
    }


def _answers(
    sets: Iterable[DataSet],
    methods: Mapping[str, Any],
    share: float,
    run: Run,
    ranked_apart: bool = False,
) -> dict[str, Answers]:
    """What each method has right on each trial of each data set."""
    results: dict[str, Answers] = {}
    for data in sets:
        run.progress(f"{data.name}, {share:.0%}")
        mine = results[data.name] = Answers(right={method: [] for method in methods})
        for number in range(_trials(run)):
            trial = draw_trial(data, share, number, ranked_apart)
            mine.documents.append(trial.documents)
            # The matrices are small: threads of BLAS would only wait for each other.
            with threadpool_limits(1):
                for method, answer in methods.items():
                    mine.right[method].append(answer(trial))
    return results


def _trials(run: Run) -> int:
    return 2 if run.quick else 8


def unlabelled(run: Run) -> dict[str, Any]:
    """HONB with half of the test documents as unlabelled, tested on the other half."""
    weights = (0.0, 0.01, 0.1, 1.0)
    results: dict[str, Any] = {}
    for data in load_data_sets()[:6]:
        mine = Answers(right={str(w): [] for w in weights})
        for number in range(_trials(run)):
            trial = draw_trial(data, _FEW, number)
            order = np.random.default_rng(number).permutation(len(trial.y_test))
            pool, rest = np.array_split(order, 2)
            mine.documents.append(trial.documents[rest])
            for weight in weights:
                model = HigherOrderNaiveBayes(unlabelled_weight=weight)
                model.fit(trial.train, trial.y_train, unlabelled=trial.test[pool])
                right = model.predict(trial.test[rest]) == trial.y_test[rest]
                mine.right[str(weight)].append(np.asarray(right))
        results[data.name] = {
            w: {**mean_and_error(mine.accuracies(w)), **mine.tested(w, str(weights[0]))}
            for w in mine.right
        }
    return results
