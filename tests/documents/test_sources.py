"""Where data come from: compressed files, stdin, encodings, and files that are not."""

import gzip
import io
import subprocess
import sys

import pyarrow as pa
import pytest

from earmark.documents import iter_documents, read_documents
from earmark.exceptions import DataError, MissingDependencyError

LINES = b"".join(b'{"text": "document %d"}\n' % i for i in range(20_000))


def test_gzip_is_read_by_its_suffix(tmp_path):
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(gzip.compress(LINES))
    assert len(read_documents(path)) == 20_000


def test_zstd_is_read_by_its_suffix_also_in_several_frames(tmp_path):
    path = tmp_path / "data.jsonl.zst"
    frame = pa.Codec("zstd").compress(LINES, asbytes=True)
    path.write_bytes(frame + frame)
    assert len(read_documents(path)) == 40_000


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "foreign"])
def test_damaged_compression_is_a_data_error(tmp_path, suffix, damage):
    path = tmp_path / f"data.jsonl.{suffix}"
    packed = (
        gzip.compress(LINES)
        if suffix == "gz"
        else pa.Codec("zstd").compress(LINES, asbytes=True)
    )
    path.write_bytes(packed[: len(packed) // 2] if damage == "cut" else b"plain text")
    with pytest.raises(DataError, match=r"cannot be read on after .* damaged"):
        read_documents(path)


def test_without_pyarrow_zstd_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "data.csv.zst"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"zstd.*\.\[io\]"):
        read_documents(path)


class _Stdin:
    def __init__(self, data):
        self.buffer = io.BufferedReader(io.BytesIO(data))


@pytest.mark.parametrize(
    ("format", "data"),
    [
        ("csv", b"text,label\none,a\ntwo,b\n"),
        ("tsv", b"text\tlabel\none\ta\ntwo\tb\n"),
        ("jsonl", b'{"text":"one","label":"a"}\n{"text":"two","label":"b"}\n'),
    ],
)
def test_stdin_is_read_in_the_stated_format(monkeypatch, format, data):
    stdin = _Stdin(data)
    monkeypatch.setattr(sys, "stdin", stdin)
    documents = read_documents("-", format=format)
    assert documents.texts == ["one", "two"]
    assert documents.labels == ["a", "b"]
    assert not stdin.buffer.closed


def test_stdin_needs_a_format_and_is_named_in_errors(monkeypatch):
    with pytest.raises(DataError, match=r"stdin: .* give format=: argilla, csv"):
        read_documents("-")
    with pytest.raises(DataError, match=r"stdin: .* got 'parquet'"):
        read_documents("-", format="parquet")
    monkeypatch.setattr(sys, "stdin", _Stdin(b'{"text": "a"}\n{"text" "b"}\n'))
    with pytest.raises(DataError, match=r"stdin, row 2 \(line 2\): "):
        read_documents("-", format="jsonl")
    monkeypatch.setattr(sys, "stdin", _Stdin(b""))
    with pytest.raises(DataError, match="stdin: expected data rows"):
        read_documents("-", format="jsonl")


@pytest.mark.parametrize("n_before", [0, 5, 9_000])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_bad_byte_is_named_by_line_and_offset(tmp_path, n_before, format):
    path = tmp_path / f"data.{format}"
    good = b'{"text": "gut und sch\xc3\xb6n"}\n' if format == "jsonl" else b"gut,a\n"
    bad = b'{"text": "na\xefve"}\n' if format == "jsonl" else b"na\xefve,b\n"
    head = b"" if format == "jsonl" else b"text,label\n"
    data = head + good * n_before + bad + good * 10
    path.write_bytes(data)
    line = n_before + 1 + (format == "csv")
    offset = data.index(b"\xef")
    with pytest.raises(
        DataError,
        match=rf"data.{format}, line {line}: expected utf-8 text, got byte {offset} "
        r"\(0xef\): invalid continuation byte; .* encoding='latin-1'",
    ):
        read_documents(path)
    assert read_documents(path, encoding="latin-1").texts[n_before] == "naïve"


def test_bad_byte_behind_a_byte_order_mark_has_its_offset_in_the_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbftext\nna\xefve\n")
    with pytest.raises(DataError, match=r"line 2: .* byte 10 \(0xef\)"):
        read_documents(path)


def test_cut_character_at_the_end_is_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"text\nsch\xc3")
    with pytest.raises(DataError, match=r"byte 8 \(0xc3\): unexpected end of data"):
        read_documents(path)


