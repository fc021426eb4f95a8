"""A small corpus that comes with the package: messages to a shop's support."""

from __future__ import annotations

import csv
from importlib import resources
from pathlib import Path

from earmark.documents.document import Documents

__all__ = ["support_corpus", "write_support_corpus"]

_N_TRAIN = 120


def support_corpus() -> Documents:
    """180 short messages to a shop, each about billing, delivery, returns or account.

    Written for this package, in a fixed mixed order. Small enough to read, hard
    enough to be wrong about: the examples of the documentation use it.

    Examples
    --------
    >>> corpus = support_corpus()
    >>> len(corpus), sorted(set(corpus.labels))
    (180, ['account', 'billing', 'delivery', 'returns'])

    """
    _, *rows = _rows()
    return Documents(
        [text for text, _ in rows],
        [topic for _, topic in rows],
        rows=range(1, len(rows) + 1),
        source="support",
    )


def write_support_corpus(folder: Path) -> list[Path]:
    """Write ``train.csv`` (120 messages) and ``test.csv`` (60) into a folder."""
    head, *rows = _rows()
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"train.csv": rows[:_N_TRAIN], "test.csv": rows[_N_TRAIN:]}
    paths = []
    for name, part in parts.items():
        path = folder / name
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *part])
        paths.append(path)
    return paths


def _rows() -> list[list[str]]:
    file = resources.files("earmark.documents") / "support.csv"
    return list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
