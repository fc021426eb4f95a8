"""Text classification for many documents and few labels."""

from __future__ import annotations

import importlib
import logging
from typing import Any

__version__ = "0.1.0"

# Public name -> module that defines it; imported at first use, so that
# ``import earmark`` and ``earmark --help`` stay quick.
_LAZY = {"TextClassifier": "earmark.pipeline", "load": "earmark.pipeline"}
_SUBMODULES = (
    "decision",
    "distributed",
    "documents",
    "encoders",
    "evaluation",
    "exceptions",
    "features",
    "models",
    "statistics",
    "testing",
)

__all__ = ["TextClassifier", "__version__", "load", *_SUBMODULES]

logging.getLogger("earmark").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"earmark.{name}")
    raise AttributeError(f"module 'earmark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
