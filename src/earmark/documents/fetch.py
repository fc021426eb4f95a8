"""Downloading a benchmark corpus: only when asked, only what is published."""

from __future__ import annotations

import os
from pathlib import Path

from earmark._optional import require
from earmark.documents._catalogue import SHA256
from earmark.documents._corpus_files import advice, fetched_folder, find_corpus
from earmark.exceptions import DataError

__all__ = ["fetch_corpus"]


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
    name, corpus = find_corpus(name)
    base = url or os.environ.get("EARMARK_DATA_URL")
    if not base:
        raise DataError(
            f"corpus {name!r}: expected the address of a folder with its files, got "
            f"none; give url= or set EARMARK_DATA_URL. {advice(name, corpus)}"
        )
    pooch = require("pooch", f"download the corpus {name!r}")
    paths = []
    for file in corpus.files:
        address = f"{base.rstrip('/')}/{file}"
        try:
            found = pooch.retrieve(
                address, f"sha256:{SHA256[file]}", fname=file, path=fetched_folder()
            )
        except (OSError, ValueError) as error:
            raise DataError(
                f"corpus {name!r}: expected the published {file} at {address}, "
                f"got: {error}; check the address."
            ) from error
        paths.append(Path(found))
    return paths
