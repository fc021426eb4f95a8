"""Sixty kinds of odd or broken input: what is read of each, or what is said."""

import io
import warnings

import openpyxl
import pytest

from earmark.documents import read_documents
from earmark.exceptions import DataError, EarmarkWarning
from tests.documents.odd_inputs import (
    LABELLED,
    LABELS,
    READ,
    REFUSED,
    ROWS,
    TEXTS,
    WARNED,
    excel,
    outcome,
    written,
)


@pytest.mark.parametrize("case", READ)
def test_it_is_read(tmp_path, case):
    name, content, options = READ[case]
    documents = read_documents(written(tmp_path, name, content), **options)
    assert documents.texts == TEXTS
    assert documents.labels == LABELS


@pytest.mark.parametrize("case", LABELLED)
def test_labels_are_read(tmp_path, case):
    name, content, options, labels = LABELLED[case]
    documents = read_documents(written(tmp_path, name, content), **options)
    assert documents.labels == labels


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_what_to_do(tmp_path, case):
    name, content, options, message = REFUSED[case]
    with pytest.raises(DataError, match=message) as caught:
        read_documents(written(tmp_path, name, content), **options)
    assert name in str(caught.value)


@pytest.mark.parametrize("case", WARNED)
def test_it_is_pointed_out(tmp_path, case):
    content, message = WARNED[case]
    with pytest.warns(EarmarkWarning, match=message):
        read_documents(written(tmp_path, "d.csv", content))


def test_a_stray_file_beside_label_folders_is_named_and_not_obeyed(tmp_path):
    for label in LABELS:
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(label)
    written(tmp_path, "notes.csv", ROWS)
    with pytest.warns(EarmarkWarning, match="'notes.csv' beside the sub-folders"):
        documents = read_documents(tmp_path)
    assert sorted(documents.labels) == ["neg", "pos"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_documents(tmp_path, format="csv").texts == TEXTS


def test_each_part_may_have_an_encoding_of_its_own(tmp_path):
    content = "text,label\nnaïve,pos\n"
    for number, encoding in enumerate(("utf-8", "utf-16", "latin-1", "cp1252")):
        (tmp_path / f"{number}.csv").write_bytes(content.encode(encoding))
    assert read_documents(tmp_path, encoding="auto").texts == ["naïve"] * 4


def test_there_are_sixty_kinds():
    assert len(READ) + len(LABELLED) + len(REFUSED) + len(WARNED) + 2 >= 60


def test_the_table_tells_what_happens():
    assert outcome("d.csv", ROWS, {}) == "read: 2 documents, labels pos, neg"
    assert outcome("d.csv", "", {}).startswith("refused: d.csv: expected a header")
    assert "case, blanks" in outcome("d.csv", WARNED["labels by case"][0], {})


def test_sheets_that_are_not_read_are_named(tmp_path):
    book = openpyxl.load_workbook(io.BytesIO(excel(["text", "label"], ["a", "x"])))
    book.active.title = "Jan"
    book.create_sheet("Feb").append(["text", "label"])
    book.save(tmp_path / "two.xlsx")
    with pytest.warns(EarmarkWarning, match="the first of 2 sheets is read, 'Jan'"):
        assert read_documents(tmp_path / "two.xlsx").texts == ["a"]
