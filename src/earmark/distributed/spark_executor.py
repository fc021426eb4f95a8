"""A Spark session: blocks of parts go through ``mapInArrow``, results come back."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from earmark._optional import require
from earmark.distributed.executor import (
    Executor,
    Item,
    Merge,
    MergedBlock,
    Result,
    Task,
    blocks_of,
    merge_tree,
    sendable,
)

_SCHEMA = "number long, payload binary"


class SparkExecutor(Executor):
    """Run the parts on a Spark cluster.

    A thin door: the same tasks and merges as everywhere, pickled into a binary
    column. Neighbouring parts are merged where they were counted, the blocks of
    parts by the driver. What a task keeps is made again when it is needed, so
    models of many passes read the parts many times; Dask keeps them.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Its workers must have earmark installed and see the files under the same
        path.
    block : int, default=4
        Parts in a task, a power of two.

    Examples
    --------
    With ``session = SparkSession.builder.getOrCreate()``:

    >>> model = fit(classifier, "parts/", client=SparkExecutor(session))
    ... # doctest: +SKIP

    """

    def __init__(self, session: Any, block: int = 4) -> None:
        if block < 1 or block & (block - 1):
            raise ValueError(
                f"SparkExecutor.block must be a power of two, got {block!r}."
            )
        self.session = session
        self.block = block

    def reduce(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """Merge the parts of a block where they are, and the blocks here."""
        return merge_tree(self._mapped(MergedBlock(task, merge), items), merge)

    def keep_merged(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """The same as ``reduce``: the result is here."""
        return self.reduce(stage, task, items, merge)

    def gather(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Results in the order of the items."""
        blocks = self._mapped(_Listing(task), items)
        return [result for block in blocks for result in block]

    def keep(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """A recipe for each item, followed whenever the result is needed."""
        return [_Recipe(task, sendable(item)) for item in items]

    def _mapped(
        self, work: Callable[[list[Item]], Result], items: Sequence[Item]
    ) -> list[Result]:
        """One result for each block of items, in order."""
        cut = blocks_of([sendable(item) for item in items], self.block)
        rows = [(k, pickle.dumps((work, block))) for k, block in enumerate(cut)]
        frame = self.session.createDataFrame(rows, _SCHEMA).repartition(len(rows))
        answers = frame.mapInArrow(_work_on, _SCHEMA).collect()
        ordered = sorted((int(row["number"]), row["payload"]) for row in answers)
        return [pickle.loads(payload) for _, payload in ordered]


def _work_on(batches: Iterable[Result]) -> Iterator[Any]:
    """What a Spark worker does with its blocks: Arrow batches in, Arrow batches out."""
    arrow = require("pyarrow", "work on Spark")
    for batch in batches:
        numbers = batch.column(0).to_pylist()
        payloads = []
        for payload in batch.column(1).to_pylist():
            work, items = pickle.loads(payload)
            payloads.append(pickle.dumps(work([_made(item) for item in items])))
        yield arrow.RecordBatch.from_arrays(
            [
                arrow.array(numbers, arrow.int64()),
                arrow.array(payloads, arrow.binary()),
            ],
            names=["number", "payload"],
        )


class _Listing:
    """Items -> their results."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __call__(self, items: list[Item]) -> list[Result]:
        return [self.task(item) for item in items]


class _Recipe:
    """A result that is made where and when it is needed."""

    def __init__(self, task: Task, item: Item) -> None:
        self.task, self.item = task, item


def _made(item: Item) -> Item:
    return item.task(_made(item.item)) if isinstance(item, _Recipe) else item
