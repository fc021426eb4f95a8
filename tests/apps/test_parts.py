"""The commands on data in parts."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import earmark
from earmark.apps.card import card_facts
from earmark.apps.cli.main import app
from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError
from tests.distributed.conftest import Corpus

runner = CliRunner()


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return Corpus(200).write(tmp_path_factory.mktemp("data") / "parts", 3)


def call(*arguments, status=0):
    result = runner.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == status, result.output
    return result.output


@pytest.fixture(scope="module")
def model(parts, tmp_path_factory):
    out = tmp_path_factory.mktemp("model") / "m.earmark"
    options = ("--label", "label", "--memory", "500MB", "--out", out, "--json")
    facts = json.loads(call("train", parts, "--model", "multinomial", *options))
    assert facts["labelled"] == 200
    assert (facts["parts"], facts["bad_parts"]) == (3, [])
    assert [p.name for p in out.parent.iterdir()] == ["m.earmark"]
    return out


def test_labels_are_written_part_by_part(model, parts, tmp_path):
    out = tmp_path / "labels"
    assert "labelled 200 documents" in call(
        "predict", model, parts, "--by-part", "--out", out
    )
    again = call("predict", model, parts, "--by-part", "--out", out)
    assert "nothing left to do: 3 parts, done before" in again
    assert pq.read_table(out / "part-000.parquet").num_rows == 67


def test_what_is_kept_is_reported(model, parts, tmp_path):
    out = tmp_path / "clean"
    options = ("--keep", "class 1", "--min-confidence", "0.5", "--out", out, "--json")
    facts = json.loads(call("filter", model, parts, *options))
    lines = [line for p in out.glob("*.jsonl") for line in p.read_text().splitlines()]
    assert facts["kept"] == len(lines) > 0
    assert facts["documents"] == 200


def test_options_that_do_not_go_with_parts_are_wrong_usage(parts):
    call("train", parts, "--memory", "1GB", "--calibration", parts, status=2)
    promise = ("--model", "multinomial", "--max-error", "0.1")
    call("train", parts, "--memory", "1GB", *promise, status=2)


def test_auto_and_the_recipe_are_the_same_in_parts_as_in_memory(tmp_path):
    corpus = Corpus(1500, seed=3, unlabelled=0.95)
    parts = corpus.write(tmp_path / "parts", 4)
    for name in ("auto", "semi-supervised"):
        options = ("--label", "label", "--model", name, "--max-error", "0.2")
        here, there = tmp_path / f"{name}-1.earmark", tmp_path / f"{name}-2.earmark"
        call("train", parts, *options, "--out", here)
        told = call("train", parts, *options, "--memory", "1GB", "--out", there)
        assert "accuracy" in told
        first, second = earmark.load(here), earmark.load(there)
        assert first.summary() == second.summary()
        np.testing.assert_array_equal(
            first.predict_proba(corpus.texts), second.predict_proba(corpus.texts)
        )


def test_a_pool_in_files_of_its_own_is_drawn_from(tmp_path):
    labelled = Corpus(60, seed=3).write(tmp_path / "labelled", 2)
    pool = tmp_path / "pool.csv"
    texts = Corpus(3000, seed=4).texts
    pool.write_text("text\n" + "\n".join(texts) + "\n", encoding="utf-8")
    options = ("--label", "label", "--unlabelled", pool, "--memory", "50MB", "--json")
    facts = json.loads(call("train", labelled, *options, "--out", tmp_path / "m"))
    assert facts["model"] == "semi-supervised"
    assert (facts["labelled"], facts["documents"]) == (60, 3060)
    assert "of the 3,000 unlabelled documents 1," in facts["summary"]


def test_a_model_that_is_not_fitted_in_parts_is_refused_with_those_that_are(parts):
    options = ["--label", "label", "--memory", "1GB", "--model", "mlp"]
    result = runner.invoke(app, ["train", str(parts), *options])
    assert isinstance(result.exception, NotSupportedError)
    assert "bernoulli, complement, em-multinomial" in str(result.exception)


def test_the_list_of_models_says_which_are_fitted_in_parts():
    listed = call("info", "--models").splitlines()
    in_parts = [line.split()[0] for line in listed if "[also in parts]" in line]
    expected = {"auto", "multinomial", "softmax", "em-multinomial", "semi-supervised"}
    assert expected <= set(in_parts)
    assert not {"knn", "mlp"} & set(in_parts)


def test_the_list_of_models_says_which_can_be_updated():
    listed = call("info", "--models").splitlines()
    updated = {line.split()[0] for line in listed if "[can be updated]" in line}
    assert updated == {"bernoulli", "complement", "multinomial"}


def test_a_size_that_is_none_is_told(parts):
    result = runner.invoke(app, ["train", str(parts), "--memory", "lots"])
    assert result.exit_code == 2
    assert "such as 2GB" in result.stderr


def test_a_bad_part_is_left_out_of_the_filter_and_named(model, parts, tmp_path):
    copy = tmp_path / "in"
    shutil.copytree(parts, copy)
    (copy / "part-001.jsonl").write_text('{"text": "fine"}\n{oops\n')
    options = ("--keep", "class 1", "--out", tmp_path / "out")
    failed = runner.invoke(app, ["filter", str(model), str(copy), *map(str, options)])
    assert "part-001.jsonl" in str(failed.exception)
    told = call("filter", model, copy, *options, "--skip-bad")
    assert "of 66 documents" in told  # part-000 was done before the failure
    assert "left out" in told
    assert "part-001.jsonl" in told
    kept = {p.name for p in (tmp_path / "out").glob("*.jsonl")}
    assert kept == {"part-000.jsonl", "part-002.jsonl"}


def test_what_parts_gave_is_kept_on_request(parts, tmp_path):
    out = tmp_path / "m.earmark"
    command = ["train", parts, "--model", "multinomial", "--out", out, "--keep-parts"]
    call(*command)
    assert list((tmp_path / "m.earmark.parts").glob("counts-*.done"))
    assert "workers keep nothing" in call(*command, "--dask", "local:2", status=2)


def test_a_mistyped_column_leaves_nothing_in_the_way(parts, tmp_path):
    options = ("--model", "multinomial", "--memory", "500MB")
    options += ("--out", tmp_path / "m.earmark")
    wrong = runner.invoke(
        app, ["train", str(parts), "--label", "lable", *map(str, options)]
    )
    assert isinstance(wrong.exception, DataError)
    call("train", parts, "--label", "label", *options)
    assert [p.name for p in tmp_path.iterdir()] == ["m.earmark"]


def test_the_card_tells_of_data_in_parts(parts, tmp_path):
    copy = tmp_path / "in"
    shutil.copytree(parts, copy)
    (copy / "part-001.jsonl").write_text("{oops\n")
    out = tmp_path / "m.earmark"
    options = ("--model", "multinomial", "--skip-bad", "--out", out)
    call("train", copy, "--label", "label", *options)
    shown = call("card", out).replace("\\", "")
    assert "| labelled documents | 133 |" in shown
    assert "| parts left out as unreadable | 1 |" in shown
    facts = card_facts(out)
    assert sum(facts["training"]["classes"].values()) == 133
    assert "fingerprint of the data" not in shown


def test_words_can_be_hashed(parts, tmp_path):
    out = tmp_path / "h.earmark"
    options = ("--label", "label", "--memory", "500MB", "--hashed", 10, "--out", out)
    call("train", parts, "--model", "complement", *options)
    assert earmark.load(out).features.n_features == 2**10


def test_fields_within_fields_stay_where_they_are(model, tmp_path):
    data, out = tmp_path / "d.jsonl", tmp_path / "kept"
    record = {"text": "some words", "n": {"x": 1}}
    data.write_text(json.dumps(record) + "\n", encoding="utf-8")
    out.mkdir()
    for label in earmark.load(model).classes_.tolist():
        call("filter", model, data, "--keep", label, "--out", out / label)
    files = [file for file in out.rglob("*") if file.suffix in (".jsonl", ".parquet")]
    rows = [
        row
        for file in files
        for row in (
            pq.read_table(file).to_pylist()
            if file.suffix == ".parquet"
            else map(json.loads, file.read_text(encoding="utf-8").splitlines())
        )
    ]
    assert rows == [record]


def test_a_result_that_is_damaged_is_made_again(model, parts, tmp_path):
    labels, clean = tmp_path / "labels", tmp_path / "clean"
    predict = ("predict", model, parts, "--by-part", "--out", labels, "--json")
    select = ("filter", model, parts, "--keep", "class 1", "--out", clean, "--json")
    for command, name in ((predict, "part-001.parquet"), (select, "part-001.jsonl")):
        call(*command)
        result = command[-2] / name
        content = result.read_bytes()
        for damaged in (b"x\n", content[: len(content) // 2], content[:-1]):
            result.write_bytes(damaged)
            assert json.loads(call(*command))["skipped"] == 2
            assert result.read_bytes() == content
        assert json.loads(call(*command))["skipped"] == 3


def test_results_of_parts_that_are_gone_are_named(model, parts, tmp_path):
    data, out = tmp_path / "data", tmp_path / "labels"
    shutil.copytree(parts, data)
    command = ("predict", model, data, "--by-part", "--out", out)
    call(*command)
    min(data.iterdir()).unlink()
    with pytest.warns(EarmarkWarning, match=r"no part for 'part-000\.parquet'; delete"):
        call(*command)


def test_labels_left_open_are_written_and_are_no_abstentions(tmp_path):
    rng = np.random.default_rng(0)
    names = np.array(["a", "b", "c"])
    truth = rng.random((300, 3)) < 0.4
    texts = [
        " ".join(
            [
                *names[row].repeat(2),
                *rng.choice(names, 2),
                *map(str, rng.integers(10, 99, 8)),
            ]
        )
        for row in truth
    ]
    labels = [names[row].tolist() for row in truth]
    model = earmark.TextClassifier("softmax", max_error=0.05)
    half = slice(0, 150), slice(150, 300)
    learned, rest = ((texts[some], labels[some]) for some in half)
    model.fit(*learned, calibration=rest).save(tmp_path / "m.earmark")
    data = tmp_path / "d.jsonl"
    lines = [json.dumps({"text": text}) for text in texts]
    data.write_text("\n".join(lines))
    out = tmp_path / "labels"
    options = ("--by-part", "--out", out, "--json")
    facts = json.loads(call("predict", tmp_path / "m.earmark", data, *options))
    decision = model.decide(texts)
    rows = pq.read_table(out / "d.parquet").to_pylist()
    assert facts["abstained"] == sum(label is None for label in decision.labels)
    undecided = [model.classes_[row].tolist() for row in decision.abstained]
    assert [row["undecided"] for row in rows] == undecided
    assert any(undecided)
