"""The public API: a snapshot, and what its documentation must say."""

import inspect
import re
from pathlib import Path

import pytest
from tests.public_api import MODULES, describe, members

SNAPSHOT = Path(__file__).with_name("public_api.txt")
PUBLIC = [
    pytest.param(obj, id=f"{module}.{name}")
    for module in MODULES
    for name, obj in members(module).items()
    if callable(obj)
]


def test_the_api_changes_only_on_purpose():
    stored = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    now = describe()
    gone = sorted(set(stored) - set(now))
    new = sorted(set(now) - set(stored))
    assert stored == now, (
        f"gone: {gone}; new: {new}; if that is meant, renew the snapshot: "
        "python tests/public_api.py > tests/public_api.txt"
    )


@pytest.mark.parametrize("obj", PUBLIC)
def test_public_names_are_documented(obj):
    text = inspect.getdoc(obj) or ""
    assert text.strip(), "no docstring"
    assert not text.startswith(obj.__name__ + "("), "the docstring is made by dataclass"


@pytest.mark.parametrize("obj", PUBLIC)
def test_documented_parameters_are_the_real_ones(obj):
    documented = documented_parameters(inspect.getdoc(obj) or "")
    if documented is None or (inspect.isclass(obj) and issubclass(obj, Exception)):
        return
    real = [
        name
        for name, p in inspect.signature(obj).parameters.items()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    assert sorted(documented) == sorted(real)


def documented_parameters(text):
    """Names in the Parameters section of a numpydoc docstring; None without one."""
    found = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]+\n-+\n|\Z)", text, re.S | re.M
    )
    if found is None:
        return None
    entries = [x for x in found[1].splitlines() if x and not x.startswith(" ")]
    heads = (entry.split(" : ")[0].split(",") for entry in entries)
    return [name.strip().lstrip("*") for head in heads for name in head]
