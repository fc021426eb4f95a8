"""Where a model fails: slices of the documents that it misreads more often.

A slice is the documents with one value of a column, with a number or date between two
quantiles, without a value, of one label or length, or with one word. Each is compared
with the rest by Fisher's exact test, one-sided, and Holm's correction over all slices
of the family: with probability ``level`` no slice is listed that only chance made bad.
Slices overlap; so a slice is listed only if it is also bad outside those listed before.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import takewhile
from typing import Any, overload

import numpy as np
from scipy import sparse

from earmark.evaluation.result import Result
from earmark.evaluation.significance import (
    fisher_more,
    groups_with_more,
    wilson_interval,
)
from earmark.features import WordCounter
from earmark.features.tokens import WORD_PATTERN
from earmark.folds import check_equal_length
from earmark.inputs.duplicates import DuplicateGroups
from earmark.inputs.labels import all_known, label_column, plain, right_answers
from earmark.missing import is_missing
from earmark.typing import ArrayLike, BoolVector, IntVector, JsonObject

__all__ = ["Slice", "Slices", "error_slices", "error_words", "without_ids"]

_FEWEST = 5  # documents of a slice
_MOST_VALUES = 100  # slices of a column, the largest
_FEW_VALUES = 12  # so many numbers or dates need no cutting
_CUTS = (0.2, 0.4, 0.6, 0.8)
_MOST_WORDS = 20
LABEL, LENGTH, WORD = _OWN = "label", "length", "word"
# Column, value, and whether it is a range.
_Name = tuple[str, str | None, bool]


@dataclass(frozen=True, eq=False)
class Slice(Result):
    """Documents with something in common, and how often they are misread."""

    column: str
    value: str | None  # None: the column says nothing of them
    is_range: bool
    n_documents: int
    n_wrong: int
    n_rest: int
    n_rest_wrong: int
    p_value: float  # after Holm's correction
    rows: IntVector = field(repr=False)  # its wrong answers

    @property
    def accuracy(self) -> float:
        """Share of its answers that are right."""
        return 1 - self.n_wrong / self.n_documents

    @property
    def interval(self) -> tuple[float, float]:
        """Of its accuracy, at 95 %."""
        return wilson_interval(self.n_documents - self.n_wrong, self.n_documents)

    @property
    def rest(self) -> float:
        """Accuracy of the other documents."""
        return 1 - self.n_rest_wrong / self.n_rest

    @property
    def difference(self) -> float:
        """Its accuracy less that of the rest."""
        return self.accuracy - self.rest

    @property
    def excess(self) -> int:
        """How many more of its answers are wrong than if it were like the rest."""
        return max(0, round(-self.difference * self.n_documents))

    @property
    def name(self) -> str:
        """Column and value in words."""
        if self.value is None:
            return f"{self.column} missing"
        return f"{self.column} {'' if self.is_range else '= '}{self.value}"

    @property
    def times(self) -> str:
        """How many times as often as the rest it is misread, in words."""
        if not self.n_rest_wrong:
            return "misread, and no others are"
        ratio = (1 - self.accuracy) / (1 - self.rest)
        rounded = f"{ratio:.0f}" if ratio >= 3 else f"{ratio:.1f}"
        return f"misread {rounded} times as often"

    def __str__(self) -> str:
        who = f"Documents with {self.name}"
        if self.column == WORD:
            who = f"Documents with “{self.value}”"
        elif self.column == LABEL:
            who = f"Documents of “{self.value}”"
        return (
            f"{who} are {self.times} ({self.n_wrong:,} of {self.n_documents:,} against "
            f"{100 * (1 - self.rest):.1f} %)"
        )

    def to_dict(self) -> JsonObject:
        """Plain values for JSON; of its documents the number only."""
        content = super().to_dict()
        del content["rows"]
        figures = ("accuracy", "interval", "rest", "difference")
        return content | {name: getattr(self, name) for name in figures}


@dataclass(frozen=True, eq=False)
class Slices(Sequence[Slice], Result):
    """The slices that are misread more often than the rest, the surest first."""

    slices: tuple[Slice, ...]
    n_tested: int
    level: float

    def __len__(self) -> int:
        return len(self.slices)

    @overload
    def __getitem__(self, index: int) -> Slice: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Slice]: ...
    def __getitem__(self, index: int | slice) -> Slice | Sequence[Slice]:
        return self.slices[index]

    def __str__(self) -> str:
        tested = f"{self.n_tested:,} tested, Holm's correction"
        if not self:
            return f"None is misread more often than the rest ({tested})."
        return "\n".join([*(f"{one}." for one in self), f"({tested})"])


def error_slices(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    columns: Mapping[str, Iterable[Any]] | None = None,
    *,
    texts: Sequence[str] | None = None,
    copies: DuplicateGroups | None = None,
    level: float = 0.99,
) -> Slices:
    """Find the slices of the documents that are misread more often than the rest.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_documents,)
        True and predicted labels, or label lists, which are right if all of them are.
        Documents without an answer (None) are left out.
    columns : mapping of str to sequence, optional
        What else is known of the documents: one entry per document. Columns of
        numbers or dates with many values are cut at quantiles; of other columns the
        values of at least five documents are slices. A missing value is a slice too.
    texts : sequence of str, optional
        The documents, for slices by length in characters.
    copies : DuplicateGroups, optional
        Copies count once, such as ``group_near_duplicates(texts)``: otherwise one
        misread text could make a slice.
    level : float, default=0.99
        The probability that no slice is listed by chance.

    Returns
    -------
    Slices
        A sequence, the smallest p-value first; with the number of slices tested. The
        slices by label and length have the columns "label" and "length"; a column of
        yours with such a name is "column label".

    Examples
    --------
    >>> y = ["a", "b"] * 40
    >>> z = ["b"] * 20 + y[20:]
    >>> source = ["shop"] * 20 + ["mail"] * 60
    >>> print(error_slices(y, z, {"source": source})[0])
    Documents with source = shop are misread, and no others are (10 of 20 against 0.0 %)

    """
    judged = _Judged.of(y_true, y_pred, copies, texts)
    known = {
        name if name not in _OWN else f"column {name}": [*values]
        for name, values in (columns or {}).items()
    }
    for name, values in known.items():
        check_equal_length(**{"y_true": judged.truth, f"columns[{name!r}]": values})
    if not any(isinstance(label, frozenset) for label in judged.truth):
        known[LABEL] = judged.truth
    parts: list[tuple[_Name, IntVector]] = [
        ((name, value, is_range), rows)
        for name, values in known.items()
        for value, is_range, rows in _parts(
            judged.of_column(values), may_cut=name != LABEL
        )
    ]
    if texts is not None:
        lengths = np.array([len(text) for text in judged.of_column(texts)])
        cut = _between(lengths, np.arange(len(lengths)), "{:,}".format)
        parts += [
            ((LENGTH, f"{value} characters", True), rows) for value, _, rows in cut
        ]
    ends = np.cumsum([0, *(len(rows) for _, rows in parts)])
    places = np.concatenate([np.zeros(0, np.int64), *(rows for _, rows in parts)])
    shape = len(judged.rows), len(parts)
    members = sparse.csc_array((np.ones(len(places)), places, ends), shape)
    return _listed(lambda place: parts[place][0], members, judged, level)


def error_words(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    texts: Sequence[str],
    *,
    copies: DuplicateGroups | None = None,
    level: float = 0.99,
) -> Slices:
    """Find the words whose documents are misread more often than the others.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_documents,)
        As in ``error_slices``.
    texts : sequence of str
        The documents. A word counts once per document, in lower case.
    copies : DuplicateGroups, optional
        Copies count once.
    level : float, default=0.99
        The probability that no word is listed by chance.

    Returns
    -------
    Slices
        At most 20 words, the smallest p-value first. Words of fewer than five
        documents are not tested.

    Examples
    --------
    >>> texts = ["wanted flat"] * 20 + ["flat for rent"] * 60
    >>> words = error_words(["a"] * 80, ["b"] * 15 + ["a"] * 65, texts)
    >>> print(words[0])
    Documents with “wanted” are misread, and no others are (15 of 20 against 0.0 %)

    """
    judged = _Judged.of(y_true, y_pred, copies, texts)
    some = judged.of_column(texts)
    has_words = any(re.search(WORD_PATTERN, text) for text in some)
    if not judged.wrong.any() or not has_words:
        return Slices((), 0, level)
    counter = WordCounter(binary=True)
    members = sparse.csc_array(counter.fit_transform(some))
    names = counter.get_feature_names_out()
    words = _listed(
        lambda word: (WORD, str(names[word]), False), members, judged, level
    )
    return Slices(words.slices[:_MOST_WORDS], words.n_tested, level)


def without_ids(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The columns but those that number the documents or name each of them.

    Examples
    --------
    >>> columns = {"id": [*range(20)], "day": ["mon", "tue"] * 10}
    >>> list(without_ids(columns))
    ['day']

    """
    return {name: values for name, values in columns.items() if not _is_id([*values])}


