"""One process, part after part: bounded memory, checkpoints, progress."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from operator import call
from pathlib import Path
from typing import Any

from earmark import __version__
from earmark.distributed.counting import CountTask, PartCounts, merge_bounded
from earmark.distributed.executor import (
    Executor,
    Item,
    Recipe,
    Result,
    Task,
    merge_tree,
    resolved,
)
from earmark.distributed.sampling import DrawnDocuments, Sample
from earmark.documents.parts import Part
from earmark.exceptions import DataError, ModelFormatError
from earmark.models.base.parted import GatheredRows, PartRows
from earmark.persistence import load_model, save_model
from earmark.pipeline.files import class_table
from earmark.statistics.term_counts import TermCounts
from earmark.whole_files import write_whole


@dataclass(frozen=True)
class Progress:
    """How far a pass over the parts is."""

    stage: str
    """Which pass: "counts", "rows", ..."""
    parts: int
    n_parts: int
    documents: int
    """Read in this pass, as far as the pass knows."""
    megabytes: float
    seconds: float
    left: float
    """Seconds left in this pass, at the pace so far."""

    @property
    def pace(self) -> float:
        """Documents per second."""
        return self.documents / self.seconds if self.seconds > 0 else 0.0


@dataclass(eq=False)
class LocalExecutor(Executor):
    """Run the parts here, one after the other."""

    store: Store | None = None
    """Where the results of finished parts go; None keeps all in memory."""
    memory: int | None = None
    """Budget in bytes for the counts and the model; needs a store."""
    progress: Callable[[Progress], None] | None = None
    """Called with a ``Progress`` after every part."""

    def reduce(self, stage: str, task: Task, items: Sequence[Item]) -> Result:
        """Merge the results as they come; the store keeps those of each part."""
        if self.store is None or not isinstance(items[0], Part):
            return merge_tree(map(task, map(resolved, items)))
        loaders = list(self._done(stage, task, items))
        if self.memory is not None and _grows(task):
            return merge_bounded(loaders, self.memory)
        return merge_tree(load() for load in loaders)

    def gather(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """All results in a list."""
        return [task(resolved(item)) for item in items]

    def keep(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Results in memory, or in the store if there is one."""
        if self.store is None:
            return [task(item) for item in items]
        if not isinstance(items[0], Part):
            return [Recipe(task, item) for item in items]
        return [Recipe(call, load) for load in self._done(stage, task, items)]

    def _done(
        self, stage: str, task: Task, parts: Sequence[Part]
    ) -> Iterator[Callable[[], Result]]:
        """Run the task on parts that have no stored result; loaders of all results."""
        assert self.store is not None
        sizes, started = [part.stamp[0] for part in parts], time.perf_counter()
        n_documents = n_bytes = 0
        for done, part in enumerate(parts, 1):
            loaders = self.store.load(stage, part.number)
            if loaders is None:
                pieces = self._pieces(task, part)
                n_documents += self.store.save(stage, part.number, pieces)
                n_bytes += sizes[done - 1]
                loaders = self.store.load(stage, part.number)
                assert loaders is not None
            if self.progress is not None:
                seconds = time.perf_counter() - started
                left = seconds * sum(sizes[done:]) / n_bytes if n_bytes else 0.0
                amount = (done, len(parts), n_documents, n_bytes / 1e6)
                self.progress(Progress(stage, *amount, seconds, left))
            yield from loaders

    def _pieces(self, task: Any, part: Part) -> Iterable[Result]:
        if self.memory is not None and _grows(task):
            pieces: Iterable[Result] = task.pieces(part, self.memory // 8)
            return pieces
        return [task(part)]


def _grows(task: Any) -> bool:
    return isinstance(task, CountTask) and task.grows


# -- checkpoints --------------------------------------------------------------------

_JOB = "job.json"
# The passes whose result for a part does not depend on the other parts.
_BY_ITSELF = ("counts-", "sample-")


@cache
def _table() -> Mapping[str, type]:
    """The classes that a stored result of a part may hold."""
    own = (DrawnDocuments, GatheredRows, PartCounts, PartRows, Sample, TermCounts)
    return {**class_table(), **{cls.__name__: cls for cls in own}}


class Store:
    """A folder with the results of the parts done, each written atomically.

    None makes a temporary folder that is removed by ``close``. A folder that holds
    results of the same ``job``, in words that differ if anything that matters differs,
    is continued, also if parts have come behind those that it knows; a part that has
    changed since is done again.
    """

    def __init__(
        self, folder: str | Path | None, job: str, parts: Sequence[Part]
    ) -> None:
        self._temporary = folder is None
        self.folder = Path(
            tempfile.mkdtemp(prefix="earmark-") if folder is None else folder
        )
        self._stamps = {part.number: list(part.stamp) for part in parts}
        self._job = hashlib.sha256(f"{__version__}\n{job}".encode()).hexdigest()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._claim([part.name for part in parts])

    def _claim(self, names: list[str]) -> None:
        """Begin the job in this folder, or check that it is the one begun there."""
        path = self.folder / _JOB
        facts = {"job": self._job, "parts": names}
        if not path.exists() or not any(self.folder.glob("*.done")):
            here = {path.name for path in self.folder.iterdir()} - {_JOB}
            ours = (".done", ".part", ".tmp")
            others = sorted(name for name in here if not name.endswith(ours))
            if others:
                raise DataError(
                    f"{self.folder}: expected an empty folder for the checkpoint, got "
                    f"{others[0]!r} in it; name another folder."
                )
            write_whole(path, json.dumps(facts).encode())
            return
        known = json.loads(path.read_bytes())
        if known == facts:
            return
        n_known = len(known["parts"])
        if known["job"] != self._job or known["parts"] != names[:n_known]:
            raise DataError(
                f"{self.folder}: this checkpoint is of another job (other parts, "
                "columns, options or version of earmark); go on with the same ones, "
                "delete the folder to start again, or name another --out. Parts may be "
                "added behind those that it has, by the order of their names."
            )
        for old in self.folder.iterdir():  # what rests on all parts does not hold
            if old.name != _JOB and not old.name.startswith(_BY_ITSELF):
                old.unlink()
        write_whole(path, json.dumps(facts).encode())

    def load(self, stage: str, part: int) -> list[Callable[[], Result]] | None:
        """How to load the pieces of a finished part, or None if it is to be done."""
        try:
            done = json.loads(self._mark(stage, part).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        if done["stamp"] != self._stamps.get(part):
            return None
        files = [self._file(stage, part, k) for k in range(done["pieces"])]
        there = all(map(Path.exists, files))
        return [partial(_loaded, path) for path in files] if there else None

    def save(self, stage: str, part: int, pieces: Iterable[Result]) -> int:
        """Keep the result of a part, done after its last byte; its documents."""
        n_pieces = n_documents = 0
        for piece in pieces:
            if getattr(piece, "bad", None):  # takes the place of those before
                n_pieces = n_documents = 0
            save_model(piece, self._file(stage, part, n_pieces), _table())
            n_pieces += 1
            n_documents += getattr(piece, "n_documents", 0)
        done = {"pieces": n_pieces, "stamp": self._stamps.get(part)}
        write_whole(self._mark(stage, part), json.dumps(done).encode())
        return n_documents

    def close(self, *, done: bool) -> None:
        """Remove the folder if the job is done, or if nobody knows its name."""
        if done or self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _mark(self, stage: str, part: int) -> Path:
        return self.folder / f"{stage}-{part:06d}.done"

    def _file(self, stage: str, part: int, piece: int) -> Path:
        return self.folder / f"{stage}-{part:06d}-{piece:03d}.part"


def _loaded(path: Path) -> Result:
    try:
        return load_model(path, _table())
    except ModelFormatError as error:
        raise DataError(
            f"{path}: the checkpoint is damaged ({error}); delete its folder to start "
            "again."
        ) from error
