"""What is wrong with labelled documents, before anything is learned from them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from earmark.evaluation.result import Result
from earmark.folds import check_equal_length
from earmark.inputs.duplicates import (
    DuplicateGroups,
    duplicates_across,
    group_near_duplicates,
)
from earmark.inputs.labels import (
    as_labels,
    class_list,
    is_multi_label,
    label_column,
)
from earmark.typing import ArrayLike, JsonObject, Label

_TINY = 10
_SHOWN = 5
_ROUGH = "What is measured on so few is rough"


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
    to_learn: bool = True,
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
    to_learn : bool, default=True
        Whether a model is to learn from the documents, or only to be judged on them.

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
    findings = _about(
        "empty", (row for row, t in enumerate(documents) if not t.strip())
    )
    findings += _repeated(documents, near_duplicates, to_learn)
    if labels is not None:
        findings += _labels(documents, labels, to_learn)
    if test is not None:
        findings += _test_part(documents, labels, test, near_duplicates is not False)
    return findings


# Of ``[is|are]`` the first is for one document.
_WORDS = {
    "empty": "{documents} without text{where}.",
    "duplicates": "{documents} ({share:.1f} %) [repeats|repeat] an earlier one word "
    "for word{where}; copies {use} results look surer than they are.",
    "near_duplicates": "{documents} ({share:.1f} %) [is|are] the same as an earlier "
    "one but for a few words{where}; keep copies on one side of every split.",
    "missing_labels": "{documents} without a label{where}: {use}.",
    "conflict": "{documents} [has|have] another label than an earlier one with the "
    "same text{where}.",
    "leak": "{documents} ({share:.1f} %) nearly [repeats|repeat] a training "
    "document{where}: results on copies say little about new documents.",
}


def _about(
    kind: str,
    places: Iterable[int],
    total: int = 1,
    noun: str = "document",
    use: str = "",
) -> list[Finding]:
    """A finding about documents at these places; none if there are none."""
    rows = list(places)
    if not rows:
        return []
    listed = ", ".join(str(row + 1) for row in rows[:_SHOWN])
    more = ", …" if len(rows) > _SHOWN else ""
    one = len(rows) == 1
    words = re.sub(r"\[(\w+)\|(\w+)\]", r"\1" if one else r"\2", _WORDS[kind])
    message = words.format(
        documents=f"{len(rows):,} {noun}{'' if one else 's'}",
        where=f" ({'row' if one else 'rows'} {listed}{more})",
        share=100 * len(rows) / total,
        use=use,
    )
    return [Finding(kind, message, tuple(rows[:100]))]


def _repeated(
    documents: list[str], near: bool | DuplicateGroups, to_learn: bool
) -> list[Finding]:
    first: dict[str, int] = {}
    filled = [(row, text) for row, text in enumerate(documents) if text.strip()]
    again = [row for row, text in filled if first.setdefault(text, row) != row]
    use = "count twice in fitting and make" if to_learn else "make"
    findings = _about("duplicates", again, len(documents), use=use)
    if near:
        groups = group_near_duplicates(documents) if near is True else near
        known = {*groups.first.tolist(), *again}
        rows = (row for row, _ in filled if row not in known)
        findings += _about("near_duplicates", rows, len(documents))
    return findings


def _labels(documents: list[str], labels: ArrayLike, to_learn: bool) -> list[Finding]:
    several, column = is_multi_label(labels), label_column(labels)
    check_equal_length(texts=documents, labels=column)
    missing = (row for row, label in enumerate(column) if label is None)
    use = "usable as unlabelled text" if to_learn else "not judged"
    findings = _about("missing_labels", missing, use=use)
    seen: JsonObject = {}
    findings += _about(
        "conflict",
        (
            row
            for row, (text, label) in enumerate(zip(documents, column, strict=True))
            if text.strip()
            and label is not None
            and seen.setdefault(" ".join(text.split()), label) != label
        ),
    )
    known = [label for label in column if label is not None]
    counts = Counter(itertools.chain(*known) if several else known)
    if to_learn:
        findings += _sorted_by_label(known)
    findings += _class_sizes(counts, len(known), several, to_learn)
    return findings


def _sorted_by_label(known: list[Label]) -> list[Finding]:
    n = len(known)
    shares = np.array(list(Counter(known).values())) / max(n, 1)
    by_chance = (n - 1) * (1 - float((shares**2).sum()))
    changes = sum(a != b for a, b in itertools.pairwise(known))
    if n < 20 or len(shares) < 2 or changes >= 0.1 * by_chance:
        return []
    message = (
        f"The documents are sorted by label (changes in {n:,} documents: "
        f"{changes:,}, where {by_chance:,.0f} would be expected by chance): "
        "shuffle before cutting off a part."
    )
    return [Finding("sorted_by_label", message)]


def _class_sizes(
    counts: Counter[Label], n: int, several: bool, to_learn: bool
) -> list[Finding]:
    noun = "labels" if several else "classes"
    if not counts:
        return [Finding("no_labels", "No document has a label.")]
    if len(counts) == 1 and not several:
        only = next(iter(counts))
        message = f"There is only one class, {only!r}."
        if not to_learn:
            message = f"All documents are labelled {only!r}: no other class is judged."
        return [Finding("one_class", message)]
    findings = []
    tiny = [label for label in class_list(counts) if counts[label] < _TINY]
    if tiny:
        listed = ", ".join(f"{label!r} ({counts[label]})" for label in tiny[:_SHOWN])
        more = f" and {len(tiny) - _SHOWN} more" if len(tiny) > _SHOWN else ""
        message = (
            f"{len(tiny)} of {len(counts)} {noun} "
            f"{'has' if len(tiny) == 1 else 'have'} fewer than {_TINY} documents: "
            f"{listed}{more}. "
            f"{'That is too few to learn from' if to_learn else _ROUGH}."
        )
        findings.append(Finding("tiny_classes", message))
    (most, many), (_, few) = counts.most_common()[0], counts.most_common()[-1]
    if many >= 20 * few or (not several and many >= 0.8 * n):
        message = (
            f"The {noun} are very uneven: {most!r} has {many:,} of {n:,} documents "
            f"({100 * many / n:.0f} %), the smallest {few:,}. Look at the figures of "
            f"all {noun}, not at the accuracy."
        )
        findings.append(Finding("imbalance", message))
    return findings


def _test_part(
    documents: list[str],
    labels: ArrayLike | None,
    test: tuple[Sequence[str], ArrayLike | None],
    near: bool,
) -> list[Finding]:
    texts = ["" if text is None else str(text) for text in test[0]]
    known = set(documents)
    leaks = [row for row, text in enumerate(texts) if text in known]
    if near:
        leaks = [row for row, _ in duplicates_across(documents, texts)]
    rows = (row for row in leaks if texts[row].strip())
    findings = _about("leak", rows, len(texts), "test document")
    if labels is not None and test[1] is not None and not is_multi_label(labels):
        new = set(as_labels(test[1])) - set(as_labels(labels)) - {None}
        if new:
            listed = ", ".join(repr(label) for label in class_list(new)[:_SHOWN])
            message = (
                f"{len(new)} {'label occurs' if len(new) == 1 else 'labels occur'} "
                f"in the test part only ({listed}): no model can predict that."
            )
            findings.append(Finding("unseen_labels", message))
    return findings
