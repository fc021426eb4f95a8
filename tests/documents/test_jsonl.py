"""JSON lines: what is written is read, what is broken is named by row and field."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earmark.documents import iter_documents, read_documents
from earmark.exceptions import DataError

LABEL = st.text().filter(str.strip)


@pytest.fixture
def write(tmp_path):
    def _write(*lines, name="data.jsonl", end="\n"):
        path = tmp_path / name
        text = [x if isinstance(x, str) else json.dumps(x) for x in lines]
        path.write_bytes(("".join(line + end for line in text)).encode())
        return path

    return _write


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    records=st.lists(
        st.fixed_dictionaries({"text": st.text(), "label": LABEL}),
        min_size=1,
        max_size=8,
    ),
    ascii_only=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", "  \n\n"]),
    batch_size=st.integers(1, 9),
)
@pytest.mark.filterwarnings("ignore:.*differ only by case")
def test_what_json_writes_is_read_back(tmp_path, records, ascii_only, end, batch_size):
    path = tmp_path / "round.jsonl"
    with path.open("w", encoding="utf-8", newline="") as file:
        for record in records:
            line = json.dumps(record, ensure_ascii=ascii_only)
            file.write(line + end)
    read = read_documents(path, batch_size=batch_size)
    assert read.texts == [record["text"] for record in records]
    assert read.labels == [record["label"] for record in records]


def test_escaped_nul_and_lone_surrogate_are_kept(write):
    path = write('{"text": "a\\u0000b"}', '{"text": "\\ud800"}')
    assert read_documents(path).texts == ["a\0b", "\ud800"]


def test_last_line_needs_no_line_break(tmp_path):
    path = tmp_path / "data.ndjson"
    path.write_text('{"text": "a"}\n{"text": "b"}')
    assert read_documents(path).texts == ["a", "b"]


BROKEN = {
    "broken JSON": (
        ['{"text": "a"}', "", '{"text": "b"'],
        r"row 2 \(line 3\): expected one JSON object on the line, got broken JSON "
        r"at character 14",
    ),
    "two objects": (
        ['{"text": "a"} {"text": "b"}'],
        r"row 1 \(line 1\): .* got broken JSON at character 15 \(Extra data\)",
    ),
    "a field twice": (
        ['{"text": "a"}', '{"text": "b", "text": "c"}'],
        r"row 2 \(line 2\): .* got an object that has the field 'text' twice",
    ),
    "a field twice in an array": (['[{"text": "b", "text": "c"}]'], "'text' twice"),
    "a number": (["17"], "got the number 17; write"),
    "an array of strings": (['["a"]'], "expected an object, got the string 'a'"),
    "an array without an end": (["[", '{"text": "a"}'], "got broken JSON"),
    "too deep": (['{"text": ' + "[" * 200_000], "nested too deeply"),
    "a huge number": (['{"text": ' + "9" * 5000 + "}"], "that Python cannot hold"),
    "raw control character": (['{"text": "a\tb"}'], "Invalid control character"),
    "null text": (
        ['{"text": "a"}', '{"text": null}'],
        r"row 2 \(line 2\), column 'text': expected a text, got nothing \(null\); "
        r".*null_text='empty'",
    ),
    "number as text": (
        ['{"text": "a"}', '{"text": 3}'],
        r"row 2 \(line 2\), column 'text': expected a text, got the number 3",
    ),
    "missing text": (
        ['{"text": "a"}', '{"txt": "b", "n": 1}'],
        r"row 2 \(line 2\), column 'text': expected the field, the object has "
        r"'txt', 'n' \(did you mean 'txt'\?\)",
    ),
    "nothing": ([], "expected data rows, got none: the file is empty"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("batch_size", [1, 4096])
def test_broken_line_is_named_with_row_and_line(write, case, batch_size):
    lines, message = BROKEN[case]
    path = write(*lines)
    with pytest.raises(DataError, match=message) as caught:
        read_documents(path, "text", batch_size=batch_size)
    assert str(caught.value).startswith(str(path))


def test_null_text_can_be_an_empty_document(write):
    path = write({"text": "a"}, {"text": None})
    assert read_documents(path, null_text="empty").texts == ["a", ""]


def test_unlabelled_lines_are_none_when_asked_for(write):
    path = write(
        {"text": "a"},
        {"text": "b", "label": None},
        {"text": "c", "label": ""},
        {"text": "d", "label": "x"},
    )
    documents = read_documents(path, allow_unlabelled=True)
    assert documents.labels == [None, None, None, "x"]
    with pytest.raises(DataError, match=r"row 1 .*'label': expected a label, got noth"):
        read_documents(path)
    assert read_documents(path, label=False).labels is None


def test_label_may_come_after_the_first_batch_when_unlabelled_is_allowed(write):
    path = write({"text": "a"}, {"text": "b", "topic": "x"})
    read = read_documents(path, label="topic", allow_unlabelled=True, batch_size=1)
    assert read.labels == [None, "x"]


def test_slip_in_the_label_name_is_found_even_then(write):
    path = write({"text": "a", "topic": "x"})
    with pytest.raises(DataError, match="Did you mean 'topic'"):
        read_documents(path, label="topics", allow_unlabelled=True)


def test_further_fields_come_along_and_may_be_absent(write):
    path = write({"text": "a", "n": 1}, {"text": "b"})
    assert read_documents(path, keep="all").columns == {"n": [1, None]}


def test_ids_are_kept_as_they_are(write):
    path = write({"text": "a", "key": 7}, {"text": "b", "key": "x"})
    assert read_documents(path, id="key").ids == [7, "x"]
    with pytest.raises(DataError, match=r"row 1 .*'key': expected an id .* got true"):
        read_documents(write({"text": "a", "key": True}), id="key")


def test_batches_follow_one_another(write):
    path = write(*({"text": str(i)} for i in range(10)))
    batches = list(iter_documents(path, batch_size=4))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert [batch.rows[0] for batch in batches] == [1, 5, 9]
    assert [text for batch in batches for text in batch.texts] == list("0123456789")
