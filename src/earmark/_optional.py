"""The single door to optional packages, opened at the moment of use."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from earmark.exceptions import MissingDependencyError

# Package -> the extra that installs it.
EXTRAS = {
    "Stemmer": "stem",
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "sql",
    "fastembed": "fastembed",
    "fsspec": "url",
    "huggingface_hub": "model2vec",
    "matplotlib": "plot",
    "model2vec": "model2vec",
    "openpyxl": "excel",
    "pooch": "data",
    "prometheus_client": "serve",
    "psycopg": "sql",
    "pydantic": "serve",
    "pyarrow": "io",
    "sentence_transformers": "sentence-transformers",
    "starlette": "serve",
    "torch": "sentence-transformers",
    "uvicorn": "serve",
}


def require(module: str, purpose: str) -> Any:
    """Import ``module``, or say which extra brings what is needed to ``purpose``."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        extra = EXTRAS[package]
        raise MissingDependencyError(
            f"{package} is needed to {purpose}; "
            f"install the extra {extra}, in a checkout with: pip install '.[{extra}]'"
        ) from error


def is_installed(extra: str | None) -> bool:
    """Whether the packages that an extra installs are here."""
    return all(find_spec(name) for name, one in EXTRAS.items() if one == extra)


def names_at_first_use(
    package: str,
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` that a package's stub declares.

    ``__init__.pyi`` says each public name once, ``from .module import name as name``,
    for type checkers and for this; a name is imported when it is asked for.
    """
    stub = Path(*sys.modules[package].__path__, "__init__.pyi").read_text()
    homes = re.findall(r"^from (\S+) import (\w+) as \w+$", stub, re.MULTILINE)
    home_of = {name: home for home, name in homes}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home_of[name] == ".":
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(home_of[name], package), name)

    names = sorted(home_of)
    return get, lambda: names, names
