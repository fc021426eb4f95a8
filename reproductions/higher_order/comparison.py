"""From accuracies to means, paired tests and the paper's statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from earmark.typing import BoolVector, IntVector
from reproductions.higher_order.published import (
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    printed,
)
from reproductions.study import documents_p_value, mean_and_error, paired_p_value

__all__ = [
    "TESTS",
    "Answers",
    "agreement",
    "averages",
    "comparison",
    "improvements",
    "means",
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


@dataclass
class Answers:
    """Which test documents of a data set each method has right, trial by trial."""

    documents: list[IntVector] = field(default_factory=list)
    right: dict[str, list[BoolVector]] = field(default_factory=dict)

    def accuracies(self, method: str) -> list[float]:
        """Accuracy of each trial."""
        return [float(each.mean()) for each in self.right[method]]

    def tested(self, ours: str, theirs: str) -> dict[str, Any]:
        """Mean difference, and two tests of it.

        ``p`` is the paper's paired t test over the trials: what varies is which
        documents train. ``p over documents`` takes every document's mean over the
        trials that test it: what varies is which documents are tested.
        """
        a, b = self.accuracies(ours), self.accuracies(theirs)
        return {
            "difference": sum(a) / len(a) - sum(b) / len(b),
            "p": paired_p_value(a, b),
            "p over documents": documents_p_value(
                self.right[ours], self.right[theirs], self.documents
            ),
        }


def summary(answers: Mapping[str, Answers]) -> dict[str, Any]:
    """Mean, spread and the paper's figure of each method on each data set.

    With the tests against other methods that ``TESTS`` names.
    """
    return {
        name: {
            method: {
                **mean_and_error(mine.accuracies(method)),
                "paper": printed(name, method),
                "trials": mine.accuracies(method),
                "tests": {
                    theirs: mine.tested(ours, theirs)
                    for ours, theirs in TESTS
                    if ours == method and theirs in mine.right
                },
            }
            for method in mine.right
        }
        for name, mine in answers.items()
    }


def means(answers: Mapping[str, Answers]) -> dict[str, Any]:
    """Mean and spread of each method on each data set."""
    return {
        name: {method: mean_and_error(mine.accuracies(method)) for method in mine.right}
        for name, mine in answers.items()
    }


def comparison(
    table: Mapping[str, Any], pairs: Iterable[tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """The tests of "A - B" on each data set of a summary."""
    return {
        f"{ours} - {theirs}": {
            name: rows[ours]["tests"][theirs] for name, rows in table.items()
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
