"""The tables of the hybrid's reproduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reproductions.hybrid.methods import HONEST, METHODS
from reproductions.tables import MISSING, Table, gain, mean, number, p_value, ranked

__all__ = ["tables"]

Rows = Sequence[Mapping[str, Any]]
_CURVES = (
    "naive Bayes",
    "logistic regression",
    "hybrid R=1",
    "hybrid R=2",
    "hybrid R=2, unnormalised",
    "tf-idf + linear SVM",
)


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Every table; test errors are means over the splits."""
    return [
        _errors("figure-1", "Figure 1: test error", result["figure_1"], _CURVES),
        _means(result["figure_1_verdict"]),
        _gains(result["figure_1_verdict"]),
        _verdict(
            "verdict",
            "Figure 1: pairs on which the claims hold",
            result["figure_1_verdict"],
        ),
        _errors(
            "given-dictionary",
            "Figure 1 with a dictionary given beforehand",
            result["given_dictionary"],
            _CURVES[:4],
        ),
        _verdict(
            "given-dictionary-verdict",
            "The same claims with that dictionary",
            result["given_dictionary_verdict"],
        ),
        *_calibration(result["figure_1"]),
        *_coverage(result["figure_2"]),
        _theorem(result["theorem_1"]),
        _twenty(result["twenty_newsgroups"]),
    ]


def _pair(row: Mapping[str, Any]) -> str:
    return " / ".join(".".join(group.split(".")[-2:]) for group in row["pair"])


def _errors(name: str, title: str, rows: Rows, methods: Sequence[str]) -> Table:
    lines = [
        [
            _pair(row),
            str(row["size"]),
            *(mean(row["methods"][m]["error"]) for m in methods),
        ]
        for row in rows
    ]
    return Table(name, title, ["pair", "documents", *methods], lines)


def _sizes(verdict: Mapping[str, Any]) -> list[str]:
    """Numbers of training documents in the order of numbers."""
    return sorted(verdict, key=int)


def _means(verdict: Mapping[str, Any]) -> Table:
    sizes = _sizes(verdict)
    names = ranked(verdict[sizes[0]]["mean_error"], [*METHODS, *HONEST])
    lines = [
        [name, *(number(verdict[s]["mean_error"][name]) for s in sizes)]
        for name in names
    ]
    title = "Figure 1: mean test error over the pairs"
    return Table("means", title, ["method", *sizes], lines)


def _gains(verdict: Mapping[str, Any]) -> Table:
    sizes = _sizes(verdict)
    names = ranked(verdict[sizes[0]]["gain"], [*METHODS, *HONEST])
    lines = [
        [name, *(_with_p(verdict[s]["gain"][name]) for s in sizes)] for name in names
    ]
    title = "Figure 1: error above that of R=2, and p"
    note = "± and p: over the pairs of newsgroups, whose documents differ."
    return Table("gains", title, ["method", *sizes], lines, note)


def _with_p(row: Mapping[str, Any]) -> str:
    return f"{gain(row)}, p {p_value(row['p'])}"


_CLAIMS = {
    "below_naive_bayes": "R=2 below naive Bayes",
    "below_logistic_regression": "R=2 below logistic regression",
    "lowest_or_within_0.01": "R=2 lowest of the four or within .01",
    "below_R1": "R=2 below R=1",
    "below_unnormalised": "R=2 below R=2 unnormalised",
}


def _verdict(name: str, title: str, verdict: Mapping[str, Any]) -> Table:
    sizes = _sizes(verdict)
    lines = [
        [
            words,
            *(f"{verdict[s][claim]} of {verdict[s]['pairs']}" for s in sizes),
        ]
        for claim, words in _CLAIMS.items()
        if claim in verdict[sizes[0]]
    ]
    return Table(name, title, ["claim", *sizes], lines)


def _calibration(rows: Rows) -> list[Table]:
    sizes = sorted({row["size"] for row in rows})
    names = ("hybrid R=2", "hybrid R=2, plug-in", "naive Bayes", "logistic regression")

    def average(name: str, figure: str, size: int) -> float:
        mine = [r["methods"][name][figure]["mean"] for r in rows if r["size"] == size]
        return float(np.mean(mine))

    return [
        Table(
            figure.replace("_", "-"),
            f"Weights fitted leave-one-out or plug-in: {words}, mean over the pairs",
            ["method", *map(str, sizes)],
            [[n, *(number(average(n, figure, s)) for s in sizes)] for n in names],
        )
        for figure, words in (("log_loss", "test log loss"), ("ece", "ECE"))
    ]


def _coverage(rows: Rows) -> list[Table]:
    names = list(rows[0]["methods"])
    return [
        Table(
            name,
            f"Figure 2: {words}, random halves",
            ["pair", *names],
            [[_pair(r), *(mean(r["methods"][n][figure]) for n in names)] for r in rows],
        )
        for name, figure, words in (
            ("coverage", "coverage_at_95", "coverage at 95 % accuracy"),
            (
                "coverage-by-probability",
                "coverage_at_95_by_probability",
                "the same, ranked by a probability that rounds to 1",
            ),
            ("saturation", "probability_is_1", "share of documents with P = 1.0"),
            ("area", "area", "area under accuracy/coverage"),
        )
    ]


def _theorem(rows: Rows) -> Table:
    lines = [
        [
            f"{row['V']:,}",
            f"{row['m']:,}",
            mean(row["leave_one_out"]),
            mean(row["plug_in"]),
        ]
        for row in rows
    ]
    title = "Theorem 1: sup over theta of the gap to the true mean log-likelihood"
    return Table("theorem-1", title, ["V", "m", "leave-one-out", "plug-in"], lines)


def _twenty(twenty: Mapping[str, Any]) -> Table:
    figures = (
        "accuracy",
        "log_loss",
        "ece",
        "coverage_at_95",
        "coverage_at_95_by_probability",
        "area",
    )
    lines = [
        [
            name,
            *(number(row.get(figure)) for figure in figures),
            p_value(row["p_against_R2"]) if "p_against_R2" in row else MISSING,
        ]
        for name, row in twenty["methods"].items()
    ]
    head = [
        "method",
        "accuracy",
        "log loss",
        "ECE",
        "answered at 95 % accuracy",
        "... ranked by rounded P",
        "area",
    ]
    title = (
        f"Twenty newsgroups, by date: {twenty['n_train']:,} training and "
        f"{twenty['n_test']:,} test documents"
    )
    return Table("twenty", title, [*head, "p against R=2 (McNemar)"], lines)
