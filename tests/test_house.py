"""Packages keep private names to themselves; objects are asked by name."""

import pytest

from tools import house


@pytest.mark.parametrize("places", [house.private_imports, house.private_attributes])
def test_private_names_stay_in_their_package(places):
    assert [str(place) for place in places()] == []


def test_only_what_is_stored_is_read_from_an_object_as_a_whole():
    assert [str(place) for place in house.looks_into_objects()] == []
