"""What is wrong with labelled documents, before anything is learned from them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earmark.evaluation.duplicates import (
    DuplicateGroups,
    duplicates_across,
    group_near_duplicates,
)
from earmark.evaluation.labels import (
    as_labels,
    class_list,
    is_multi_label,
    label_column,
)
from earmark.evaluation.result import Result
from earmark.folds import check_equal_length
from earmark.typing import ArrayLike, JsonObject, Label

_TINY = 10
_SHOWN = 5


@dataclass(frozen=True)
class Finding(Result):
    """What was found, for programs and people; messages count rows from 1."""

    kind: str
    message: str
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.message


def check_documents(
    texts: Sequence[str],
    labels: ArrayLike | None = None,
    *,
    test: tuple[Sequence[str], ArrayLike | None] | None = None,
    near_duplicates: bool | DuplicateGroups = True,
) -> list[Finding]:
    """Look for what usually goes wrong with labelled documents.

    Empty texts, missing labels, repeated documents, equal documents with
    different labels, near-duplicates between training and test part, a file
    sorted by label, very uneven classes, classes with few documents, labels that
    occur in the test part only.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    labels : array-like of shape (n_documents,), optional
        One label or a list of labels each; None where a label is missing.
    test : tuple (texts, labels), optional
        A test part to check for leaks.
    near_duplicates : bool or DuplicateGroups, default=True
        Also look for documents that are the same but for a few words; their groups,
        if they are known already.

    Returns
    -------
    list of Finding
        Empty if nothing was found.

    Examples
    --------
    >>> for found in check_documents(["good", "", "good"], ["a", "b", "b"]):
    ...     print(found.kind)
    empty
    duplicates
    conflict
    tiny_classes

    """
    documents = ["" if text is None else str(text) for text in texts]
    if not documents:
        return [Finding("no_documents", "There is no document.")]
    empty = [row for row, text in enumerate(documents) if not text.strip()]
    findings = _about(empty, "empty", "{documents} without text{where}.")
    findings += _repeated(documents, near_duplicates)
    if labels is not None:
        findings += _labels(documents, labels)
    if test is not None:
        findings += _test_part(documents, labels, test, near_duplicates is not False)
    return findings


def _repeated(documents: list[str], near: bool | DuplicateGroups) -> list[Finding]:
    first: dict[str, int] = {}
    again = [
        row
        for row, text in enumerate(documents)
        if text.strip() and first.setdefault(text, row) != row
    ]
    findings = _about(
        again,
        "duplicates",
        "{documents} ({share:.1f} %) [repeats|repeat] an earlier one word for "
        "word{where}; copies count twice in fitting and make results look surer than "
        "they are.",
        len(documents),
    )
    if near:
        groups = group_near_duplicates(documents) if near is True else near
        repeats = np.ones(len(documents), dtype=bool)
        repeats[groups.first] = False
        repeats[again] = False
        findings += _about(
            [row for row in np.flatnonzero(repeats).tolist() if documents[row].strip()],
            "near_duplicates",
            "{documents} ({share:.1f} %) [is|are] the same as an earlier one but for a "
            "few words{where}; keep copies on one side of every split.",
            len(documents),
        )
    return findings


def _labels(documents: list[str], labels: ArrayLike) -> list[Finding]:
    several, column = is_multi_label(labels), label_column(labels)
    check_equal_length(texts=documents, labels=column)
    findings = _about(
        [row for row, label in enumerate(column) if label is None],
        "missing_labels",
        "{documents} without a label{where}: usable as unlabelled text.",
    )
    findings += _conflicts(documents, column)
    known = [label for label in column if label is not None]
    if several:
        counts = Counter(label for labels in known for label in labels)
    else:
        counts = Counter(known)
    findings += _sorted_by_label(known)
    findings += _class_sizes(counts, len(known), several)
    return findings


def _conflicts(documents: list[str], column: list[Label]) -> list[Finding]:
    seen: JsonObject = {}
    rows = [
        row
        for row, (text, label) in enumerate(zip(documents, column, strict=True))
        if text.strip()
        and label is not None
        and seen.setdefault(" ".join(text.split()), label) != label
    ]
    words = (
        "{documents} [has|have] another label than an earlier one with the same text"
    )
    return _about(rows, "conflict", f"{words}{{where}}.")


def _sorted_by_label(known: list[Label]) -> list[Finding]:
    n = len(known)
    shares = np.array(list(Counter(known).values())) / max(n, 1)
    by_chance = (n - 1) * (1 - float((shares**2).sum()))
    changes = sum(a != b for a, b in itertools.pairwise(known))
    if n < 20 or len(shares) < 2 or changes >= 0.1 * by_chance:
        return []
    return [
        Finding(
            "sorted_by_label",
            f"The documents are sorted by label (changes in {n:,} documents: "
            f"{changes:,}, where {by_chance:,.0f} would be expected by chance): "
            "shuffle before cutting off a part.",
        )
    ]


def _class_sizes(counts: Counter[Label], n: int, several: bool) -> list[Finding]:
    noun = "labels" if several else "classes"
    if not counts:
        return [Finding("no_labels", "No document has a label.")]
    if len(counts) == 1 and not several:
        only = next(iter(counts))
        return [Finding("one_class", f"There is only one class, {only!r}.")]
    findings = []
    tiny = [label for label in class_list(counts) if counts[label] < _TINY]
    if tiny:
        listed = ", ".join(f"{label!r} ({counts[label]})" for label in tiny[:_SHOWN])
        more = f" and {len(tiny) - _SHOWN} more" if len(tiny) > _SHOWN else ""
        findings.append(
            Finding(
                "tiny_classes",
                f"{len(tiny)} of {len(counts)} {noun} "
                f"{'has' if len(tiny) == 1 else 'have'} fewer than {_TINY} documents: "
                f"{listed}{more}. That is too few to learn from.",
            )
        )
    (most, many), (_, few) = counts.most_common()[0], counts.most_common()[-1]
    if many >= 20 * few or (not several and many >= 0.8 * n):
        findings.append(
            Finding(
                "imbalance",
                f"The {noun} are very uneven: {most!r} has {many:,} of {n:,} "
                f"documents ({100 * many / n:.0f} %), the smallest {few:,}. Look at "
                f"the figures of all {noun}, not at the accuracy.",
            )
        )
    return findings


def _test_part(
    documents: list[str],
    labels: ArrayLike | None,
    test: tuple[Sequence[str], ArrayLike | None],
    near: bool,
) -> list[Finding]:
    texts = ["" if text is None else str(text) for text in test[0]]
    if near:
        leaks = duplicates_across(documents, texts)
    else:
        known = {text: row for row, text in enumerate(documents)}
        leaks = [(row, known[text]) for row, text in enumerate(texts) if text in known]
    findings = _about(
        [row for row, _ in leaks if texts[row].strip()],
        "leak",
        "{documents} ({share:.1f} %) nearly [repeats|repeat] a training "
        "document{where}: results on copies say little about new documents.",
        len(texts),
        "test document",
    )
    if labels is not None and test[1] is not None and not is_multi_label(labels):
        new = set(as_labels(test[1])) - set(as_labels(labels)) - {None}
        if new:
            listed = ", ".join(repr(label) for label in class_list(new)[:_SHOWN])
            findings.append(
                Finding(
                    "unseen_labels",
                    f"{len(new)} {'label occurs' if len(new) == 1 else 'labels occur'} "
                    f"in the test part only ({listed}): no model can predict that.",
                )
            )
    return findings


def _about(
    rows: Sequence[int], kind: str, words: str, total: int = 1, noun: str = "document"
) -> list[Finding]:
    """What ``words`` say of some documents; of ``[is|are]`` the first is for one."""
    if not rows:
        return []
    listed = ", ".join(str(row + 1) for row in rows[:_SHOWN])
    more = ", …" if len(rows) > _SHOWN else ""
    one = len(rows) == 1
    words = re.sub(r"\[(\w+)\|(\w+)\]", r"\1" if one else r"\2", words)
    message = words.format(
        documents=f"{len(rows):,} {noun}{'' if one else 's'}",
        where=f" ({'row' if one else 'rows'} {listed}{more})",
        share=100 * len(rows) / total,
    )
    return [Finding(kind, message, tuple(rows[:100]))]
