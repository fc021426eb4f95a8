"""What the types of parameters say is what is checked, and what the messages say."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
import pytest

from earmark.models import HierarchicalBayes, HybridBayes
from earmark.parameters import (
    AtLeastOne,
    Limits,
    Positive,
    Share,
    check_declared,
    estimator,
)


@estimator
class Base:
    rate: Positive | None = None
    n: AtLeastOne = 1
    free: int | str = "anything"


@estimator
class Child(Base):
    part: Share = 0.5
    few: Annotated[int, Limits(1, 3, hint="or leave it out")] = 2
    way: Literal["up", "down"] | None = None
    heat: Positive | Literal["auto"] = "auto"
    both: bool = False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[
            ("rate", None),
            ("rate", 1),
            ("rate", 1e-9),
            ("n", 10**400),
            ("free", object()),
        ],
        *[("both", True), ("both", np.False_)],
        *[("part", 0), ("part", 1.0), ("few", 3), ("way", "up"), ("heat", 0.5)],
    ],
)
def test_what_the_type_allows_passes(name, value):
    check_declared(Child(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("rate", 0, ValueError, "Child.rate must be in (0.0, inf), got 0."),
        ("rate", "1", TypeError, "Child.rate must be a number, got '1'."),
        (
            "rate",
            float("nan"),
            ValueError,
            "Child.rate must be in (0.0, inf), got nan.",
        ),
        ("heat", math.inf, ValueError, "must be in (0.0, inf), got inf; or 'auto'."),
        ("both", 0.1, ValueError, "Child.both must be one of True, False, got 0.1."),
        ("both", "no", ValueError, "must be one of True, False, got 'no'."),
        ("n", 0, ValueError, "Child.n must be >= 1, got 0."),
        ("n", 1.0, TypeError, "Child.n must be a whole number, got 1.0."),
        ("n", True, TypeError, "Child.n must be a whole number, got True."),
        ("n", None, TypeError, "Child.n must be a whole number, got None."),
        ("part", 1.5, ValueError, "Child.part must be in [0.0, 1.0], got 1.5."),
        ("few", 4, ValueError, "Child.few must be in [1, 3], got 4; or leave it out."),
        ("way", "left", ValueError, "must be one of 'up', 'down', None, got 'left'."),
        ("heat", "a", TypeError, "Child.heat must be a number, got 'a'; or 'auto'."),
        ("heat", -1, ValueError, "must be in (0.0, inf), got -1; or 'auto'."),
    ],
)
def test_what_it_does_not_allow_is_refused(name, value, error, message):
    with pytest.raises(error) as raised:
        check_declared(Child(**{name: value}))
    assert str(raised.value).endswith(message)


@pytest.mark.parametrize("name", ["way", "heat", "rate"])
def test_an_array_is_refused_in_our_words(name):
    with pytest.raises((TypeError, ValueError), match=rf"Child\.{name} must be"):
        check_declared(Child(**{name: np.array([1, 2])}))


def test_a_number_that_no_float_can_hold_is_refused():
    with pytest.raises(ValueError, match=r"Child\.rate must be in"):
        check_declared(Child(rate=10**400))


COUNTS = np.array([[3, 0, 1], [2, 1, 0], [0, 3, 1], [0, 2, 2]])


@pytest.mark.parametrize("kind", [HybridBayes, HierarchicalBayes])
@pytest.mark.parametrize(
    "value", [math.inf, True, "0.5", "x", [], [0.5, math.nan], [[0.5]], np.array(["1"])]
)
def test_one_number_or_several_are_checked_alike(kind, value):
    with pytest.raises((TypeError, ValueError), match=f"^{kind.__name__}.alpha must"):
        kind(alpha=value).fit(COUNTS, [0, 0, 1, 1])


@pytest.mark.parametrize("kind", [HybridBayes, HierarchicalBayes])
@pytest.mark.parametrize(
    "value", [1, 0.5, np.float32(0.5), np.array(0.5), np.array([0.5, 1]), (0.5,)]
)
def test_one_number_or_several_may_be_an_array(kind, value):
    model = kind(alpha=value).fit(COUNTS, [0, 0, 1, 1])
    assert np.isfinite(model.predict_proba(COUNTS)).all()
