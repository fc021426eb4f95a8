"""The public benchmark corpora by name: found on disk, checked, never redistributed.

Their files and origins are listed in ``corpora.toml``, their checksums, as sha256sum
writes and checks them, in ``corpora.sha256``.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from earmark._optional import require
from earmark.documents.document import Documents, Texts
from earmark.documents.table import listed, near
from earmark.exceptions import DataError, Try
from earmark.progress import tracked
from earmark.whole_files import cache_folder

__all__ = ["corpus_names", "fetch_corpus", "load_corpus"]


@dataclass(frozen=True)
class Corpus:
    """One corpus of ``corpora.toml``."""

    title: str
    parts: Mapping[str, str]
    citation: str
    home: str
    texts: Sequence[str] = ("text",)
    n_terms: int | None = None
    extra_files: Sequence[str] = ()

    @property
    def files(self) -> list[str]:
        """Every file of the corpus."""
        return [*self.parts.values(), *self.extra_files]


@functools.cache
def _corpora() -> dict[str, Corpus]:
    entries = tomllib.loads(_listed_in("corpora.toml"))
    return {name: Corpus(**entry) for name, entry in entries.items()}


@functools.cache
def _sums() -> dict[str, str]:
    """The checksum of each file."""
    lines = _listed_in("corpora.sha256").splitlines()
    return {file: digest for digest, file in map(str.split, lines)}


def _listed_in(file: str) -> str:
    return (resources.files("earmark.documents") / file).read_text("utf-8")


def corpus_names() -> list[str]:
    """Names that ``load_corpus`` knows.

    Examples
    --------
    >>> from earmark.documents.corpora import corpus_names
    >>> "20newsgroups" in corpus_names()
    True

    """
    return sorted(_corpora())


def load_corpus(
    name: str,
    split: Literal["train", "test"] | None = None,
    *,
    regions: Sequence[str] | None = None,
    verify: bool = True,
) -> Documents:
    """Load a benchmark corpus from ``EARMARK_DATA`` or the cache of ``fetch_corpus``.

    The files are public research corpora under their own terms; earmark brings
    none of them and never downloads one unless ``fetch_corpus`` is called.
    Several are sorted by label: shuffle before anything that depends on order.

    Parameters
    ----------
    name : str
        One of ``corpus_names()``, such as "20newsgroups", "r8" or "imdb".
    split : {"train", "test"} or None, default=None
        A part of the official split. None: all documents, with the part of each
        in ``columns["split"]`` where there is an official split.
    regions : list of str, default=None
        Columns to keep apart as regions, such as ["subject", "body"].
    verify : bool, default=True
        Compare each file's SHA-256 with the published one, once a process.

    Returns
    -------
    documents : Documents
        Labels are str, or lists of str for reuters21578. ``columns`` has every
        further column of the files. cora and citeseer have no text: theirs is
        "w12 w45 ...", the numbers of the terms, which the column "terms" holds.
        20newsgroups-original is subject and body, since the headers in its column
        "text" name the class.

    Examples
    --------
    >>> from earmark.documents import load_corpus
    >>> train = load_corpus("r8", "train")  # doctest: +SKIP
    >>> len(train)  # doctest: +SKIP
    5485

    """
    name, corpus = _find_corpus(name)
    parts = dict(corpus.parts)
    if split is not None:
        if split not in parts:
            raise DataError(
                f"corpus {name!r} has no part {split!r}, it has {listed(parts)}; load "
                f"it whole and use earmark.documents.stratified_split."
            )
        parts = {split: parts[split]}
    columns: dict[str, list[Any]] = {}
    for part, file in parts.items():
        table = _read(_find_file(name, corpus, file, verify=verify))
        # A column that one part lacks (such as r52's origin) is None there.
        n_before, n_rows = len(columns.get("label", ())), len(table["label"])
        table["split"] = [part] * n_rows
        for column in dict.fromkeys((*columns, *table)):
            values = columns.setdefault(column, [None] * n_before)
            values.extend(table.get(column, [None] * n_rows))
    if "all" in parts:
        del columns["split"]
    return _documents(name, corpus, columns, regions)


def _documents(
    name: str,
    corpus: Corpus,
    columns: dict[str, list[Any]],
    regions: Sequence[str] | None,
) -> Documents:
    """Documents from the columns of a corpus."""
    texts: Texts
    if regions is not None:
        usable = [
            column
            for column, values in columns.items()
            if column not in ("label", "id", "split") and isinstance(values[0], str)
        ]
        for region in regions:
            if region not in usable:
                raise DataError(
                    f"corpus {name!r} has no text column {region!r} to be a region, "
                    f"it has {listed(usable)}."
                )
        texts = {region: columns[region] for region in regions}
    elif corpus.n_terms is not None:
        texts = [" ".join(f"w{t}" for t in row) for row in columns["terms"]]
    elif len(corpus.texts) == 1:
        texts = columns.pop(corpus.texts[0])
    else:
        cells = zip(*(columns[column] for column in corpus.texts), strict=True)
        texts = ["\n".join(cell) for cell in cells]
    labels, ids = columns.pop("label"), columns.pop("id", None)
    rows = range(1, len(labels) + 1)
    return Documents(texts, labels, ids, rows, name, columns)


def _read(path: Path) -> dict[str, list[Any]]:
    """All columns of a corpus file."""
    parquet = require("pyarrow.parquet", f"read the corpus file {path.name}")
    arrow = require("pyarrow", f"read the corpus file {path.name}")
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({error}); get it again.") from error
    return {name: table.column(name).to_pylist() for name in table.column_names}


def fetch_corpus(name: str, *, url: str | None = None) -> list[Path]:
    """Download the files of a corpus and check them; needs ``earmark[data]``.

    The corpora have no common public home, so none is built in: the address of a
    folder that serves the files must be given.

    Parameters
    ----------
    name : str
        One of ``corpus_names()``.
    url : str, default=None
        Address of the folder; None takes ``EARMARK_DATA_URL``.

    Returns
    -------
    paths : list of Path
        The files in the cache folder, where ``load_corpus`` finds them. A file
        that is there already and has the right checksum is not fetched again.

    Examples
    --------
    >>> from earmark.documents import fetch_corpus
    >>> paths = fetch_corpus("sms", url="https://example.org/data")  # doctest: +SKIP

    """
    name, corpus = _find_corpus(name)
    base = url or os.environ.get("EARMARK_DATA_URL")
    if not base:
        raise DataError(
            f"corpus {name!r}: expected the address of a folder with its files, got "
            "none",
            Try("give", " or set EARMARK_DATA_URL", url=...),
            Try(_advice(name, corpus)),
        )
    pooch = require("pooch", f"download the corpus {name!r}")
    paths = []
    for file in tracked("file", corpus.files, len(corpus.files)):
        address = f"{base.rstrip('/')}/{file}"
        try:
            fetched = pooch.retrieve(
                address, f"sha256:{_sums()[file]}", fname=file, path=_fetched_folder()
            )
        except (OSError, ValueError) as error:
            raise DataError(
                f"corpus {name!r}: expected the published {file} at {address}, "
                f"got: {error}; check the address."
            ) from error
        paths.append(Path(fetched))
    return paths


def _find_corpus(name: str) -> tuple[str, Corpus]:
    """The corpus of that name, in any case, with - or _."""
    key = name.lower().replace("_", "-")
    if key not in _corpora():
        slips = near(key, _corpora())
        hint = f"did you mean {listed(slips)}? The names" if slips else "the names"
        raise DataError(f"no corpus {name!r}; {hint} are {listed(corpus_names())}.")
    return key, _corpora()[key]


def _find_file(name: str, corpus: Corpus, file: str, *, verify: bool) -> Path:
    """The file on disk, checked; or a message that says how to get it."""
    stated = os.environ.get("EARMARK_DATA")
    folders = [Path(stated)] if stated else []
    folders.append(_fetched_folder())
    for folder in folders:
        path = folder / file
        if path.is_file():
            if verify:
                status = path.stat()
                _verify(path, _sums()[file], status.st_size, status.st_mtime_ns)
            return path
    places = " or ".join(str(folder) for folder in folders)
    unset = "" if stated else " (EARMARK_DATA is not set)"
    raise DataError(
        f"corpus {name!r}: expected {file} in {places}, it is not there{unset}. "
        f"{_advice(name, corpus)}"
    )


def _fetched_folder() -> Path:
    """Where ``fetch_corpus`` puts files and ``load_corpus`` looks second."""
    return cache_folder() / "corpora"


def _advice(name: str, corpus: Corpus) -> str:
    """How to get a corpus that is missing: two ways, and its origin."""
    return (
        f"Set EARMARK_DATA to a folder that holds the corpus files, or set "
        f"EARMARK_DATA_URL to an address that serves them and run: earmark fetch "
        f"{name}. {corpus.title}: {corpus.citation}, {corpus.home}"
    )


@functools.cache
def _verify(path: Path, expected: str, size: int, changed: int) -> None:
    """Raise if the file is not the published one; size and time key the cache."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected:
        raise DataError(
            f"{path}: expected the published file with SHA-256 {expected}, got one of "
            f"{size} bytes with {digest}; get it again",
            Try("or read it as it is with", verify=False),
        )
