"""Where the files of a benchmark corpus lie, and whether they are the right ones."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

from earmark.documents._catalogue import CORPORA, SHA256, Corpus
from earmark.documents.columns import listed, near
from earmark.exceptions import DataError
from earmark.whole_files import cache_folder, write_whole


def corpus_names() -> list[str]:
    """Names that ``load_corpus`` knows.

    Examples
    --------
    >>> from earmark.documents import corpus_names
    >>> "20newsgroups" in corpus_names()
    True

    """
    return sorted(CORPORA)


def find_corpus(name: str) -> tuple[str, Corpus]:
    """The corpus of that name, in any case, with - or _."""
    key = name.lower().replace("_", "-")
    if key not in CORPORA:
        slips = near(key, CORPORA)
        hint = f"did you mean {listed(slips)}? The names" if slips else "the names"
        raise DataError(f"no corpus {name!r}; {hint} are {listed(corpus_names())}.")
    return key, CORPORA[key]


def find_file(name: str, corpus: Corpus, file: str, *, verify: bool) -> Path:
    """The file on disk, checked; or a message that says how to get it."""
    stated = os.environ.get("EARMARK_DATA")
    folders = [Path(stated)] if stated else []
    folders.append(fetched_folder())
    for folder in folders:
        path = folder / file
        if path.is_file():
            if verify:
                status = path.stat()
                _verify(path, SHA256[file], status.st_size, status.st_mtime_ns)
            return path
    places = " or ".join(str(folder) for folder in folders)
    unset = "" if stated else " (EARMARK_DATA is not set)"
    raise DataError(
        f"corpus {name!r}: expected {file} in {places}, it is not there{unset}. "
        f"{advice(name, corpus)}"
    )


def fetched_folder() -> Path:
    """Where ``fetch_corpus`` puts files and ``load_corpus`` looks second."""
    return cache_folder() / "corpora"


def advice(name: str, corpus: Corpus) -> str:
    """Both ways to a corpus, and its origin."""
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
            f"{size} bytes with {digest}; get it again, or read it as it is with "
            f"verify=False."
        )


def write_to_cache(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path``; False if the place cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError:
        return False
    return True
