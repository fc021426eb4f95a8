"""Mail as text: subject and body, and the tokens that stand for a kind of word."""

from __future__ import annotations

import re

__all__ = ["ADDRESS", "NUMBER", "replace_numbers_and_addresses", "split_mail"]

_HEADER = re.compile(r"([!-9;-~]+):[ \t]*(.*)")
_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg)\s*:\s*)+", re.IGNORECASE)
ADDRESS = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:[.,:/-]\d+)*(?![\w])")


def split_mail(text: str) -> dict[str, str]:
    r"""Split a raw mail or news posting into the regions subject and body.

    Headers other than Subject are left out: they often name the label (a list, a
    folder). Folded header lines are joined and "Re:" is taken off. A text that does
    not begin with headers is all body.

    Examples
    --------
    >>> split_mail("From: a@b.org\nSubject: Re: lunch\n\nAt noon?")
    {'subject': 'lunch', 'body': 'At noon?'}

    """
    head, blank, body = text.replace("\r\n", "\n").partition("\n\n")
    lines = head.split("\n")
    if not all(_HEADER.match(line) or line[:1] in " \t" for line in lines):
        return {"subject": "", "body": text}
    if not _HEADER.match(lines[0]):
        return {"subject": "", "body": text}
    subject = ""
    inside = False
    for line in lines:
        found = _HEADER.match(line)
        if found and line[:1] not in " \t":
            inside = found.group(1).lower() == "subject"
            subject = found.group(2) if inside else subject
        elif inside:
            subject += " " + line.strip()
    return {"subject": _REPLY.sub("", subject).strip(), "body": body if blank else ""}


def replace_numbers_and_addresses(text: str) -> str:
    """Put NUMBER for every number and EMAILADDR for every mail address.

    The preprocessing of Raina et al. (2003), section 5: such words differ from
    document to document but mean the same kind of thing.

    Examples
    --------
    >>> replace_numbers_and_addresses("write to ann@example.org by 10:30, room 12")
    'write to EMAILADDR by NUMBER, room NUMBER'

    """
    return NUMBER.sub("NUMBER", ADDRESS.sub("EMAILADDR", text))
