"""Mailboxes: the mails of one file."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from earmark.documents.format import Format
from earmark.documents.mail import mail_record, mails_of_box
from earmark.documents.records import Record, record_tables
from earmark.documents.stream import ReadOptions, open_bytes
from earmark.documents.table import Request, Table, fault


def tables(
    path: Path | None, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of the mails of an mbox file: text, subject, body, from, to, date."""
    name = "stdin" if path is None else str(path)
    opened = nullcontext(sys.stdin.buffer) if path is None else open_bytes(path)
    try:
        with opened as stream:
            records = _records(stream, name, options.longest_row)
            yield from record_tables(name, records, request, options)
    except (OSError, EOFError, zlib.error) as error:
        what = f"the mails cannot be read ({error}); get the file again."
        raise fault(name, what) from error


def _records(stream: Any, name: str, most: int) -> Iterator[Record]:
    """The mails of a stream, each of bounded length."""
    lines = iter(lambda: stream.readline(most + 1), b"")
    done = 0
    try:
        for mail in mails_of_box(lines, most):
            done += 1
            yield mail_record(mail)
    except OverflowError as error:
        what = f"expected mails of at most {most:,} bytes, got a longer one"
        advice = "check that it is a mailbox, and take the mail out."
        raise fault(name, f"{what}; {advice}", row=done + 1) from error


FORMAT = Format(
    "mbox",
    (".mbox",),
    "a mailbox: text, subject, body, from, to, date",
    tables,
    begins=b"From ",
)
