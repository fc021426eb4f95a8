"""One draw: which documents have a label, and what is done with them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from earmark.documents import labelled_per_class
from reproductions.few_labels.tasks import Task, load_task

__all__ = ["Draw", "Finished", "counted"]


@lru_cache(maxsize=1)
def counted(name: str) -> tuple[Any, Any, Any, Any]:
    """Counts and tf-idf of the training part, and of the test part.

    Vocabulary and document frequencies are those of all training text, which every
    method may read without labels.
    """
    task = load_task(name)
    counter = CountVectorizer(min_df=2)
    counts = counter.fit_transform(task.train)
    tfidf = TfidfTransformer(sublinear_tf=True).fit(counts)
    test = counter.transform(task.test)
    return counts, tfidf.transform(counts), test, tfidf.transform(test)


class Draw:
    """Labelled documents and pool of one draw of a task.

    With ``half`` only half of the classes have labels. The pool holds all classes,
    and the test documents are those of the labelled half.
    """

    def __init__(self, name: str, n: int, seed: int, half: bool = False) -> None:
        self.task: Task = load_task(name)
        y = self.task.y
        self.labelled, self.pool = labelled_per_class(y, n, random_state=seed)
        self.tested = np.arange(len(self.task.test))
        if half:
            classes = np.random.default_rng(seed).permutation(np.unique(y))
            known = classes[: max(2, len(classes) // 2)]
            kept = np.isin(y[self.labelled], known)
            self.pool = np.concatenate([self.pool, self.labelled[~kept]])
            self.labelled = self.labelled[kept]
            self.tested = np.flatnonzero(np.isin(self.task.y_test, known))
        self.y = y[self.labelled]
        self.y_test = self.task.y_test[self.tested]

    @property
    def texts(self) -> list[str]:
        """The labelled texts."""
        return [self.task.train[i] for i in self.labelled]

    @property
    def pool_texts(self) -> list[str]:
        """The texts without a label."""
        return [self.task.train[i] for i in self.pool]

    @property
    def test_texts(self) -> list[str]:
        """The texts to answer for."""
        return [self.task.test[i] for i in self.tested]

    def matrices(self) -> tuple[Any, Any, Any, Any]:
        """Counts and tf-idf, labelled documents first, then the pool; and tests."""
        counts, tfidf, test_counts, test_tfidf = counted(self.task.name)
        rows = np.concatenate([self.labelled, self.pool])
        return (
            counts[rows],
            tfidf[rows],
            test_counts[self.tested],
            test_tfidf[self.tested],
        )


class Finished:
    """Results of finished draws: a table asks for them, none is computed twice.

    Parameters
    ----------
    folder : Path or None
        Where to keep them, so that an interrupted run resumes and
        several can share the work. None: the folder that ``EARMARK_DRAWS`` names, or
        memory only. Empty the folder after any change to the code.
    draw : callable, optional
        What makes a draw; None: ``Draw``.

    """

    def __init__(
        self, folder: Path | None = None, draw: Callable[..., Any] | None = None
    ) -> None:
        self.draw = draw or Draw
        named = os.environ.get("EARMARK_DRAWS")
        self.folder = Path(named) if folder is None and named else folder
        self._known: dict[str, Any] = {}

    def get(self, make: Callable[..., Any], *draw: Any, **options: Any) -> Any:
        """What ``make`` finds on ``draw(*draw)``; options belong to ``make``."""
        parts = (make.__name__, *draw, *(f"{k}={v}" for k, v in options.items()))
        key = "-".join(str(part) for part in parts)
        if key not in self._known:
            self._known[key] = self._read(key)
        if self._known[key] is None:
            self._known[key] = make(self.draw(*draw), **options)
            self._write(key)
        return self._known[key]

    def _read(self, key: str) -> Any:
        file = None if self.folder is None else self.folder / f"{key}.json"
        return json.loads(file.read_text()) if file and file.exists() else None

    def _write(self, key: str) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{key}.{os.getpid()}.part"
        part.write_text(json.dumps(self._known[key]))
        part.replace(self.folder / f"{key}.json")
