"""Import scikit-learn without what it loads and hardly ever uses.

``sklearn.utils.fixes`` imports ``scipy.stats`` and pandas for one helper each: more
than half of the processor time of ``import sklearn.base``. The packages of earmark
import this module first. It lends both names a stand-in while scikit-learn is imported,
and takes it away again; whoever asks the stand-in for anything gets the real module.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_SELDOM_USED = ("scipy.stats", "pandas")


class _Postponed(ModuleType):
    """Stands for a module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        self.withdraw()
        return getattr(importlib.import_module(self.__name__), name)

    def withdraw(self) -> None:
        """Let the next import be that of the real module."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


def _import_base() -> None:
    names = [name for name in _SELDOM_USED if name not in sys.modules]
    postponed = [_Postponed(name) for name in names if find_spec(name) is not None]
    sys.modules.update({module.__name__: module for module in postponed})
    try:
        importlib.import_module("sklearn.base")
    finally:
        for module in postponed:
            module.withdraw()


if "sklearn" not in sys.modules:
    _import_base()
