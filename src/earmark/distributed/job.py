"""What every fit in parts needs: the parts, the back end, the first pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from earmark.distributed.counting import CountTask, PartCounts, cut_to_fit
from earmark.distributed.executor import Executor, Regions, merged
from earmark.distributed.sampling import Sample, SampleTask, room_of
from earmark.documents.parts import Part
from earmark.exceptions import DataError
from earmark.parameters import parse_size
from earmark.typing import Estimator

_LEAST = 50_000_000


def as_bytes(size: int | str) -> int:
    """Bytes of "2GB", "500 MB", "1.5G" or a plain number.

    Examples
    --------
    >>> as_bytes("1.5GB")
    1500000000

    """
    value = size if isinstance(size, int) else parse_size(size)
    if value is None:
        raise ValueError(f"memory must be a size such as '2GB', got {size!r}.")
    if value < _LEAST:
        raise ValueError(
            f"memory must be at least 50 MB, got {size!r}; earmark itself takes more "
            "than that."
        )
    return value


class NothingToLearnError(DataError):
    """The counts of all parts are there, and hold no two classes."""


@dataclass
class Job:
    """One fit: which parts, on what, and what was found."""

    executor: Executor
    parts: Sequence[Part]
    regions: Regions
    """As in ``TextClassifier``."""
    skip_bad: bool = False
    memory: int | None = None
    """Bytes that the model may take."""
    notes: list[str] = field(default_factory=list)
    """What the user should know about the data."""
    counts: PartCounts | None = None
    classes: dict[str, int] = field(default_factory=dict)
    """Label -> how many documents have it."""
    documents: tuple[Any, list[str]] | None = None
    """Texts and labels that were brought together, if the model asked for that."""
    pool: Any = None
    """Texts without a label that were."""

    def count(
        self, counter: Estimator, with_pool: bool = False, add: Any = None
    ) -> PartCounts:
        """The first pass; bad parts take no part in the later ones."""
        task = CountTask(counter, self.regions, self.skip_bad, with_pool, add)
        counts: PartCounts = self.executor.reduce("counts", task, self.parts, merged)
        if self.memory is not None and counts.min_df == 1 and counts.labelled:
            counts = cut_to_fit(counts, self.memory)
        classes: dict[str, int] = {}
        if counts.labelled:
            docs = next(iter(counts.labelled.values())).docs.tolist()
            classes = dict(zip(counts.classes.tolist(), map(int, docs), strict=True))
        self._settle(counts, classes)
        if counts.min_df > 1:
            self.notes.append(
                f"terms of fewer than {counts.min_df} documents were left out to keep "
                "within the memory given"
            )
        return counts

    def sample(self, seed: int) -> Sample:
        """Labelled documents, and some of the others, brought here in one pass."""
        task = SampleTask(self.regions, room_of(self.memory), seed, self.skip_bad)
        counts: PartCounts = self.executor.reduce("sample", task, self.parts, merged)
        drawn: Sample = counts.sums or Sample(task.room)
        self._settle(counts, drawn.classes)
        return drawn

    def _settle(self, counts: PartCounts, classes: dict[str, int]) -> None:
        """Take note of what the first pass met: bad parts, and at least two classes."""
        self.counts = counts
        bad = [self.parts[self._place(number)].name for number in counts.bad]
        self.parts = [part for part in self.parts if part.number not in counts.bad]
        if not classes:
            why = f" ({len(bad)} could not be read)" if bad else ""
            asked = self.parts[0].request.label if self.parts else None
            column = f" in the column {asked!r}" if isinstance(asked, str) else ""
            raise NothingToLearnError(
                f"no labelled document{column} of the {len(bad) + len(self.parts)} "
                f"parts{why}; name the column that holds the labels with label=."
            )
        if len(classes) < 2:
            raise NothingToLearnError(
                f"the parts hold one class only, {next(iter(classes))!s}; expected at "
                "least 2: label some documents of another class."
            )
        self.classes = {str(name): size for name, size in sorted(classes.items())}
        if bad:
            listed = ", ".join(bad[:5]) + (", ..." if len(bad) > 5 else "")
            what = "1 bad part was" if len(bad) == 1 else f"{len(bad)} bad parts were"
            self.notes.append(f"{what} left out: {listed}")

    def _place(self, number: int) -> int:
        return next(i for i, p in enumerate(self.parts) if p.number == number)
