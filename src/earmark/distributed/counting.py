"""Parts as numbers: which terms and classes there are, exactly (CS1), then rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any, Self

import numpy as np
from scipy import sparse

from earmark.distributed.executor import (
    Executor,
    Item,
    MergeTree,
    Regions,
    Result,
    merge_tree,
    merged,
)
from earmark.documents.parts import CodedLabels, Part
from earmark.exceptions import DataError
from earmark.features import HashedCounter
from earmark.features.analysis import packed_by_class
from earmark.features.columns import Columns
from earmark.folds import take
from earmark.inputs.regions import RegionTexts, as_region_texts
from earmark.kernels.term_merge import PackedTerms, pack_terms
from earmark.kernels.text import Documents
from earmark.models.base.parted import GatheredRows, PartRows
from earmark.parameters import parse_size
from earmark.statistics.term_counts import TermCounts
from earmark.statistics.term_sums import text_statistics
from earmark.typing import Estimator, FloatVector, IntVector, Labels, SparseMatrix


@dataclass(eq=False)
class PartCounts:
    """Counts of every region, and what was found in each part."""

    labelled: dict[str, TermCounts] = field(default_factory=dict)
    """Region -> counts of the documents with a label."""
    pool: dict[str, TermCounts] = field(default_factory=dict)
    """Region -> counts of the documents without one, if they were asked for."""
    parts: dict[int, list[int]] = field(default_factory=dict)
    """Part number -> how many documents have a label, and how many have none."""
    bad: dict[int, str] = field(default_factory=dict)
    """Part number -> why it could not be read."""
    sums: Any = None
    min_df: int = 1

    def merge(self, other: PartCounts) -> Self:
        """Add the counts of other parts, or of other batches of the same part."""
        self.labelled = _merged_regions(self.labelled, other.labelled)
        self.pool = _merged_regions(self.pool, other.pool)
        parts = {number: list(sizes) for number, sizes in self.parts.items()}
        for number, sizes in other.parts.items():
            mine = parts.setdefault(number, [0, 0])
            parts[number] = [a + b for a, b in zip(mine, sizes, strict=True)]
        self.parts = dict(sorted(parts.items()))
        self.bad = dict(sorted({**self.bad, **other.bad}.items()))
        if self.sums is None or other.sums is None:
            self.sums = other.sums if self.sums is None else self.sums
        else:
            self.sums = merged(self.sums, other.sums)
        return self

    @property
    def tables(self) -> list[TermCounts]:
        """The counts of every region, with and without a label."""
        return [*self.labelled.values(), *self.pool.values()]

    @property
    def nbytes(self) -> int:
        """Memory of the counts."""
        return sum(counts.nbytes for counts in self.tables)

    @property
    def n_documents(self) -> int:
        """All documents."""
        return self.n_labelled + self.n_unlabelled

    @property
    def n_labelled(self) -> int:
        """Documents with a label."""
        return sum(sizes[0] for sizes in self.parts.values())

    @property
    def n_unlabelled(self) -> int:
        """Documents without one."""
        return sum(sizes[1] for sizes in self.parts.values())

    @property
    def classes(self) -> Labels:
        """The labels, sorted."""
        return next(iter(self.labelled.values())).classes

    def share_of(self, number: int, n_shares: int) -> PartCounts:
        """The counts of some of the terms, by a hash; the documents with share 0."""
        if n_shares == 1:
            return self
        some = self._each(lambda counts: counts.share_of(number, n_shares))
        if number > 0:
            some.parts, some.bad = {}, {}
            for counts in some.tables:
                counts.docs = np.zeros_like(counts.docs)
        return some

    def cut(self, min_df: int) -> PartCounts:
        """Without the terms of fewer than ``min_df`` documents in any region."""
        some = self
        if min_df > 1:
            some = self._each(lambda c: c.select(c.document_frequency() >= min_df))
        some.min_df = min_df
        return some

    def _each(self, change: Callable[[TermCounts], TermCounts]) -> PartCounts:
        """The same counts with a change made to the table of every region."""
        labelled = {region: change(counts) for region, counts in self.labelled.items()}
        pool = {region: change(counts) for region, counts in self.pool.items()}
        return replace(self, labelled=labelled, pool=pool)


def _merged_regions(
    left: Mapping[str, TermCounts], right: Mapping[str, TermCounts]
) -> dict[str, TermCounts]:
    """Counts by region; a region that one side lacks is the other's."""
    both = left.keys() & right.keys()
    return {**left, **right, **{r: merged(left[r], right[r]) for r in both}}


