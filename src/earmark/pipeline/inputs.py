"""Raw documents in any container -> lists of strings, one for each region."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import narwhals as nw

from earmark.exceptions import DataError
from earmark.kernels.text import Documents
from earmark.text.containers import as_list, as_texts, is_missing
from earmark.text.mail import split_mail
from earmark.text.scripts import unspaced_share
from earmark.typing import IntVector

__all__ = [
    "RegionTexts",
    "as_region_texts",
    "fitting_features",
    "joined",
    "n_distinct",
    "n_documents",
    "take",
    "with_regions",
]

# Region name -> one text per document; a single region is called "text".
RegionTexts: TypeAlias = dict[str, Documents]

SINGLE = "text"
# From this share of letters on a text is one without spaces.
_UNSPACED = 0.5


def n_documents(texts: RegionTexts) -> int:
    """Number of documents, the same in every region."""
    return len(next(iter(texts.values())))


def n_distinct(texts: RegionTexts) -> int:
    """Number of different documents that are not blank."""
    rows = zip(*texts.values(), strict=True)
    return len({row for row in rows if any(part.strip() for part in row)})


def joined(texts: RegionTexts) -> list[str]:
    """One text per document, its regions on lines of their own."""
    return ["\n".join(row) for row in zip(*texts.values(), strict=True)]


def take(texts: RegionTexts, rows: IntVector) -> RegionTexts:
    """Some documents, by ascending number."""
    if len(rows) == n_documents(texts):
        return texts
    taken: RegionTexts = {}
    for name, column in texts.items():
        items = column if isinstance(column, list) else list(column)
        taken[name] = [items[i] for i in rows]
    return taken


def as_region_texts(X: Any, regions: Any, where: str = "X") -> RegionTexts:
    """Split documents into regions as ``regions`` says.

    X is a sequence of strings (list, array, Series, Arrow column) or a frame or
    dict of columns. ``regions`` is None, a list of column names, "email" or a
    function from a text to a dict of regions.
    """
    columns = _columns(X)
    if columns is None:
        texts = _strings(X, where)
        if regions is None:
            return {SINGLE: texts}
        if isinstance(regions, str) or callable(regions):
            return _split(texts, regions, where)
        raise DataError(
            f"{where} must be a frame or dict with the columns {list(regions)!r}, "
            f"got {type(X).__name__}."
        )
    if isinstance(regions, str) or callable(regions):
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
    found = {n: _strings(columns[n], f"{where}[{n!r}]", empty=True) for n in names}
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) != 1:
        raise DataError(f"the columns of {where} differ in length: {lengths!r}.")
    return found


def with_regions(
    texts: RegionTexts, names: list[str], regions: Any, where: str = "X"
) -> RegionTexts:
    """The same documents under the region names that a model was fitted on.

    Plain texts and one column are the same thing. A region that is not there is "";
    if none of them is, the documents are of another kind, which is an error.
    """
    if list(texts) == names:
        return texts
    if len(texts) == len(names) == 1 and SINGLE in (*texts, *names):
        return {names[0]: next(iter(texts.values()))}
    splits = isinstance(regions, str) or callable(regions)
    if not splits and not any(name in texts for name in names):
        raise DataError(f"{where}: {_other_regions(list(texts), names)}")
    none = [""] * n_documents(texts)
    return {name: texts.get(name, none) for name in names}


def fitting_features(features: Any, texts: RegionTexts) -> Any:
    """``features``, or if the user leaves them open the ones that the script asks for.

    In text without spaces whole phrases would be words: characters and pairs of them
    are counted instead.
    """
    if features is not None or max(map(unspaced_share, texts.values())) < _UNSPACED:
        return features
    return {"analyzer": "char", "ngram_range": (1, 2)}


def _other_regions(got: list[str], names: list[str]) -> str:
    if names == [SINGLE]:
        return (
            f"expected plain texts as in fitting, got the columns {got!r}; give the "
            "column that holds the text."
        )
    came = "plain texts" if got == [SINGLE] else f"{got!r}"
    return (
        f"expected the columns {names!r} as in fitting, got {came}; give a dict or "
        "frame with these columns, with '' where a document has no such text."
    )


def _columns(X: Any) -> Mapping[str, Any] | None:
    """Columns of a frame or dict, or None for a plain sequence of texts."""
    if isinstance(X, Mapping):
        if not X:
            raise DataError("the dict of regions is empty.")
        return {str(name): column for name, column in X.items()}
    if isinstance(X, list | tuple):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {name: frame[name].to_native() for name in frame.columns}
    return None


def _strings(column: Any, where: str, *, empty: bool = False) -> Documents:
    """The column as checked texts; a missing one is "" where regions allow it."""
    if empty:
        column = ["" if is_missing(value) else value for value in as_list(column)]
    try:
        return as_texts(column)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.40}"


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
                f"{_shown(part[wrong[0]])} for region {wrong[0]!r}."
            )
    return {name: [part.get(name, "") for part in parts] for name in names}