@dataclass(frozen=True, eq=False)
class _Judged:
    """Which documents got an answer, copies counted once, and which are misread."""

    truth: list[Any]
    rows: IntVector
    wrong: BoolVector

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        copies: DuplicateGroups | None,
        texts: Sequence[str] | None,
    ) -> _Judged:
        answers = label_column(y_pred)
        truth = all_known(label_column(y_true), y_pred=answers, texts=texts)
        rows = np.arange(len(truth)) if copies is None else copies.first
        rows = np.array([row for row in rows if answers[row] is not None], np.int64)
        return cls(truth, rows, ~right_answers(truth, answers)[rows])

    def of_column(self, values: Sequence[Any]) -> list[Any]:
        """The entries of the documents that count."""
        return [values[row] for row in self.rows.tolist()]


def _listed(
    name: Callable[[int], _Name],
    members: Any,
    judged: _Judged,
    level: float,
) -> Slices:
    """Test all columns of a matrix; list those that say more than those before."""
    wrong, n = judged.wrong, len(judged.rows)
    n_wrong, every = int(wrong.sum()), np.diff(members.indptr)
    hits = np.rint(members.T @ wrong.astype(np.float64)).astype(np.int64)
    some = np.flatnonzero((every >= _FEWEST) & (every <= n - _FEWEST))
    adjusted, n_tested = groups_with_more(hits[some], every[some], n_wrong, n, level)
    order = np.lexsort((-hits[some], adjusted))
    slices, free = [], np.ones(n, bool)
    for place in order[adjusted[order] < 1 - level].tolist():
        column = int(some[place])
        rows = members.indices[members.indptr[column] : members.indptr[column + 1]]
        outside = rows[free[rows]]
        again = fisher_more(
            [wrong[outside].sum()],
            [len(outside)],
            int(wrong[free].sum()),
            int(free.sum()),
        )
        if again[0] >= 1 - level:
            continue
        free[rows] = False
        n_here, size = int(hits[column]), len(rows)
        slices.append(
            Slice(
                *name(column),
                *(size, n_here, n - size, n_wrong - n_here),
                float(adjusted[place]),
                judged.rows[rows[wrong[rows]]],
            )
        )
    return Slices(tuple(slices), n_tested, level)


