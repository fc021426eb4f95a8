"""Every package keeps its private names to itself."""

import pytest

from tools import house


@pytest.mark.parametrize("places", [house.private_imports, house.private_attributes])
def test_private_names_stay_in_their_package(places):
    assert [str(place) for place in places()] == []
