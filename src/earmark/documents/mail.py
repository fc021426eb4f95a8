"""Mail as it is: MIME, encodings and mailboxes, to subject, body and addresses.

Python's ``email`` package does the decoding. A mail that is broken is read as far as
it can be: a part whose encoding does not hold is taken as it stands, an unknown
character set is read as UTF-8 or else Windows-1252, what has no headers is all body.
"""

from __future__ import annotations

import binascii
import email
import email.policy
import math
import re
from collections.abc import Iterable, Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path

__all__ = ["decoded_mail", "is_maildir", "mail_record", "mail_text", "mails_of_box"]

_HEADER = re.compile(r"([!-9;-~]+):[ \t]*(.*)")
_MBOX = re.compile(r">?From [^\n]*\n")
_ESCAPED = re.compile(r"^>(>*From )", re.MULTILINE)
_MIME = re.compile(r"(?im)^(?:content-(?:type|transfer-encoding)|mime-version):")
_TAG = re.compile(r"(?i)<(?:html|body|div|p|br|table|span|a|font|!doctype)\b")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=\s]")
_ENCODED = ("base64", "quoted-printable")
_BLOCKS = re.compile(
    "address|blockquote|br|d[dlt]|div|h[1-6r]|li|[ou]l|p|pre|table|t[dr]"
)


def decoded_mail(text: str) -> dict[str, str] | None:
    r"""Subject, body, from, to and date of a raw mail; None if it has no headers.

    Examples
    --------
    >>> mail = decoded_mail("From: =?latin-1?q?J=F6rg?= <j@b.org>\n\nAt noon?")
    >>> mail["from"], mail["body"]
    ('Jörg <j@b.org>', 'At noon?')

    """
    plain = text.replace("\r\n", "\n").lstrip("\ufeff\n")
    is_mbox = _MBOX.match(plain)
    if is_mbox:
        plain = plain[is_mbox.end() :]
    head, blank, body = plain.partition("\n\n")
    lines = head.split("\n")
    if not _HEADER.match(lines[0]):
        return None
    if not all(_HEADER.match(line) or line[:1] in " \t" for line in lines):
        return None
    headers = _headers(lines)
    if not blank:
        body = ""
    elif is_mbox:
        body = _ESCAPED.sub(r"\1", body)
    body = _mime_body(f"{head}\n\n{body}") if _MIME.search(head) else _mended(body)
    names = ("subject", "from", "to", "date")
    return {**{name: headers.get(name, "") for name in names}, "body": body}


def _headers(lines: list[str]) -> dict[str, str]:
    """The first header of each name, unfolded and with its encoded words decoded."""
    raw: dict[str, str] = {}
    name: str | None = None
    for line in lines:
        match = _HEADER.match(line)
        if match and line[:1] not in " \t":
            name = match.group(1).lower()
            name = None if name in raw else name
            if name is not None:
                raw[name] = match.group(2)
        elif name is not None:
            raw[name] += " " + line.strip()
    return {key: _decoded_words(_mended(v)).strip() for key, v in raw.items()}


def _decoded_words(value: str) -> str:
    """Encoded words (RFC 2047) as text; what cannot be decoded stays as it is."""
    if "=?" not in value:
        return value
    try:
        pieces = decode_header(value)
    except (HeaderParseError, binascii.Error, ValueError):
        return value
    return "".join(
        piece if isinstance(piece, str) else _text(piece, charset or "utf-8")
        for piece, charset in pieces
    )


def _mime_body(mail: str) -> str:
    """The text of a mail with MIME headers: plain parts, else HTML parts as text."""
    try:
        # Characters beyond ASCII pass as bytes, so that 8-bit parts stay what they are.
        message = email.message_from_bytes(
            mail.encode("utf-8", "surrogateescape"), policy=email.policy.compat32
        )
        return "\n\n".join(part for part in _texts(message) if part.strip())
    except (LookupError, ValueError, RecursionError, TypeError, AttributeError):
        return _mended(mail.partition("\n\n")[2])