def labelled_batches(
    part: Part, regions: Regions
) -> Iterator[tuple[RegionTexts, CodedLabels]]:
    """Texts by region and their labels."""
    for batch in part.batches():
        where = f"{part.name}, from row {batch.first_row}"
        none = CodedLabels(np.full(len(batch), -1), [])
        yield as_region_texts(batch.texts, regions, where), batch.labels or none


@dataclass(eq=False)
class CountTask:
    """Part -> ``PartCounts``."""

    counter: Estimator
    """How text becomes terms; its limits on frequency are not applied."""
    regions: Regions  # As in ``TextClassifier``
    skip_bad: bool = False  # Note a part that cannot be read, instead of raising
    with_pool: bool = False  # Count the documents without a label too
    add: Callable[[RegionTexts, Labels], Any] | None = None
    """From texts and labels to statistics that need no vocabulary; then no terms are
    counted, only classes."""

    @property
    def grows(self) -> bool:
        """Whether results grow with the vocabulary, so that memory must be watched."""
        return self.add is None

    def __call__(self, part: Part) -> PartCounts:
        """The counts of the whole part."""
        pieces = list(self.pieces(part))
        counts: PartCounts = merge_tree(pieces[-1:] if pieces[-1].bad else pieces)
        return counts

    def pieces(self, part: Part, limit: int | None = None) -> Iterator[PartCounts]:
        """The counts in pieces of about ``limit`` bytes at most.

        A piece that says that the part is bad takes the place of those before it.
        """
        try:
            yield from self._pieces(part, limit)
        except DataError as error:
            if not self.skip_bad:
                raise
            yield PartCounts(bad={part.number: str(error)})

    def _pieces(self, part: Part, limit: int | None) -> Iterator[PartCounts]:
        waiting: list[PartCounts] = [PartCounts(parts={part.number: [0, 0]})]
        for texts, labels in labelled_batches(part, self.regions):
            waiting.append(self._counted(part, texts, labels))
            if limit is not None and sum(c.nbytes for c in waiting) > limit:
                waiting = [merge_tree(waiting)]
                if waiting[0].nbytes > limit // 2:
                    yield waiting.pop()
        if waiting:
            yield merge_tree(waiting)

    def _counted(
        self, part: Part, texts: RegionTexts, labels: CodedLabels
    ) -> PartCounts:
        n_left = labels.n_unlabelled
        counts = PartCounts(parts={part.number: [len(labels) - n_left, n_left]})
        if n_left < len(labels):
            rows = np.flatnonzero(labels.codes >= 0)
            known, codes = take(texts, rows), labels.codes[rows]
            classes = np.asarray(labels.names)
            counts.labelled = self._by_region(known, codes, classes)
            if self.add is not None:
                counts.sums = self.add(known, classes[codes])
        if self.with_pool and n_left:
            pool = take(texts, np.flatnonzero(labels.codes < 0))
            counts.pool = self._by_region(pool, np.zeros(n_left, int), np.array([""]))
        return counts

    def _by_region(
        self, texts: RegionTexts, y_index: IntVector, classes: Labels
    ) -> dict[str, TermCounts]:
        docs = np.bincount(y_index, minlength=len(classes))
        return {
            region: TermCounts.of_packed(
                classes, docs, *self._sums(column, y_index, classes)
            )
            for region, column in texts.items()
        }

    def _sums(
        self, column: Documents, y_index: IntVector, classes: Labels
    ) -> tuple[PackedTerms, SparseMatrix, SparseMatrix]:
        """Terms, and their tokens and documents in each class."""
        if self.add is not None or isinstance(self.counter, HashedCounter):
            none = sparse.csr_array((len(classes), 0), dtype=np.int64)
            return pack_terms([]), none, none
        if self.counter.binary:
            sums = text_statistics(
                self.counter, column, classes[y_index], classes, None
            )
            return pack_terms(list(sums.terms)), sums.tokens, sums.presence
        return packed_by_class(self.counter, column, y_index, len(classes))


