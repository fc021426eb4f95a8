"""Figure 1: learning curves of six newsgroup pairs, and calibration along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from earmark.evaluation import reliability
from reproductions.hybrid.methods import HONEST, METHODS
from reproductions.hybrid.pairs import Corpus, load_news
from reproductions.study import Progress, mean_and_error, paired_p_value

__all__ = ["learning_curves", "verdict"]

N_TEST = 500
OURS = "hybrid R=2"
# Claimed in the paper without figures.
_UNSHOWN = {"below_R1": "hybrid R=1", "below_unnormalised": "hybrid R=2, unnormalised"}
PAPER = ("naive Bayes", "logistic regression", "hybrid R=1", OURS)


def learning_curves(
    pairs: Sequence[tuple[str, str]],
    sizes: Sequence[int],
    n_splits: int,
    progress: Progress,
    *,
    given_dictionary: bool = False,
) -> list[dict[str, Any]]:
    """Test error, log loss and calibration of every method, pair and size.

    Each split draws 500 test documents and a nested series of training sets. The
    dictionary is the words of the training documents; or it is given beforehand, as
    in the paper's equation 3: then it is the words of all the pair's documents, and
    only the paper's methods are run.
    """
    corpus = load_news(pairs)
    rows = []
    for pair in pairs:
        for size in sizes:
            measured = [
                _one_split(corpus, pair, size, seed, given_dictionary)
                for seed in range(n_splits)
            ]
            rows.append(
                {
                    "pair": list(pair),
                    "size": size,
                    "methods": _summary(measured),
                }
            )
        progress(f"learning curves of {pair[0]} vs {pair[1]}")
    return rows


def _one_split(
    corpus: Corpus, pair: tuple[str, str], size: int, seed: int, given: bool
) -> dict[str, dict[str, float]]:
    rows = corpus.rows(pair)
    order = np.random.default_rng(seed).permutation(rows)
    first = order[: min(size, len(order) - N_TEST)]
    train, test = corpus.split(first, order[-N_TEST:], rows if given else None)
    found = {}
    chosen = {name: METHODS[name] for name in PAPER} if given else {**METHODS, **HONEST}
    for name, run in chosen.items():
        labels, log_proba = run(train, test)
        row = {"error": float(np.mean(labels != test.y))}
        if log_proba is not None:
            fit = reliability(test.y, np.exp(log_proba), np.unique(train.y))
            row |= {"log_loss": fit.log_loss, "ece": fit.ece, "bias": fit.bias}
        found[name] = row
    return found


def _summary(measured: Sequence[dict[str, dict[str, float]]]) -> dict[str, Any]:
    return {
        name: {
            figure: mean_and_error(split[name][figure] for split in measured)
            for figure in measured[0][name]
        }
        for name in measured[0]
    }


def verdict(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """On how many pairs the paper's claims hold, size by size.

    Splits of a pair share documents, the pairs do not: what R=2 gains is tested over
    the pairs' means.
    """
    found: dict[str, Any] = {}
    for size in sorted({row["size"] for row in rows}):
        mine = [row["methods"] for row in rows if row["size"] == size]
        error = {name: [m[name]["error"]["mean"] for m in mine] for name in mine[0]}
        lowest = np.min([error[name] for name in PAPER], axis=0)
        ours = np.asarray(error[OURS])
        found[str(size)] = {
            "pairs": len(mine),
            "below_naive_bayes": int((ours < error["naive Bayes"]).sum()),
            "below_logistic_regression": int(
                (ours < error["logistic regression"]).sum()
            ),
            "lowest_or_within_0.01": int((ours <= lowest + 0.01).sum()),
            **{
                key: int((ours < error[other]).sum())
                for key, other in _UNSHOWN.items()
                if other in error
            },
            "mean_error": {name: float(np.mean(error[name])) for name in error},
            "gain": {
                name: {
                    **mean_and_error(np.asarray(error[name]) - ours),
                    "p": paired_p_value(error[name], error[OURS]),
                }
                for name in error
                if name != OURS
            },
        }
    return found
