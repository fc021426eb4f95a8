"""The reproduction's result as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["show"]

_CURVES = (
    "naive Bayes",
    "logistic regression",
    "hybrid R=1",
    "hybrid R=2",
    "hybrid R=2, unnormalised",
    "tf-idf + linear SVM",
)


def show(result: Mapping[str, Any]) -> str:
    """All tables; test errors are means over the splits."""
    return "\n\n".join(
        [
            _learning_curves(result, "figure_1", _CURVES, "the training words"),
            _verdict(result["figure_1_verdict"]),
            _learning_curves(result, "given_dictionary", _CURVES[:4], "given words"),
            _verdict(result["given_dictionary_verdict"]),
            _calibration(result),
            _coverage(result["figure_2"]),
            _theorem(result["theorem_1"]),
            _twenty(result["twenty_newsgroups"]),
        ]
    )


def _grid(title: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [[*head], *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    shown = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([title, *shown])


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _pair(row: Mapping[str, Any]) -> str:
    return " / ".join(".".join(group.split(".")[-2:]) for group in row["pair"])


def _learning_curves(
    result: Mapping[str, Any], key: str, names: tuple[str, ...], words: str
) -> str:
    rows = [
        [_pair(row), str(row["size"])]
        + [row["methods"][name]["error"]["mean"] for name in names]
        for row in result[key]
    ]
    title = f"Figure 1, {words}: test error, mean of {result['n_splits']} splits"
    short = ("NB", "LR", "R=1", "R=2", "R=2 unnorm.", "tf-idf SVM")
    return _grid(title, ["pair", "documents", *short[: len(names)]], rows)


def _verdict(verdict: Mapping[str, Any]) -> str:
    keys = ("below_naive_bayes", "below_logistic_regression", "lowest_or_within_0.01")
    counts = _grid(
        "Pairs on which R=2 is below NB, below LR, lowest or within 0.01 of it",
        ["documents", "pairs", *keys],
        [[size, v["pairs"], *(v[key] for key in keys)] for size, v in verdict.items()],
    )
    names = next(iter(verdict.values()))["mean_error"]
    means = _grid(
        "Mean test error over the pairs",
        ["method", *verdict],
        [[name, *(v["mean_error"][name] for v in verdict.values())] for name in names],
    )
    return f"{counts}\n\n{means}"


def _calibration(result: Mapping[str, Any]) -> str:
    rows = result["figure_1"]
    sizes = sorted({row["size"] for row in rows})
    names = ("hybrid R=2", "hybrid R=2, plug-in", "naive Bayes", "logistic regression")

    def mean(name: str, figure: str, size: int) -> float:
        found = [r["methods"][name][figure]["mean"] for r in rows if r["size"] == size]
        return float(sum(found) / len(found))

    return "\n\n".join(
        _grid(
            f"Weights fitted leave-one-out or plug-in: {words}, mean over the pairs",
            ["method", *map(str, sizes)],
            [[name, *(mean(name, figure, size) for size in sizes)] for name in names],
        )
        for figure, words in (("log_loss", "test log loss"), ("ece", "ECE"))
    )


def _coverage(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    names = list(rows[0]["methods"])
    return "\n\n".join(
        _grid(
            f"Figure 2: {words}, random halves",
            ["pair", *names],
            [
                [_pair(row), *(row["methods"][n][figure]["mean"] for n in names)]
                for row in rows
            ],
        )
        for figure, words in (
            ("coverage_at_95", "coverage at 95 % accuracy"),
            ("area", "area under accuracy/coverage"),
        )
    )


def _theorem(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    return _grid(
        "Theorem 1: sup over theta of the gap to the true mean log-likelihood",
        ["V", "m", "leave-one-out", "plug-in"],
        [
            [str(r["V"]), str(r["m"]), r["leave_one_out"]["mean"], r["plug_in"]["mean"]]
            for r in rows
        ],
    )


def _twenty(twenty: Mapping[str, Any]) -> str:
    figures = ("accuracy", "log_loss", "ece", "coverage_at_95", "area", "p_against_R2")
    table = _grid(
        f"Twenty newsgroups, by date: {twenty['n_train']:,} training and "
        f"{twenty['n_test']:,} test documents",
        ["method", *figures],
        [
            [name, *(row.get(figure) for figure in figures)]
            for name, row in twenty["methods"].items()
        ],
    )
    return f"{table}\n\n{twenty['methods']['hybrid R=2']['table']}"
