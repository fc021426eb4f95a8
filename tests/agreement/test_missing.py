"""What is missing: one answer for texts, labels, cells of tables and true labels."""

import json

import numpy as np
import pandas as pd
import pytest

from earmark import TextClassifier
from earmark.decision import AbstainingClassifier
from earmark.documents import read_documents
from earmark.evaluation import Report, check_documents
from earmark.exceptions import DataError
from earmark.features import WordCounter
from earmark.missing import is_missing

NONE = {
    "None": None,
    "float": float("nan"),
    "float64": np.float64("nan"),
    "float32": np.float32("nan"),
    "float16": np.float16("nan"),
    "pandas NA": pd.NA,
    "pandas NaT": pd.NaT,
    "datetime64": np.datetime64("NaT"),
    "timedelta64": np.timedelta64("NaT"),
}
THERE = ["", "nan", "None", 0, False, 1.5, np.float32(1), np.datetime64("2020-01-01")]
TEXTS = ["cheap pills", "noon meeting", "cheap watch", "lunch at noon"] * 3
LABELS = ["spam", "ham"] * 6

every = pytest.mark.parametrize("none", NONE.values(), ids=NONE)


@every
def test_it_is_missing_by_itself(none):
    assert is_missing(none)


@pytest.mark.parametrize("value", THERE, ids=repr)
def test_other_values_are_there(value):
    assert not is_missing(value)


@every
def test_a_label_that_is_missing_in_fit_and_score_is_one_in_the_check(none):
    labels = [*LABELS[:-1], none]
    model = TextClassifier("multinomial").fit(TEXTS, labels)
    assert model.classes_.tolist() == ["ham", "spam"]
    assert model.score(TEXTS, labels) == model.score(TEXTS[:-1], labels[:-1])
    found = {one.kind: one for one in check_documents(TEXTS, labels)}
    assert found["missing_labels"].rows == (11,)


@every
def test_a_report_refuses_a_true_label_that_is_missing(none):
    with pytest.raises(DataError, match="a label for every document, got None in row"):
        Report.from_predictions(["a", none], ["a", "a"])


@every
def test_an_abstaining_classifier_knows_it_too(none):
    model = AbstainingClassifier(TextClassifier("multinomial"), max_error=None)
    model.fit(TEXTS, LABELS)
    expected = model.score(TEXTS[:-1], LABELS[:-1])
    assert model.score(TEXTS, [*LABELS[:-1], none]) == expected


@every
def test_a_text_that_is_missing_is_named_so(none):
    with pytest.raises(DataError, match="document 1: expected a str, got a missing"):
        WordCounter().fit(["some words", none])


@pytest.mark.parametrize("none", [None, float("nan")], ids=["null", "NaN"])
def test_a_cell_that_is_missing_is_no_label(none, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"text": "one", "label": "a"}, {"text": "two", "label": none}]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_documents(path, label="label", allow_unlabelled=True)
    assert found.labels == ["a", None]


def test_a_column_of_small_floats_in_parquet_has_gaps(tmp_path):
    frame = pd.DataFrame({"text": ["one", "two"], "label": np.float32([1, np.nan])})
    frame.to_parquet(tmp_path / "rows.parquet")
    found = read_documents(
        tmp_path / "rows.parquet", label="label", allow_unlabelled=True
    )
    assert found.labels == ["1", None]
