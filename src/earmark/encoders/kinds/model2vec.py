"""Static vectors of word pieces: no network is run, a text takes microseconds."""

from __future__ import annotations

from earmark._optional import require
from earmark.encoders.encoder import (
    EncoderKind,
    NamedEncoder,
    explained,
    local_folder,
    stamp_of,
)


def load(name: str, place: str, fetch: bool) -> NamedEncoder:
    """The vectors of a folder, or of a repository in the hub's cache."""
    library = require("model2vec", f"use the encoder {name}")
    folder = local_folder(name, place, fetch)
    with explained(name):
        model = library.StaticModel.from_pretrained(folder)
    return NamedEncoder(name, model.encode, stamp_of(folder), is_quick=True)


KIND = EncoderKind(
    "model2vec",
    "looks up a vector per word; as fast as counting words",
    load,
    extra="model2vec",
)
