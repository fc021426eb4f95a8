"""Saving and loading a TextClassifier: the closed table of classes in a model file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from earmark import decision, features, models, statistics
from earmark.encoders.encoder import Encoder, load_encoder, require_encoder
from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.persistence import ModelInfo, open_model, read_manifest, save_model
from earmark.pipeline.file_schemas import SCHEMAS
from earmark.typing import FilePath, JsonObject

if TYPE_CHECKING:
    from earmark.pipeline.text_classifier import TextClassifier


# Where the parts of a classifier are that are not public but are stored.
_INTERNAL = {
    "decision.evidence": "Evidence",
    "decision.calibration": "LearnedConfidence TemperatureCalibrator",
    "models.shared.region_weights": "RegionStatistics",
    "models.shared.recipe": "LinearStudent",
    "models.shared.views": (
        "LsaView PpmiView RecipeFeatures SubwordView TfidfView VectorView"
    ),
    "features.columns": "Block Columns ColumnsTemplate",
    "features.vectors": "EncoderColumns",
    "inputs.weights": "ClassWeight",
    "pipeline.text_classifier": "TextClassifier",
    "pipeline.text_model": "Plan TextModel",
    "statistics.term_sums": "TermSums",
    "features.preparation": "TextPreparation",
}


class _Classes(Mapping[str, type]):
    """Name in a file -> class, imported when it is asked for."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes

    def __getitem__(self, name: str) -> type:
        kind: type = getattr(import_module(f"earmark.{self._homes[name]}"), name)
        return kind

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


def _homes() -> dict[str, str]:
    """Every class that a model file may name -> the module that has it."""
    homes = {name: home for home, names in _INTERNAL.items() for name in names.split()}
    for package in (decision, features, models, statistics):
        home = package.__name__.removeprefix("earmark.")
        homes |= {name: home for name in package.__all__ if name[0].isupper()}
    return homes


@cache
def class_table() -> Mapping[str, type]:
    """Every class that a model file may name."""
    return _Classes(_homes())


@cache
def _stored_classes() -> Mapping[str, type]:
    """The classes of the table that a classifier may be made of."""
    return _Classes({name: home for name, home in _homes().items() if name in SCHEMAS})


def save_classifier(
    classifier: TextClassifier,
    path: FilePath,
    metadata: JsonObject | None = None,
    *,
    allow_callables: bool = False,
) -> None:
    """Write a fitted TextClassifier to one file, atomically."""
    facts = {
        "model": classifier.model_name_,
        "classes": [str(label) for label in classifier.classes_.tolist()],
        **(metadata or {}),
    }
    save_model(
        classifier, path, _stored_classes(), facts, allow_callables=allow_callables
    )


def load(
    path: FilePath,
    given: Mapping[str, Callable[..., Any]] | None = None,
    *,
    encoder: Encoder | None = None,
) -> TextClassifier:
    """Read a model file; no code from the file is run.

    Parameters
    ----------
    path : path-like
        A file written by ``TextClassifier.save``.
    given : mapping of str to callable, optional
        Place -> function, for each function that was left out of the file.
    encoder : str or callable, optional
        The encoder that the classifier was fitted with, if the file has none, or
        another name for the one it has. Without it an encoder that the file names
        is taken from this machine; nothing is downloaded.

    Raises
    ------
    ModelFormatError
        If the file is damaged, truncated, newer, foreign or hostile.
    NotSupportedError
        If the functions given are not those that the file asks for, or the encoder
        is not the one that the classifier was fitted with.

    """
    return load_with_info(path, given, encoder=encoder)[0]


def load_with_info(
    path: FilePath,
    given: Mapping[str, Callable[..., Any]] | None = None,
    *,
    encoder: Encoder | None = None,
) -> tuple[TextClassifier, ModelInfo]:
    """What ``load`` gives, and what the file says about itself, in one reading."""
    from earmark.pipeline.text_classifier import TextClassifier

    functions = dict(given or {})
    if encoder is not None:
        require_encoder(encoder)
        again = load_encoder(encoder) if isinstance(encoder, str) else encoder
        functions |= dict.fromkeys(_encoder_places(path), again)
    classifier, info = open_model(path, _stored_classes(), functions, schemas=SCHEMAS)
    if not isinstance(classifier, TextClassifier):
        raise ModelFormatError(
            f"{os.fspath(path)}: expected a TextClassifier, "
            f"got a {type(classifier).__name__}"
        )
    _bring_back(classifier, encoder)
    return classifier, info


def _bring_back(classifier: TextClassifier, encoder: Encoder | None) -> None:
    """Load the encoder that is needed, and see that it is the same model."""
    encoder = classifier.encoder if encoder is None else encoder
    if encoder is None:
        return
    classifier.encoder = encoder
    columns, plan = classifier.columns_.encoder, classifier.plan_
    if columns is not None and columns.needs_encoder:
        columns.use_encoder(encoder)
    if plan is not None and plan.columns.encoder is not None:
        template = replace(plan.columns, encoder=encoder)
        classifier.plan_ = replace(plan, columns=template)


def _encoder_places(path: FilePath) -> list[str]:
    """Where the file has left out an encoder; none if it has a name."""
    manifest = read_manifest(path)
    places = [place for place in manifest.callables if place.endswith(".encoder")]
    if not places and not isinstance(manifest.parameters.get("encoder"), str):
        raise NotSupportedError(
            f"{os.fspath(path)} was saved without an encoder: load it without "
            "encoder=, or fit and save a classifier that has one."
        )
    return places
