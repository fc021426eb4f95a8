"""
Parts on Spark: an executor of your own
=======================================

``fit`` and ``predict`` of ``earmark.distributed`` hand their work to an executor: an
object with the methods ``reduce``, ``gather`` and ``keep``. This one runs it on a Spark
cluster: tasks travel pickled, in a binary column, through ``mapInArrow``. Its
workers need earmark installed and must see the files under the same path. Copy it, or
write one for another engine after its pattern::

    from pyspark.sql import SparkSession

    executor = SparkExecutor(SparkSession.builder.getOrCreate())
    model = fit(TextClassifier("multinomial"), "/mnt/parts", client=executor)

The result has the same bytes as a fit in one process, because results are merged in the
same order: neighbors first, then neighbors of these.
"""

import pickle
from dataclasses import replace
from functools import partial

import pyarrow as pa

from earmark.distributed.executor import Executor, Recipe, merge_tree, resolved
from earmark.documents.parts import Part

SCHEMA = "number long, payload binary"


class SparkExecutor(Executor):
    """Neighboring parts are merged where they were counted, blocks of them here.

    ``block`` is the number of parts in a task, a power of two. What a task keeps is
    made again whenever it is needed: models of many passes read the parts each time.
    """

    def __init__(self, session, block=4):
        if block < 1 or block & (block - 1):
            raise ValueError(f"block must be a power of two, got {block!r}.")
        self.session, self.block = session, block

    def reduce(self, stage, task, items):
        """The merged results of all items."""
        return merge_tree(self._each_block(partial(merged_block, task), items))

    def gather(self, stage, task, items):
        """The results of all items, in their order."""
        blocks = self._each_block(partial(listed_block, task), items)
        return [result for block in blocks for result in block]

    def keep(self, stage, task, items):
        """Items for later calls: recipes, followed where a result is needed."""
        return [Recipe(task, with_full_path(item)) for item in items]

    def _each_block(self, work, items):
        items = [with_full_path(item) for item in items]
        blocks = [items[k : k + self.block] for k in range(0, len(items), self.block)]
        rows = [(k, pickle.dumps((work, block))) for k, block in enumerate(blocks)]
        frame = self.session.createDataFrame(rows, SCHEMA).repartition(len(rows))
        answers = frame.mapInArrow(work_on, SCHEMA).collect()
        ordered = sorted((int(row["number"]), row["payload"]) for row in answers)
        return [pickle.loads(payload) for _, payload in ordered]


def with_full_path(item):
    """A worker may have started in another folder."""
    return replace(item, path=item.path.absolute()) if isinstance(item, Part) else item


def merged_block(task, items):
    """One merged result of neighboring items."""
    return merge_tree(map(task, items))


def listed_block(task, items):
    """The results of neighboring items."""
    return list(map(task, items))


def work_on(batches):
    """What a Spark worker does: Arrow batches of tasks in, of results out."""
    for batch in batches:
        payloads = []
        for payload in batch.column(1).to_pylist():
            work, items = pickle.loads(payload)
            payloads.append(pickle.dumps(work([resolved(item) for item in items])))
        columns = [batch.column(0), pa.array(payloads, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["number", "payload"])