# -- columns cut into slices -------------------------------------------------------


def _parts(
    values: list[Any], *, may_cut: bool
) -> Iterator[tuple[str | None, bool, IntVector]]:
    """The slices of a column, each with its documents."""
    is_blank = [is_missing(v) or (isinstance(v, str) and not v.strip()) for v in values]
    known = np.flatnonzero(~np.array(is_blank, bool))
    if len(known) < len(values):
        yield None, False, np.flatnonzero(np.array(is_blank, bool))
    some = [plain(values[row]) for row in known.tolist()]
    if may_cut and len(set(map(str, some))) > _FEW_VALUES:
        for read, words in ((_number, _number_words), (_seconds, _day)):
            scale = [*takewhile(lambda point: point is not None, map(read, some))]
            if len(scale) == len(some):
                yield from _between(np.array(scale, np.float64), known, words)
                return
    by_value: dict[str, list[int]] = {}
    for row, value in zip(known.tolist(), some, strict=True):
        by_value.setdefault(str(value).strip(), []).append(row)
    large = sorted(by_value.items(), key=lambda item: -len(item[1]))[:_MOST_VALUES]
    for value, rows in large:
        yield value, False, np.array(rows)


def _between(
    scale: ArrayLike, rows: IntVector, words: Callable[[float], str]
) -> Iterator[tuple[str | None, bool, IntVector]]:
    """Documents between quantiles of what they measure, named by their ends."""
    values = np.asarray(scale)
    if not len(values):
        return
    edges = np.unique(np.quantile(values, _CUTS, method="higher"))
    part = np.searchsorted(edges, values, "right")
    for number in np.unique(part):
        inside = values[part == number]
        low, high = (words(end) for end in (inside.min(), inside.max()))
        words_of_both = low if low == high else f"{low} to {high}"
        yield words_of_both, True, rows[part == number]


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None


def _number_words(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _seconds(value: Any) -> float | None:
    """A day or time as seconds; None for anything else."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    for read in (datetime.datetime.fromisoformat, parsedate_to_datetime):
        if isinstance(value, str):
            try:
                value = read(value.strip())
            except (TypeError, ValueError):
                continue
    if not isinstance(value, datetime.datetime):
        return None
    return value.replace(tzinfo=value.tzinfo or datetime.UTC).timestamp()


def _day(seconds: float) -> str:
    return f"{datetime.datetime.fromtimestamp(seconds, datetime.UTC):%Y-%m-%d}"


def _is_id(values: list[Any]) -> bool:
    """Whether nearly all values differ and none is a fraction or a date."""
    known = [plain(value) for value in values if not is_missing(value)]
    if len(set(map(str, known))) <= 0.9 * len(known):
        return False
    numbers = [_number(value) for value in known]
    if not any(number is None for number in numbers):
        return all(float(number or 0).is_integer() for number in numbers)
    return any(_seconds(value) is None for value in known)
