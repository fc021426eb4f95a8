"""What a model was trained on, kept in its file for ``earmark card``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from earmark.documents import Documents
from earmark.documents._fingerprint import fingerprint

__all__ = ["training_data"]


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
        "source": "standard input" if source == "-" else Path(source).name,
        "labelled": len(given),
        "unlabelled": len(labels) - len(given) + len(extra or ()),
        "classes": dict(sorted(counts.items())),
        "fingerprint": fingerprint(documents),
    }
