"""Documents: one entry per document everywhere, picked and joined together."""

import pytest

from earmark.documents import Documents
from earmark.documents.document import concatenate
from earmark.exceptions import DataError


def test_length_counts_documents_not_regions():
    assert len(Documents({"title": ["a", "b", "c"], "body": ["x", "y", "z"]})) == 3
    assert len(Documents([])) == 0


def test_lists_of_another_length_are_refused_by_name():
    with pytest.raises(DataError, match=r"labels must have one entry .* got 1 for 2"):
        Documents(["a", "b"], labels=["x"])
    with pytest.raises(DataError, match=r"texts\['body'\] must have one entry"):
        Documents({"title": ["a", "b"], "body": ["x"]})
    with pytest.raises(DataError, match=r"columns\['date'\] must have one entry"):
        Documents(["a", "b"], columns={"date": []})


def test_take_picks_the_same_documents_from_every_list():
    documents = Documents(
        {"title": ["a", "b", "c"], "body": ["x", "y", "z"]},
        labels=["p", None, "q"],
        ids=[10, 11, 12],
        rows=range(1, 4),
        source="some.csv",
        columns={"date": [1, 2, 3]},
    )
    taken = documents.take([2, 0])
    assert taken.texts == {"title": ["c", "a"], "body": ["z", "x"]}
    assert taken.labels == ["q", "p"]
    assert taken.ids == [12, 10]
    assert list(taken.rows) == [3, 1]
    assert taken.columns == {"date": [3, 1]}
    assert taken.where(0) == "some.csv, row 3"


def test_joined_puts_regions_together_in_their_order():
    documents = Documents({"title": ["a"], "body": ["x"]})
    assert documents.joined() == ["a\nx"]
    assert documents.joined(" ") == ["a x"]
    assert Documents(["plain"]).joined() == ["plain"]


def test_place_of_a_document_without_rows_is_its_index():
    assert Documents(["a"]).where(0) == "document 0 of the input"


def test_fields_cannot_be_replaced():
    with pytest.raises(AttributeError):
        Documents(["a"]).texts = ["b"]


def test_concatenation_numbers_rows_through():
    parts = [
        Documents(["a"], labels=["p"], ids=[1], rows=[1], columns={"k": [7]}),
        Documents(["b"], labels=[None], ids=[2], rows=[1], columns={"k": [8]}),
    ]
    whole = concatenate(parts, "parts")
    assert whole.texts == ["a", "b"]
    assert whole.labels == ["p", None]
    assert whole.ids == [1, 2]
    assert list(whole.rows) == [1, 2]
    assert whole.columns == {"k": [7, 8]}
    assert whole.source == "parts"
