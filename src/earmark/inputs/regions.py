"""Documents by region: any container of texts as one list of strings per region.

A document is one text, or falls into regions that are modelled apart: the columns of a
frame, the subject and body of a mail, or what a function of the user gives.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from earmark.exceptions import DataError, EarmarkWarning
from earmark.inputs.containers import columns_of
from earmark.inputs.texts import as_list, as_texts
from earmark.kernels.text import Documents
from earmark.missing import is_missing

# Region name -> one text per document; a single region is called "text".
RegionTexts: TypeAlias = dict[str, Documents]

ONE_REGION = "text"

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


def n_documents(texts: RegionTexts) -> int:
    """Number of documents, the same in every region."""
    return len(next(iter(texts.values())))


def n_distinct(texts: RegionTexts) -> int:
    """Number of different documents that are not blank."""
    rows = zip(*texts.values(), strict=True)
    return len({row for row in rows if any(part.strip() for part in row)})


def joined_texts(texts: RegionTexts) -> list[str]:
    """One text per document, its regions on lines of their own."""
    return ["\n".join(row) for row in zip(*texts.values(), strict=True)]


def joined_regions(texts: RegionTexts, regions: Sequence[str]) -> Documents:
    """One text per document, of these regions; one that is missing counts as empty."""
    if len(regions) == 1:
        return column_of(texts, regions[0])
    return joined_texts({name: column_of(texts, name) for name in regions})


def column_of(texts: RegionTexts, region: str) -> Documents:
    """A region's texts; a region that is missing counts as empty."""
    return texts[region] if region in texts else [""] * n_documents(texts)


def as_region_texts(X: Any, regions: Any, where: str = "X") -> RegionTexts:
    """Documents in any container, split into regions as ``regions`` says."""
    if isinstance(X, Mapping) and not X:
        raise DataError("the dict of regions is empty.")
    columns = None if isinstance(X, list) else columns_of(X)
    if columns is None:
        texts = _strings(X, where)
        if regions is None:
            return {ONE_REGION: texts}
        if _are_split(regions):
            return _split(texts, regions, where)
        raise DataError(
            f"{where} must be a frame or dict with the columns {list(regions)!r}, "
            f"got {type(X).__name__}."
        )
    if _are_split(regions):
        if len(columns) != 1:
            raise DataError(
                f"{where} has the columns {list(columns)!r}; to split a text into "
                "regions give one column of raw text."
            )
        ((name, column),) = columns.items()
        return _split(_strings(column, f"{where}[{name!r}]"), regions, where)
    names = list(columns) if regions is None else list(regions)
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(
            f"{where} lacks the column(s) {missing!r}; it has {list(columns)!r}."
        )
    by_name = {n: _strings(columns[n], f"{where}[{n!r}]", empty=True) for n in names}
    lengths = {name: len(column) for name, column in by_name.items()}
    if len(set(lengths.values())) != 1:
        raise DataError(f"the columns of {where} differ in length: {lengths!r}.")
    return by_name


def _are_split(regions: object) -> bool:
    """Whether ``regions`` says how to split one text per document."""
    return isinstance(regions, str) or callable(regions)


def trained_columns(regions: Any, names: list[str] | None) -> list[str] | None:
    """The columns that a model takes; None for one text, also if it splits that."""
    return None if _are_split(regions) else names


def with_regions(
    texts: RegionTexts, names: list[str], regions: Any, where: str = "X"
) -> RegionTexts:
    """The same documents under the region names that a model was fitted on."""
    # Plain texts and one column are the same thing. A region that is not there is "";
    # if none of them is, the documents are of another kind, which is an error.
    if list(texts) == names:
        return texts
    if len(texts) == len(names) == 1 and ONE_REGION in (*texts, *names):
        return {names[0]: next(iter(texts.values()))}
    missing = [name for name in names if name not in texts]
    if missing and not _are_split(regions):
        if len(missing) == len(names):
            raise DataError(f"{where}: {_other_regions(list(texts), names)}")
        lacks = f"{where} lacks the column(s) {missing!r}: they count as empty."
        warnings.warn(lacks, EarmarkWarning, stacklevel=4)
    return {name: column_of(texts, name) for name in names}


def _other_regions(got: list[str], names: list[str]) -> str:
    if names == [ONE_REGION]:
        return (
            f"expected plain texts as in fitting, got the columns {got!r}; give the "
            "column that holds the text."
        )
    came = "plain texts" if got == [ONE_REGION] else f"{got!r}"
    return (
        f"expected the columns {names!r} as in fitting, got {came}; give a dict or "
        "frame with these columns, with '' where a document has no such text."
    )


def _strings(column: Any, where: str, *, empty: bool = False) -> Documents:
    """The column as checked texts; a missing one is "" where regions allow it."""
    if empty:
        column = ["" if is_missing(value) else value for value in as_list(column)]
    try:
        return as_texts(column)
    except DataError as error:
        raise error.at(where) from None


def _split(
    texts: Documents, regions: str | Callable[[str], Mapping[str, str]], where: str
) -> RegionTexts:
    if isinstance(regions, str):
        if regions != "email":
            raise DataError(
                "TextClassifier.regions must be None, a list of columns, 'email' or "
                f"a function, got {regions!r}."
            )
        split: Callable[[str], Mapping[str, str]] = split_mail
    else:
        split = regions
    parts = [split(text) for text in texts]
    names = sorted({name for part in parts for name in part})
    for row, part in enumerate(parts):
        wrong = [n for n in part if not isinstance(part[n], str)]
        if wrong:
            raise DataError(
                f"{where}, row {row}: the region function must give strings, got "
                f"{type(part[wrong[0]]).__name__} {part[wrong[0]]!r:.40} for region "
                f"{wrong[0]!r}."
            )
    return {name: [part.get(name, "") for part in parts] for name in names}
