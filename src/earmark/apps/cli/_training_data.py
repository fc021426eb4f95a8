"""What a model was trained on, kept in its file for ``earmark card``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.documents import Documents
from earmark.documents.document import fingerprint

if TYPE_CHECKING:
    from earmark.distributed.job import Job

__all__ = ["parts_data", "training_data"]


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
        "unlabelled": len(labels) - len(given) + len(extra or ()),
        "classes": dict(sorted(counts.items())),
        "fingerprint": fingerprint(documents),
    }
