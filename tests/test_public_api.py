"""The public API: a snapshot, and what its documentation must say."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from tests.public_api import MODULES, describe, members

SOURCE = Path(importlib.import_module("earmark").__file__).parent
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


@pytest.mark.parametrize("stub", sorted(SOURCE.rglob("__init__.pyi")), ids=str)
def test_every_line_of_a_stub_is_a_name_that_the_package_has(stub):
    package = ".".join(stub.parent.relative_to(SOURCE.parent).parts)
    names = []
    for line in filter(None, stub.read_text(encoding="utf-8").splitlines()):
        if line != "__version__: str":
            imported = re.fullmatch(r"from \S+ import (\w+) as (\w+)", line)
            assert imported is not None, line
            assert imported[1] == imported[2]
            names.append(imported[1])
    module = importlib.import_module(package)
    assert sorted(names) == sorted(set(module.__all__) - {"__version__"})
    assert all(hasattr(module, name) for name in names)
    assert set(names) <= set(dir(module))


def test_a_name_that_a_package_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'earmark.models' has no .* 'SVC'"):
        importlib.import_module("earmark.models").SVC  # noqa: B018


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


@pytest.mark.parametrize("obj", PUBLIC)
def test_documented_defaults_are_the_real_ones(obj):
    for name, default in documented_defaults(inspect.getdoc(obj) or "").items():
        assert default == inspect.signature(obj).parameters[name].default, name


def documented_parameters(text):
    """Names in the Parameters section of a numpydoc docstring; None without one."""
    entries = parameter_entries(text)
    if entries is None:
        return None
    heads = (entry.split(" : ")[0].split(",") for entry in entries)
    return [name.strip().lstrip("*") for head in heads for name in head]


def documented_defaults(text):
    """Values that stand as ``default=...`` in the Parameters section, by name."""
    defaults = {}
    for entry in parameter_entries(text) or ():
        head, _, said = entry.partition(", default=")
        if said:
            names = [name.strip() for name in head.split(" : ")[0].split(",")]
            values = said.split(" and ") if len(names) > 1 else [said]
            values = [eval(value, {"np": np}) for value in values]
            defaults |= zip(names, values * len(names), strict=False)
    return defaults


def parameter_entries(text):
    """The unindented lines of the Parameters section; None without one."""
    found = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]+\n-+\n|\Z)", text, re.S | re.M
    )
    if found is None:
        return None
    return [x for x in found[1].splitlines() if x and not x.startswith(" ")]
