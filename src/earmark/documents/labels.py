"""What a look at the labels alone shows: spellings, too many of them."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from earmark.documents.document import Documents
from earmark.documents.table import listed
from earmark.exceptions import EarmarkWarning, Try
from earmark.typing import LabelsLike

__all__ = [
    "each_label",
    "label_key",
    "merge_with",
    "merged_labels",
    "similar_labels",
    "warn_about_labels",
]

# Fewer documents may have their label as text by chance.
_FEWEST = 10


def similar_labels(labels: Iterable[LabelsLike]) -> list[list[str]]:
    """Labels that differ only by case, blanks or a final .0: groups, by frequency.

    Parameters
    ----------
    labels : iterable
        Labels of documents; sets of labels count each of them, None is passed over.

    Returns
    -------
    groups : list of list of str
        Each of at least two spellings.

    Examples
    --------
    >>> similar_labels(["pos", "Pos ", "pos", "neg"])
    [['pos', 'Pos ']]

    """
    counts = Counter(label for label in each_label(labels) if isinstance(label, str))
    groups: dict[str, list[str]] = {}
    for label in sorted(counts, key=lambda name: (-counts[name], name)):
        groups.setdefault(label_key(label), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def merged_labels(
    labels: Sequence[LabelsLike] | None, known: Iterable[LabelsLike] = ()
) -> list[Any] | None:
    """The labels with each group of ``similar_labels`` in its most frequent spelling.

    Spellings that are ``known``, such as the classes of a model, come first.

    Examples
    --------
    >>> merged_labels(["pos", "Pos ", "pos", None])
    ['pos', 'pos', 'pos', None]

    """
    if labels is None:
        return None
    named = (label for label in each_label(known) if isinstance(label, str))
    fixed = {label_key(label): label for label in named}
    best = {
        spelling: fixed.get(label_key(spelling), group[0].strip())
        for group in similar_labels([*labels, *fixed.values()])
        for spelling in group
    }

    def merged(label: Any) -> Any:
        if isinstance(label, list | tuple):
            return list(dict.fromkeys(best.get(one, one) for one in label))
        return best.get(label, label)

    return [merged(label) for label in labels]


def merge_with(documents: Documents, known: Iterable[LabelsLike]) -> Documents:
    """The documents with their labels in the spelling of those that are known."""
    return replace(documents, labels=merged_labels(documents.labels, known))


def warn_about_labels(documents: Documents) -> None:
    """Point out spellings that look alike, and a text column that is the labels."""
    if documents.labels is None:
        return
    source = documents.source or "the documents"
    groups = similar_labels(documents.labels)
    if groups:
        alike = "; ".join(map(listed, groups[:3]))
        warnings.warn(
            EarmarkWarning(
                f"{source}: the labels {alike} differ only by case, blanks or a final "
                ".0 and are taken as they stand",
                Try("", " takes those that are alike as one", merge_labels=True),
            ),
            stacklevel=3,
        )
    texts = documents.texts
    columns = texts if isinstance(texts, dict) else {"text": texts}
    for name, column in columns.items():
        if len(documents) >= _FEWEST and list(column) == list(documents.labels):
            warnings.warn(
                EarmarkWarning(
                    f"{source}: the text column {name!r} holds the labels themselves, "
                    "so every answer would look right",
                    Try("name another column with", text=...),
                ),
                stacklevel=3,
            )


def each_label(labels: Iterable[LabelsLike]) -> Iterable[Any]:
    """Every label, those of sets of labels one by one; None is passed over."""
    for label in labels:
        if isinstance(label, list | tuple | set | frozenset):
            yield from label
        elif label is not None:
            yield label


def label_key(label: object) -> str:
    """What labels that are alike have in common; spreadsheets write 1 as 1.0."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", " ".join(str(label).casefold().split()))
