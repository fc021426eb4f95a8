"""What mistakes cost, and the answers that cost least.

With probabilities p of the classes z, the answer a costs sum_z p_z C[z, a] on average.
Least-cost decisions take the cheapest answer (Elkan 2001), which may be none: leave the
document to a person. A class c is surely the cheapest answer if it is cheaper than
every other answer a wherever the rest of the probability lies, that is if
p_c (C[c, a] - C[c, c]) >= (1 - p_c) max_z (C[z, c] - C[z, a]); with two classes this is
the threshold itself.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.evaluation.result import Result
from earmark.exceptions import DataError
from earmark.inputs.labels import all_known, as_labels, as_probabilities
from earmark.typing import ArrayLike, FloatMatrix, Label, MatrixLike

__all__ = ["CostMatrix", "Costs"]

NO_ANSWER = "no answer"
_ORDINARY = 1.0
_SAME = 1e-9  # relative difference of costs that are the same but for rounding
_NORMAL_95 = 1.959964


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """What each answer costs to a document of each class.

    Parameters
    ----------
    costs : mapping of label to mapping of answer to float
        By true label, then by answer; None is "no answer". Right answers that are not
        named cost 0, everything else that is not named costs 1. If None is nowhere
        named, every document is answered.

    Examples
    --------
    >>> costs = CostMatrix({"ham": {"spam": 10}, "spam": {"ham": 1}})
    >>> costs.decide([[0.2, 0.8], [0.05, 0.95]], ["ham", "spam"])
    ['ham', 'spam']
    >>> costs.thresholds(["ham", "spam"])
    {'ham': 0.09090909090909091, 'spam': 0.9090909090909091}

    """

    costs: Mapping[Label, Mapping[Label | None, float]]

    def __post_init__(self) -> None:
        for label, answers in self.costs.items():
            for answer, cost in answers.items():
                if not 0 <= cost < np.inf:
                    raise DataError(
                        f"the cost of answering {answer!r} to {label!r} must be a "
                        f"number of at least 0, got {cost!r}."
                    )

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> CostMatrix:
        """A cost matrix from a file: a row per true label, a column per answer.

        The first column holds the labels. A column "no answer" is what it costs to
        leave a document to a person. Empty cells are 0 for right answers, 1 for others.
        With semicolons between cells, 0,5 is a half.
        """
        from earmark.documents.formats.csv import delimiter_of  # files: at use only

        place = os.fspath(path)
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [line for line in file if line.strip()]
        mark = delimiter_of(lines[0], '"') if lines else ","
        table = csv.reader(lines, delimiter=mark)
        rows = [row for row in table if "".join(row).strip()]
        if len(rows) < 2 or len(rows[0]) < 2:
            raise DataError(
                f"{place}: expected a column with the true labels and a column per "
                "answer, with a header and a row per label."
            )
        answers = [_answer(cell) for cell in rows[0][1:]]
        for answer in answers:
            if answers.count(answer) > 1:
                raise DataError(
                    f"{place}: the column {answer or NO_ANSWER!r} comes twice."
                )
        costs: dict[Label, dict[Label | None, float]] = {}
        for number, (label, *cells) in enumerate(rows[1:], 1):
            here, label = f"{place}, row {number}", label.strip()
            if label in costs:
                raise DataError(f"{here}: the label {label!r} comes twice.")
            if len(cells) > len(answers):
                raise DataError(f"{here}: expected no more cells than the header has.")
            costs[label] = {
                answer: _number(cell, mark, here, answer or NO_ANSWER)
                for answer, cell in zip(answers, cells, strict=False)
                if cell.strip()
            }
        return cls(costs)

    @property
    def may_leave(self) -> bool:
        """Whether it says what no answer costs."""
        return any(None in answers for answers in self.costs.values())

    def cost(self, true: Label, answer: Label | None) -> float:
        """Of one answer."""
        known = self.costs.get(true, {}).get(answer)
        if known is None:
            return 0.0 if answer == true else _ORDINARY
        return float(known)

    def decide(self, proba: MatrixLike, classes: ArrayLike) -> list[Label | None]:
        """The answer with the least expected cost for each document."""
        names = self._checked(classes)
        answers = self._answers(names)
        expected = self.expected(proba, classes)
        least = expected.min(axis=1, keepdims=True)
        # Of answers that cost the same the most probable; to give none comes last.
        likely = np.full(expected.shape, -1.0)
        likely[:, : len(names)] = as_probabilities(proba, len(names))
        likely[expected > least * (1 + _SAME)] = -2.0
        cheapest = likely.argmax(axis=1)
        return [answers[place] for place in cheapest.tolist()]

    def expected(self, proba: MatrixLike, classes: ArrayLike) -> FloatMatrix:
        """Expected cost of each answer: the classes, then none if it has a cost."""
        names = self._checked(classes)
        matrix = as_probabilities(proba, len(names))
        expected: FloatMatrix = matrix @ self._table(names)
        return expected

    def thresholds(self, classes: ArrayLike) -> dict[Label, float | None]:
        """The probability from which on a class is the cheapest answer in any case.

        None where a class is never surely the cheapest.
        """
        names = self._checked(classes)
        table = self._table(names)
        lowest: dict[Label, float | None] = {}
        for place, name in enumerate(names):
            dearer = table[:, [place]] - np.delete(table, place, axis=1)
            gain = -dearer[place]
            loss = np.delete(dearer, place, axis=0).max(axis=0, initial=0.0)
            loss = np.maximum(loss, 0.0)
            if (gain < 0).any() or ((gain == 0) & (loss > 0)).any():
                lowest[name] = None
                continue
            share = np.divide(loss, loss + gain, np.zeros(len(loss)), where=loss > 0)
            lowest[name] = float(share.max(initial=0.0))
        return lowest

    def _answers(self, names: Sequence[Label]) -> list[Label | None]:
        return [*names, None] if self.may_leave else [*names]

    def _table(self, names: Sequence[Label]) -> FloatMatrix:
        answers = self._answers(names)
        return np.array([[self.cost(true, a) for a in answers] for true in names])

    def _checked(self, classes: ArrayLike) -> list[Label]:
        """The classes, if every label of the matrix is one of them."""
        names = as_labels(classes)
        named = {*self.costs} | {a for row in self.costs.values() for a in row}
        unknown = sorted(map(str, named - {*names, None}))
        if unknown:
            raise DataError(
                f"the costs name {', '.join(unknown)}, which the model does not know; "
                f"its classes are {', '.join(map(str, names))}."
            )
        return names


def _answer(cell: str) -> str | None:
    """The answer that heads a column; None is "no answer", in any case."""
    name = cell.strip()
    return None if name.casefold() == NO_ANSWER else name


def _number(cell: str, mark: str, place: str, answer: str) -> float:
    try:
        cost = float(cell.replace(",", ".") if mark == ";" else cell)
    except ValueError:
        cost = -1.0
    if not 0 <= cost < np.inf:
        raise DataError(
            f"{place}, {answer!r}: expected a cost, a number of at least 0; got "
            f"{cell.strip()!r}."
        )
    return cost


@dataclass(frozen=True, eq=False)
class Costs(Result):
    """Cost per judged document: of the answers, and of least-cost decisions instead."""

    plain: float
    least: float
    expected: float  # of the least-cost decisions, by the stated probabilities
    interval: tuple[float, float] | None  # of least less plain, at 95 %
    n_documents: int
    n_changed: int
    per_class: tuple[tuple[Label | None, float | None, int, int], ...]
    """Answer, threshold, how often it is given, and how often by least cost."""

    @property
    def difference(self) -> float:
        """Below 0 where least-cost decisions save."""
        return self.least - self.plain

    @property
    def saves(self) -> bool:
        """Whether they surely cost less."""
        return self.interval is not None and self.interval[1] < 0

    @property
    def sentence(self) -> str:
        """Both costs in words."""
        surely = ""
        if self.interval is not None:
            low, high = self.interval
            surely = f"95 % interval {low:+.3g} to {high:+.3g}; "
        return (
            f"By your costs, these answers cost {self.plain:.3g} per document; the "
            f"answers of least expected cost would cost {self.least:.3g} (difference "
            f"{self.difference:+.3g}{', ' if surely else '; '}{surely}"
            f"{self.n_changed:,} of {self.n_documents:,} answers change)."
        )

    @classmethod
    def of(
        cls,
        matrix: CostMatrix,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        proba: MatrixLike,
        classes: ArrayLike,
    ) -> Costs:
        """Measure the costs of answers, and of least-cost decisions, on documents."""
        answers: list[Any] = as_labels(y_pred)
        truth = all_known(as_labels(y_true), y_pred=answers, proba=proba)
        if None in answers and not matrix.may_leave:
            raise DataError(
                "some documents got no answer, and the costs do not say what that "
                f"costs; add a column {NO_ANSWER!r}, in Python the key None."
            )
        cheap = matrix.decide(proba, classes)
        known = matrix.thresholds(classes)
        plain, least = (
            np.array([matrix.cost(t, a) for t, a in zip(truth, said, strict=True)])
            for said in (answers, cheap)
        )
        saved, n = least - plain, len(truth)
        interval = None
        if n > 1:
            half = _NORMAL_95 * float(saved.std(ddof=1)) / n**0.5
            interval = float(saved.mean()) - half, float(saved.mean()) + half
        named: list[Label | None] = [*known, None] if matrix.may_leave else [*known]
        return cls(
            float(plain.mean()),
            float(least.mean()),
            float(matrix.expected(proba, classes).min(axis=1).mean()),
            interval,
            n,
            sum(a != b for a, b in zip(answers, cheap, strict=True)),
            tuple(
                (
                    name,
                    None if name is None else known[name],
                    answers.count(name),
                    cheap.count(name),
                )
                for name in named
            ),
        )
