"""Containers of texts: zero-copy where possible, errors with the row."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from earmark.exceptions import DataError
from earmark.inputs.texts import as_list, as_texts
from earmark.kernels.text import ArrowText

TEXTS = ["naïve", "", "b c", "東京"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(["x", *TEXTS, "y"])[1:-1],
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pa.array(TEXTS).dictionary_encode(),
        pl.Series(TEXTS),
        pl.Series(["x", *TEXTS])[1:],
        pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    ],
)
def test_arrow_columns_stay_arrow(column):
    texts = as_texts(column)
    assert isinstance(texts, ArrowText)
    assert list(texts) == TEXTS
    assert len(texts) == len(TEXTS)
    assert as_texts(texts) is texts


def test_arrow_strings_are_not_copied():
    column = pa.array(TEXTS)
    ((offsets, data),) = as_texts(column).chunks
    assert offsets.ctypes.data == column.buffers()[1].address
    assert data.ctypes.data == column.buffers()[2].address


@pytest.mark.parametrize(
    "column",
    [
        list(TEXTS),
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS, dtype=object, index=[3, 1, 2, 0]),
        pd.Index(TEXTS, dtype=object),
        dict.fromkeys(TEXTS).keys(),
        iter(TEXTS),
    ],
)
def test_other_containers_become_a_list(column):
    assert as_texts(column) == TEXTS


def test_an_array_of_one_column_is_a_column():
    assert list(as_texts(np.array([["a"], ["b"]]))) == ["a", "b"]


def test_a_list_is_used_as_it_is():
    assert as_list(TEXTS) is TEXTS


@pytest.mark.parametrize(
    "empty", [[], (), np.array([], dtype=str), pa.array([], "utf8")]
)
def test_no_documents_are_no_error(empty):
    assert len(as_texts(empty)) == 0


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", None], r"document 1: .* a missing value .*fill missing texts"),
        (["a", "b", float("nan")], r"document 2: .* a missing value"),
        (["a", 3], r"document 1: expected a str, got int \(3\); convert"),
        ([b"a"], r"document 0: .* got bytes .*decode the bytes"),
        ([["a"]], "document 0: expected a str, got list"),
        (pd.Series(["a", None]), "document 1: .* a missing value"),
        (pd.Series(["a", pd.NA], dtype="string"), "document 1: "),
        (pl.Series(["a", None]), "document 1: .* a missing value"),
        (pa.array(["a", "b", None]), "document 2: .* a missing value"),
        (pa.chunked_array([["a"], ["b", None]]), "document 2: .* a missing value"),
        (pa.array([1, 2]), "document 0: expected a str, got int"),
        (np.array([1.5]), "document 0: expected a str, got float"),
        ("text", "a single string received; put it in a list"),
        (b"text", "a single string received"),
        ({"text": ["a"]}, "one column"),
        (pd.DataFrame({"a": ["a"], "b": ["b"]}), r"one column, got \(1, 2\)"),
        (np.array([["a", "b"]]), r"one column, got \(1, 2\); select the column"),
        (np.ones((2, 3)), r"one column, got \(2, 3\); give texts, not a matrix"),
        (sparse.csr_array(np.eye(2)), r"got \(2, 2\); give texts, not a matrix"),
        (iter([]), "generator can be read only once"),
        (3, "got int"),
    ],
)
def test_what_is_no_column_of_texts_is_refused(column, message):
    with pytest.raises(DataError, match=message):
        as_texts(column)
