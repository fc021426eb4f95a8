"""What a user's sentence encoder says of texts, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.exceptions import DataError
from earmark.typing import FloatMatrix

__all__ = ["encoded_texts", "require_encoder"]


def require_encoder(encoder: Any) -> None:
    """Refuse what is no function; many encoders are objects with a method for it."""
    method = callable(getattr(encoder, "encode", None))
    # Calling a network of torch means a forward pass on tensors.
    is_network = method and callable(getattr(encoder, "forward", None))
    if encoder is None or (callable(encoder) and not is_network):
        return
    hint = "; give its method: encoder=model.encode" if method else ""
    raise TypeError(
        "TextClassifier.encoder must be a function from a list of texts to an array, "
        f"got {type(encoder).__name__}{hint}."
    )


def encoded_texts(
    encoder: Any, texts: list[str], n_dimensions: int | None = None
) -> FloatMatrix:
    """A row of finite numbers for each text.

    ``n_dimensions`` is their number when the model was fitted; None while it is.
    """
    vectors = _as_numbers(encoder(texts))
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
        raise DataError(
            f"TextClassifier.encoder must give an array with a row for each of "
            f"the {len(texts)} texts, got shape {vectors.shape}."
        )
    if n_dimensions is not None and vectors.shape[1] != n_dimensions:
        raise DataError(
            f"TextClassifier.encoder must give {n_dimensions} numbers for each text, "
            f"as when the model was fitted, got {vectors.shape[1]}: use the same "
            "encoder."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise DataError(
            f"TextClassifier.encoder must give finite numbers, got NaN or "
            f"infinity for text {bad[0]}: {texts[bad[0]]!r:.60}."
        )
    return vectors


def _as_numbers(answer: Any) -> FloatMatrix:
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "TextClassifier.encoder must give an array of numbers, got "
            f"{type(answer).__name__} that cannot be read as one ({error})."
        ) from error