# Document frequencies above this are not told apart when the cut is chosen.
_CAP = 100_000
_LEAST_MEMORY = 50_000_000


def as_bytes(size: int | str) -> int:
    """Bytes of "2GB", "500 MB", "1.5G" or a plain number."""
    value = size if isinstance(size, int) else parse_size(size)
    if value is None:
        raise ValueError(f"memory must be a size such as '2GB', got {size!r}.")
    if value < _LEAST_MEMORY:
        raise ValueError(
            f"memory must be at least 50 MB, got {size!r}; earmark itself takes more "
            "than that."
        )
    return value


def most_terms(memory: int, n_classes: int) -> int:
    """How many terms a model of so many classes can have within ``memory`` bytes."""
    # A term costs its text, a dictionary entry, the sums and the weights, and as much
    # again while the weights are derived.
    return max(1000, int(0.6 * memory / (32 * n_classes + 150)))


def cut_to_fit(counts: PartCounts, memory: int) -> PartCounts:
    """The counts without the terms of the fewest documents, if the model demands it."""
    return counts.cut(_least_cut(_histogram(counts), counts, memory))


def merge_bounded(
    pieces: Sequence[Callable[[], PartCounts]], memory: int
) -> PartCounts:
    """All pieces merged; terms of too few documents go only if memory demands it.

    Pieces are loaded one at a time. Where all terms together do not fit, they are
    divided by a hash and merged share by share. Document frequencies are exact:
    ``min_df`` of the result is the least cut with which the model fits.
    """
    n_shares = 1
    while True:
        try:
            return _merged_shares(pieces, n_shares, memory)
        except _TooLargeError:
            n_shares *= 4


class _TooLargeError(Exception):
    """A share of the terms does not fit in its share of the memory."""


