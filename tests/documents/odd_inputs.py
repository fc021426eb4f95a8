"""Sixty kinds of odd or broken input, and the table of what comes of each.

``docs/how-to/odd-files.md`` shows the table; ``test_odd_inputs.py`` tests every row.
"""

import gzip
import io
import tempfile
import warnings
from pathlib import Path

import openpyxl

from earmark.documents import read_documents
from earmark.exceptions import DataError


def excel(*rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


TEXTS, LABELS = ["good", "bad"], ["pos", "neg"]
ROWS = "text,label\ngood,pos\nbad,neg\n"
ARRAY = '[{"text": "good", "label": "pos"}, {"text": "bad", "label": "neg"}]'
LINES = ARRAY[1:-1].replace("}, {", "}\n{")
NESTED = LINES.replace('"text": "good"', '"body": {"text": "good"}').replace(
    '"text": "bad"', '"body": {"text": "bad"}'
)
FASTTEXT = "__label__pos good\n__label__neg bad\n"
MANY = {"multi_label": True}

# name -> (file name, content, options); read as the two documents above
READ = {
    "a comma": ("d.csv", ROWS, {}),
    "a semicolon": ("d.csv", ROWS.replace(",", ";"), {}),
    "a tab in a .csv": ("d.csv", ROWS.replace(",", "\t"), {}),
    "a bar": ("d.csv", ROWS.replace(",", "|"), {}),
    "a line sep=;": ("d.csv", "sep=;\n" + ROWS.replace(",", ";"), {}),
    "a line SEP=, of Windows": ("d.csv", "SEP=,\r\n" + ROWS.replace("\n", "\r\n"), {}),
    "a byte-order mark": ("d.csv", "\ufeff" + ROWS, {}),
    "blank lines": ("d.csv", "\n" + ROWS.replace("\n", "\n\n"), {}),
    "no last line end": ("d.csv", ROWS.rstrip(), {}),
    "old Mac line ends": ("d.csv", ROWS.replace("\n", "\r"), {}),
    "capital names": ("d.csv", ROWS.replace("text,label", "Text,Label"), {}),
    "no header": ("d.csv", ROWS[11:], {"names": ["text", "label"]}),
    "another suffix": ("d.dat", ROWS, {"format": "csv"}),
    "gzip": ("d.csv.gz", gzip.compress(ROWS.encode()), {}),
    "UTF-16": ("d.csv", ROWS.encode("utf-16"), {"encoding": "utf-16"}),
    "UTF-16 found": ("d.csv", ROWS.encode("utf-16"), {"encoding": "auto"}),
    "UTF-8 found": ("d.csv", ROWS, {"encoding": "auto"}),
    "tab-separated": ("d.tsv", ROWS.replace(",", "\t"), {}),
    "JSON lines": ("d.jsonl", LINES, {}),
    "JSON lines in .json": ("d.json", LINES, {}),
    "a JSON array": ("d.json", ARRAY, {}),
    "a JSON array in .jsonl": ("d.jsonl", ARRAY, {}),
    "a JSON array over lines": ("d.json", ARRAY.replace("}, ", "},\n\n  "), {}),
    "a nested field": ("d.jsonl", NESTED, {"text": "body.text"}),
    "a nested label": (
        "d.jsonl",
        LINES.replace('"label": "pos"', '"m": {"y": "pos"}').replace(
            '"label": "neg"', '"m": {"y": "neg"}'
        ),
        {"label": "m.y"},
    ),
    "a field with a dot": (
        "d.jsonl",
        LINES.replace('"text"', '"a.b"'),
        {"text": "a.b"},
    ),
    "Excel": ("d.xlsx", excel(["text", "label"], ["good", "pos"], ["bad", "neg"]), {}),
    "Excel by another name": (
        "d.dat",
        excel(["text", "label"], ["good", "pos"], ["bad", "neg"]),
        {"format": "xlsx"},
    ),
    "Excel with an empty row": (
        "d.xlsx",
        excel(["text", "label"], [], ["good", "pos"], ["bad", "neg"]),
        {},
    ),
    "fastText": ("d.ft", FASTTEXT, {}),
    "fastText in .txt": ("train.txt", FASTTEXT, {}),
    "fastText without a suffix": ("train", FASTTEXT, {}),
}

# name -> (file name, content, options, labels)
LABELLED = {
    "whole numbers in Excel": (
        "d.xlsx",
        excel(["text", "label"], ["a", 3], ["b", 4.0]),
        {},
        ["3", "4"],
    ),
    "truth values in JSON": (
        "d.jsonl",
        '{"text": "a", "label": true}\n{"text": "b", "label": false}',
        {},
        ["true", "false"],
    ),
    "none of them, as a list": (
        "d.csv",
        "text,label\na,x|y\nb,[]\n",
        MANY,
        [["x", "y"], []],
    ),
    "none of them, as the separator": (
        "d.csv",
        "text,label\na,x|y\nb,|\n",
        MANY,
        [["x", "y"], []],
    ),
    "unlabelled beside none of them": (
        "d.csv",
        "text,label\na,|\nb,\n",
        {**MANY, "allow_unlabelled": True},
        [[], None],
    ),
    "several labels in fastText": (
        "d.ft",
        "__label__x __label__y a\n__label__z b\n",
        MANY,
        [["x", "y"], ["z"]],
    ),
    "no label in fastText": (
        "d.ft",
        "__label__x a\nb\n",
        {"allow_unlabelled": True},
        ["x", None],
    ),
    "case and blanks, merged": (
        "d.csv",
        "text,label\na,pos\nb,Pos\nc,pos\nd,POS \n",
        {"merge_labels": True},
        ["pos"] * 4,
    ),
    "case, merged in sets": (
        "d.csv",
        "text,label\na,x|y\nb,X\nc,x\n",
        {**MANY, "merge_labels": True},
        [["x", "y"], ["x"], ["x"]],
    ),
}

# name -> (file name, content, options, message)
REFUSED = {
    "empty": ("d.csv", "", {}, "the file is empty"),
    "a header alone": ("d.csv", "text,label\n", {}, "got the columns but no row"),
    "an empty array": ("d.json", "[]", {}, "expected data rows"),
    "an empty sheet": ("d.xlsx", excel(), {}, "the first sheet is empty"),
    "an old Excel file": ("d.xls", "x", {}, r"Save an old Excel file as \.xlsx"),
    "no Excel file": ("d.xlsx", "no zip", {}, "cannot be read"),
    "Excel, compressed": ("d.xlsx.gz", b"x", {}, "decompress it"),
    "binary": ("d.csv", b"text\n\0\1\2", {}, "NUL byte"),
    "another encoding": ("d.csv", "text\nnaïve\n".encode("latin-1"), {}, "latin-1"),
    "a quote not closed": ("d.csv", 'text,label\n"a,b\n', {}, "closing quote"),
    "too many fields": ("d.csv", "text,label\na,b,c\n", {}, "expected 2 fields"),
    "too few fields": ("d.csv", "text,label\na\n", {}, "expected 2 fields"),
    "a name twice": ("d.csv", "text,text\na,b\n", {"text": "text"}, "the header has 2"),
    "a field twice": ("d.jsonl", '{"text": "a", "text": "b"}', {}, "'text' twice"),
    "no such column": ("d.csv", ROWS, {"label": "lable"}, "Did you mean 'label'"),
    "no such nested field": (
        "d.jsonl",
        NESTED,
        {"text": "body.txt"},
        "Did you mean 'body.text'",
    ),
    "text is the label": ("d.csv", ROWS, {"text": "label"}, "must be another column"),
    "a missing label": ("d.csv", "text,label\na,\n", {}, "allow_unlabelled=True"),
    "a null text": ("d.jsonl", '{"text": null}', {"text": "text"}, "null_text"),
    "a list for a label": (
        "d.jsonl",
        '{"text": "a", "label": ["x", "y"]}',
        {},
        "multi_label=True",
    ),
    "two fastText labels": (
        "d.ft",
        "__label__x __label__y a\n",
        {},
        "multi_label=True",
    ),
    "broken JSON": ("d.jsonl", '{"text": "a"\n', {}, "broken JSON"),
    "an array cut off": ("d.json", ARRAY[:-5], {}, "written completely"),
    "an array of strings": ("d.json", '["a"]', {}, "expected an object"),
    "an unknown suffix": ("d.doc", "x", {}, "rename it or give format="),
    "gzip cut off": ("d.csv.gz", gzip.compress(ROWS.encode())[:-6], {}, "cut off"),
    "an id twice": ("d.csv", "id,text\n1,a\n1,b\n", {"id": "id"}, "each id once"),
}


def rows(texts, labels):
    pairs = zip(texts, labels, strict=True)
    return "text,label\n" + "".join(f"{t},{label}\n" for t, label in pairs)


WARNED = {
    "labels by the form of a number": (
        rows("abcd", ["1", "1.0", "0", "0"]),
        "final",
    ),
    "labels by case": (rows("abcd", ["pos", "Pos", "neg", "neg"]), "case, blanks"),
    "labels by blanks": (rows("abc", ["pos", "pos ", "neg"]), "merge_labels=True"),
    "labels as texts": (rows(["x", "y"] * 9, ["x", "y"] * 9), "labels themselves"),
}


def written(folder, name, content):
    path = Path(folder, name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def outcome(name, content, options):
    """What reading the file gives, in words."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            documents = read_documents(written(folder, name, content), **options)
        except (DataError, UserWarning) as said:
            kind = "refused" if isinstance(said, DataError) else "warned"
            message = str(said).replace(f"{folder}/", "")
            return f"{kind}: {' '.join(message.split())}"
    labels = [str(label) for label in documents.labels or ()]
    return f"read: {len(documents.texts)} documents, labels {', '.join(labels)}"


def table():
    """Every kind of input and what comes of it, as Markdown."""
    cases = {**READ, **LABELLED, **REFUSED}
    cases |= {name: ("d.csv", content, {}) for name, (content, _) in WARNED.items()}
    lines = ["| file | asked with | result |", "|---|---|---|"]
    for name, (file, content, options, *_) in cases.items():
        asked = ", ".join(f"`{key}={value!r}`" for key, value in options.items())
        told = outcome(file, content, options).replace("|", "\\|")
        told = told.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
        asked = asked.replace("|", "\\|")
        lines.append(f"| {name} (`{file}`) | {asked} | {told} |")
    return "\n".join(lines)
