"""One mail in a file, read as a mailbox of one."""

from __future__ import annotations

from earmark.documents.format import Format
from earmark.documents.formats.mbox import tables
from earmark.documents.mail import mail_text

FORMAT = Format("eml", (".eml",), "one mail", tables, document=mail_text)
