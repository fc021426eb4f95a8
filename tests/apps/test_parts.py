"""The commands on data in parts."""

import json

import pyarrow.parquet as pq
import pytest
from tests.distributed.conftest import Corpus
from typer.testing import CliRunner

from earmark.apps.cli.main import app
from earmark.exceptions import DataError

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
    assert "3 were done before" in again
    assert pq.read_table(out / "part-000.parquet").num_rows == 67


def test_what_is_kept_is_reported(model, parts, tmp_path):
    out = tmp_path / "clean"
    options = ("--keep", "class 1", "--min-confidence", "0.5", "--out", out, "--json")
    facts = json.loads(call("filter", model, parts, *options))
    lines = [line for p in out.glob("*.jsonl") for line in p.read_text().splitlines()]
    assert facts["kept"] == len(lines) > 0
    assert facts["documents"] == 200


def test_options_that_do_not_go_with_parts_are_wrong_usage(parts):
    call("train", parts, "--memory", "1GB", "--unlabelled", parts, status=2)


def test_a_size_that_is_none_is_told(parts):
    result = runner.invoke(app, ["train", str(parts), "--memory", "lots"])
    assert isinstance(result.exception, DataError)
    assert "such as '2GB', got 'lots'" in str(result.exception)
