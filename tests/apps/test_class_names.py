"""``earmark train`` by class names."""

import csv
import json

import pytest

import earmark
from tests.apps.test_cli import run
from tests.pipeline.test_few_labels import texts


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    X, _ = texts(200, 0)
    return write(
        tmp_path_factory.mktemp("names") / "pool.csv", ["text"], [[x] for x in X]
    )


def test_names_in_a_table_need_no_labels(pool, tmp_path):
    rows = [("garden", "rose tulip"), ("sea", "sail"), ("sea", "harbour")]
    names = write(tmp_path / "names.csv", ["label", "description"], rows)
    out = tmp_path / "model.earmark"
    status, told, _ = run("train", pool, "--class-names", names, "--out", out)
    assert status == 0
    assert "accuracy and confidence are unknown" in told
    assert f"earmark label {pool}" in told
    assert earmark.load(out).predict(["the sail of it"]) == ["sea"]


def test_classes_are_named_on_the_line(pool, tmp_path):
    out = tmp_path / "model.earmark"
    given = ("--classes", "rose,oven,sail", "--out", out, "--json")
    facts = json.loads(run("train", pool, *given)[1])
    assert facts["classes"] == ["oven", "rose", "sail"]
    assert facts["labelled"] == 0


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--classes", "qqq,zzz"], 1, "no labelled document for 'qqq', 'zzz'"),
        (["--classes", "sail"], 2, "two labels at least"),
        (["--classes", "sail,oven", "--max-error", "0.1"], 1, "needs labelled"),
        ([], 1, "--label COL"),
    ],
)
def test_what_names_cannot_do_is_said(pool, tmp_path, options, status, message):
    done, _, told = run("train", pool, *options, "--out", tmp_path / "m.earmark")
    assert done == status
    assert message in " ".join(told.replace("│", " ").split())
