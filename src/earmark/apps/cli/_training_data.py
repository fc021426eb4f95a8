"""Training data: read for the commands, and what a model file keeps about it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.apps.cli._console import status
from earmark.apps.cli._options import labelled_only
from earmark.documents import Documents, read_documents
from earmark.documents.document import Texts, concatenate, fingerprint
from earmark.exceptions import EarmarkWarning

if TYPE_CHECKING:
    from earmark.distributed.trainers import Job


def labelled_and_pool(
    data: str,
    unlabelled: str | None,
    how: dict[str, Any],
    *,
    label: str | None,
    multi_label: bool = False,
    merge_labels: bool = False,
) -> tuple[Documents, Texts | None]:
    """Labelled documents, and the texts of those without a label, or None."""
    how = {"null_text": "empty", **how}
    with status(f"reading {data}"):
        documents, rest = labelled_only(
            read_documents(
                data,
                label=label,
                allow_unlabelled=True,
                multi_label=multi_label,
                merge_labels=merge_labels,
                **how,
            )
        )
        pool = [rest] if len(rest) else []
        if unlabelled is not None:
            # --format is that of DATA.
            how = {**how, "format": None, "label": False}
            pool.append(read_documents(unlabelled, **how))
    if not multi_label:
        ask_about_labels(documents, label)
    plain = [replace(one, labels=None, ids=None, columns={}) for one in pool]
    return documents, concatenate(plain, "").texts if plain else None


def parts_data(source: str, job: Job) -> dict[str, Any]:
    """The same for data that was read in parts: numbers, no fingerprint."""
    counts = job.counts
    assert counts is not None
    return {
        "source": _name(source),
        "labelled": counts.n_labelled,
        "unlabelled": counts.n_unlabelled,
        "classes": dict(sorted(job.classes.items())),
        "bad_parts": len(counts.bad),
    }


def _name(source: str) -> str:
    """The last part of a path: the rest is nobody else's business."""
    return "standard input" if source == "-" else Path(source).name


def training_data(
    source: str, documents: Documents, pool: Any = None
) -> dict[str, Any]:
    """Numbers and fingerprint of the documents; no path and no text."""
    labels = documents.labels or []
    given = [label for label in labels if label is not None]
    counts: Counter[str] = Counter()
    for label in given:
        several = label if isinstance(label, list | tuple) else [label]
        counts.update(map(str, several))
    extra = next(iter(pool.values())) if isinstance(pool, dict) else pool
    return {
        "source": _name(source),
        "labelled": len(given),
        "unlabelled": len(documents) - len(given) + len(extra or ()),
        "classes": dict(sorted(counts.items())),
        "fingerprint": fingerprint(documents),
    }


# So many labels are not suspicious, even if each has one document.
_MANY_LABELS = 20
_MEANS_NONE = {"n/a", "na", "nan", "none", "null", "-", "?", "unknown", "tbd"}


def ask_about_labels(
    documents: Documents, column: str | None, wanted: Sequence[str] | None = None
) -> bool:
    """Ask about labels such as a|b and n/a, and about as many labels as documents.

    Whether they look like the labels of classes at all.
    """
    given = [label for label in documents.labels or () if isinstance(label, str)]
    several = {label for label in given if "|" in label}
    single = set(given) - several
    if any(part in single for label in several for part in label.split("|")):
        _warn(
            f"the label {min(several)!r} is taken as one label; `earmark train "
            "--multi-label` takes it as several."
        )
    others = sorted(set(given) - {*wanted}) if wanted else []
    if others:
        _warn(
            f"--classes does not name {', '.join(others[:5])}: learned as well, since "
            "there are documents with this label."
        )
    none = sorted(label for label in set(given) if label.lower() in _MEANS_NONE)
    if none:
        _warn(
            f"the label {none[0]!r} is taken as a class; if it means that there is no "
            "label, leave the field empty."
        )
    are_many = len(set(given)) > max(_MANY_LABELS, len(given) / 2)
    if are_many:
        named = f"the column {column!r}" if column else "the column of labels"
        _warn(
            f"{named} holds {len(set(given)):,} different labels in {len(given):,} "
            "documents: is it the one that is meant? (--label COL)"
        )
    return not are_many


def _warn(message: str) -> None:
    warnings.warn(message, EarmarkWarning, stacklevel=1)