def _texts(message: Message) -> list[str]:
    """The texts of a message's parts; of alternatives the plain one."""
    kind = message.get_content_type()
    if message.is_multipart():
        parts = [part for part in message.get_payload() if isinstance(part, Message)]
        if kind == "multipart/alternative":
            parts.sort(key=lambda part: part.get_content_type() != "text/plain")
            texts = (_texts(part) for part in parts)
            return next((text for text in texts if any(map(str.strip, text))), [])
        return [text for part in parts for text in _texts(part)]
    disposition = str(message.get("Content-Disposition", "")).strip().lower()
    if disposition.startswith("attachment") or not kind.startswith(("text/", "multip")):
        return []
    text = _payload(message)
    return [_without_tags(text) if kind == "text/html" or _looks_html(text) else text]


def _payload(message: Message) -> str:
    """The content of a part, its transfer encoding undone as far as it holds."""
    charset = str(message.get_content_charset() or "utf-8")
    coding = str(message.get("Content-Transfer-Encoding", "")).strip().lower()
    raw, data = message.get_payload(), message.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    if coding == "base64" and _NOT_BASE64.search(str(raw)):
        return str(raw)
    # What is not encoded may have become UTF-8 on its way, whatever the header says.
    return _text(data, charset if coding in _ENCODED else "utf-8", charset)


def _text(data: bytes, *charsets: str) -> str:
    """Bytes as text; a character set that is unknown or wrong gives way to the next."""
    for name in (*charsets, "utf-8", "cp1252"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    return data.decode("latin-1")


def _mended(text: str) -> str:
    """Text whose bytes were not UTF-8, decoded by another encoding."""
    if text.isascii() or not any("\udc80" <= c <= "\udcff" for c in text):
        return text
    return _text(text.encode("utf-8", "surrogateescape"))


def _looks_html(text: str) -> bool:
    return bool(_TAG.match(text.lstrip()[:200]))


class _Visible(HTMLParser):
    """Collects the visible text of an HTML page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("script", "style", "head", "title"):
            self._hidden += 1
        elif tag in ("body",):
            self._hidden = 0
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "head", "title"):
            self._hidden = max(0, self._hidden - 1)
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def _without_tags(page: str) -> str:
    """The visible text of HTML, blank lines taken out."""
    parser = _Visible()
    try:
        parser.feed(page)
        parser.close()
    except (AssertionError, ValueError):
        return re.sub(r"<[^>]*>", " ", page)
    lines = (" ".join(line.split()) for line in "".join(parser.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def mail_record(data: bytes) -> dict[str, str | None]:
    """A mail as a row: text, subject, body, from, to, date."""
    raw = data.decode("utf-8", "surrogateescape")
    mail = decoded_mail(raw)
    if mail is None:
        names = ("subject", "from", "to", "date")
        mail = {**dict.fromkeys(names, ""), "body": _mended(raw)}
    # The subject as only header, which regions="email" takes apart again.
    return {"text": f"Subject: {mail['subject']}\n\n{mail['body']}", **mail}


def mail_text(data: bytes) -> str:
    """A mail as one text: subject and body."""
    return str(mail_record(data)["text"])


def mails_of_box(lines: Iterable[bytes], most: float = math.inf) -> Iterator[bytes]:
    """The mails of an mbox file: each begins with a ``From`` line after a blank one.

    A mail of more than ``most`` bytes is an OverflowError.
    """
    mail: list[bytes] = []
    size, after_blank = 0, True
    for line in lines:
        if after_blank and line.startswith(b"From ") and mail:
            yield b"".join(mail)
            mail, size = [], 0
        mail.append(line)
        size += len(line)
        if size > most:
            raise OverflowError
        after_blank = not line.strip()
    if any(line.strip() for line in mail):
        yield b"".join(mail)


def is_maildir(folder: Path) -> bool:
    """Whether a folder is a Maildir: new and read mails in folders of their own."""
    return (folder / "cur").is_dir() and (folder / "new").is_dir()
