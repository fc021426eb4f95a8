"""A format is one file, ours or another package's; nothing else lists formats."""

import os
import subprocess
import sys

import pytest

from earmark.documents.format import FORMATS, format_by_suffix
from tests.pages import ROOT

TOY = '''
from earmark.documents.format import Format
from earmark.documents.records import record_tables
from earmark.documents.stream import open_text


def tables(path, request, options):
    """Lines such as ``spam = free money``."""
    with open_text(path, options.codec, None) as source:
        pairs = (line.strip().split(" = ") for line in source.lines)
        records = ({"label": label, "text": text} for label, text in pairs)
        yield from record_tables(source, records, request, options, ["label", "text"])


FORMAT = Format(
    "toy", (".toy",), "label = text", tables, growth=14, begins=b"toy "
)
'''
LINES = "spam = win a prize\nham = lunch at noon\n" * 6


@pytest.fixture
def toy(tmp_path):
    """A folder with a package that declares a format, and a file of that format."""
    (tmp_path / "toys.py").write_text(TOY)
    info = tmp_path / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0")
    (info / "entry_points.txt").write_text("[earmark.formats]\ntoy = toys:FORMAT\n")
    (tmp_path / "mails.toy").write_text(LINES)
    parts = tmp_path / "parts"
    parts.mkdir()
    for part in ("one.toy", "two.toy"):
        (parts / part).write_text(LINES)
    return tmp_path


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    environment["COLUMNS"] = "200"
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_a_format_of_another_package_is_known_everywhere(toy):
    cli = ("-m", "earmark")
    assert "learned 2 classes" in run(toy, *cli, "train", "mails.toy", "-o", "m")
    assert "ham" in run(toy, *cli, "predict", "m", "mails.toy", "--text", "text")
    said = run(toy, *cli, "train", "parts", "--memory", "1GB", "-o", "n")
    assert "from 24 labelled documents in 2 parts" in said
    assert "toy" in run(toy, *cli, "train", "--help").split("--format")[1][:400]
    (toy / "odd.xyz").write_text("what")
    assert "'.toy'" in run(toy, *cli, "train", "odd.xyz")
    (toy / "named.not").write_text("toy = a text\n")
    assert "toy" in run(
        toy,
        "-c",
        "from earmark.documents import read_documents as r; print(r('named.not'))",
    )
    table = run(
        toy,
        "-c",
        "import sys; sys.path.insert(0, 'docs/_ext'); "
        f"sys.path.insert(0, {str(ROOT / 'docs' / '_ext')!r}); "
        "import stored_tables as t; print(t.format_table(), t.format_suffixes())",
    )
    assert "| `toy` | `.toy` | label = text | yes | yes |  |" in table
    assert "`.toy`" in table.splitlines()[-1]


def test_a_module_declares_the_format_of_its_name():
    assert [one.name for one in FORMATS] == FORMATS.names()
    suffixes = [suffix for one in FORMATS for suffix in one.suffixes]
    assert len(suffixes) == len({*suffixes})
    for one in FORMATS:
        assert one.summary
        assert one.name == FORMATS[one.name].name


def test_a_suffix_imports_no_more_formats_than_it_takes(tmp_path):
    code = (
        "import sys; from pathlib import Path; "
        "from earmark.documents.format import format_by_suffix as known; "
        "print(known(Path('a.csv.gz')).name, "
        "[m for m in sys.modules if m.startswith('earmark.documents.formats.')])"
    )
    assert run(tmp_path, "-c", code).split("\n")[0] == (
        "csv ['earmark.documents.formats.csv']"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.CSV", "csv"), ("a.ndjson.zst", "jsonl"), ("a.pq", "parquet"), ("a", None)],
)
def test_suffixes_name_formats_compressed_or_not(name, kind, tmp_path):
    known = format_by_suffix(tmp_path / name)
    assert (known and known.name) == kind
