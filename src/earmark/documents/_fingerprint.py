"""One number for a set of labelled documents, whatever their order and sharding."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from earmark.documents.document import Documents

__all__ = ["fingerprint"]

_MODULUS = 1 << 256


def fingerprint(documents: Documents) -> str:
    """Sum of the documents' SHA-256 sums, as 64 hexadecimal digits.

    Equal documents with equal labels give equal fingerprints in any order, and the
    fingerprints of shards add up. Regions and labels are part of a document; ids, row
    numbers and further columns are not.

    Examples
    --------
    >>> one = Documents(["good", "bad"], labels=["pos", "neg"])
    >>> two = Documents(["bad", "good"], labels=["neg", "pos"])
    >>> fingerprint(one) == fingerprint(two)
    True

    """
    texts = documents.texts
    regions = texts if isinstance(texts, dict) else {"": texts}
    names = sorted(regions)
    columns = [regions[name] for name in names]
    labels = documents.labels or [None] * len(documents)
    total = 0
    for label, *parts in zip(labels, *columns, strict=True):
        digest = sha256()
        for piece in (_label(label), *names, *parts):
            data = piece.encode("utf-8", "surrogatepass")
            # Lengths first, so that no two documents give the same bytes.
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
        total += int.from_bytes(digest.digest(), "little")
    return f"{total % _MODULUS:064x}"


def _label(label: Any) -> str:
    """A label as text: none, one, or a set of them in one order."""
    if label is None:
        return "?"
    if isinstance(label, list | tuple | set | frozenset):
        return "\x00".join(["*", *sorted(map(str, label))])
    return f"={label}"
