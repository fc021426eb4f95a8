"""What documents count: their own weights, and the factor on each class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any

import numpy as np

from earmark.exceptions import DataError
from earmark.stored import anything_plain, either, mapping, none, number, stored, text
from earmark.typing import (
    ClassWeightLike,
    FloatVector,
    IntVector,
    Labels,
    WeightsLike,
)


def checked_weights(sample_weight: WeightsLike, n_samples: int) -> Any:
    """Weights as int64 where all are whole numbers, else float64; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.shape != (n_samples,):
        raise DataError(
            f"sample_weight must hold one weight for each of the {n_samples} rows, "
            f"got shape {weight.shape}."
        )
    if weight.size and weight.dtype.kind not in "biuf":
        raise DataError(f"sample_weight must hold numbers, got {weight[0]!s}.")
    if weight.size and (not np.isfinite(weight).all() or weight.min() < 0):
        raise DataError("sample_weight must be finite and >= 0.")
    if weight.size and not weight.any():
        raise DataError("sample_weight must not be zero for every document.")
    if weight.dtype.kind in "bui" or (np.rint(weight) == weight).all():
        return weight.astype(np.int64)
    return weight.astype(np.float64)


def real_weights(sample_weight: WeightsLike, n_samples: int) -> FloatVector:
    """Weights as float64; 1 for each where nothing is said."""
    weights = checked_weights(sample_weight, n_samples)
    return np.ones(n_samples) if weights is None else weights.astype(np.float64)


def require_class_weight(class_weight: ClassWeightLike) -> None:
    """Raise unless it is None, "balanced" or a dict from label to weight."""
    is_balanced = isinstance(class_weight, str) and class_weight == "balanced"
    if class_weight is None or is_balanced:
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict from label to weight, got "
            f"{class_weight!r}."
        )
    for label, weight in class_weight.items():
        value: object = weight  # whatever the type says
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0 <= weight < math.inf:
            raise DataError(
                f"class_weight[{label!r}] must be a finite number >= 0, got {weight!r}."
            )


def require_known_labels(class_weight: ClassWeightLike, known: Sequence[Any]) -> None:
    """Raise where ``class_weight`` names a label that is none of the classes."""
    require_class_weight(class_weight)
    if not isinstance(class_weight, Mapping):
        return
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise DataError(
            f"class_weight names the labels {unknown!r}, which are not among the "
            f"classes {known!r}."
        )


@stored
@dataclass(frozen=True)
class ClassWeight:
    """The factor on the documents of each class; the one home of class weights."""

    factors: Annotated[
        ClassWeightLike,
        either(none, text("balanced"), mapping(anything_plain, number(0))),
    ] = None
    """None: 1 for all. "balanced": classes count alike. A dict: label -> factor."""

    def __post_init__(self) -> None:
        if self.factors is not None:
            require_class_weight(self.factors)

    def require_labels(self, known: Sequence[Any]) -> None:
        """Raise where a factor is given for a label that is none of the classes."""
        if self.factors is not None:
            require_known_labels(self.factors, known)

    def of_classes(
        self, classes: Labels, docs: FloatVector | IntVector
    ) -> FloatVector | None:
        """The factor of each class with so many documents; None: there is none."""
        # Balanced as in scikit-learn, bit for bit; a class without documents gets 0.
        if self.factors is None:
            return None
        if isinstance(self.factors, str):
            seen, balanced = docs > 0, np.zeros(len(docs))
            np.divide(docs.sum(), seen.sum() * docs, out=balanced, where=seen)
            return balanced
        known = classes.tolist()
        return np.asarray([float(self.factors.get(label, 1.0)) for label in known])

    def checked_factors(self, classes: Labels, docs: FloatVector) -> FloatVector | None:
        """``of_classes`` of labels that are met for the first time."""
        self.require_labels(classes.tolist())
        return self.of_classes(classes, docs)

    def of_documents(
        self, labels: Labels, weight: WeightsLike = None
    ) -> FloatVector | IntVector | None:
        """The weight of each document, its class's factor included; None: 1 for all."""
        own = None if weight is None else np.asarray(weight)
        if self.factors is None:
            return own
        classes, y_index = np.unique(labels, return_inverse=True)
        docs = np.bincount(y_index, weights=own, minlength=len(classes))
        factors = self.of_classes(classes, docs)
        assert factors is not None
        return factors[y_index] if own is None else factors[y_index] * own
