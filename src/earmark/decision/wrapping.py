"""What the classifiers around another one share, and check before they ask it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sized
from dataclasses import field
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, assert_all_finite, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from earmark.decision.decision import Decision
from earmark.evaluation.labels import as_labels, is_multi_label
from earmark.exceptions import DataError
from earmark.folds import check_equal_length, n_rows, take
from earmark.parameters import require_integer, shape_of, with_parameters
from earmark.typing import (
    ArrayLike,
    DocumentsLike,
    Estimator,
    FloatVector,
    IntVector,
    Labels,
    LabelsLike,
    RandomStateLike,
    WeightsLike,
)

__all__ = ["FitParams", "WrappingClassifier", "checked_labels", "listed", "offered_if"]


class offered_if:  # noqa: N801 - a decorator
    """Offer a method only where ``check(self)`` does not raise UnavailableError.

    As scikit-learn's ``available_if``, but the error that a caller sees says why.
    """

    def __init__(self, check: Callable[[Any], None]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> offered_if:
        """Take the method."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self._method
        self._check(instance)
        return MethodType(self._method, instance)


class FitParams:
    """Keywords of ``fit`` that go to the wrapped estimator, for any rows.

    With metadata routing it gets what it asked for; without, all that was given.
    """

    def __init__(
        self,
        owner: Estimator,
        X: DocumentsLike,
        sample_weight: WeightsLike,
        params: dict[str, Any],
    ) -> None:
        if sample_weight is not None:
            params = {**params, "sample_weight": np.asarray(sample_weight)}
        if params and get_config()["enable_metadata_routing"]:
            params = process_routing(owner, "fit", **params).estimator.fit
        self._params = params
        self._n_rows = n_rows(X)

    def of(self, rows: IntVector | None = None) -> dict[str, Any]:
        """What belongs to each document is cut to the rows; the rest stays whole."""
        if rows is None:
            return dict(self._params)
        return {
            name: take(value, rows) if self._is_by_row(value) else value
            for name, value in self._params.items()
        }

    def _is_by_row(self, value: object) -> bool:
        sized = bool(shape_of(value)) or isinstance(value, Sized)
        return sized and not isinstance(value, str) and n_rows(value) == self._n_rows


@with_parameters()
class WrappingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):
    """A classifier around another one, its ``estimator``."""

    estimator: Estimator = field(default=None, kw_only=False)
    cv: int | Iterable[tuple[ArrayLike, ArrayLike]] = 5
    random_state: RandomStateLike = 0
    base: Estimator = "deprecated"

    @abstractmethod
    def decide(self, X: DocumentsLike) -> Decision:
        """Labels, scores, abstentions and confidence."""

    def _use_new_name(self) -> None:
        """``base`` is called ``estimator`` now."""
        if isinstance(self.base, str) and self.base == "deprecated":
            if self.estimator is None:
                raise TypeError(
                    f"{type(self).__name__}.estimator must be a classifier, got None."
                )
            return
        warnings.warn(
            f"{type(self).__name__}(base=...) is called estimator now; the old name "
            "goes in version 0.3.",
            FutureWarning,
            stacklevel=3,
        )
        self.set_params(estimator=self.base, base="deprecated")

    def _require_folds(self) -> None:
        """Raise unless ``cv`` is a number of folds or a series of splits."""
        cv: object = self.cv
        if isinstance(cv, str) or not isinstance(cv, Iterable):
            require_integer(self, "cv", low=2)

    def get_metadata_routing(self) -> MetadataRouter:
        """Keywords of ``fit`` go to the ``fit`` of the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=self.estimator, method_mapping=mapping
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:  # what is true of the wrapper as well
            inner = get_tags(self.estimator)
            tags.input_tags.sparse = inner.input_tags.sparse
            tags.input_tags.positive_only = inner.input_tags.positive_only
            if inner.classifier_tags is not None:
                tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def checked_labels(
    owner: object, X: DocumentsLike, y: LabelsLike, sample_weight: WeightsLike = None
) -> LabelsLike:
    """The labels; raise unless each document has one, and there is something to learn.

    One column is taken for a list of labels, with scikit-learn's warning.
    """
    name = type(owner).__name__
    if y is None:
        raise DataError(
            f"{name} requires y to be passed, but the target y is None; pass it."
        )
    shape = shape_of(X)
    if len(shape) == 2 and shape[1] == 0:
        raise DataError(
            f"{name} got 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is "
            "required."
        )
    check_equal_length(X=np.empty(n_rows(X)), y=np.empty(n_rows(y)))
    if n_rows(X) == 0:
        raise DataError(f"{name} needs documents to learn from, got n_samples = 0.")
    if not is_multi_label(y):
        values = np.asarray(y)
        if values.dtype.kind == "f":
            assert_all_finite(values, input_name="y")
            check_classification_targets(values)
        if sample_weight is not None:
            _require_weighted(name, values, np.asarray(sample_weight, dtype=float))
    is_column = isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1
    return column_or_1d(y, warn=True) if is_column else y


def _require_weighted(name: str, y: Labels, weight: FloatVector) -> None:
    """Raise unless the weights leave something to tell apart."""
    if weight.shape != (len(y),):
        raise DataError(
            f"{name}: sample_weight must have the shape ({len(y)},), one weight per "
            f"document, got {weight.shape}."
        )
    if not (weight > 0).any():
        raise DataError(f"{name}: sample_weight is zero for every document.")
    left = np.unique(y[weight > 0])
    if len(left) < 2 <= len(np.unique(y)):
        raise DataError(
            f"{name} needs at least 2 classes, but sample_weight is above 0 for the "
            f"class {left.tolist()!r} only."
        )


def listed(y: Any) -> Any:
    """Labels that can be taken by rows: arrays stay arrays, the rest becomes lists."""
    if shape_of(y) and not hasattr(y, "columns"):
        return y
    return as_labels(y)
