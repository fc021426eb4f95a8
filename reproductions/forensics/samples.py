"""How much table 2 of Ganiz et al. (2009) depends on which 500 documents are drawn.

The paper samples 500 documents per newsgroup and does not say which. Here every trial
has a sample of its own, so that the spread over trials holds that of the sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from earmark.documents import load_corpus
from reproductions.higher_order.data import GROUPS, draw_trial, newsgroups, sampled
from reproductions.higher_order.methods import CURVES
from reproductions.higher_order.published import TABLE_2
from reproductions.study import Run, mean_and_error

__all__ = ["samples"]

_FEW = 0.05
_TRIALS = 40
_METHODS = ("NB", "HONB")


def samples(run: Run) -> dict[str, Any]:
    """NB and HONB at 5 % training documents, a fresh sample for every trial."""
    messages = load_corpus("20newsgroups-original")
    n_trials = 3 if run.quick else _TRIALS
    sets: dict[str, Any] = {}
    gains = []
    for name in GROUPS:
        run.progress(f"samples: {name}")
        whole = newsgroups(messages, name)
        accuracy: dict[str, list[float]] = {method: [] for method in _METHODS}
        with threadpool_limits(1):
            for number in range(n_trials):
                trial = draw_trial(sampled(whole, number), _FEW, number)
                for method in _METHODS:
                    right = CURVES[method](trial)
                    accuracy[method].append(float(right.mean()))
        gap = np.subtract(accuracy["HONB"], accuracy["NB"])
        gains.append(gap)
        sets[name] = {
            **{
                method: {
                    **mean_and_error(values),
                    "least": min(values),
                    "most": max(values),
                    "paper": TABLE_2[name][method][0],
                }
                for method, values in accuracy.items()
            },
            "gain": {
                **mean_and_error(gap.tolist()),
                "paper": TABLE_2[name]["HONB"][0] - TABLE_2[name]["NB"][0],
            },
        }
    return {"sets": sets, "mean gain": _mean_gain(gains, sets)}


def _mean_gain(gains: list[Any], sets: dict[str, Any]) -> dict[str, Any]:
    """The paper's headline: the gain in the mean over the four sets."""
    paper = float(np.mean([row["gain"]["paper"] for row in sets.values()]))
    return {**mean_and_error(np.mean(gains, axis=0).tolist()), "paper": paper}
