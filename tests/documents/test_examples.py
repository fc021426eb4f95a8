"""The examples in the docstrings run."""

import doctest
import importlib

import pytest

MODULES = ["corpora", "document", "labels", "mail", "read", "splits"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(name):
    module = importlib.import_module(f"earmark.documents.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
