"""CSV and TSV: what is written is read, what is broken is named by row and line."""

import csv
import re
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earmark.documents import iter_documents, read_documents
from earmark.exceptions import DataError

# NUL is refused and lone surrogates cannot be written in UTF-8.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
LABEL = TEXT.filter(str.strip)


@pytest.fixture
def write(tmp_path):
    def _write(content, name="data.csv"):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
        return path

    return _write


# Two labels that differ by blanks alone are read as they are, with a warning.
@pytest.mark.filterwarnings("ignore:.*differ only by case, blanks")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(TEXT, LABEL), min_size=1, max_size=8),
    delimiter=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
    batch_size=st.integers(1, 9),
)
def test_what_the_csv_module_writes_is_read_back(
    tmp_path, rows, delimiter, end, batch_size
):
    path = tmp_path / "round.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        # Before Python 3.13 the writer leaves a lone CR unquoted in files that end
        # lines with LF, which no reader can tell from a line end.
        quoting = csv.QUOTE_ALL if end == "\n" else csv.QUOTE_MINIMAL
        writer = csv.writer(
            file, delimiter=delimiter, lineterminator=end, quoting=quoting
        )
        writer.writerow(["text", "label"])
        writer.writerows(rows)
    read = read_documents(path, delimiter=delimiter, batch_size=batch_size)
    assert read.texts == [text for text, _ in rows]
    assert read.labels == [label for _, label in rows]
    assert list(read.rows) == list(range(1, len(rows) + 1))


def test_byte_order_mark_and_carriage_returns_leave_no_trace(write):
    path = write(b"\xef\xbb\xbftext,label\r\nfirst,a\r\n\r\nsecond,b\r\n")
    documents = read_documents(path, encoding="utf-8")
    assert documents.texts == ["first", "second"]
    assert documents.labels == ["a", "b"]


def test_old_mac_line_ends_are_read(write):
    assert read_documents(write("text,label\rone,a\rtwo,b\r")).texts == ["one", "two"]


def test_tsv_is_split_at_tabs(write):
    path = write("label\ttext\nham\tone, two\n", "data.tsv")
    assert read_documents(path).texts == ["one, two"]


def test_empty_cell_is_an_empty_document(write):
    assert read_documents(write("text,label\n,a\nx,b\n")).texts == ["", "x"]


def test_quotes_can_be_ordinary_characters(write):
    path = write('ham\tsay "hi\nspam\tyou"\n', "sms.tsv")
    documents = read_documents(path, "t", "l", names=["l", "t"], quote=None)
    assert documents.texts == ['say "hi', 'you"']
    assert documents.labels == ["ham", "spam"]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_header_tells_the_delimiter(write, delimiter):
    header, first = ('"Text, all of it"', "label"), ('"one; two,\nthree|\tfour"', "a")
    lines = ["", delimiter.join(header), delimiter.join(first), delimiter.join("xb")]
    documents = read_documents(write("\ufeff" + "\n".join(lines)))
    assert documents.texts == ["one; two,\nthree|\tfour", "x"]
    assert documents.labels == ["a", "b"]


def test_a_comma_in_the_header_wins_over_other_delimiters(write):
    documents = read_documents(write("text;en,label\nx;y,a\n"), text="text;en")
    assert documents.texts == ["x;y"]


def test_a_given_delimiter_is_never_second_guessed(write):
    documents = read_documents(write("text;en\nx;y\n"), text="text;en", delimiter=",")
    assert documents.texts == ["x;y"]


def test_a_column_cannot_be_text_and_label_at_once(write):
    path = write("text,label\nx,a\n")
    with pytest.raises(DataError, match=r"as text and as label; .* another column"):
        read_documents(path, text="label", label="label")


def test_further_columns_come_along(write):
    path = write("text,label,date,score\nx,a,monday,1\ny,b,sunday,2\n")
    assert read_documents(path, keep=["date"]).columns == {"date": ["monday", "sunday"]}
    everything = read_documents(path, keep="all").columns
    assert everything == {"date": ["monday", "sunday"], "score": ["1", "2"]}


