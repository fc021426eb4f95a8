"""Models that must see their documents together learn from a sample of the parts."""

import re

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.distributed import fit
from earmark.distributed.executor import merge_tree
from earmark.distributed.fitting import as_parts
from earmark.distributed.sampling import DrawnDocuments, Sample, SampleTask
from earmark.kernels.term_merge import pack_terms
from earmark.models import SemiSupervisedClassifier
from tests.distributed.conftest import Corpus


def drawn(texts, lot):
    place = np.column_stack([np.zeros(len(texts), int), np.arange(len(texts))])
    return DrawnDocuments(
        {"text": pack_terms(texts)},
        [""] * len(texts),
        place,
        np.asarray(lot),
        len(texts),
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_sample_is_the_smallest_lots_however_documents_are_divided(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    texts = ["x" * int(size) for size in rng.integers(0, 9000, n)]
    lot = rng.permutation(n)
    room = int(rng.integers(0, 60 * n)) * 1000
    # Brute force: by their lots, until the first that finds no room.
    order = np.argsort(lot)
    cost = np.cumsum([20_000 + 4 * len(texts[i]) for i in order])
    expected = sorted(order[cost <= room].tolist())
    pieces = np.array_split(rng.permutation(n), int(rng.integers(1, 9)))
    whole = drawn(texts, lot)
    samples = [Sample(room, pool=whole._at(np.sort(rows))) for rows in pieces]
    for sample in samples:
        sample.pool.n_seen = len(sample.pool)
    pool = merge_tree([Sample(room), *samples]).pool.in_order()
    assert pool.place[:, 1].tolist() == expected
    assert pool.documents(["text"]) == [texts[i] for i in expected]
    assert pool.n_seen == n
    assert pool.is_whole == (len(expected) == n)


def test_every_document_is_as_likely_as_any_other(tmp_path):
    parts = as_parts(
        Corpus(400, unlabelled=1.0).write(tmp_path / "p", 5), "text", "label"
    )
    times = np.zeros(400)
    for seed in range(200):
        task = SampleTask(None, 100 * 20_500, seed)
        pool = merge_tree(map(task, parts)).sums.pool
        times[80 * pool.place[:, 0] + pool.place[:, 1]] += 1
    share = times.mean() / 200
    assert 0.2 < share < 0.3
    # Binomial in each row: beyond 4.5 standard deviations once in 300 such tests.
    assert np.abs(times / 200 - share).max() < 4.5 * np.sqrt(share * (1 - share) / 200)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    "model", ["auto", "semi-supervised", SemiSupervisedClassifier(max_iter=2)], ids=str
)
def test_with_room_for_all_the_model_is_that_of_memory(model, kind, tmp_path, saved):
    corpus = Corpus(1200, seed=3, unlabelled=0.95)
    folder = corpus.write(tmp_path / "parts", 5, kind)
    whole = saved(TextClassifier(model).fit(corpus.texts, corpus.labels))
    assert saved(fit(TextClassifier(model), folder)) == whole


def test_mails_and_regions_are_divided_as_in_memory(tmp_path, saved):
    corpus = Corpus(300, seed=3)
    corpus.texts = [f"Subject: {t[:9]}\n\n{t}" for t in corpus.texts]
    folder = corpus.write(tmp_path / "parts", 3)
    model = TextClassifier(regions="email")
    whole = saved(model.fit(corpus.texts, corpus.labels))
    assert saved(fit(TextClassifier(regions="email"), folder)) == whole


class Stopped(BaseException):
    pass


@pytest.mark.parametrize("stop_at", [0, 3, "fit"])
def test_a_fit_that_was_stopped_goes_on_to_the_same_bytes(
    stop_at, tmp_path, saved, monkeypatch
):
    folder = Corpus(1200, seed=3, unlabelled=0.95).write(tmp_path / "parts", 5)
    whole = saved(fit(TextClassifier(), folder, memory="50MB"))
    original, seen = SampleTask._drawn, []

    def draw(self, part):
        seen.append(part.number)
        if part.number == stop_at:
            raise Stopped
        return original(self, part)

    def stop(*_, **__):
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(SampleTask, "_drawn", draw)
        if stop_at == "fit":
            patch.setattr(TextClassifier, "fit", stop)
        with pytest.raises(Stopped):
            fit(TextClassifier(), folder, memory="50MB", checkpoint=tmp_path / "c")
    seen.clear()
    monkeypatch.setattr(
        SampleTask, "_drawn", lambda s, p: seen.append(p.number) or original(s, p)
    )
    again = fit(TextClassifier(), folder, memory="50MB", checkpoint=tmp_path / "c")
    assert seen == ([] if stop_at == "fit" else list(range(stop_at, 5)))
    assert saved(again) == whole


def test_bad_parts_are_left_out_and_named(tmp_path):
    folder = Corpus(1200, seed=3, unlabelled=0.9).write(tmp_path / "parts", 4)
    (folder / "part-002.jsonl").write_text("{oops\n")
    model = fit(TextClassifier(), folder, skip_bad=True)
    assert "1 bad part was left out" in model.summary()


@pytest.mark.parametrize("model", ["auto", "linear"])
def test_labels_that_have_no_room_are_drawn_by_lot(model, tmp_path):
    corpus = Corpus(4000, seed=3)
    folder = corpus.write(tmp_path / "parts", 4)
    fitted = fit(TextClassifier(model), folder, memory="50MB")
    assert fitted.model_name_ == "linear"
    said = re.search(r"of the 4,000 labelled documents ([\d,]+) were", fitted.summary())
    assert 500 < int(said[1].replace(",", "")) < 4000
    assert "is never answered" not in fitted.summary()
    whole = TextClassifier(model).fit(corpus.texts, corpus.labels)
    assert np.mean(fitted.predict(corpus.texts) == corpus.labels) > 0.9 * np.mean(
        whole.predict(corpus.texts) == corpus.labels
    )


def test_a_class_of_which_nothing_was_drawn_is_named(tmp_path):
    corpus = Corpus(6000, seed=3)
    corpus.labels[1234] = "rare"
    folder = corpus.write(tmp_path / "parts", 4)
    # 50 MB have room for about half of them; of some seeds the lot spares the one.
    said = [
        fit(TextClassifier(random_state=seed), folder, memory="50MB").summary()
        for seed in range(4)
    ]
    missing = ["no document of rare was drawn" in summary for summary in said]
    assert any(missing)
    assert not all(missing)


def test_a_promise_is_measured_on_the_documents_drawn(tmp_path):
    folder = Corpus(3000, seed=3).write(tmp_path / "parts", 4)
    model = fit(TextClassifier(max_error=0.2), folder, memory="50MB")
    assert model.evidence_ is not None
