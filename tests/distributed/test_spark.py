"""The Spark door: against the interface it uses, and against Spark where it is."""

import importlib.util
import os
import shutil
import sys
import warnings

import pyarrow as pa
import pytest

from earmark import TextClassifier
from earmark.distributed import SparkExecutor, fit, predict
from earmark.models import SemiSupervisedNaiveBayes

EXACT = ("multinomial", "bernoulli", "complement", "rocchio", "higher-order")


class Frame:
    """As much of a Spark data frame as the door uses."""

    def __init__(self, rows, schema):
        assert schema == "number long, payload binary"
        self.rows = rows

    def repartition(self, n_partitions):
        return Frame(self.rows[::-1], "number long, payload binary")

    def mapInArrow(self, function, schema):  # noqa: N802
        numbers, payloads = zip(*self.rows, strict=True)
        batch = pa.RecordBatch.from_arrays(
            [pa.array(numbers, pa.int64()), pa.array(payloads, pa.binary())],
            names=["number", "payload"],
        )
        halves = [batch.slice(0, len(numbers) // 2), batch.slice(len(numbers) // 2)]
        rows = [
            (row["number"], row["payload"])
            for out in function(iter(halves))
            for row in out.to_pylist()
        ]
        return Frame(rows, schema)

    def collect(self):
        return [{"number": n, "payload": p} for n, p in self.rows]


class Session:
    def createDataFrame(self, rows, schema):  # noqa: N802
        return Frame(rows, schema)


@pytest.mark.parametrize("model", EXACT)
def test_blocks_of_parts_give_the_bytes_of_one_fit(model, corpus, tmp_path, saved):
    classifier = TextClassifier(model)
    whole = saved(classifier.fit(corpus.texts, corpus.labels))
    folder = corpus.write(tmp_path / "parts", 11)
    for block in (1, 4):
        executor = SparkExecutor(Session(), block)
        assert saved(fit(classifier, folder, client=executor)) == whole


def test_sums_of_floats_are_merged_as_elsewhere(corpus, tmp_path, saved):
    classifier = TextClassifier(SemiSupervisedNaiveBayes(max_iter=2))
    folder = corpus.write(tmp_path / "parts", 11)
    here = saved(fit(classifier, folder))
    assert saved(fit(classifier, folder, client=SparkExecutor(Session(), 2))) == here


def test_a_block_must_be_a_power_of_two():
    with pytest.raises(ValueError, match="power of two, got 3"):
        SparkExecutor(Session(), 3)


HAS_SPARK = importlib.util.find_spec("pyspark") is not None and shutil.which("java")

if HAS_SPARK:

    @pytest.mark.slow
    def test_spark_itself_gives_the_same_bytes(corpus, tmp_path, saved):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession

            os.environ["PYSPARK_PYTHON"] = sys.executable
            session = (
                SparkSession.builder.master("local[2]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.driver.host", "127.0.0.1")
                .getOrCreate()
            )
            try:
                folder = corpus.write(tmp_path / "parts", 5)
                for model in EXACT:
                    classifier = TextClassifier(model)
                    whole = saved(classifier.fit(corpus.texts, corpus.labels))
                    executor = SparkExecutor(session, 2)
                    assert saved(fit(classifier, folder, client=executor)) == whole
                report = predict(
                    classifier.fit(corpus.texts, corpus.labels),
                    folder,
                    tmp_path / "labels",
                    client=SparkExecutor(session),
                )
                assert report.documents == len(corpus.texts)
            finally:
                session.stop()
