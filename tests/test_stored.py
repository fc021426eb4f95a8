"""Annotations say what a model file may hold: read at import, checked before use."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from earmark.exceptions import ModelFormatError
from earmark.models.base.declaration import MODELS
from earmark.parameters import Positive, estimator
from earmark.stored import (
    DERIVED,
    OPTIONAL,
    STORED,
    Checker,
    Place,
    declared_by,
    floats,
    integers,
    labels,
    size,
    sizes,
    stored,
    stored_state,
)
from earmark.typing import FloatMatrix, FloatVector, IntVector, Labels


@pytest.fixture(autouse=True)
def table():
    """Classes of a test leave the table after it."""
    yield
    for name in [name for name, kind in STORED.items() if kind.__module__ == __name__]:
        del STORED[name]


def made():
    """A class with parameters, sizes, a choice, and a sum between attributes."""

    @stored
    @dataclass(eq=False)
    class Sums:
        docs: Annotated[IntVector, integers("n_classes")]

    @estimator
    class Toy(BaseEstimator):
        classes_: Annotated[Labels, labels("n_classes")] = field(init=False)
        n_features_in_: Annotated[int, size("n_features")] = field(init=False)
        weights_: Annotated[FloatMatrix, floats("n_classes", "n_features")] = field(
            init=False
        )
        sums_: Annotated[Sums, sizes(n_classes="n_classes")] = field(init=False)
        kind_: Literal["one", "two"] = field(init=False)
        loss_: Annotated[float, OPTIONAL] = field(init=False)
        share_: Positive | None = None
        _cache: Annotated[object, DERIVED] = None

        alpha: Positive = 1.0

        def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
            """Weights are not all zero."""
            if not self.weights_.any():
                yield ".weights_ say nothing"

    return Toy, Sums


def state(sums, **changes):
    known = {
        "alpha": 0.5,
        "classes_": np.array(["a", "b"]),
        "n_features_in_": 3,
        "weights_": np.ones((2, 3)),
        "sums_": sums,
        "kind_": "one",
    }
    known |= changes
    return {name: value for name, value in known.items() if value is not ...}


@pytest.fixture
def checked():
    toy, sums_kind = made()
    checker = Checker()
    docs = {"docs": np.array([1, 2])}
    checker.check_state(sums_kind, docs, Place("sums"))
    sums = sums_kind(**docs)
    checker.remember(sums)
    return lambda **changes: checker.check_state(
        toy, state(sums, **changes), Place("Toy")
    )


def test_a_state_that_fits_is_taken(checked):
    checked()
    checked(loss_=1.5)
    checked(share_=0.5)
    checked(share_=None)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"weights_": np.ones((2, 4))}, "weights_ has 4 n_features, expected 3"),
        ({"weights_": np.ones((3, 2))}, "n_classes"),
        ({"weights_": np.ones(6)}, "2 dimensions"),
        ({"weights_": np.full((2, 3), np.nan)}, "must be finite"),
        ({"weights_": np.zeros((2, 3))}, "weights_ say nothing"),
        ({"classes_": np.array(["a", "a"])}, "different labels"),
        ({"classes_": np.array(["a", "b", "c"])}, "n_classes"),
        ({"kind_": "three"}, "kind_ must be one of"),
        ({"kind_": ...}, "kind_ missing or unknown"),
        ({"hook_": 1}, "hook_ missing or unknown"),
        ({"_cache": 1}, "_cache missing or unknown"),
        ({"sums_": None}, "sums_ must be a Sums"),
        ({"share_": -1.0}, "share_"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": ...}, "alpha missing or unknown"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(checked, changes, fault):
    with pytest.raises(ModelFormatError, match=fault):
        checked(**changes)


def test_what_is_derived_is_neither_stored_nor_pickled():
    toy, _ = made()
    model = toy()
    model._cache, model.kind_ = object(), "one"
    assert stored_state(model) == {"alpha": 1.0, "kind_": "one"}
    assert "_cache" not in model.__getstate__()


def test_an_array_without_axes_fails_when_the_class_is_made():
    with pytest.raises(TypeError, match=r"Bare\.weights_: .* give its axes"):

        @estimator
        class Bare(BaseEstimator):
            weights_: FloatVector = field(init=False)


def test_an_array_without_axes_fails_in_a_class_without_parameters_too():
    with pytest.raises(TypeError, match=r"Sums\.docs: .* give its axes"):

        @stored
        @dataclass(eq=False)
        class Sums:
            docs: FloatVector


def test_every_class_that_files_name_says_what_it_holds():
    for model in MODELS:
        kind = model.make
        if isinstance(kind, type):
            assert STORED[kind.__name__] is kind
            assert "classes_" in declared_by(kind).required
