"""From accuracies to means, paired tests and the paper's statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reproductions.higher_order.published import (
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    printed,
)
from reproductions.study import mean_and_error, paired_p_value

__all__ = [
    "TESTS",
    "agreement",
    "averages",
    "comparison",
    "improvements",
    "means",
    "roots",
    "summary",
]

# (ours, theirs): every difference that is tested is shown, whatever its sign.
TESTS = (
    ("HONB", "NB"),
    ("HOSVM", "SVM"),
    ("HONB", "SVM"),
    ("HONB", "HOSVM"),
    ("HONB", "SVM, unpenalized intercept"),
    ("HONB", "HOSVM, unpenalized intercept"),
    ("pure HONB", "HONB"),
    ("HONB, third order", "HONB"),
    ("HOSVM, third order", "HOSVM"),
    ("HOSVM, unpenalized intercept", "SVM, unpenalized intercept"),
    ("SVM, RBF kernel", "SVM, unpenalized intercept"),
    ("HOSVM, RBF kernel", "HOSVM, unpenalized intercept"),
    ("HOSVM, C cross-validated", "HOSVM"),
    ("tf-idf + linear SVM", "HONB"),
    ("tf-idf + linear SVM", "HOSVM"),
    ("multinomial NB", "HONB"),
    ("Complement NB", "HONB"),
)
Accuracies = Mapping[str, Mapping[str, Sequence[float]]]


def summary(accuracies: Accuracies, methods: Iterable[str]) -> dict[str, Any]:
    """Mean, spread and the paper's figure of each method on each data set."""
    chosen = list(methods)
    return {
        name: {
            method: {
                **mean_and_error(by_method[method]),
                "paper": printed(name, method),
                "trials": list(by_method[method]),
            }
            for method in chosen
        }
        for name, by_method in accuracies.items()
    }


def means(accuracies: Accuracies) -> dict[str, Any]:
    """Mean and spread of each method on each data set."""
    return {
        name: {method: mean_and_error(trials) for method, trials in by_method.items()}
        for name, by_method in accuracies.items()
    }


def comparison(
    accuracies: Accuracies, pairs: Iterable[tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """Mean difference and paired t test of "A - B" on each data set."""
    return {
        f"{ours} - {theirs}": {
            name: {
                "difference": mean_and_error(
                    a - b
                    for a, b in zip(by_method[ours], by_method[theirs], strict=True)
                )["mean"],
                "p": paired_p_value(by_method[ours], by_method[theirs]),
            }
            for name, by_method in accuracies.items()
        }
        for ours, theirs in pairs
    }


# The paper's averages over the newsgroup sets; which SVM it used it does not say.
_AVERAGES = (
    ("HONB", "NB", 0.117),
    ("HONB", "SVM", 0.058),
    ("HONB", "SVM, unpenalized intercept", 0.058),
    ("HOSVM", "SVM", 0.031),
    ("HOSVM, unpenalized intercept", "SVM, unpenalized intercept", 0.031),
    ("HONB", "HOSVM", 0.027),
    ("HONB", "HOSVM, unpenalized intercept", 0.027),
)


def averages(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Mean differences over the newsgroup sets beside those that the paper states."""
    sets = [name for name in TABLE_3 if name in table]
    return [
        {
            "ours": ours,
            "theirs": theirs,
            "difference": sum(
                table[name][ours]["mean"] - table[name][theirs]["mean"] for name in sets
            )
            / len(sets),
            "paper": paper,
        }
        for ours, theirs, paper in _AVERAGES
    ]


def roots(table: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Footnote 5: what dividing by the root adds to HOSVM, on the same trials."""
    found: dict[str, Any] = {}
    for name, methods in plain.items():
        (row,) = methods.values()
        ours = table[name]["HOSVM"]["trials"][: len(row["trials"])]
        gap = [a - b for a, b in zip(ours, row["trials"], strict=True)]
        found[name] = {
            "without": row["mean"],
            "difference": mean_and_error(gap)["mean"],
            "p": paired_p_value(ours, row["trials"]),
        }
    return found


def improvements(table: Mapping[str, Any]) -> dict[str, Any]:
    """Table 3: what word clusters and what paths add to their naive Bayes."""
    rows = {
        name: {
            "clusters": clusters - base,
            "paths": table[name]["HONB"]["mean"] - table[name]["NB"]["mean"],
            "paths in the paper": TABLE_2[name]["HONB"][0] - TABLE_2[name]["NB"][0],
        }
        for name, (base, clusters) in TABLE_3.items()
        if name in table
    }
    averages = {
        key: sum(row[key] for row in rows.values()) / len(rows)
        for key in ("clusters", "paths", "paths in the paper")
    }
    return {**rows, "average": averages}


def agreement(table: Mapping[str, Any], tests: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the paper's statements hold here; one row per statement."""
    six = [name for name in TABLE_2 if name in table]
    gap = {
        name: abs(table[name]["HONB"]["mean"] - table[name]["HONB"]["paper"])
        for name in six
    }
    honb, hosvm = tests["HONB - NB"], tests["HOSVM - SVM"]
    return {
        "HONB within 0.03 of the paper on": [n for n in six if gap[n] <= 0.03],
        "HONB above NB with p < .05 on": [
            n for n in six if honb[n]["difference"] > 0 and honb[n]["p"] < 0.05
        ],
        "HOSVM at least the paper's mean - 0.02 on": [
            n
            for n in six
            if table[n]["HOSVM"]["mean"] >= table[n]["HOSVM"]["paper"] - 0.02
        ],
        "HOSVM above SVM on": [n for n in six if hosvm[n]["difference"] > 0],
        "NBSVM below SVM and HOSVM on": [
            n
            for n in TABLE_5
            if n in table
            and table[n]["NBSVM"]["mean"]
            < min(table[n]["SVM"]["mean"], table[n]["HOSVM"]["mean"])
        ],
        "pure HONB within 0.03 of the paper on": [
            n
            for n in TABLE_4
            if n in table and abs(table[n]["pure HONB"]["mean"] - TABLE_4[n]) <= 0.03
        ],
    }
