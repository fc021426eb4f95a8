"""Split a raw document into regions that are modelled apart."""

from __future__ import annotations

import re

__all__ = ["split_reply", "split_title"]

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
