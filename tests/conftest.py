"""Fixtures for everybody: a seed handed out, tiny corpora."""

import zlib

import numpy as np
import pytest
from hypothesis import settings

# A crowded machine is no failure: how long an example takes says nothing here.
settings.register_profile("earmark", deadline=None)
settings.load_profile("earmark")


@pytest.fixture
def rng(request):
    """A generator seeded by the test's own name: no global seed, no shared state."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
