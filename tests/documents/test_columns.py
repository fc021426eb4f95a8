"""Which column is the text and which the label: asked for, guessed, or refused."""

import json

import pytest

from earmark.documents import read_documents
from earmark.exceptions import DataError


@pytest.fixture
def read(tmp_path):
    def _read(header, *args, **kwargs):
        path = tmp_path / "data.csv"
        path.write_text(header + "\n" + ",".join(f"c{i}" for i in range(9)) + "\n")
        names = header.split(",")
        path.write_text(header + "\n" + ",".join(f"{name}-1" for name in names) + "\n")
        return read_documents(path, *args, **kwargs)

    return _read


@pytest.mark.parametrize(
    ("header", "text", "label"),
    [
        ("id,text,label", "text", "label"),
        ("Text,Label,body", "Text", "Label"),
        ("review,category", "review", "category"),
        ("whatever,target", "whatever", "target"),
        ("only", "only", None),
        ("content,class,title", "content", "class"),
        ("text,topic,body,review", "text", "topic"),
    ],
)
def test_common_names_are_guessed(read, header, text, label):
    documents = read(header)
    assert documents.texts == [f"{text}-1"]
    assert documents.labels == (None if label is None else [f"{label}-1"])


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("body,content,label", "more than one column may be the text: 'body', 'con"),
        ("text,class,topic", "more than one column may be the label: .* label="),
        ("one,two,label", "several columns hold strings .* 'one', 'two', 'label'; "),
        ("label", "no column holds strings and the columns are 'label'; .* text="),
    ],
)
def test_ambiguous_guess_lists_the_columns_and_the_flag(read, header, message):
    with pytest.raises(DataError, match=message):
        read(header)


def test_label_false_frees_the_name_for_text(read):
    documents = read("label", label=False)
    assert documents.texts == ["label-1"]
    assert documents.labels is None


def test_several_text_columns_are_joined_by_a_line_break(read):
    assert read("a,b,c", ["c", "a"]).texts == ["c-1\na-1"]


def test_regions_keep_columns_apart(read):
    expected = {"a": ["a-1"], "c": ["c-1"]}
    assert read("a,b,c", ["a", "c"], regions=True).texts == expected
    assert read("a,b,c", regions=["a", "c"]).texts == expected
    named = read("a,b,c", regions={"title": "a", "rest": "b"})
    assert named.texts == {"title": ["a-1"], "rest": ["b-1"]}
    assert named.regions == ("title", "rest")
    assert read("a,b,c", ["b"], regions=False).texts == ["b-1"]


def test_id_column_is_not_guessed_as_label_or_text(read):
    documents = read("topic,words", id="topic")
    assert documents.labels is None
    assert documents.texts == ["words-1"]
    assert documents.ids == ["topic-1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label": "lable"}, r"column 'lable' \(asked for by label=\).*mean 'label'"),
        ({"id": "key"}, r"expected a column 'key' \(asked for by id=\)"),
        ({"keep": ["date"]}, r"expected a column 'date' \(asked for by keep=\)"),
        ({"regions": ["text", "tilte"]}, r"'tilte' \(asked for by regions=\).*'title'"),
    ],
)
def test_missing_column_names_the_argument_and_near_names(read, arguments, message):
    with pytest.raises(DataError, match=message):
        read("text,label,title", **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"text": "a", "regions": ["b"]}, ValueError, "either by text= or by regions="),
        ({"regions": True}, ValueError, r"regions=True needs the columns in text="),
        ({"regions": "text"}, TypeError, r"write regions=\['text'\]"),
        ({"regions": []}, ValueError, "regions= is empty"),
        ({"text": []}, ValueError, "text= is empty"),
        ({"null_text": "skip"}, ValueError, "null_text must be one of"),
        ({"format": "xls"}, ValueError, "format must be one of"),
        ({"batch_size": 0}, ValueError, "batch_size must be >= 1, got 0"),
        ({"delimiter": "ab"}, ValueError, "delimiter must be one character"),
        ({"encoding": "utf-9"}, ValueError, "Python knows, .* got 'utf-9'"),
        ({"encoding": "hex"}, ValueError, "Python knows, .* got 'hex'"),
        ({"multi_label": True, "separator": ""}, ValueError, "separator= must be"),
    ],
)
def test_senseless_arguments_are_refused_at_once(read, arguments, error, message):
    with pytest.raises(error, match=message):
        read("text,label", **arguments)


def test_many_columns_are_listed_in_part(read):
    with pytest.raises(DataError, match="and 10 more"):
        read(",".join(f"column{i}" for i in range(30)))


def test_json_columns_are_guessed_from_all_first_records(tmp_path):
    path = tmp_path / "data.jsonl"
    records = [{"n": 1}, {"n": 2, "words": "b", "label": "x"}]
    records[0]["words"] = "a"
    path.write_text("\n".join(json.dumps(record) for record in records))
    documents = read_documents(path, allow_unlabelled=True)
    assert documents.texts == ["a", "b"]
    assert documents.labels == [None, "x"]
