"""Networks in torch; nothing but weights is taken from their folders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from earmark._optional import require
from earmark.encoders.encoder import (
    EncoderKind,
    NamedEncoder,
    explained,
    local_folder,
    stamp_of,
)
from earmark.exceptions import DataError

_MODULES = {"Dense", "LayerNorm", "Normalize", "Pooling", "StaticEmbedding"}


def load(name: str, place: str, fetch: bool) -> NamedEncoder:
    """The network of a folder, or of a repository in the hub's cache."""
    library = require("sentence_transformers", f"use the encoder {name}")
    if "/" not in place and not Path(place).exists():
        place = f"sentence-transformers/{place}"
    folder = local_folder(name, place, fetch)
    require_data_only(folder, name)
    with explained(name):
        model = library.SentenceTransformer(
            str(folder),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    encode = partial(model.encode, show_progress_bar=False)
    return NamedEncoder(name, encode, stamp_of(folder))


def require_data_only(folder: Path, name: str) -> None:
    """Refuse a folder of sentence-transformers that could run code of its own."""
    # The package imports the classes that its JSON files name, even without
    # ``trust_remote_code`` if the folder is local, and reads pickles where there are
    # no safetensors.
    for path in folder.rglob("*.json"):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"encoder {name!r}: {path} is no JSON: {error}") from error
        for what in _names_of_code(path.name, content):
            raise DataError(
                f"encoder {name!r}: {path} asks for {what}, code that is not among "
                "the known parts of sentence-transformers; it is not loaded. Give "
                "your own function instead, if you trust it: encoder=model.encode."
            )
    for path in folder.rglob("*.bin"):
        if not list(path.parent.glob("*.safetensors")):
            raise DataError(
                f"encoder {name!r}: {path} may hold code (it is a pickle); it is not "
                "loaded. Convert it to safetensors: model.save(FOLDER) does so."
            )


def _names_of_code(file: str, content: Any) -> Iterator[str]:
    """What a JSON file would have imported, unless it is a known part."""
    if file == "modules.json":
        for part in content if isinstance(content, list) else [content]:
            kind = str(part.get("type") if isinstance(part, dict) else part)
            package, _, name = kind.rpartition(".")
            if package.partition(".")[0] != "sentence_transformers" or (
                name not in ("Transformer", *_MODULES)
            ):
                yield kind
    elif isinstance(content, dict):
        if content.get("auto_map"):
            yield str(content["auto_map"])
        if file == "router_config.json":
            yield "a router"
        activation = str(content.get("activation_function", "torch.nn."))
        if "." in activation and not activation.startswith("torch.nn."):
            yield activation


KIND = EncoderKind(
    "sentence-transformers",
    "runs a network with torch",
    load,
    extra="sentence-transformers",
    short_names={"minilm": "sentence-transformers/all-MiniLM-L6-v2"},
)
