"""A file that holds a thousand times its size is an error, not the end of memory."""

import gzip
import io
import json
import re
import subprocess
import sys
import warnings
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earmark import TextClassifier
from earmark.documents import iter_documents, read_documents, stream, table
from earmark.documents.formats import xlsx
from earmark.exceptions import DataError
from earmark.inputs import texts
from earmark.kernels import text as kernels

MOST = 200_000
LONG = 3 * MOST
OPEN = '"text,label\n' + "a line,in quotes\n" * (LONG // 17)
FIELDS = "text,label\n" + '"\n",' * (LONG // 4)
GOOD = {"csv": "text,label\ngood,pos\n", "jsonl": '{"text": "good"}\n'}
# name -> (suffix, content, message)
BOMBS = {
    "a line": (".csv", GOOD["csv"] + "x" * LONG, "row 2 (line 3): expected rows of"),
    "a header": (".csv", "x" * LONG, "line 1: expected rows of at most"),
    "a quote": (".csv", OPEN, "line "),
    "fields over lines": (".csv", FIELDS, "row 1 (line "),
    "blank lines": (".csv", "\n" * LONG + GOOD["csv"], "expected rows of at most"),
    "an object": (
        ".jsonl",
        GOOD["jsonl"] + '{"text": "' + "x" * LONG,
        "row 2 (line 2): expected rows of at most",
    ),
    "the first object": (".jsonl", '{"text": "' + "x" * LONG, "line 1: expected rows"),
    "a fastText line": (".ft", "__label__a x\n" + "y" * LONG, "line 2: expected rows"),
    "a mail": (
        ".mbox",
        "From a\n\nx\n\nFrom b\n\n" + "x" * LONG,
        "row 2: expected mails",
    ),
    "lines of a mail": (".mbox", "From a\n\n" + "x\n" * LONG, "row 1: expected mails"),
}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(stream, "_LONGEST_ROW", MOST)
    monkeypatch.setattr(stream, "_LARGEST_WHOLE", 2 * MOST)
    # So that it is the length of the row that is met first.
    return {"field_limit": MOST // 10, "text": "text", "label": False}


def written(folder, suffix, content):
    path = folder / f"bomb{suffix}"
    data = content.encode()
    if suffix.endswith(".gz"):
        data = gzip.compress(data)
    if suffix.endswith(".zst"):
        data = pa.compress(data, "zstd", asbytes=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("case", BOMBS)
def test_a_row_without_end_is_refused_with_its_place(tmp_path, small, case, packed):
    suffix, content, message = BOMBS[case]
    path = written(tmp_path, suffix + packed, content)
    with pytest.raises(DataError) as caught:
        read_documents(path, **small)
    assert str(caught.value).startswith(str(path))
    if case != "a quote":  # whose limit is that of a field
        assert message in str(caught.value)
        assert "200,000 bytes" in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be", "utf-7", "cp500"])
def test_lines_are_bounded_in_every_encoding(tmp_path, small, encoding):
    path = tmp_path / "a.csv"
    rows = "text,label\n" + "".join(f"row number {n},a\n" for n in range(30_000))
    path.write_bytes(rows.encode(encoding))
    assert len(read_documents(path, encoding=encoding, **small)) == 30_000
    path.write_bytes((rows + "\u010a" * LONG).encode(encoding, "replace"))
    with pytest.raises(DataError, match="row 30001 \\(line 30002\\): expected rows of"):
        read_documents(path, encoding=encoding, **small)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_any_number_of_rows_of_any_line_end_is_read(tmp_path, small, suffix, end):
    path = tmp_path / f"a{suffix}"
    text = "word " * 30_000  # rows that are longer than what is read at a time
    row = json.dumps({"text": text}) if suffix == ".jsonl" else text
    head = [] if suffix == ".jsonl" else ["text"]
    path.write_bytes(end.join([*head, *[row] * 20, ""]).encode())
    small["field_limit"] = MOST
    assert read_documents(path, **small).texts == [text] * 20


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("between", [", ", ",\n"])
def test_an_array_that_is_read_whole_is_bounded(tmp_path, small, between, packed):
    objects = [json.dumps({"text": "x" * 1000})] * 300  # more than one row may have
    good = written(tmp_path, ".json" + packed, f"[{between.join(objects)}]")
    assert len(read_documents(good, **small)) == 300
    bad = written(tmp_path, ".json" + packed, f"[{between.join(objects * 3)}]")
    with pytest.raises(DataError, match="at most 400,000 bytes, got a longer one"):
        read_documents(bad, **small)


def test_who_asks_for_longer_fields_gets_longer_rows(tmp_path, small):
    path = written(tmp_path, ".csv", f"text,label\n{'x' * LONG},a\n")
    small["field_limit"] = LONG
    assert read_documents(path, **small).texts == ["x" * LONG]


# -- Excel -----------------------------------------------------------------------------


def excel(*rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


STRINGS, SHEET = "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"
RELATED, TYPES = "xl/_rels/workbook.xml.rels", "[Content_Types].xml"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def parts_of_excel():
    """An Excel file as Excel writes it: texts lie apart, cells hold their numbers."""
    source = zipfile.ZipFile(io.BytesIO(excel(["text", "label"], ["good", "a"])))
    parts = {name: source.read(name).decode() for name in source.namelist()}
    strings = ["text", "label", "good", "a"]
    cells = iter(range(len(strings)))
    parts[SHEET] = re.sub(
        r't="(?:inlineStr|s)">.*?</c>',
        lambda _: f't="s"><v>{next(cells)}</v></c>',
        parts[SHEET],
    )
    listed = "".join(f"<si><t>{text}</t></si>" for text in strings)
    parts[STRINGS] = f'<sst xmlns="{MAIN}">{listed}</sst>'
    if "sharedStrings" not in parts[RELATED]:
        parts[RELATED] = parts[RELATED].replace(
            "</Relationships>",
            f'<Relationship Id="rId99" Type="{OFFICE}/sharedStrings" '
            'Target="sharedStrings.xml"/></Relationships>',
        )
        parts[TYPES] = parts[TYPES].replace(
            "</Types>",
            '<Override PartName="/xl/sharedStrings.xml" '
            f'ContentType="{SPREADSHEET}.sharedStrings+xml"/></Types>',
        )
    return {name: part.encode() for name, part in parts.items()}


def changed(path, name, change, size=None):
    """An Excel file with another content of one part; ``size`` is stated, if given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for part, data in parts_of_excel().items():
            target.writestr(part, change(data) if part == name else data)
    if size is not None:
        raw = bytearray(path.read_bytes())
        at = raw.rindex(b"PK\x01\x02", 0, raw.rindex(name.encode()))
        raw[at + 24 : at + 28] = size.to_bytes(4, "little")
        path.write_bytes(raw)
    return path


def test_the_file_that_is_changed_below_is_a_good_one(tmp_path):
    path = changed(tmp_path / "good.xlsx", STRINGS, bytes)
    assert read_documents(path).texts == ["good"]


@pytest.mark.parametrize("part", [STRINGS, SHEET])
def test_a_part_of_excel_that_grows_too_much_is_refused(tmp_path, monkeypatch, part):
    monkeypatch.setattr(xlsx, "_ALWAYS_FINE", 50_000)
    path = changed(tmp_path / "b.xlsx", part, lambda data: data + b" " * 1_000_000)
    with pytest.raises(DataError, match=f"b.xlsx: expected parts .*{part}' with 1,00"):
        read_documents(path)


def test_a_part_of_excel_has_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx, "_LARGEST_PART", 100)
    path = changed(tmp_path / "b.xlsx", STRINGS, bytes)
    with pytest.raises(DataError, match="parts of at most 100 bytes"):
        read_documents(path)


def test_no_more_than_the_stated_size_is_unpacked(tmp_path):
    """A part that is larger than it says is cut off, and is no Excel file then."""
    path = tmp_path / "b.xlsx"
    changed(path, STRINGS, lambda data: data + b" " * 50_000_000, size=100)
    with pytest.raises(DataError, match=r"b\.xlsx: the Excel file cannot be read"):
        read_documents(path)


ENTITY = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><sst>&e;</sst>'
BILLION = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    b"]><sst><si><t>&b;</t></si></sst>"
)
XML = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "no XML": lambda data: b"\x00\xff<<<",
    "an entity": lambda data: ENTITY,
    "an entity without end": lambda data: b"<sst>&nothing;</sst>",
    "another root": lambda data: b"<a/>",
    "a bad number": lambda data: data.replace(b'r="2"', b'r="x"'),
    "a huge row": lambda data: data.replace(b'r="2"', b'r="-5"'),
    "a bad cell": lambda data: data.replace(b'r="A2"', b'r="2A:7"'),
    "a bad string": lambda data: data.replace(b"<v>2</v>", b"<v>99</v>"),
    "no string": lambda data: data.replace(b"<v>2</v>", b"<v>x</v>"),
}


def outcome(path):
    """The texts that are read, or what is said about the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_documents(path, label=False).texts, ""
        except DataError as error:
            return [], str(error)


@pytest.mark.parametrize("part", [STRINGS, SHEET, "xl/workbook.xml", "xl/styles.xml"])
@pytest.mark.parametrize("case", XML)
def test_broken_xml_in_excel_is_an_error_about_the_data(tmp_path, part, case):
    path = changed(tmp_path / "b.xlsx", part, XML[case])
    texts, said = outcome(path)
    assert str(path) in said or texts in (["good"], [""], ["text"], ["label"], ["a"])
    if (part, case) == (STRINGS, "an entity"):
        with pytest.raises(DataError, match=r"cannot be read .*entity"):
            read_documents(path)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    part=st.sampled_from([STRINGS, SHEET, "xl/workbook.xml", "[Content_Types].xml"]),
    at=st.floats(0, 1),
    length=st.integers(0, 20),
    new=st.one_of(
        st.binary(max_size=8),
        st.sampled_from([b"<", b">", b'"', b"&", b"</c>", b'r="', b"9" * 30, b"-1"]),
    ),
)
def test_no_change_of_the_xml_is_a_traceback(tmp_path, part, at, length, new):
    def change(data):
        place = int(at * len(data))
        return data[:place] + new + data[place + length :]

    path = changed(tmp_path / "b.xlsx", part, change)
    texts, said = outcome(path)
    assert texts or str(path) in said


# -- texts that are too long -----------------------------------------------------------


@pytest.fixture
def short(monkeypatch):
    for module in (kernels, texts, table):
        monkeypatch.setattr(module, "LONGEST_TEXT", 100)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".xlsx", ".parquet"])
def test_a_text_that_is_too_long_is_refused_with_its_row(tmp_path, short, suffix):
    rows = ["good", "x" * 99, "x" * 100]
    path = tmp_path / f"a{suffix}"
    if suffix == ".csv":
        path.write_text("\n".join(["text", *rows]))
    elif suffix == ".xlsx":
        path.write_bytes(excel(["text"], *([row] for row in rows)))
    elif suffix == ".parquet":
        pq.write_table(pa.table({"text": rows}), path)
    else:
        objects = [json.dumps({"text": row}) for row in rows]
        array = f"[{','.join(objects)}]"
        path.write_text(array if suffix == ".json" else "\n".join(objects))
    with pytest.raises(DataError, match=r"row 3.*'text': expected fewer than 100 char"):
        read_documents(path)


def test_columns_that_are_joined_are_one_text(tmp_path, short):
    path = tmp_path / "a.csv"
    path.write_text(f"title,body\n{'x' * 60},{'y' * 60}\n")
    with pytest.raises(DataError, match=r"row 1 .*expected fewer than 100 characters"):
        read_documents(path, ["title", "body"])
    both = next(iter_documents(path, ["title", "body"], regions=True))
    assert both.regions == ("title", "body")


@pytest.mark.parametrize("kind", [list, pa.array])
def test_a_text_that_is_too_long_is_refused_in_python(short, kind):
    good = TextClassifier("multinomial").fit(
        ["good one", "bad two"] * 3, ["x", "y"] * 3
    )
    with pytest.raises(DataError, match="document 1: expected fewer than 100"):
        good.predict(kind(["a", "b" * 100]))


# -- real ones -------------------------------------------------------------------------

_READ = """
import re, resource, sys
from earmark.documents import iter_documents
limit = 3 << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

def used():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1])

before = used()
try:
    print("read", sum(map(len, iter_documents(sys.argv[1]))))
except Exception as error:
    print(type(error).__name__, str(error)[:300])
print((used() - before) >> 10)
"""


def measured(path):
    """What reading gives in a process of its own, and the MiB it took at most."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    said, used = done.stdout.splitlines()
    return said, int(used)


def packed_bomb(path, start, n_megabytes):
    mega = b"x" * 2**20
    is_gz = path.suffix == ".gz"
    with (
        gzip.open(path, "wb", compresslevel=1)
        if is_gz
        else pa.CompressedOutputStream(str(path), "zstd")
    ) as file:
        file.write(start)
        for _ in range(n_megabytes):
            file.write(mega)


@pytest.mark.slow
@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize(
    ("kind", "start", "most"),
    [
        (".csv", b"text,label\ngood,a\n", 500),
        (".jsonl", b'{"text": "good"}\n{"text": "', 500),
        (".json", b'[{"text": "', 1300),
        (".mbox", b"From a\n\n", 500),
    ],
)
def test_a_bomb_of_1500_megabytes_takes_little_memory(
    tmp_path, kind, start, most, packing
):
    path = tmp_path / f"bomb{kind}{packing}"
    packed_bomb(path, start, 1500)
    assert path.stat().st_size < 10_000_000
    said, used = measured(path)
    assert said.startswith(f"DataError {path}"), said
    assert used < most


@pytest.mark.slow
def test_an_excel_bomb_takes_little_memory(tmp_path):
    strings = b"<sst><si><t>" + b"x" * 1_000_000_000 + b"</t></si></sst>"
    path = changed(tmp_path / "bomb.xlsx", STRINGS, lambda data: strings)
    assert path.stat().st_size < 10_000_000
    said, used = measured(path)
    assert "expected parts of at most" in said
    assert used < 200


@pytest.mark.slow
def test_a_text_of_a_quarter_of_a_billion_characters_is_refused(tmp_path):
    folder = tmp_path / "label"
    folder.mkdir()
    (folder / "1.txt").write_bytes(b"x" * 2**28)
    with pytest.raises(DataError, match=r"1\.txt: expected fewer than 268,435,456"):
        read_documents(tmp_path)
    model = TextClassifier("multinomial").fit(
        ["good one", "bad two"] * 3, ["x", "y"] * 3
    )
    with pytest.raises(DataError, match="document 0: expected fewer than 268,435,456"):
        model.predict(["x" * 2**28])
