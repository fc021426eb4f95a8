"""A model file that tasks take along."""

from __future__ import annotations

import os
from typing import Any

from earmark.pipeline import load

__all__ = ["SentModel"]


class SentModel:
    """A classifier by the path of its file; loaded once where it is used.

    Parameters
    ----------
    path : path
        The model file, which every worker must see.
    max_error : float or None
        Abstain at this error rate.
    loaded : TextClassifier or None
        The same classifier, if it is in this process already.

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        max_error: float | None = None,
        loaded: Any = None,
    ) -> None:
        self.path = os.path.abspath(path)
        self.max_error = max_error
        self._loaded = loaded

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loaded": None}

    def classifier(self) -> Any:
        """The classifier, in this process."""
        if self._loaded is None:
            self._loaded = load(self.path)
            if self.max_error is not None:
                self._loaded.set_params(max_error=self.max_error)
        return self._loaded
