"""Documents by lot: what a model needs that must see its documents together.

One pass over the parts brings here the labelled documents and as many of the others
as the memory allows. Every document draws a number from its part and its place in it;
those with the smallest numbers stay. So each is as likely as any other, and the sample
is the same for every back end and every order in which the parts are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from earmark.distributed.counting import PartCounts, labelled_batches
from earmark.distributed.executor import Regions
from earmark.documents.parts import CodedLabels, Part
from earmark.exceptions import DataError
from earmark.folds import take
from earmark.inputs.regions import ONE_REGION, RegionTexts
from earmark.kernels.term_merge import PackedTerms, pack_terms, unpack_terms
from earmark.typing import BoolVector, IntVector


class _Cost(NamedTuple):
    """Bytes of memory that learning from a document takes."""

    each: int
    per_byte: int
    """For each byte of its text."""


# Labelled ones: words and pieces, counted and weighed. Others: vectors in every view,
# measured on short texts, which take most.
_LABELLED, _UNLABELLED = _Cost(5_000, 75), _Cost(20_000, 4)
_SHARE = 0.7
_USUAL_MEMORY = 2_000_000_000
# Lots are below this.
_LOTS = 2**62


def room_of(memory: int | None) -> int:
    """Bytes that the documents of a sample may cost within a budget."""
    return int(_SHARE * (_USUAL_MEMORY if memory is None else memory))


@dataclass(eq=False)
class DrawnDocuments:
    """Texts of some documents with their labels, places and lots."""

    texts: dict[str, PackedTerms]  # Region -> texts
    labels: list[str]  # The empty string for a document without one
    place: IntVector  # Part number, and row in the part, (n, 2)
    lot: IntVector  # The number drawn, (n,)
    n_seen: int  # Documents that drew a number, those included that did not stay
    limit: int = _LOTS  # Lots from here on are out: the smallest that found no room

    @classmethod
    def none(cls) -> DrawnDocuments:
        """No document."""
        place = np.zeros((0, 2), dtype=np.int64)
        return cls({}, [], place, np.zeros(0, dtype=np.int64), 0)

    def __len__(self) -> int:
        return len(self.lot)

    @property
    def is_whole(self) -> bool:
        """Whether every document stayed."""
        return len(self) == self.n_seen

    def in_order(self) -> DrawnDocuments:
        """The documents in the order of the parts and of the rows in each."""
        return self._at(np.lexsort((self.place[:, 1], self.place[:, 0])))

    def documents(self, regions: Sequence[str]) -> list[str] | dict[str, list[str]]:
        """The texts as ``TextClassifier.fit`` takes them: a list, or one per region."""
        columns = {name: unpack_terms(self._packed(name)) for name in regions}
        return columns[ONE_REGION] if list(columns) == [ONE_REGION] else columns

    def joined(self, other: DrawnDocuments, cost: _Cost, room: int) -> DrawnDocuments:
        """These and others, by the smallest lots that cost no more than ``room``."""
        names = dict.fromkeys((*self.texts, *other.texts))
        both = DrawnDocuments(
            {
                name: _end_to_end(self._packed(name), other._packed(name))
                for name in names
            },
            [*self.labels, *other.labels],
            np.concatenate([self.place, other.place]),
            np.concatenate([self.lot, other.lot]),
            self.n_seen + other.n_seen,
            min(self.limit, other.limit),
        )
        return both._within(cost, room)

    def _within(self, cost: _Cost, room: int) -> DrawnDocuments:
        order = np.argsort(self.lot, kind="stable")
        order = order[self.lot[order] < self.limit]
        taken = np.full(len(order), cost.each, dtype=np.int64)
        for _, ends in self.texts.values():
            taken += cost.per_byte * np.diff(ends)[order]
        n_fitting = int(np.count_nonzero(np.cumsum(taken) <= room))
        if n_fitting == len(self):
            return self
        some = self._at(order[:n_fitting])
        if n_fitting < len(order):
            some.limit = int(self.lot[order[n_fitting]])
        return some

    def _at(self, rows: IntVector) -> DrawnDocuments:
        return DrawnDocuments(
            {name: _rows(packed, rows) for name, packed in self.texts.items()},
            [self.labels[i] for i in rows],
            self.place[rows],
            self.lot[rows],
            self.n_seen,
            self.limit,
        )

    def _packed(self, name: str) -> PackedTerms:
        none = np.zeros(0, dtype=np.uint8), np.zeros(len(self) + 1, dtype=np.int64)
        return self.texts.get(name, none)


def _end_to_end(left: PackedTerms, right: PackedTerms) -> PackedTerms:
    ends = np.concatenate([left[1], left[1][-1] + right[1][1:]])
    return np.concatenate([left[0], right[0]]), ends


def _rows(packed: PackedTerms, rows: IntVector) -> PackedTerms:
    data, ends = packed
    pieces = [data[ends[i] : ends[i + 1]] for i in rows]
    lengths = np.diff(ends)[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return np.concatenate([data[:0], *pieces]), offsets


@dataclass(eq=False)
class Sample:
    """Labelled documents and pool documents, each within the same room."""

    room: int  # Bytes that either may cost
    labelled: DrawnDocuments = field(default_factory=DrawnDocuments.none)
    pool: DrawnDocuments = field(default_factory=DrawnDocuments.none)
    classes: dict[str, int] = field(default_factory=dict)
    """Label -> documents that have it, among all."""

    def merge(self, other: Sample) -> Self:
        """Let the documents of other parts, or of other batches, take part."""
        self.labelled = self.labelled.joined(other.labelled, _LABELLED, self.room)
        self.pool = self.pool.joined(other.pool, _UNLABELLED, self.room)
        mine, theirs = self.classes, other.classes
        labels = {**mine, **theirs}
        self.classes = {
            name: mine.get(name, 0) + theirs.get(name, 0) for name in labels
        }
        return self

    @property
    def regions(self) -> list[str]:
        """The regions of all documents."""
        return list(dict.fromkeys((*self.labelled.texts, *self.pool.texts)))


@dataclass(eq=False)
class SampleTask:
    """Part -> ``PartCounts`` without terms, whose sums are a ``Sample``."""

    regions: Regions
    room: int
    seed: int
    skip_bad: bool = False

    def __post_init__(self) -> None:
        # Texts stay whole: the classifier divides them, as in memory.
        if isinstance(self.regions, str) or callable(self.regions):
            self.regions = None

    def __call__(self, part: Part) -> PartCounts:
        """The sample of the part."""
        try:
            return self._drawn(part)
        except DataError as error:
            if not self.skip_bad:
                raise
            return PartCounts(bad={part.number: str(error)})

    def _drawn(self, part: Part) -> PartCounts:
        rng = np.random.default_rng([self.seed, part.number])
        sample, n_rows = Sample(self.room), 0
        for texts, labels in labelled_batches(part, self.regions):
            lot = rng.integers(_LOTS, size=len(labels))
            place = np.column_stack(
                [np.full(len(lot), part.number), np.arange(n_rows, n_rows + len(lot))]
            )
            is_labelled = labels.codes >= 0
            drawn = Sample(
                self.room,
                _candidates(texts, labels, place, lot, is_labelled, sample.labelled),
                _candidates(texts, labels, place, lot, ~is_labelled, sample.pool),
            )
            sizes = np.bincount(labels.codes[is_labelled], minlength=len(labels.names))
            drawn.classes = dict(zip(labels.names, sizes.tolist(), strict=True))
            sample.merge(drawn)
            n_rows += len(lot)
        n_labelled = sample.labelled.n_seen
        counts = PartCounts(parts={part.number: [n_labelled, n_rows - n_labelled]})
        counts.sums = sample
        return counts


def _candidates(
    texts: RegionTexts,
    labels: CodedLabels,
    place: IntVector,
    lot: IntVector,
    mine: BoolVector,
    stayed: DrawnDocuments,
) -> DrawnDocuments:
    """Documents of a batch that may still become part of the sample."""
    rows = np.flatnonzero(mine & (lot < stayed.limit))
    names = [*labels.names, ""]
    return DrawnDocuments(
        {r: pack_terms(list(t)) for r, t in take(texts, rows).items()},
        [names[code] for code in labels.codes[rows]],
        place[rows],
        lot[rows],
        int(np.count_nonzero(mine)),
        stayed.limit,
    )
