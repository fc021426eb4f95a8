"""Mail as regions, and the patterns of words that stand for their kind."""

from __future__ import annotations

import re

__all__ = ["ADDRESS", "NUMBER", "split_mail"]

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
