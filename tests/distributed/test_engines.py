"""The same bytes from every back end."""

import json
import os
import pickle
import signal
import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest

from earmark import TextClassifier
from earmark.distributed import fit, predict
from earmark.distributed.executor import DaskExecutor, merge_tree
from earmark.distributed.fitting import as_parts
from earmark.distributed.local import LocalExecutor
from earmark.distributed.predicting import SentModel, report_of_parts
from earmark.exceptions import DataError, EarmarkWarning
from earmark.models import (
    HierarchicalBayes,
    SemiSupervisedClassifier,
    SemiSupervisedNaiveBayes,
    SoftmaxRegression,
)
from tests.distributed.conftest import Corpus

EXACT = ("multinomial", "bernoulli", "complement", "rocchio", "higher-order")
OTHERS = (
    "hybrid",
    SoftmaxRegression(solver="dual", C=0.02),
    SemiSupervisedNaiveBayes(max_iter=3),
    HierarchicalBayes(n_restarts=2, alpha=0.3, random_state=0),
    "auto",
    SemiSupervisedClassifier(min_pool=50, min_pool_ratio=0.1),
)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        yield client


def sent(value):
    return pickle.loads(pickle.dumps(value))


class FarAway:
    """A back end of one process to which everything must be sent."""

    def __init__(self, order):
        self.rng = np.random.default_rng(order)

    def gather(self, stage, task, items):
        order = self.rng.permutation(len(items))
        found = {int(k): sent(sent(task)(sent(items[k]))) for k in order}
        return [found[k] for k in range(len(items))]

    def reduce(self, stage, task, items):
        return merge_tree(self.gather(stage, task, items))

    keep_merged = reduce
    keep = gather


@pytest.mark.parametrize("model", EXACT)
def test_whole_number_models_do_not_depend_on_parts_or_engine(
    model, corpus, client, tmp_path, saved
):
    classifier = TextClassifier(model, n_jobs=2)
    whole = saved(classifier.fit(corpus.texts, corpus.labels))
    for n_parts in (1, 3, 17):
        folder = corpus.write(tmp_path / str(n_parts), n_parts)
        assert saved(fit(classifier, folder, client=client)) == whole
        assert saved(fit(classifier, folder, client=FarAway(n_parts))) == whole


@pytest.mark.parametrize("model", OTHERS, ids=str)
def test_other_models_have_the_same_bytes_for_the_same_parts(
    model, client, tmp_path, saved
):
    corpus = Corpus(200, seed=5, unlabelled=0.2)
    folder = corpus.write(tmp_path / "parts", 3)
    here = saved(fit(TextClassifier(model), folder))
    assert saved(fit(TextClassifier(model), folder, client=client)) == here
    assert saved(fit(TextClassifier(model), folder, client=FarAway(0))) == here
    assert saved(fit(TextClassifier(model), folder, checkpoint=tmp_path / "c")) == here


