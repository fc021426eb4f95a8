"""What users wrote stands in messages as they wrote it, on the command line too."""

import csv
import subprocess
import sys

import pytest

ROWS = [
    ("cheap pills now", "spam"),
    ("meeting at noon", "ham"),
    ("cheap watches", "spam"),
    ("lunch at noon", "ham"),
] * 4


def said(*arguments):
    """What the console script writes to stderr, on one line."""
    command = [sys.executable, "-m", "earmark", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join(done.stderr.split())


def written(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    data = written(folder / "data.csv", ROWS)
    options = ("--label", "label", "--model", "multinomial")
    said("train", data, *options, "--out", folder / "m.earmark")
    return folder / "m.earmark"


@pytest.mark.parametrize(
    "label",
    [
        "urgent",
        "semi; colon",
        "class_weight",
        "max_error",
        "red; a tokenizer= of green",
    ],
)
def test_a_label_stands_as_it_is(label, model, tmp_path):
    data = written(tmp_path / "new.csv", [*ROWS, ("some words", label)])
    told = said("evaluate", model, data, "--label", "label")
    assert f"label(s) {label}; documents with them count as wrong." in told


@pytest.mark.parametrize("column", ["kind", "max_error", "see text=b"])
def test_a_column_stands_as_it_is(column, tmp_path):
    data = written(tmp_path / "new.csv", ROWS)
    told = said("train", data, "--label", column, "--text", "text")
    assert f"expected a column '{column}'" in told
