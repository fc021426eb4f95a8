"""``earmark info``: what this installation and a model file hold."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.apps.cli import _options as options

if TYPE_CHECKING:
    from earmark.typing import JsonObject

__all__ = ["run"]


_EXTRAS = {
    "io": "pyarrow",
    "stem": "Stemmer",
    "plot": "matplotlib",
    "serve": "starlette",
    "dask": "distributed",
    "data": "pooch",
    "excel": "openpyxl",
    "model2vec": "model2vec",
    "fastembed": "fastembed",
    "sentence-transformers": "sentence_transformers",
}


def run(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="A model file (*.earmark)."),
    ] = None,
    models: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Describe a model file, or this installation.

      earmark info
      earmark info --models
      earmark info model.earmark

    --models  List the names for --model.
    """
    from earmark.apps.cli._console import say_facts

    if models:
        facts: JsonObject = _models()
    elif model is None:
        facts = _installation()
    else:
        facts = _model_file(model)
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, default=str))
        return
    say_facts((name, words) for name, words in _lines(facts) if words)


def _lines(facts: JsonObject) -> Iterator[tuple[str, str]]:
    """A name and words for people per line; what is not set is left out."""
    for name, value in facts.items():
        if name == "training_data" and isinstance(value, dict):
            yield "trained on", _trained_on(value)
            yield "per class", _words(value.get("classes"))
            yield "data digest", str(value.get("fingerprint") or "")
        elif name == "columns" and isinstance(value, dict):
            guessed = f"{value['guessed']} (guessed)" if "guessed" in value else ""
            yield "text column", value.get("text") or guessed
            yield "label column", value.get("label") or ""
        elif name in ("updates", "forgotten") and isinstance(value, list):
            for one in value:
                yield name, f"{one['documents']:,} documents, {one['time']}"
        else:
            yield name, _words(value)


def _trained_on(data: JsonObject) -> str:
    known = {kind: data.get(kind) for kind in ("labelled", "unlabelled", "bad_parts")}
    counts = [f"{n:,} {kind.replace('_', ' ')}" for kind, n in known.items() if n]
    return f"{data.get('source')}: {', '.join(counts)}"


def _words(value: object) -> str:
    if isinstance(value, dict):
        known = {name: _words(one) for name, one in value.items()}
        return ", ".join(f"{name} {words}" for name, words in known.items() if words)
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "" if value is None else str(value)


def _models() -> JsonObject:
    from earmark.models.registry import MODELS

    chosen = "chosen for you: by the unlabelled text, or by cross-validation"
    listed = {
        name: spec.summary + (" [also in parts]" if spec.in_parts else "")
        for name, spec in MODELS.items()
    }
    return {"auto": f"{chosen} [also in parts]", **listed}


def _installation() -> JsonObject:
    from earmark import __version__
    from earmark.kernels.backend import describe

    present = [extra for extra, package in _EXTRAS.items() if find_spec(package)]
    packages = ("numpy", "scipy", "scikit-learn", "narwhals", "safetensors")
    return {
        "earmark": __version__,
        "kernels": describe(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
        "extras installed": present or ["none"],
        "extras missing": [e for e in _EXTRAS if e not in present] or ["none"],
    }


def _model_file(path: Path) -> JsonObject:
    from earmark.exceptions import DataError
    from earmark.persistence import read_manifest

    if not path.exists():
        raise DataError(f"{path}: no such model file.")
    manifest = read_manifest(path)
    return {
        "file": str(path),
        **manifest.metadata,
        "size": f"{manifest.file_size / 1e6:.2f} MB",
        "format": manifest.format_version,
        "written by": f"earmark {manifest.earmark_version}",
        "fingerprint": manifest.fingerprint,
        "functions": list(manifest.callables) or ["none"],
        "parameters": manifest.parameters,
    }
