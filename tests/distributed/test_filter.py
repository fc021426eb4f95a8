"""What a filter keeps, in files, in datatrove's interface and in map_batches."""

import errno
import gzip
import importlib.util
import json
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from earmark import TextClassifier
from earmark.distributed.predicting import filter_parts
from earmark.exceptions import DataError
from earmark.pipeline.text_filter import TextFilter

TEXTS = ["fine words here", "junk junk", "fine fine", "junk trash", "words and junk"]


@pytest.fixture(scope="module")
def model():
    labels = ["good", "bad", "good", "bad", "bad"]
    return TextClassifier("multinomial").fit(TEXTS, labels)


def write_parquet(folder, texts):
    folder.mkdir()
    for k, part in enumerate(np.array_split(np.arange(len(texts)), 2)):
        table = pa.table(
            {
                "id": [int(i) for i in part],
                "text": [texts[i] for i in part],
                "meta": [{"url": f"u{i}"} for i in part],
            }
        )
        pq.write_table(table, folder / f"p{k}.parquet")
    return folder


def test_kept_documents_keep_all_their_columns(model, tmp_path):
    data = write_parquet(tmp_path / "in", TEXTS)
    out = tmp_path / "out"
    report = filter_parts(TextFilter(model, "good", 0.5), data, out, text="text")
    expected = [
        i
        for i, (label, p) in enumerate(
            zip(model.predict(TEXTS), model.predict_proba(TEXTS).max(1), strict=True)
        )
        if label == "good" and p >= 0.5
    ]
    rows = [
        r for k in range(2) for r in pq.read_table(out / f"p{k}.parquet").to_pylist()
    ]
    assert [row["id"] for row in rows] == expected
    assert rows[0]["meta"] == {"url": "u0"}
    assert (report.documents, report.kept) == (5, len(expected))
    again = filter_parts(TextFilter(model, "good", 0.5), data, out, text="text")
    assert (again.skipped, again.documents) == (2, 0)


def test_paragraphs_are_judged_one_by_one(model, tmp_path):
    data = tmp_path / "in.jsonl"
    rows = [
        {"text": "fine words\n\njunk junk\n \nfine", "n": 1},
        {"text": "junk trash\n\njunk", "n": 2},
    ]
    data.write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "out"
    filter_parts(TextFilter(model, ["good"]), data, out, text="text", unit="paragraph")
    lines = (out / "in.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines]
    assert kept == [{"text": "fine words\n\nfine", "n": 1}]


def test_other_options_do_not_mix_with_old_results(model, tmp_path):
    data = write_parquet(tmp_path / "in", TEXTS)
    filter_parts(TextFilter(model, "good", 0.5), data, tmp_path / "out", text="text")
    with pytest.raises(DataError, match="another model or other options"):
        filter_parts(
            TextFilter(model, "good", 0.9), data, tmp_path / "out", text="text"
        )
    with pytest.raises(DataError, match="among the data"):
        filter_parts(TextFilter(model, "good"), data, data, text="text")


def test_a_label_that_the_model_lacks_is_an_error(model):
    with pytest.raises(DataError, match=r"keep= must name labels .* got god\."):
        TextFilter(model, "god")
    with pytest.raises(DataError, match="between 0 and 1"):
        TextFilter(model, "good", 2.0)


@pytest.fixture(scope="module")
def adapters():
    path = Path(__file__).parents[2] / "examples" / "datatrove_filter.py"
    spec = importlib.util.spec_from_file_location("datatrove_filter", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BaseFilter:
    """As datatrove's: runs ``filter_batch`` over batches of documents."""

    def __init__(self, exclusion_writer=None, batch_size=1):
        self.batch_size = batch_size

    def run(self, data, rank=0, world_size=1):
        data = list(data)
        for k in range(0, len(data), self.batch_size):
            batch = data[k : k + self.batch_size]
            for document, result in zip(batch, self.filter_batch(batch), strict=True):
                if result[0] if isinstance(result, tuple) else result:
                    yield document


class Document:
    def __init__(self, text):
        self.text = text


def test_the_adapter_serves_as_a_datatrove_filter(model, adapters, tmp_path):
    model.save(tmp_path / "m.earmark")

    class Clean(adapters.EarmarkFilter, BaseFilter):
        def __init__(self, model, keep):
            BaseFilter.__init__(self, batch_size=2)
            adapters.EarmarkFilter.__init__(self, model, keep, 0.5)

    step = Clean(tmp_path / "m.earmark", "good")
    kept = [document.text for document in step.run(map(Document, TEXTS))]
    assert kept == [
        t
        for t, label in zip(TEXTS, model.predict(TEXTS), strict=True)
        if label == "good"
    ]
    assert step.filter(Document("junk")) == (False, "label")
    assert step.__getstate__()["_chosen"] is None


def test_the_callable_serves_map_batches(model, adapters, tmp_path):
    pd = pytest.importorskip("pandas")
    model.save(tmp_path / "m.earmark")
    label = adapters.LabelBatches(tmp_path / "m.earmark")
    numpy_batch = label({"text": np.array(TEXTS, dtype=object), "id": np.arange(5)})
    assert list(numpy_batch) == ["text", "id", "label", "confidence"]
    frame = label(pd.DataFrame({"text": TEXTS}))
    assert frame["label"].tolist() == model.predict(TEXTS).tolist()
    assert frame["label"].tolist() == numpy_batch["label"].tolist()


def test_a_filter_travels_as_the_path_of_its_model(model, adapters, tmp_path):
    model.save(tmp_path / "m.earmark")
    step = adapters.EarmarkFilter(tmp_path / "m.earmark", "good")
    step.filter(Document("fine"))
    state = pickle.dumps(step.__getstate__())
    assert len(state) < 500


def test_parts_whose_results_would_have_one_name_are_refused(model, tmp_path):
    data = tmp_path / "in"
    data.mkdir()
    for name in ("a.jsonl", "a.jsonl.gz"):
        line = b'{"text": "fine words"}\n'
        (data / name).write_bytes(gzip.compress(line) if name[-1] == "z" else line)
    with pytest.raises(DataError, match=r"same name as those of .*a\.jsonl"):
        filter_parts(TextFilter(model, "good", 0.5), data, tmp_path / "out")


def test_a_full_disk_is_not_taken_for_a_damaged_part(model, tmp_path, monkeypatch):
    data = write_parquet(tmp_path / "in", TEXTS)

    def full(self, batch):
        raise OSError(errno.ENOSPC, "Error writing bytes to file")

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    with pytest.raises(OSError, match="writing bytes") as caught:
        filter_parts(TextFilter(model, "good"), data, tmp_path / "out", skip_bad=True)
    assert caught.value.filename == str(tmp_path / "out" / "p0.parquet")
    monkeypatch.undo()
    (data / "p0.parquet").write_bytes(b"PAR1" + bytes(80) + b"PAR1")
    with pytest.raises(DataError, match=r"p0\.parquet: the Parquet file cannot"):
        filter_parts(TextFilter(model, "good"), data, tmp_path / "out", text="text")