def test_labels_are_the_same_and_done_once(corpus, client, tmp_path):
    folder = corpus.write(tmp_path / "parts", 4, "parquet")
    model = TextClassifier("multinomial").fit(corpus.texts, corpus.labels)
    model.save(tmp_path / "m.earmark")
    out = tmp_path / "labels"
    report = predict(tmp_path / "m.earmark", folder, out, client=client)
    assert (report.parts, report.skipped, report.documents) == (4, 0, 400)
    found = [
        row["label"]
        for path in sorted(out.glob("part-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]
    assert found == model.predict(corpus.texts).tolist()
    (out / "part-002.parquet").unlink()
    again = predict(tmp_path / "m.earmark", folder, out)
    assert (again.skipped, again.documents) == (3, 100)
    other = TextClassifier("bernoulli").fit(corpus.texts, corpus.labels)
    with pytest.raises(DataError, match="another model"):
        predict(other, folder, out)


def test_a_bad_part_is_named_by_a_worker(corpus, client, tmp_path):
    folder = corpus.write(tmp_path / "parts", 3)
    (folder / "part-001.jsonl").write_text('{"text": "a", "label": "x"}\n{oops\n')
    with pytest.raises(DataError, match=r"part-001\.jsonl, row 2"):
        fit(TextClassifier("multinomial"), folder, client=client)
    model = fit(TextClassifier("multinomial"), folder, client=client, skip_bad=True)
    assert "1 bad part was left out" in model.summary()
    assert "x" not in model.classes_


class KillOnce:
    """A task that SIGKILLs its worker, once, when it has done one part there."""

    def __init__(self, task, mark):
        self.task = task
        self.mark = mark
        self.n_done = 0

    def __call__(self, item):
        if self.n_done == 1 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.n_done += 1
        return self.task(item)


class DeadlyExecutor(DaskExecutor):
    """Dask with a worker that dies within one of the passes."""

    def __init__(self, client, stage, mark):
        super().__init__(client)
        self.stage, self.mark = stage, mark

    def keep(self, stage, task, items):
        if stage == self.stage:
            task = KillOnce(task, self.mark)
        return super().keep(stage, task, items)


@pytest.fixture
def mortal_client():
    """A cluster for one test: Dask does not always bring a killed worker back."""
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        yield client


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "stage"),
    [
        ("multinomial", "counts"),
        ("bernoulli", "counts"),
        ("complement", "counts"),
        ("rocchio", "counts"),
        ("rocchio", "sums"),
        ("higher-order", "rows"),
        ("higher-order", "block"),
        ("semi-supervised", "sample"),
    ],
)
def test_a_killed_worker_does_not_show(
    model, stage, corpus, mortal_client, tmp_path, saved
):
    if model == "semi-supervised":
        corpus = Corpus(1_000, unlabelled=0.95)
    folder = corpus.write(tmp_path / "parts", 12)
    classifier = TextClassifier(model)
    mortal_client.wait_for_workers(2, timeout=60)
    executor = DeadlyExecutor(mortal_client, stage, tmp_path / "killed")
    found = saved(fit(classifier, folder, client=executor))
    assert (tmp_path / "killed").exists()
    assert found == saved(fit(classifier, folder))


def test_evaluated_in_parts_the_report_is_the_same(corpus, client, tmp_path):
    folder = corpus.write(tmp_path / "parts", 3)
    model = TextClassifier("multinomial").fit(corpus.texts, corpus.labels)
    model.save(tmp_path / "m.earmark")
    parts = as_parts(folder, "text", "label")
    sent = SentModel(tmp_path / "m.earmark")
    found = report_of_parts(sent, parts, DaskExecutor(client), "title")
    here = model.report(corpus.texts, corpus.labels, title="title")
    assert str(found).splitlines()[:20] == str(here).splitlines()[:20]


def test_a_report_of_parts_tells_what_one_in_memory_tells(tmp_path):
    corpus = Corpus(120)
    texts, labels = list(corpus.texts), list(corpus.labels)
    model = TextClassifier("multinomial", max_novelty=0.05).fit(texts, labels)
    model.save(tmp_path / "m.earmark")
    rows = [*zip(texts[:60], labels[:60], strict=True), ("quite foreign words", "new")]
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(2):
        lines = [json.dumps({"text": t, "label": y}) for t, y in rows[number::2]]
        (folder / f"p{number}.jsonl").write_text("\n".join(lines))
    parts = as_parts(folder, "text", "label")
    sent = SentModel(tmp_path / "m.earmark")
    with pytest.warns(EarmarkWarning, match="not learned the label"):
        by_part = report_of_parts(sent, parts, LocalExecutor(), "Evaluation report")
    order = [*rows[0::2], *rows[1::2]]
    with pytest.warns(EarmarkWarning, match="not learned the label"):
        whole = model.report([t for t, _ in order], [y for _, y in order])
    assert whole.foreign is not None
    assert str(by_part.foreign) == str(whole.foreign)
    assert str(by_part).splitlines()[:15] == str(whole).splitlines()[:15]
