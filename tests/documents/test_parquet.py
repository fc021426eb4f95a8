"""Parquet: the needed columns, batch by batch, alone or as a directory of parts."""

import re
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earmark.documents import iter_documents, read_documents
from earmark.exceptions import DataError, MissingDependencyError


@pytest.fixture
def write(tmp_path):
    def _write(columns, name="data.parquet", **options):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), path, **options)
        return path

    return _write


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(), min_size=1, max_size=8), batch_size=st.integers(1, 9))
def test_what_arrow_writes_is_read_back(tmp_path, texts, batch_size):
    path = tmp_path / "round.parquet"
    pq.write_table(pa.table({"text": texts, "n": range(len(texts))}), path)
    read = read_documents(path, batch_size=batch_size, keep="all")
    assert read.texts == texts
    assert read.columns == {"n": list(range(len(texts)))}


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_kind_of_string_column_is_text(write, kind):
    path = write({"n": [1, 2], "words": pa.array(["a", "b"], kind)})
    assert read_documents(path).texts == ["a", "b"]


def test_lists_of_labels_are_read_for_multi_label(write):
    path = write({"text": ["a", "b"], "label": [["x", "y"], []]})
    assert read_documents(path, multi_label=True).labels == [["x", "y"], []]
    with pytest.raises(DataError, match=r"row 1, column 'label': .* multi_label=True"):
        read_documents(path)


def test_null_text_is_named_by_row(write):
    path = write({"text": ["a", None], "label": ["x", "y"]})
    with pytest.raises(DataError, match=r"row 2, column 'text': expected a text, got "):
        read_documents(path)


def test_column_of_numbers_is_no_text(write):
    path = write({"text": [1, 2]})
    with pytest.raises(DataError, match=r"row 1, column 'text': .* got the number 1"):
        read_documents(path, "text")
    with pytest.raises(DataError, match="'text' holds no strings"):
        read_documents(path)


def test_no_rows_and_no_parquet_are_told_apart(write, tmp_path):
    path = write({"text": pa.array([], pa.string())})
    with pytest.raises(DataError, match="got the columns but no row"):
        read_documents(path)
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="expected a Parquet file, it cannot be read"):
        read_documents(path)


def test_damaged_column_is_a_data_error(write):
    path = write({"text": ["some words"] * 1000}, compression="zstd")
    data = bytearray(path.read_bytes())
    data[20:60] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(DataError, match=re.escape(str(path))):
        read_documents(path)


def test_compressed_parquet_is_refused_with_advice(write):
    path = write({"text": ["a"]}, "data.parquet.gz")
    with pytest.raises(DataError, match="decompress it first"):
        read_documents(path)


def test_parts_are_read_in_order_of_name_and_empty_ones_skipped(write, tmp_path):
    write({"text": ["c"], "label": ["x"]}, "parts/part-2.parquet")
    write({"text": ["a", "b"], "label": ["y", "x"]}, "parts/part-0.parquet")
    empty = {"text": pa.array([], pa.string()), "label": pa.array([], pa.string())}
    write(empty, "parts/part-1.parquet")
    (tmp_path / "parts" / "_SUCCESS").write_text("")
    documents = read_documents(tmp_path / "parts")
    assert documents.texts == ["a", "b", "c"]
    assert documents.labels == ["y", "x", "x"]
    assert list(documents.rows) == [1, 2, 3]
    batches = list(iter_documents(tmp_path / "parts"))
    assert [batch.source[-14:] for batch in batches] == [
        "part-0.parquet",
        "part-2.parquet",
    ]


def test_error_in_a_part_names_the_part_and_its_own_row(write, tmp_path):
    write({"text": ["a", "b"]}, "parts/a.parquet")
    path = write({"text": ["c", None]}, "parts/b.parquet")
    with pytest.raises(DataError, match=re.escape(f"{path}, row 2, column 'text'")):
        read_documents(tmp_path / "parts")


def test_first_part_settles_the_columns(write, tmp_path):
    write({"text": ["a"], "label": ["x"]}, "parts/a.parquet")
    write({"text": ["c"]}, "parts/b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: expected a column 'label'"):
        read_documents(tmp_path / "parts")
    write({"text": ["a"]}, "more/a.parquet")
    write({"text": ["c"], "label": ["x"]}, "more/b.parquet")
    assert read_documents(tmp_path / "more").labels is None


def test_regions_and_ids_hold_over_parts(write, tmp_path):
    write({"id": [1], "t": ["a"], "b": ["c"]}, "parts/a.parquet")
    write({"id": [2], "t": ["d"], "b": ["e"]}, "parts/b.parquet")
    read = read_documents(
        tmp_path / "parts", regions={"title": "t", "body": "b"}, id="id", keep=["b"]
    )
    assert read.texts == {"title": ["a", "d"], "body": ["c", "e"]}
    assert read.columns == {"b": ["c", "e"]}
    write({"id": [1], "t": ["d"], "b": ["e"]}, "parts/b.parquet")
    with pytest.raises(DataError, match="row 1, column 'id': expected each id once"):
        read_documents(tmp_path / "parts", "t", id="id")


def test_parts_of_two_formats_need_a_choice(write, tmp_path):
    write({"text": ["a"]}, "parts/a.parquet")
    (tmp_path / "parts" / "b.jsonl").write_text('{"text": "b"}\n')
    with pytest.raises(DataError, match="expected parts of one format, got 'parquet'"):
        read_documents(tmp_path / "parts")
    assert read_documents(tmp_path / "parts", format="jsonl").texts == ["b"]


def test_without_pyarrow_the_extra_is_named(write, monkeypatch):
    path = write({"text": ["a"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependencyError, match=r"\.\[io\]"):
        read_documents(path)
