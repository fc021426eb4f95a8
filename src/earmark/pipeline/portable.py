"""A classifier as plain JSON: terms, weights and vectors, for readers in any language.

``docs/json-model.md`` describes the format; ``examples/readers`` has two readers.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from earmark.encoders.encoder import load_encoder
from earmark.exceptions import NotSupportedError
from earmark.features.vectors import EncoderColumns
from earmark.kernels.rows import log_normalize
from earmark.typing import JsonObject

if TYPE_CHECKING:
    from earmark.features.analysis import KnownTerms
    from earmark.pipeline.text_classifier import TextClassifier

FORMAT, VERSION = "earmark-json", 1


def portable(classifier: TextClassifier) -> JsonObject:
    """The numbers that answer, as values of JSON; refused where they are no sum."""
    fitted = classifier.text_model_
    if fitted is None or classifier.is_multi_label_:
        raise NotSupportedError(
            "JSON is for a fitted model of one label per document; a model of several "
            "labels can be saved as a model file only."
        )
    scorer = fitted.scorer
    name = classifier.model_name_
    if scorer is None:
        raise NotSupportedError(
            f"{name} has no scores that are sums over terms, so JSON cannot hold it; "
            "linear, softmax, multinomial, bernoulli and complement can be exported."
        )
    rule = scorer.rule
    if fitted.calibrator is None and rule.log_posteriors is not log_normalize:
        raise NotSupportedError(
            f"{name} makes probabilities of its scores in its own way, so JSON cannot "
            "hold it; linear, softmax and multinomial can be exported."
        )
    temperature = 1.0
    if fitted.calibrator is not None:
        temperature = float(fitted.calibrator.temperature_)
    blocks = [
        {"region": piece.region}
        | (
            _vectors(piece.terms)
            if isinstance(piece.terms, EncoderColumns)
            else _terms(piece.terms, piece.options)
        )
        | {"weights": _numbers(piece.weights)}
        for piece in scorer.pieces
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": name,
        "classes": classifier.classes_.tolist(),
        "regions": list(scorer.regions),
        "offset": _numbers(rule.offset),
        "empty": None if rule.empty is None else _numbers(rule.empty),
        "temperature": temperature,
        "blocks": blocks,
    }


def _terms(known: KnownTerms, options: Mapping[str, Any]) -> JsonObject:
    """How a text is taken apart and counted, and the terms in their order."""
    scan = known.scan
    if scan is None:
        raise NotSupportedError(
            "the words are found by a function or a pattern of your own, which JSON "
            "cannot hold; train with the usual settings of analyzer and token_pattern."
        )
    idf = options.get("idf")
    return {
        "kind": "terms",
        "analyzer": scan.analyzer,
        "ngram_range": list(scan.ngram_range),
        "min_length": scan.min_length,
        "lowercase": scan.lowercase,
        "stop_words": sorted(scan.stop_words),
        "tf": "binary" if known.counter.binary else options["tf"],
        "norm": options["norm"],
        "unknown": float(options.get("unknown", 0.0)),
        "idf": None if idf is None else _numbers(idf),
        "terms": list(known.get_feature_names_out()),
    }


def _vectors(columns: EncoderColumns) -> JsonObject:
    """The table of word vectors whose sum is the vector of a document."""
    encoder = columns.encoder
    table = getattr(
        load_encoder(encoder) if isinstance(encoder, str) else None, "table", None
    )
    if table is None:
        raise NotSupportedError(
            f"the encoder {encoder!r} reads whole texts, so JSON cannot hold it; train "
            "with --encoder static or --encoder none."
        )
    assert columns.mean is not None
    return {
        "kind": "vectors",
        "lines": table.lines,
        "n_words": table.n_words,
        "scale": _numbers(table.scale),
        "vectors": base64.b64encode(table.vectors.tobytes()).decode(),
        "mean": _numbers(columns.mean),
    }


def _numbers(array: Any) -> Any:
    """Numbers of JSON, as short as their precision allows."""
    values = np.asarray(array)
    if values.dtype == np.float32:
        # Nine digits tell all numbers of single precision apart.
        short = [float(f"{value:.9g}") for value in values.ravel().tolist()]
        return np.array(short).reshape(values.shape).tolist()
    return values.astype(np.float64).tolist()
