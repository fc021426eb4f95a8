"""A format of another package: lines such as ``spam <- free money``."""

from earmark.documents.format import Format
from earmark.documents.records import record_tables
from earmark.documents.stream import open_text


def tables(path, request, options):
    """Columns label and text."""
    with open_text(path, options.codec, None) as source:
        pairs = (line.rstrip("\n").split(" <- ") for line in source.lines)
        records = ({"label": label, "text": text} for label, text in pairs)
        yield from record_tables(source, records, request, options, ["label", "text"])


FORMAT = Format(
    "arrows",
    (".arrows",),
    "a label, an arrow to the left, a text",
    tables,
    growth=14,
    begins=b"spam <- ",
)
