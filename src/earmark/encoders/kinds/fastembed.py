"""Networks in ONNX form, run without torch."""

from __future__ import annotations

import numpy as np

from earmark._optional import require
from earmark.encoders.encoder import EncoderKind, NamedEncoder, not_here
from earmark.exceptions import DataError


def load(name: str, place: str, fetch: bool) -> NamedEncoder:
    """One of the networks that the package lists."""
    library = require("fastembed", f"use the encoder {name}")
    listed = library.TextEmbedding.list_supported_models()
    names = {model["model"].lower() for model in listed}
    if place.lower() not in names:
        raise DataError(
            f"encoder {name!r}: fastembed has no model {place!r}; it has "
            f"{', '.join(sorted(model['model'] for model in listed))}."
        )
    try:
        model = library.TextEmbedding(place, local_files_only=not fetch)
    except Exception as error:  # whatever the package raises
        raise not_here(name, fetch, error) from error
    return NamedEncoder(name, lambda texts: np.array(list(model.embed(texts))))


KIND = EncoderKind(
    "fastembed",
    "runs a network with onnxruntime, without torch",
    load,
    extra="fastembed",
    short_names={"minilm": "sentence-transformers/all-MiniLM-L6-v2"},
)