BROKEN = {
    "too few fields": (
        'text,label\n"two\nlines",a\nonly\n',
        r"row 2 \(line 4\): expected 2 fields as in the header, got 1",
    ),
    "too many fields": (
        "text,label\nx,a\n\none, two,b\n",
        r"row 2 \(line 4\): expected 2 fields .* got 3; put quotes around",
    ),
    "quote never closed": (
        'text,label\nx,a\n"open,b\ny,c\n',
        r"row 2 \(line 3\): expected a closing quote, got the end .* at line 4",
    ),
    "quote closed by the next row's": (
        'text,label\nx,a\n"open,b\n"y",c\n',
        r"row 2 \(line 3\): expected a well-formed row, got an error at line 4",
    ),
    "broken header": (
        'text,"label\nx,a\n',
        r"data.csv, line 1: expected a closing quote",
    ),
    "header only": ("text,label\n", "expected data rows, got the columns but no row"),
    "nothing": ("", "expected a header and data rows, the file is empty"),
    "blank lines only": ("\n\n\r\n", "the file is empty"),
    "no such column": (
        "txt,label\nx,a\n",
        r"expected a column 'text' \(asked for by text=\), the columns are "
        r"'txt', 'label'. Did you mean 'txt'\?",
    ),
    "column twice": (
        "text,text,label\nx,y,a\n",
        "expected one column 'text', .* has 2",
    ),
    "separator that is none": (
        "text~label\nx~a\n",
        r"the columns are 'text~label'",
    ),
    "no label": (
        "text,label\nx,a\ny, \n",
        r"row 2 \(line 3\), column 'label': expected a label, got the string ' '; "
        r".*allow_unlabelled=True",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("batch_size", [1, 4096])
def test_broken_file_is_named_with_row_and_line(write, case, batch_size):
    content, message = BROKEN[case]
    path = write(content)
    with pytest.raises(DataError, match=message) as caught:
        read_documents(path, "text", "label", batch_size=batch_size)
    assert str(caught.value).startswith(str(path))


def test_lines_are_right_after_rows_with_line_breaks_of_every_kind(write):
    path = write('text,label\r\n"a\r\nb\rc\nd",x\r\n\r\nfew\r\n')
    with pytest.raises(DataError, match=r"row 2 \(line 7\)"):
        read_documents(path)


def test_field_over_the_limit_is_refused_and_the_limit_restored(write):
    before = csv.field_size_limit()
    path = write("text,label\nx,a\n" + "y" * 300_000 + ",b\n")
    assert len(read_documents(path).texts[1]) == 300_000
    with pytest.raises(
        DataError, match=r"row 2 \(line 3\): expected fields of at most 1000 char"
    ):
        read_documents(path, field_limit=1000)
    assert csv.field_size_limit() == before


def test_limit_stays_raised_while_another_thread_reads(write):
    path = write("text,label\n" + ("y" * 200_000 + ",b\n") * 10)
    before, failures = csv.field_size_limit(), []

    def read():
        try:
            for _ in range(5):
                read_documents(path, batch_size=1)
        except DataError as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert csv.field_size_limit() == before


def test_limit_is_restored_between_batches(write):
    before = csv.field_size_limit()
    batches = iter_documents(write("text,label\nx,a\ny,b\n"), batch_size=1)
    next(batches)
    assert csv.field_size_limit() == before
    batches.close()


def test_duplicate_id_names_both_rows(write):
    path = write("id,text,label\n1,x,a\n2,y,b\n1,z,a\n")
    message = (
        r"row 3 \(line 4\), column 'id': expected each id once, "
        rf"got '1' that {re.escape(str(path))}, row 1 has already"
    )
    for batch_size in (1, 10):
        with pytest.raises(DataError, match=message):
            read_documents(path, id="id", batch_size=batch_size)
    assert read_documents(path).ids is None
    assert sum(len(b) for b in iter_documents(path, id="id")) == 3


def test_empty_id_is_refused(write):
    with pytest.raises(DataError, match=r"row 1 .*column 'id': expected an id"):
        read_documents(write("id,text\n,x\n"), id="id")


def test_a_batch_ends_at_its_bytes_too(write):
    path = write("text,label\n" + ("y" * 1000 + ",b\n") * 1000)
    sizes = [len(batch) for batch in iter_documents(path, batch_bytes=100_000)]
    assert sum(sizes) == 1000
    assert max(sizes) <= 300
