"""Fixtures for everybody: a seed handed out, tiny corpora."""

import zlib

import numpy as np
import pytest
from hypothesis import settings

from earmark.kernels.backend import native

# A crowded machine is no failure: how long an example takes says nothing here.
settings.register_profile("earmark", deadline=None)
settings.load_profile("earmark")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What only the compiled kernels do in a moment is slow without them."""
    if native() is None:
        for item in items:
            if item.get_closest_marker("compiled"):
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def rng(request):
    """A generator seeded by the test's own name: no global seed, no shared state."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
