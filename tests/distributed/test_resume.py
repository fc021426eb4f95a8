"""A fit that is killed resumes, to the same bytes."""

import multiprocessing
import os
import signal
import sys
import time

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.apps.cli.main import app
from earmark.distributed import fit
from earmark.distributed.counting import CountTask
from earmark.distributed.local import Store
from earmark.exceptions import DataError, NotSupportedError
from tests.distributed.conftest import Corpus


class Stopped(BaseException):
    pass


def counted_parts(monkeypatch, stop_at=None):
    """Note which parts are read; stop the process, as it were, within one of them."""
    seen = []
    original = CountTask._pieces

    def pieces(self, part, limit):
        seen.append(part.number)
        if part.number == stop_at:
            raise Stopped
        yield from original(self, part, limit)

    monkeypatch.setattr(CountTask, "_pieces", pieces)
    return seen


def stop_within(monkeypatch, folder, checkpoint, part):
    with monkeypatch.context() as patch:
        counted_parts(patch, part)
        with pytest.raises(Stopped):
            fit(TextClassifier("multinomial"), folder, checkpoint=checkpoint)


@pytest.mark.parametrize("stop_at", [0, 2, 4])
def test_no_finished_part_is_read_again(stop_at, corpus, tmp_path, saved, monkeypatch):
    folder = corpus.write(tmp_path / "parts", 5)
    whole = saved(fit(TextClassifier("multinomial"), folder))
    checkpoint = tmp_path / "checkpoint"
    stop_within(monkeypatch, folder, checkpoint, stop_at)
    seen = counted_parts(monkeypatch)
    model = fit(TextClassifier("multinomial"), folder, checkpoint=checkpoint)
    assert seen == list(range(stop_at, 5))
    assert saved(model) == whole
    assert not checkpoint.exists()


def test_a_part_that_changed_is_read_again(corpus, tmp_path, monkeypatch):
    folder = corpus.write(tmp_path / "parts", 3)
    checkpoint = tmp_path / "checkpoint"
    stop_within(monkeypatch, folder, checkpoint, 2)
    part = folder / "part-001.jsonl"
    part.write_text('{"text": "new", "label": "class 1"}\n')
    seen = counted_parts(monkeypatch)
    fit(TextClassifier("multinomial"), folder, checkpoint=checkpoint)
    assert seen == [1, 2]


@pytest.mark.parametrize("model", ["multinomial", "rocchio", "semi-supervised"])
def test_parts_that_come_later_are_read_alone(model, tmp_path, saved, monkeypatch):
    corpus = Corpus(900, unlabelled=0.9 if model == "semi-supervised" else 0.0)
    folder, later = corpus.write(tmp_path / "parts", 5), tmp_path / "later"
    later.mkdir()
    for name in ("part-003.jsonl", "part-004.jsonl"):
        (folder / name).rename(later / name)
    how = {"checkpoint": tmp_path / "checkpoint", "memory": "500MB"}
    fit(TextClassifier(model), folder, keep_checkpoint=True, **how)
    for path in later.iterdir():
        path.rename(folder / path.name)
    seen, save = [], Store.save

    def saving(self, stage, part, pieces):
        if stage in ("counts", "sample"):
            seen.append(part)
        return save(self, stage, part, pieces)

    monkeypatch.setattr(Store, "save", saving)
    grown = saved(fit(TextClassifier(model), folder, **how))
    assert sorted(seen) == [3, 4]
    assert not how["checkpoint"].exists()
    assert grown == saved(fit(TextClassifier(model), folder, memory="500MB"))


def test_a_part_among_the_others_makes_another_job(corpus, tmp_path):
    folder = corpus.write(tmp_path / "parts", 3)
    how = {"checkpoint": tmp_path / "checkpoint", "keep_checkpoint": True}
    fit(TextClassifier("multinomial"), folder, **how)
    (folder / "part-000b.jsonl").write_text('{"text": "new", "label": "class 1"}\n')
    with pytest.raises(DataError, match="added behind those that it has"):
        fit(TextClassifier("multinomial"), folder, **how)


