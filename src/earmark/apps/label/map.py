"""The map of a session's documents: made once, in the background, when first asked."""

from __future__ import annotations

import threading
import time

import numpy as np

from earmark.apps.web.guard import failure
from earmark.evaluation.document_map import DocumentMap, Islands, make_map
from earmark.pipeline.labelling.learners import Collection
from earmark.typing import FloatVector, JsonObject

__all__ = ["BackgroundMap"]

# Places are sent as whole numbers up to this one.
_SIDE = 65_535


class BackgroundMap:
    """Where the documents of a collection lie, as soon as that is known."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._began: float | None = None
        self._reply: JsonObject | None = None

    def data(self) -> JsonObject:
        """The map; until there is one, since how long it is made."""
        with self._lock:
            if self._began is None:
                self._began = time.monotonic()
                threading.Thread(target=self._make, daemon=True).start()
        if self._reply is None:
            return {"ready": False, "seconds": time.monotonic() - self._began}
        return self._reply

    def _make(self) -> None:
        collection = self._collection
        try:
            vectors, words = collection.vectors, collection.words
            self._reply = _as_data(make_map(vectors, collection.counts, words))
        except Exception as error:  # the next one to ask has it tried again
            failure(error)
            self._began = None


def _as_data(one: DocumentMap) -> JsonObject:
    return {
        "ready": True,
        "x": _numbers(one.places[:, 0]),
        "y": _numbers(one.places[:, 1]),
        "levels": [_level(islands) for islands in one.levels],
    }


def _numbers(shares: FloatVector) -> list[int]:
    whole: list[int] = np.rint(_SIDE * shares).astype(np.int64).tolist()
    return whole


def _level(islands: Islands) -> JsonObject:
    return {"of": islands.of.tolist(), "names": [", ".join(n) for n in islands.names]}
