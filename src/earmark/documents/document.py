"""Documents: what a reader returns. Plain data, no methods that compute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from typing import Any, TypeAlias

from earmark.exceptions import DataError

__all__ = ["Documents", "Texts", "concatenate", "fingerprint", "shifted_fingerprint"]

_MODULUS = 1 << 256
Texts: TypeAlias = list[str] | dict[str, list[str]]


@dataclass(frozen=True)
class Documents:
    """Texts with what is known about them, one entry per document everywhere.

    Parameters
    ----------
    texts : list of str, or dict of region name to list of str
        The documents; a dict when regions (title, body, ...) were asked for.
    labels : list or None
        None when the source has no labels. An entry is a str, a list of str for
        multi-label data, or None for an unlabelled document.
    ids : list or None
        What the ``id`` column holds; for folders the file's path in the folder.
    rows : sequence of int
        Data row of each document in its source, counted from 1.
    source : str
        File, folder or corpus the documents come from.
    columns : dict of str to list
        Further columns that were kept.
    text_columns : tuple of str
        The columns that the texts were read from, as asked for or guessed.

    Examples
    --------
    >>> documents = Documents(["good", "bad", "so so"], labels=["pos", "neg", None])
    >>> len(documents), documents.regions
    (3, ())
    >>> documents.take([1]).texts
    ['bad']

    """

    texts: Texts
    labels: list[Any] | None = None
    ids: list[Any] | None = None
    rows: Sequence[int] = ()
    source: str = ""
    columns: dict[str, list[Any]] = field(default_factory=dict)
    text_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n_documents = len(self)
        parts = self.texts if isinstance(self.texts, dict) else {}
        lists: dict[str, Sequence[Any] | None] = {
            **{f"texts[{name!r}]": part for name, part in parts.items()},
            "labels": self.labels,
            "ids": self.ids,
            "rows": self.rows or None,
            **{f"columns[{name!r}]": column for name, column in self.columns.items()},
        }
        for name, values in lists.items():
            if values is not None and len(values) != n_documents:
                raise DataError(
                    f"Documents.{name} must have one entry per document, "
                    f"got {len(values)} for {n_documents} documents."
                )

    def __len__(self) -> int:
        if isinstance(self.texts, dict):
            return len(next(iter(self.texts.values()), []))
        return len(self.texts)

    @property
    def regions(self) -> tuple[str, ...]:
        """Names of the regions; empty when each document is one text."""
        return tuple(self.texts) if isinstance(self.texts, dict) else ()

    def take(self, indices: Iterable[int]) -> Documents:
        """The documents at ``indices``, in that order."""
        chosen = [int(index) for index in indices]

        def pick(values: Sequence[Any]) -> list[Any]:
            return [values[index] for index in chosen]

        return replace(
            self,
            texts={name: pick(part) for name, part in self.texts.items()}
            if isinstance(self.texts, dict)
            else pick(self.texts),
            labels=None if self.labels is None else pick(self.labels),
            ids=None if self.ids is None else pick(self.ids),
            rows=pick(self.rows) if self.rows else (),
            columns={name: pick(values) for name, values in self.columns.items()},
        )

    def joined(self, separator: str = "\n") -> list[str]:
        """One text a document: its regions joined, or the text itself."""
        if isinstance(self.texts, dict):
            parts = zip(*self.texts.values(), strict=True)
            return [separator.join(part) for part in parts]
        return self.texts

    def where(self, index: int) -> str:
        """The place of one document, for messages."""
        if not self.rows:
            return f"document {index} of {self.source or 'the input'}"
        return f"{self.source}, row {self.rows[index]}"


def concatenate(batches: Iterable[Documents], source: str) -> Documents:
    """One Documents of all the batches; rows are numbered through."""
    every = list(batches)
    first = every[0] if every else Documents([])
    texts: list[Any] = [one.texts for one in every]
    names, extra = first.regions, first.columns
    return Documents(
        {name: _joined([part[name] for part in texts]) for name in names}
        or _joined(texts),
        None if first.labels is None else _joined([one.labels for one in every]),
        None if first.ids is None else _joined([one.ids for one in every]),
        range(1, sum(map(len, every)) + 1),
        source,
        {name: _joined([one.columns[name] for one in every]) for name in extra},
        first.text_columns,
    )


def _joined(parts: Sequence[Any]) -> list[Any]:
    return list(chain.from_iterable(parts))


def fingerprint(documents: Documents) -> str:
    """Sum of the documents' SHA-256 sums, as 64 hexadecimal digits.

    Equal documents with equal labels give equal fingerprints in any order, and the
    fingerprints of shards add up. Regions and labels are part of a document; ids, row
    numbers and further columns are not.
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


def shifted_fingerprint(known: str, change: str, sign: int) -> str:
    """A fingerprint after documents were added (sign 1) or taken away (-1)."""
    return f"{(int(known, 16) + sign * int(change, 16)) % _MODULUS:064x}"


def _label(label: Any) -> str:
    """A label as text: none, one, or a set of them in one order."""
    if label is None:
        return "?"
    if isinstance(label, list | tuple | set | frozenset):
        return "\x00".join(["*", *sorted(map(str, label))])
    return f"={label}"
