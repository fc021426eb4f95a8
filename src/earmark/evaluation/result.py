"""A result of measuring: people print it, programs store it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from earmark.typing import JsonObject


class Result:
    """Base of the result dataclasses: plain values for JSON."""

    def to_dict(self) -> JsonObject:
        """Plain values for JSON."""
        named: Any = self
        return {f.name: _plain(getattr(self, f.name)) for f in fields(named)}


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