def test_a_checkpoint_of_another_job_is_refused(corpus, tmp_path, monkeypatch):
    folder = corpus.write(tmp_path / "parts", 3)
    checkpoint = tmp_path / "checkpoint"
    stop_within(monkeypatch, folder, checkpoint, 2)
    features = {"ngram_range": (1, 2)}
    with pytest.raises(DataError, match="of another job"):
        fit(
            TextClassifier("multinomial", features=features),
            folder,
            checkpoint=checkpoint,
        )
    with pytest.raises(DataError, match="expected an empty folder"):
        fit(TextClassifier("multinomial"), folder, checkpoint=folder)
    assert len(list(folder.iterdir())) == 3


def test_what_failed_before_its_first_part_is_in_nobodys_way(corpus, tmp_path):
    folder = corpus.write(tmp_path / "parts", 3)
    (folder / "part-000.jsonl").write_text("{oops\n")
    checkpoint = tmp_path / "checkpoint"
    with pytest.raises(DataError, match=r"part-000\.jsonl"):
        fit(TextClassifier("multinomial"), folder, checkpoint=checkpoint)
    with pytest.raises(NotSupportedError, match="cannot be fitted in parts"):
        fit(TextClassifier("knn"), folder, checkpoint=tmp_path / "never")
    assert not (tmp_path / "never").exists()
    model = TextClassifier("bernoulli")
    fitted = fit(model, folder, checkpoint=checkpoint, skip_bad=True)
    assert "1 bad part was left out" in fitted.summary()


def test_a_bad_part_can_be_left_out_when_going_on(corpus, tmp_path, monkeypatch):
    folder = corpus.write(tmp_path / "parts", 4)
    (folder / "part-002.jsonl").write_text("{oops\n")
    checkpoint = tmp_path / "checkpoint"
    with pytest.raises(DataError, match=r"part-002\.jsonl"):
        fit(TextClassifier("multinomial"), folder, checkpoint=checkpoint)
    seen = counted_parts(monkeypatch)
    fit(TextClassifier("multinomial"), folder, checkpoint=checkpoint, skip_bad=True)
    assert seen == [2, 3]


PROCESSES = multiprocessing.get_context("forkserver")


def command(model, folder, out):
    """``earmark train`` in a process that has its imports already; it is started."""
    PROCESSES.set_forkserver_preload(["tests.distributed.test_resume"])
    process = PROCESSES.Process(
        target=train_quietly, args=(model, str(folder), str(out))
    )
    process.start()
    return process


def train_quietly(model, folder, out):
    options = ["--model", model, "--memory", "100MB", "--out", out, "--json"]
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    app(["train", folder, *options], standalone_mode=False)


def killed(process, checkpoint, after):
    """SIGKILL so many seconds after the first trace on disk; False if it had ended."""
    while process.exitcode is None and not checkpoint.exists():
        time.sleep(0.001)
    process.join(after)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("model", ["multinomial", "semi-supervised"])
def test_killed_at_ten_random_points_it_ends_with_the_same_bytes(model, tmp_path):
    unlabelled = 0.0 if model == "multinomial" else 0.98
    corpus = Corpus(6_000, seed=1, unlabelled=unlabelled)
    folder = corpus.write(tmp_path / "parts", 12)
    whole = tmp_path / "whole.earmark"
    for _ in range(2):  # the second time tells how long it takes
        started = time.perf_counter()
        process = command(model, folder, whole)
        process.join()
        seconds = time.perf_counter() - started
        assert process.exitcode == 0
    rng = np.random.default_rng(0)
    points = []
    for trial in range(50):
        out = tmp_path / f"model-{trial}.earmark"
        checkpoint = tmp_path / f"model-{trial}.earmark.parts"
        if killed(command(model, folder, out), checkpoint, rng.uniform(0.0, seconds)):
            points.append(len(list(checkpoint.glob("*.done"))))
            command(model, folder, out).join()
        assert out.read_bytes() == whole.read_bytes()
        assert not checkpoint.exists()
        if len(points) == 10:
            break
    assert len(points) == 10
    assert len(set(points)) > 1  # it was killed at different parts