def _merged_shares(
    pieces: Sequence[Callable[[], PartCounts]], n_shares: int, memory: int
) -> PartCounts:
    shares_here: list[PartCounts] = []
    histogram = np.zeros(_CAP + 1, dtype=np.int64)
    fits = True
    for number in range(n_shares):
        share = _share(pieces, number, n_shares, memory // 4)
        histogram += _histogram(share)
        shares_here.append(share)
        if sum(counts.nbytes for counts in shares_here) > memory // 2:
            shares_here, fits = shares_here[:1], False
    min_df = _least_cut(histogram, shares_here[0], memory)
    if not fits:
        shares_here = [
            _share(pieces, number, n_shares, memory // 4).cut(min_df)
            for number in range(n_shares)
        ]
    whole: PartCounts = merge_tree(shares_here)
    return whole.cut(min_df)


def _share(
    pieces: Sequence[Callable[[], PartCounts]], number: int, n_shares: int, limit: int
) -> PartCounts:
    """The counts of one share of the terms; never much more than ``limit`` bytes."""
    tree = MergeTree()
    for load in pieces:
        tree.add(load().share_of(number, n_shares))
        crowded = sum(counts.nbytes for counts in tree.waiting()) > limit
        if crowded and tree.collapse().nbytes > limit // 2:
            raise _TooLargeError
    share: PartCounts = tree.collapse()
    return share


def _histogram(counts: PartCounts) -> IntVector:
    """Terms of all regions by the number of their documents."""
    histogram = np.zeros(_CAP + 1, dtype=np.int64)
    for table in counts.tables:
        frequency = np.minimum(table.document_frequency(), _CAP)
        histogram += np.bincount(frequency, minlength=_CAP + 1)
    return histogram


def _least_cut(histogram: IntVector, counts: PartCounts, memory: int) -> int:
    n_classes = len(counts.classes) if counts.labelled else 1
    at_least = np.cumsum(histogram[::-1])[::-1]  # terms of so many documents or more
    fitting = np.flatnonzero(at_least[1:] <= most_terms(memory, n_classes))
    return int(fitting[0]) + 1 if len(fitting) else _CAP


# -- the later passes: rows of a matrix that nobody holds whole ----------------------


@dataclass(eq=False)
class MatrixTask:
    """Part -> ``PartRows`` with columns that are already fitted."""

    columns: Columns
    regions: Regions
    classes: Labels
    with_pool: bool = False

    def __call__(self, part: Part) -> PartRows:
        """The rows of the whole part."""
        blocks, pools, y, rows, n_rows = [], [], [], [], 0
        for texts, labels in labelled_batches(part, self.regions):
            mine = np.flatnonzero(labels.codes >= 0)
            rest = np.flatnonzero(labels.codes < 0)
            rows.append(n_rows + mine)
            n_rows += len(labels)
            if len(mine):
                place = np.searchsorted(self.classes, labels.names)
                blocks.append(self.columns.rows(take(texts, mine)).matrix)
                y.append(place[labels.codes[mine]])
            if self.with_pool and len(rest):
                pools.append(self.columns.rows(take(texts, rest)).matrix)
        return PartRows(
            part.number,
            self._stacked(blocks),
            _joined(y),
            self._stacked(pools),
            _joined(rows),
        )

    def _stacked(self, blocks: list[SparseMatrix]) -> SparseMatrix:
        if not blocks:
            return sparse.csr_matrix((0, self.columns.width))
        return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")


def _joined(numbers: list[IntVector]) -> IntVector:
    return np.concatenate([np.zeros(0, dtype=np.int64), *numbers])


def _picked(chosen: dict[int, IntVector], rows: PartRows) -> GatheredRows:
    """The rows of a part at some places."""
    mine = chosen.get(rows.number, np.zeros(0, dtype=np.int64))
    return GatheredRows(rows.X[mine], rows.y[mine])


@dataclass(frozen=True)
class RowsOfParts:
    """The rows of all parts: what ``models.base.parted.PartedRows`` asks for."""

    executor: Executor
    items: Sequence[Item]  # What the executor kept: a ``PartRows`` for every part
    classes: Labels
    docs: IntVector  # Labelled documents of each class
    sizes: dict[int, int]  # Part number -> labelled rows, in the order of the items
    n_features: int
    class_weight: FloatVector | None  # Factor on the documents of each class
    columns: IntVector  # The region number of each column

    def sum(self, stage: str, task: Callable[..., Result], *args: object) -> Result:
        """The merged results of ``task(*args, rows)`` over all parts."""
        return self.executor.reduce(stage, partial(task, *args), self.items)

    def gather(self, stage: str, task: Callable[..., Result], *args: object) -> Result:
        """The results of ``task(*args, rows)`` for each part."""
        return self.executor.gather(stage, partial(task, *args), self.items)

    def mapped(self, stage: str, task: Callable[..., Result], *args: object) -> Self:
        """What ``task(*args, rows)`` makes of each part, in place of its rows."""
        items = self.executor.keep(stage, partial(task, *args), self.items)
        return replace(self, items=items)

    def together(self, stage: str, task: Callable[..., Result], *args: object) -> Self:
        """What ``task(*args, rows)`` makes of all parts, merged into one."""
        block = self.executor.keep_merged(stage, partial(task, *args), self.items)
        return replace(self, items=[block])

    def picked(self, rows: IntVector) -> GatheredRows:
        """Rows by their number among all labelled rows, ascending; here."""
        starts = np.concatenate(([0], np.cumsum(list(self.sizes.values()))))
        chosen: dict[int, IntVector] = {}
        for k, number in enumerate(self.sizes):
            inside = (rows >= starts[k]) & (rows < starts[k + 1])
            chosen[number] = rows[inside] - starts[k]
        gathered: GatheredRows = self.sum("picked", _picked, chosen)
        return gathered

    def places(self, parts: dict[int, list[int]]) -> IntVector:
        """Row of each labelled document among all, the unlabelled ones counted too."""
        rows_of_parts = self.gather("places", attrgetter("rows"))
        starts = np.cumsum([0, *(sum(parts[number]) for number in self.sizes)])
        return np.concatenate(
            [r + start for r, start in zip(rows_of_parts, starts[:-1], strict=True)]
        )

    def labels(self) -> IntVector:
        """Class of every labelled row; here."""
        return np.concatenate(self.gather("labels", attrgetter("y")))
