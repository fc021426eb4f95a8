"""A folder with one sub-folder per label."""

import pytest

from earmark.documents import iter_documents, read_documents
from earmark.exceptions import DataError


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "sport/b.txt": "second",
        "sport/a.txt": "first",
        "trade/c.txt": "third",
        "trade/notes.md": "no document",
        ".hidden/d.txt": "hidden",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_sub_folders_are_labels_and_paths_are_ids(folder):
    documents = read_documents(folder)
    assert documents.texts == ["first", "second", "third"]
    assert documents.labels == ["sport", "sport", "trade"]
    assert documents.ids == ["sport/a.txt", "sport/b.txt", "trade/c.txt"]


def test_pattern_chooses_the_files(folder):
    assert len(read_documents(folder, pattern="*")) == 4
    assert read_documents(folder, pattern="*.md").texts == ["no document"]
    with pytest.raises(DataError, match=r"files '\*.rst' in it.*pattern='\*'"):
        read_documents(folder, pattern="*.rst")


def test_batches_bound_documents_and_bytes(folder):
    assert [len(b) for b in iter_documents(folder, batch_size=2)] == [2, 1]
    assert [len(b) for b in iter_documents(folder, batch_bytes=1)] == [1, 1, 1]
    rows = [list(batch.rows) for batch in iter_documents(folder, batch_size=2)]
    assert rows == [[1, 2], [3]]


def test_labels_can_be_left_out_or_be_sets(folder):
    assert read_documents(folder, label=False).labels is None
    assert read_documents(folder, multi_label=True).labels[0] == ["sport"]


def test_column_names_make_no_sense_for_a_folder(folder):
    with pytest.raises(DataError, match=r"expected no column names .* got text=, id="):
        read_documents(folder, "text", id="id")


def test_bad_bytes_name_the_document(folder):
    (folder / "sport" / "a.txt").write_bytes(b"line one\nna\xefve")
    with pytest.raises(DataError, match=r"a.txt, line 2: .*byte 11 \(0xef\).*latin-1"):
        read_documents(folder)
    assert read_documents(folder, encoding="latin-1").texts[0] == "line one\nnaïve"
    (folder / "sport" / "a.txt").write_bytes(b"line\0one")
    with pytest.raises(DataError, match=r"a.txt, line 1: expected text, got a NUL"):
        read_documents(folder)


def test_files_without_sub_folders_are_unlabelled(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(DataError, match=r"got 1 files without one; .*label=False"):
        read_documents(tmp_path)
    assert read_documents(tmp_path, label=False).texts == ["one"]
    assert read_documents(tmp_path, allow_unlabelled=True).labels == [None]
    read = read_documents(tmp_path, allow_unlabelled=True, multi_label=True)
    assert read.labels == [None]


def test_empty_folder_says_what_was_expected(tmp_path):
    with pytest.raises(DataError, match="expected one sub-folder per label"):
        read_documents(tmp_path)