def test_windows_quotes_propose_cp1252(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("text\n“quoted”\n".encode("cp1252"))
    with pytest.raises(DataError, match="encoding='cp1252'"):
        read_documents(path)
    assert read_documents(path, encoding="cp1252").texts == ["“quoted”"]


def test_utf16_is_proposed_and_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("text,label\nschön,a\n".encode("utf-16"))
    with pytest.raises(DataError, match="encoding='utf-16'"):
        read_documents(path)
    assert read_documents(path, encoding="utf-16").texts == ["schön"]
    path.write_bytes("text,label\nplain,a\n".encode("utf-16-le"))
    with pytest.raises(DataError, match=r"NUL byte at byte 1 .*encoding='utf-16'"):
        read_documents(path)


def test_nul_byte_is_named_by_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"text\none\ntw\0o\n")
    with pytest.raises(DataError, match=r"line 3: .* a NUL byte at byte 11 \(0x00\)"):
        read_documents(path)


def test_missing_file_proposes_a_neighbour(tmp_path):
    (tmp_path / "reviews.csv").write_text("text\na\n")
    with pytest.raises(DataError, match=r"no such file \(did you mean 'reviews.csv'"):
        read_documents(tmp_path / "review.csv")
    with pytest.raises(DataError, match="there is no folder"):
        read_documents(tmp_path / "nowhere" / "review.csv")


def test_what_the_system_refuses_is_a_data_error(tmp_path, monkeypatch):
    (tmp_path / "sport").mkdir()
    for name in ("data.csv", "data.csv.gz", "sport/a.txt"):
        (tmp_path / name).write_text("text\na\n")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    monkeypatch.setattr("gzip.open", refuse)
    for name in ("data.csv", "data.csv.gz"):
        with pytest.raises(DataError, match=rf"{name}: it cannot be opened \(Permiss"):
            read_documents(tmp_path / name)
    for name in ("data.csv", "data.csv.gz"):
        (tmp_path / name).unlink()
    with pytest.raises(DataError, match=r"a.txt: it cannot be opened \(Permission"):
        read_documents(tmp_path)
    monkeypatch.setattr("pathlib.Path.iterdir", refuse)
    with pytest.raises(DataError, match=r"check its permissions"):
        read_documents(tmp_path)


def test_unknown_suffix_lists_the_known_ones_and_format_overrides(tmp_path):
    path = tmp_path / "data.dat"
    path.write_text("text\na\n")
    with pytest.raises(DataError, match=r"ending in '.csv', .* give format="):
        read_documents(path)
    assert read_documents(path, format="csv").texts == ["a"]
    other = tmp_path / "data.json"
    other.write_text("[]")
    with pytest.raises(DataError, match="expected data rows, got none"):
        read_documents(other)


def test_arguments_and_files_are_checked_before_the_first_batch(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        iter_documents(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="batch_size must be >= 1"):
        iter_documents(tmp_path, batch_size=0)
    with pytest.raises(DataError, match="expected one sub-folder per label"):
        iter_documents(tmp_path)


def test_importing_the_reader_loads_no_heavy_package():
    code = (
        "import sys, earmark.documents; "
        "heavy = {'pyarrow', 'pandas', 'polars', 'sklearn', 'scipy', 'pooch'}; "
        "sys.exit(repr(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
