"""Results of finished parts on disk: what makes a long job resumable."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from earmark import __version__
from earmark.distributed.counting import PartCounts
from earmark.distributed.executor import Result
from earmark.distributed.rows import GatheredRows, PartRows
from earmark.distributed.sampling import DrawnDocuments, Sample
from earmark.documents.parts import Part
from earmark.exceptions import DataError, ModelFormatError
from earmark.persistence import load_model, save_model
from earmark.pipeline.files import class_table
from earmark.statistics.term_counts import TermCounts
from earmark.whole_files import write_whole

_JOB = "job.json"
# The passes whose result for a part does not depend on the other parts.
_BY_ITSELF = ("counts-", "sample-")


@cache
def _table() -> Mapping[str, type]:
    """What the results of a part may be made of; no file can name anything else."""
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
        """Begin the job, or find that it is the one that was begun here."""
        path = self.folder / _JOB
        facts = {"job": self._job, "parts": names}
        if not path.exists() or not any(self.folder.glob("*.done")):
            others = [p.name for p in self.folder.iterdir() if not _is_ours(p.name)]
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
        mark = self._mark(stage, part)
        try:
            done = json.loads(mark.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        if done["stamp"] != self._stamps.get(part):
            return None
        files = [self._file(stage, part, k) for k in range(done["pieces"])]
        return (
            [_loader(path) for path in files] if all(map(Path.exists, files)) else None
        )

    def save(self, stage: str, part: int, pieces: Iterable[Result]) -> int:
        """Keep the result of a part; it counts as done only after the last byte.

        Returns the number of documents in it.
        """
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


def _is_ours(name: str) -> bool:
    return name.endswith((".done", ".part", ".tmp")) or name == _JOB


def _loader(path: Path) -> Callable[[], Result]:
    def load() -> Result:
        try:
            return load_model(path, _table())
        except ModelFormatError as error:
            raise DataError(
                f"{path}: the checkpoint is damaged ({error}); delete its folder to "
                "start again."
            ) from error

    return load
