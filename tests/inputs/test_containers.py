"""One door for tables: what gives rows or a stream of Arrow is read like a frame."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from skrub import TableVectorizer

from earmark.exceptions import DataError
from earmark.features import WordCounter
from earmark.inputs.containers import as_column, columns_of
from earmark.inputs.texts import as_texts
from earmark.pipeline import TextClassifier

TEXTS = ["good film", "bad film", "good plot", "bad plot"]
LABELS = ["pos", "neg", "pos", "neg"]
TITLES = ["one", "two", "three", "four"]
TABLE = pa.table({"text": TEXTS})
WIDE = pa.table({"title": TITLES, "body": TEXTS})


class Stream:
    """An object that gives a stream of Arrow and nothing else."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


class Array:
    """An object that gives one array of Arrow and nothing else."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_array__(self, requested_schema=None):
        return self.data.__arrow_c_array__(requested_schema)


class Dataset:
    """The methods of ``datasets.Dataset`` that are used."""

    def __init__(self, table, is_arrow=False):
        self.table, self.is_arrow = table, is_arrow
        self.column_names = table.column_names

    def with_format(self, name):
        return Dataset(self.table, name == "arrow")

    def __len__(self):
        return len(self.table)

    def __getitem__(self, rows):
        assert self.is_arrow
        return self.table[rows]


def relation(table):
    return duckdb.connect().from_arrow(table)


TABLES = {
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pandas": lambda columns: pd.DataFrame(columns),
    "Arrow": lambda columns: pa.table(columns),
    "record batch": lambda columns: pa.record_batch(columns),
    "reader": lambda columns: pa.table(columns).to_reader(),
    "stream": lambda columns: Stream(pa.table(columns)),
    "array": lambda columns: Array(pa.record_batch(columns)),
    "capsule": lambda columns: pa.table(columns).__arrow_c_stream__(),
    "duckdb": lambda columns: relation(pa.table(columns)),
    "Dataset": lambda columns: Dataset(pa.table(columns)),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_one_column_is_that_column(kind):
    assert list(as_texts(TABLES[kind]({"text": TEXTS}))) == TEXTS


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_has_its_columns(kind):
    columns = columns_of(TABLES[kind]({"title": TITLES, "body": TEXTS}))
    assert list(columns) == ["title", "body"]
    assert list(as_texts(columns["body"])) == TEXTS


@pytest.mark.parametrize("kind", TABLES)
def test_several_columns_are_not_one(kind):
    table = TABLES[kind]({"title": TITLES, "body": TEXTS})
    with pytest.raises(
        DataError, match=r"must be one column, got .* select the column"
    ):
        as_texts(table)


@pytest.mark.parametrize("kind", TABLES)
def test_a_classifier_learns_from_and_answers_any_table(kind):
    make = TABLES[kind]
    answers = TextClassifier("multinomial").fit(TEXTS, LABELS).predict_proba(TEXTS)
    model = TextClassifier("multinomial").fit(make({"text": TEXTS}), LABELS)
    assert np.array_equal(model.predict_proba(make({"text": TEXTS})), answers)
    two = TextClassifier("multinomial", regions=["body"])
    two.fit(make({"title": TITLES, "body": TEXTS}), LABELS)
    assert np.array_equal(two.predict_proba({"body": TEXTS}), answers)


@pytest.mark.parametrize("kind", TABLES)
def test_labels_come_from_any_column(kind):
    model = TextClassifier("multinomial").fit(TEXTS, TABLES[kind]({"label": LABELS}))
    assert model.predict(TEXTS).tolist() == LABELS


@pytest.mark.parametrize(
    "column",
    [Stream(pa.chunked_array([TEXTS])), Array(pa.array(TEXTS)), pa.array(TEXTS)],
)
def test_a_stream_of_one_column_is_a_column(column):
    assert list(as_texts(column)) == TEXTS
    assert columns_of(column) is None


def test_text_of_a_stream_is_not_copied():
    column = TABLE["text"].chunk(0)
    ((offsets, data),) = as_texts(Stream(TABLE)).chunks
    assert offsets.ctypes.data == column.buffers()[1].address
    assert data.ctypes.data == column.buffers()[2].address


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_counting_words_works_inside_a_column_transformer(frame):
    X = frame({"text": TEXTS, "n": [1, 2, 3, 4]})
    alone = WordCounter().fit_transform(TEXTS)
    for columns in ("text", ["text"]):
        steps = ColumnTransformer([("words", WordCounter(), columns)])
        counts = steps.fit_transform(X)
        assert np.array_equal(np.asarray(counts), alone.toarray())


@pytest.mark.filterwarnings("ignore")  # skrub's own
def test_counting_words_works_inside_skrub():
    class Dense(WordCounter):
        def fit_transform(self, X, y=None):
            counts = super().fit_transform(X, y)
            return pd.DataFrame(counts.toarray(), columns=self.vocabulary_)

        def transform(self, X):
            counts = super().transform(X)
            return pd.DataFrame(counts.toarray(), columns=self.vocabulary_)

    X = pd.DataFrame({"text": TEXTS})
    table = TableVectorizer(specific_transformers=[(Dense(), ["text"])])
    assert table.fit_transform(X).shape == (4, 4)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (b"one", r"decode it: \[data.decode\('utf-8'\)\]"),
        ([b"one", b"two"], "document 0: .* decode the bytes first"),
        (pa.array([b"one"]), "document 0: .* decode the bytes first"),
        (pl.LazyFrame({"text": ["a", None]}), "document 1: .* a missing value"),
        (Stream(pa.table({"text": [1]})), "document 0: expected a str, got int"),
    ],
)
def test_what_is_no_text_is_refused_with_advice(documents, message):
    with pytest.raises(DataError, match=message):
        as_texts(documents)


class Doc:
    """A document of spaCy, as far as it matters: a sequence of tokens with a text."""

    text = "one two"

    def __iter__(self):
        return iter(["one", "two"])


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([Doc()], r"document 0: .* give its text: \[document.text for document in"),
        (Doc(), r"got one Doc; give its text in a list: \[document.text\]"),
    ],
)
def test_parsed_documents_are_refused_with_advice(documents, message):
    with pytest.raises(DataError, match=message):
        as_texts(documents)
    with pytest.raises(DataError, match=message):
        TextClassifier("multinomial").fit(documents, ["a"])


class Splits(dict):
    """The methods of ``datasets.DatasetDict`` that are used."""

    @property
    def column_names(self):
        return {name: one.column_names for name, one in self.items()}

    def with_format(self, name):
        raise AssertionError


def test_one_of_several_splits_is_to_be_chosen():
    splits = Splits(train=Dataset(TABLE), test=Dataset(TABLE))
    with pytest.raises(DataError, match=r"the splits 'train', 'test'; choose one"):
        as_column(splits)


def test_another_capsule_is_refused():
    with pytest.raises(DataError, match="expected a capsule with a stream of Arrow"):
        as_column(pa.schema([("a", "int8")]).__arrow_c_schema__())


def test_a_dataset_of_the_datasets_package_is_a_table():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": TEXTS}).select([1, 0])
    assert list(as_texts(data)) == [TEXTS[1], TEXTS[0]]
