"""Saving and loading a TextClassifier: the closed table of classes in a model file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from earmark import models
from earmark.encoders.encoder import Encoder, load_encoder, require_encoder
from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.persistence import ModelInfo, open_model, read_manifest, save_model
from earmark.stored import STORED
from earmark.typing import FilePath, JsonObject

if TYPE_CHECKING:
    from earmark.pipeline.text_classifier import TextClassifier


def _public_models() -> list[str]:
    """The names of the classes of ``earmark.models``, none of them imported."""
    return dir(models)


class _StoredClasses(Mapping[str, type]):
    """Name in a file -> class: those that are declared, and the public models."""

    def __getitem__(self, name: str) -> type:
        if name not in self:
            raise KeyError(name)
        return STORED[name]

    def __contains__(self, name: object) -> bool:
        if name not in STORED and name in _public_models():
            getattr(models, str(name))  # this imports it
        return name in STORED

    def __iter__(self) -> Iterator[str]:
        return iter(dict(STORED))

    def __len__(self) -> int:
        return len(STORED)


def class_table() -> Mapping[str, type]:
    """Every class that a model file may name."""
    return _StoredClasses()


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
    save_model(classifier, path, class_table(), facts, allow_callables=allow_callables)


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
    classifier, info = open_model(path, class_table(), functions)
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
