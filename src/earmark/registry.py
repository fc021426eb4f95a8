"""Declarations that stand beside what they declare, found by their names.

A model, a file format and a kind of encoder are each one module that declares itself
by one constant. Its name is the name of the module, with ``-`` for ``_``. Other
packages add theirs by entry points of the registry's group.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Generic, Protocol, TypeVar

from earmark.exceptions import EarmarkError

__all__ = ["Registry", "UnknownNameError"]


class Declaration(Protocol):
    """What is known of a thing before it is made; its name above all."""

    @property
    def name(self) -> str:
        """The name that users give."""


T = TypeVar("T", bound=Declaration)


class UnknownNameError(EarmarkError, ValueError):
    """No module and no entry point has this name; the message lists the names."""


class Registry(Generic[T]):
    """The declarations of one kind: modules of a folder, entry points of a group.

    Parameters
    ----------
    package
        The folder, such as ``"earmark.models"``: each module in it is one entry. Its
        sub-packages are none, nor are modules that begin with an underscore.
    group
        The group of entry points by which other packages add entries. They cannot
        replace a module of the folder.
    attribute
        The constant of a module that holds its declaration, such as ``"MODEL"``.

    """

    def __init__(self, package: str, group: str, attribute: str) -> None:
        self.package = package
        self.group = group
        self.attribute = attribute
        self._made: dict[str, T] = {}

    def names(self) -> list[str]:
        """All names: those of the folder in their order, then those of entry points."""
        return [*self._modules, *self._entry_points]

    def __contains__(self, name: object) -> bool:
        return name in self._modules or name in self._entry_points

    def __iter__(self) -> Iterator[T]:
        """All declarations; this imports every module."""
        return (self[name] for name in self.names())

    def get(self, name: str) -> T | None:
        """The declaration of this name, None if there is none."""
        if name in self._made:
            return self._made[name]
        return self[name] if name in self else None  # noqa: SIM401

    def name_of(self, make: object) -> str | None:
        """The name whose declaration has this ``make``; None if there is none."""
        home = getattr(make, "__module__", "")
        names = [name for name, module in self._modules.items() if module == home]
        if home.partition(".")[0] != self.package.partition(".")[0]:
            names += self._entry_points
        for name in names:
            # What cannot be imported has made nothing that could be asked about.
            with suppress(EarmarkError):
                if getattr(self[name], "make", None) is make:
                    return name
        return None

    def __getitem__(self, name: str) -> T:
        """The declaration of this name; this imports its module and no other."""
        if name not in self._made:
            self._made[name] = self._load(name)
        return self._made[name]

    @cached_property
    def _modules(self) -> dict[str, str]:
        """Name -> module, for each module of the folder."""
        spec = find_spec(self.package)
        folders = spec.submodule_search_locations if spec else None
        return {
            module.name.replace("_", "-"): f"{self.package}.{module.name}"
            for module in sorted(pkgutil.iter_modules(folders or []), key=_module_name)
            if not module.ispkg and not module.name.startswith("_")
        }

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        """Name -> entry point, for those whose name no module of the folder has."""
        first: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if entry.name not in self._modules:
                first.setdefault(entry.name, entry)  # the first on the path, as imports
        return dict(sorted(first.items()))

    def _load(self, name: str) -> T:
        if name in self._modules:
            module = self._modules[name]
            where = f"{module}.{self.attribute}"
            declared: Any = getattr(
                importlib.import_module(module), self.attribute, None
            )
        elif name in self._entry_points:
            entry = self._entry_points[name]
            where = f"the entry point {name!r} of {self.group}, {entry.value},"
            declared = _loaded(entry, where)
        else:
            listed = ", ".join(self.names())
            raise UnknownNameError(f"expected one of {listed}; got {name!r}.")
        called = getattr(declared, "name", None)
        if called != name:
            raise EarmarkError(
                f"{where} must declare the name {name!r}, got {called!r}."
            )
        checked: T = declared
        return checked


def _module_name(module: pkgutil.ModuleInfo) -> str:
    return module.name


def _loaded(entry: EntryPoint, where: str) -> Any:
    """What an entry point names; an error that names it if that cannot be imported."""
    try:
        return entry.load()
    except Exception as error:
        package = f" of {entry.dist.name}" if entry.dist else ""
        raise EarmarkError(
            f"{where} cannot be imported: {type(error).__name__}: {error}. "
            f"Repair or uninstall the package{package}."
        ) from error
