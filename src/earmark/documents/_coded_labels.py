"""A column of labels as numbers: each distinct label once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.typing import IntVector

__all__ = ["CodedLabels"]


@dataclass(frozen=True)
class CodedLabels:
    """Labels of some documents; ``codes`` says which of ``names``, -1 none."""

    codes: IntVector
    names: list[str]
    """Distinct, sorted, each of at least one document."""

    @classmethod
    def of_values(cls, values: Sequence[str | None] | None) -> CodedLabels | None:
        """From one label or None for each document."""
        if values is None:
            return None
        code: dict[str | None, int] = {}
        codes = [code.setdefault(value, len(code)) for value in values]
        return cls.of_codes(np.array(codes, dtype=np.int64), list(code))

    @classmethod
    def of_codes(
        cls, codes: NDArray[np.integer], names: Sequence[str | None]
    ) -> CodedLabels:
        """From places among names that may repeat, be None or of no document."""
        codes = codes.astype(np.int64)
        met = np.bincount(codes[codes >= 0], minlength=len(names)) > 0
        pairs = zip(names, met, strict=True)
        known = sorted({name for name, held in pairs if held and name is not None})
        place: dict[str | None, int] = {name: k for k, name in enumerate(known)}
        new = np.array([place.get(name, -1) for name in (*names, None)], np.int64)
        return cls(new[codes], known)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_unlabelled(self) -> int:
        """Documents without a label."""
        return int(np.count_nonzero(self.codes < 0))

    def values(self) -> list[str | None]:
        """One label or None for each document."""
        names = [*self.names, None]
        return [names[code] for code in self.codes.tolist()]
