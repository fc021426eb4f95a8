"""The size of the house, and its private doors, do not grow unnoticed."""

import subprocess
import sys

import pytest

from tests.pages import ROOT

# Measured by tools/house.py.
LIMITS = {
    "private imports": 0,
    "private attributes": 0,
}


# What a user has to know: names, constructors, methods (tests/public_api.py).
PUBLIC_LINES = 250


@pytest.fixture(scope="module")
def house():
    command = [sys.executable, str(ROOT / "tools" / "house.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    head, *rows = done.stdout.splitlines()
    names = [name for name in head.split("  ") if name.strip()]
    values = rows[-1].split()
    return dict(zip([name.strip() for name in names], values, strict=True))


def test_the_door_does_not_widen():
    snapshot = (ROOT / "tests" / "public_api.txt").read_text(encoding="utf-8")
    assert len(snapshot.splitlines()) <= PUBLIC_LINES


@pytest.mark.parametrize("measure", LIMITS)
def test_the_house_does_not_grow(house, measure):
    assert int(house[measure]) <= LIMITS[measure]
