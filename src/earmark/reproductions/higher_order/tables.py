"""From accuracies to the paper's tables, and the tables as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from earmark.reproductions._common import mean_and_error, paired_p_value
from earmark.reproductions.higher_order.published import (
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    printed,
)

__all__ = ["agreement", "comparison", "improvements", "means", "show", "summary"]

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
    """Whether the paper's statements hold here; one row a statement."""
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


def show(result: Mapping[str, Any]) -> str:
    """The main tables as text, with the paper's figures in brackets."""
    lines = [f"Accuracy at 5 % training documents, {result['trials']} trials"]
    lines += _grid(result["few_documents"])
    lines += ["", "The same draws, terms ranked on the training documents only"]
    lines += _grid(result["leak_free"])
    lines += ["", "Statements of the paper"]
    lines += [
        f"  {k}: {', '.join(v) or 'none'}" for k, v in result["agreement"].items()
    ]
    return "\n".join(lines)


def _grid(table: Mapping[str, Mapping[str, Any]]) -> list[str]:
    names = list(table)
    methods = list(next(iter(table.values())))
    width = max(len(m) for m in methods)
    lines = [" " * width + "".join(f"{name[:14]:>16}" for name in names)]
    for method in methods:
        cells = []
        for name in names:
            row = table[name][method]
            paper = "" if row["paper"] is None else f" ({row['paper']:.3f})"
            cells.append(f"{row['mean']:.3f}{paper}".rjust(16))
        lines.append(method.ljust(width) + "".join(cells))
    return lines
