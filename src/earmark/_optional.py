"""The single door to optional packages, opened at the moment of use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from earmark.exceptions import MissingDependencyError

# Package -> the extra that installs it.
EXTRAS = {
    "Stemmer": "stem",
    "dask": "dask",
    "distributed": "dask",
    "fastembed": "fastembed",
    "huggingface_hub": "model2vec",
    "matplotlib": "plot",
    "model2vec": "model2vec",
    "openpyxl": "excel",
    "pooch": "data",
    "prometheus_client": "serve",
    "pydantic": "serve",
    "pyarrow": "io",
    "pyspark": "spark",
    "sentence_transformers": "sentence-transformers",
    "starlette": "serve",
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


def names_at_first_use(
    package: str, homes: Mapping[str, str], *, estimators: bool = False
) -> Callable[[str], Any]:
    """A ``__getattr__`` that imports a package's names, by module, at first use."""
    module_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if estimators:
            importlib.import_module("earmark._sklearn")
        return getattr(importlib.import_module(f"{package}.{module_of[name]}"), name)

    return get
