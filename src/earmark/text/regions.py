"""Split a raw document into regions that are modelled apart; mail above all."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"\s*(?:[>|]|[A-Za-z]{1,4}>)")
_WROTE = re.compile(r".{0,120}\b(?:wrote|writes|said|schrieb|a écrit)\s*:\s*")
_SIGNATURE = re.compile(r"-- ?")


def split_title(text: str) -> dict[str, str]:
    r"""Regions title (the first line that is not empty) and body (the rest).

    Examples
    --------
    >>> split_title("\nRates rise\nThe bank said ...")
    {'title': 'Rates rise', 'body': 'The bank said ...'}

    """
    title, _, body = text.strip().partition("\n")
    return {"title": title.strip(), "body": body.strip()}


def split_reply(body: str) -> dict[str, str]:
    r"""Regions own, quoted and signature of the body of a mail or posting.

    Lines that begin with a quotation mark such as ``>``, and the line above that
    says who wrote them, are quoted; what follows a line ``--`` is the signature.

    Examples
    --------
    >>> split_reply("Ann wrote:\n> lunch?\nAt noon.\n-- \nBob")
    {'own': 'At noon.', 'quoted': 'Ann wrote:\n> lunch?', 'signature': 'Bob'}

    """
    lines = body.splitlines()
    end = next((k for k, s in enumerate(lines) if _SIGNATURE.fullmatch(s)), len(lines))
    own: list[str] = []
    quoted: list[str] = []
    for line in lines[:end]:
        is_quoted = _QUOTED.match(line) or _WROTE.fullmatch(line)
        (quoted if is_quoted else own).append(line)
    regions = {"own": own, "quoted": quoted, "signature": lines[end + 1 :]}
    return {name: "\n".join(part).strip() for name, part in regions.items()}


_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg)\s*:\s*)+", re.IGNORECASE)
ADDRESS = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:[.,:/-]\d+)*(?![\w])")


def split_mail(text: str) -> dict[str, str]:
    r"""Split a raw mail or news posting into the regions subject and body.

    Headers other than Subject are left out: they often name the label (a list, a
    folder). So is the ``From`` line that a mailbox file puts before each mail. "Re:" is
    taken off the subject. Encoded words, base64 and quoted-printable are decoded, HTML
    becomes text, attachments are left out. A text that does not begin with headers is
    all body.

    Examples
    --------
    >>> split_mail("From: a@b.org\nSubject: Re: lunch\n\nAt noon?")
    {'subject': 'lunch', 'body': 'At noon?'}
    >>> split_mail("Subject: =?utf-8?q?caf=C3=A9?=\n\nAt noon?")
    {'subject': 'café', 'body': 'At noon?'}

    """
    from earmark.documents.mail import decoded_mail  # brings all readers

    mail = decoded_mail(text)
    if mail is None:
        return {"subject": "", "body": text}
    subject = _REPLY.sub("", mail["subject"]).strip()
    return {"subject": subject, "body": mail["body"]}
