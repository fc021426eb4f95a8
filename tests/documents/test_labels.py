"""Labels are the same strings from every format; sets where asked for."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earmark.documents import read_documents
from earmark.exceptions import DataError


def jsonl(tmp_path, *labels):
    path = tmp_path / "data.jsonl"
    lines = (json.dumps({"text": "t", "label": label}) for label in labels)
    path.write_text("\n".join(lines))
    return path


def test_same_classes_from_csv_jsonl_and_parquet(tmp_path):
    table = tmp_path / "data.csv"
    table.write_text("text,label\nt,3\nt,4\n")
    columns = tmp_path / "data.parquet"
    pq.write_table(pa.table({"text": ["t", "t"], "label": [3.0, 4.0]}), columns)
    for path in (table, columns, jsonl(tmp_path, 3, 4)):
        assert read_documents(path).labels == ["3", "4"]


@pytest.mark.parametrize(
    ("value", "label"), [(True, "true"), (False, "false"), (-1, "-1"), (" a ", " a ")]
)
def test_label_becomes_a_string(tmp_path, value, label):
    assert read_documents(jsonl(tmp_path, value)).labels == [label]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, "expected a label .* got the number 0.5"),
        ({"a": 1}, "expected a label .* got an object"),
        (["a", "b"], "expected one label, got a list of 2; .* multi_label=True"),
        (float("nan"), "expected a label, got the number nan; fill it in"),
    ],
)
def test_what_is_no_label_is_refused(tmp_path, value, message):
    with pytest.raises(
        DataError, match=rf"row 2 \(line 2\), column 'label': {message}"
    ):
        read_documents(jsonl(tmp_path, "x", value))


def test_sets_of_labels_from_lists_cells_and_single_values(tmp_path):
    path = jsonl(tmp_path, ["a", "b", "a"], "a|c", '["d|e"]', [], 3, ["x", 4])
    assert read_documents(path, multi_label=True).labels == [
        ["a", "b"],
        ["a", "c"],
        ["d|e"],
        [],
        ["3"],
        ["x", "4"],
    ]


def test_separator_can_be_chosen(tmp_path):
    path = jsonl(tmp_path, "a, b", "[c")
    labels = read_documents(path, multi_label=True, separator=", ").labels
    assert labels == [["a", "b"], ["[c"]]


def test_empty_cell_is_unlabelled_and_empty_list_is_not(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("text,label\nt,\nt,[]\n")
    read = read_documents(path, multi_label=True, allow_unlabelled=True)
    assert read.labels == [None, []]
    with pytest.raises(DataError, match=r"row 1 .*expected a label"):
        read_documents(path, multi_label=True)


def test_empty_label_in_a_set_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"row 1 .*an empty one in .*separator="):
        read_documents(jsonl(tmp_path, "a||b"), multi_label=True)
    with pytest.raises(DataError, match=r"row 1 .*expected one label, got a list"):
        read_documents(jsonl(tmp_path, [["a"]]), multi_label=True)


@pytest.mark.filterwarnings("ignore:.*differ only by case")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sets=st.lists(
        st.lists(st.text().filter(str.strip), unique=True), min_size=1, max_size=5
    )
)
def test_sets_written_as_json_lists_are_read_back(tmp_path, sets):
    path = jsonl(tmp_path, *sets)
    assert read_documents(path, multi_label=True).labels == sets
    path = jsonl(tmp_path, *(json.dumps(labels) for labels in sets))
    assert read_documents(path, multi_label=True).labels == sets
