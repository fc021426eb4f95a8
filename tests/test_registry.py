"""Registries: names come from files and entry points; nothing is imported for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from earmark.exceptions import EarmarkError
from earmark.registry import Registry, UnknownNameError

_THING = """
from types import SimpleNamespace
THING = SimpleNamespace(name={name!r})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "things"
    (package / "shared").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "shared" / "__init__.py").write_text("")
    (package / "_private.py").write_text("raise ImportError")
    for module in ("plain", "two_words"):
        name = module.replace("_", "-")
        (package / f"{module}.py").write_text(_THING.format(name=name))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    for module in [m for m in sys.modules if m.partition(".")[0] == "things"]:
        del sys.modules[module]


def _declare(folder: Path, *entries: str) -> None:
    """Entry points of a package that is installed beside the folder."""
    info = folder.parent / "others-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0")
    listed = "\n".join(["[toys]", *entries])
    (info / "entry_points.txt").write_text(listed)


def _things() -> Registry:
    return Registry("things", "toys", "THING")


def test_a_module_has_the_name_that_it_declares(folder):
    things = _things()
    assert things.names() == ["plain", "two-words"]
    assert things["two-words"].name == "two-words"
    assert [thing.name for thing in things] == things.names()
    assert "two-words" in things
    assert "two_words" not in things
    assert "shared" not in things
    assert 3 not in things


def test_names_import_nothing(folder):
    (folder / "broken.py").write_text("raise ImportError('never asked for')")
    things = _things()
    assert "broken" in things.names()
    assert things["plain"].name == "plain"
    assert "things.two_words" not in sys.modules
    assert "things.broken" not in sys.modules


def test_a_declaration_is_made_once(folder):
    things = _things()
    assert things["plain"] is things["plain"]


def test_an_unknown_name_is_told_the_names(folder):
    with pytest.raises(UnknownNameError, match=r"one of plain, two-words; got 'plane'"):
        _things()["plane"]


def test_a_module_must_declare_its_own_name(folder):
    (folder / "other.py").write_text(_THING.format(name="plain"))
    with pytest.raises(EarmarkError, match=r"things\.other\.THING .* 'other', got 'pl"):
        _things()["other"]
    (folder / "empty.py").write_text("")
    with pytest.raises(EarmarkError, match=r"things\.empty\.THING .* got None"):
        _things()["empty"]


def test_entry_points_are_entries(folder):
    (folder.parent / "others.py").write_text(_THING.format(name="toy"))
    _declare(folder, "toy = others:THING", "plain = others:THING")
    things = _things()
    assert things.names() == ["plain", "two-words", "toy"]
    assert things["toy"].name == "toy"
    assert things["plain"].name == "plain"  # a module of the folder is not replaced


def test_an_entry_point_that_fails_is_named(folder):
    _declare(folder, "toy = others.absent:THING", "odd = things.plain:THING")
    things = _things()
    fault = r"'toy' of toys, others\.absent:THING, .*ModuleNotFound.* package of others"
    with pytest.raises(EarmarkError, match=fault):
        things["toy"]
    with pytest.raises(
        EarmarkError, match=r"'odd' of toys.* must declare .*'odd', got"
    ):
        things["odd"]
