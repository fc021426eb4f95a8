"""JSON lines: one object a line, decoded line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from earmark.documents._cells import Table
from earmark.documents._columns import Plan, Request
from earmark.documents._options import ReadOptions
from earmark.documents._places import described, fault, listed, near
from earmark.documents._streams import TextSource
from earmark.exceptions import DataError

__all__ = ["jsonl_tables"]

_decode = json.JSONDecoder().raw_decode


def jsonl_tables(
    source: TextSource, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of records as columns."""
    records = _Records(source, options)
    plan: Plan | None = None
    while True:
        first_row = records.count + 1
        batch, lines = records.batch()
        if not batch:
            break
        if plan is None:
            plan = _plan(batch, request, source.name)
        data = {
            name: _column(batch, name, plan, first_row, lines, source.name)
            for name in plan.needed
        }
        yield Table(source.name, plan, data, first_row, lines.__getitem__)


class _Records:
    """The objects of one file, read in batches and counted."""

    def __init__(self, source: TextSource, options: ReadOptions) -> None:
        self.source = source
        self.options = options
        self.count = 0
        self.line = 0

    def batch(self) -> tuple[list[dict[str, Any]], list[int]]:
        """The next objects and their lines; blank lines are passed over."""
        size, counted = self.options.batch_size, self.source.bytes
        stop = counted.count + self.options.batch_bytes
        records: list[dict[str, Any]] = []
        lines: list[int] = []
        line = self.line
        try:
            for text in self.source.lines:
                line += 1
                try:
                    record, end = _decode(text)
                    clean = type(record) is dict and len(text) - end < 2
                except (ValueError, RecursionError):
                    clean = False
                if not clean:
                    if text.isspace():
                        continue
                    record = self._carefully(text, len(records), line)
                records.append(record)
                lines.append(line)
                if len(records) == size or counted.count > stop:
                    break
        except UnicodeDecodeError as error:
            raise self.source.undecodable(error, line) from error
        self.line = line
        self.count += len(records)
        return records, lines

    def _carefully(self, text: str, n_before: int, line: int) -> dict[str, Any]:
        """Decode a line that the quick way refused, or say what is wrong with it."""
        row = self.count + n_before + 1

        def wrong(what: str) -> DataError:
            hint = ""
            if row == 1 and text.lstrip().startswith("["):
                hint = (
                    " The file looks like one JSON array: write one object a line, "
                    "for example with: jq -c '.[]' FILE"
                )
            return fault(
                self.source.name,
                f"expected one JSON object on the line, {what}.{hint}",
                row=row,
                line=line,
            )

        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise wrong(
                f"got broken JSON at character {error.pos + 1} ({error.msg}); "
                f"correct or remove the line"
            ) from error
        except RecursionError as error:
            raise wrong("got one nested too deeply; remove the line") from error
        except ValueError as error:
            raise wrong(f"got one that Python cannot hold ({error})") from error
        if not isinstance(record, dict):
            raise wrong(f'got {described(record)}; write {{"text": ...}}')
        return record


def _plan(batch: list[dict[str, Any]], request: Request, source: str) -> Plan:
    """Choose the columns from every key of the first batch."""
    examples: dict[str, Any] = {}
    for record in batch:
        for name, value in record.items():
            if examples.get(name) is None:
                examples[name] = value
    strings = [name for name, value in examples.items() if isinstance(value, str)]
    return request.resolve(list(examples), strings, source, sparse=True)


def _column(
    batch: list[dict[str, Any]],
    name: str,
    plan: Plan,
    first_row: int,
    lines: list[int],
    source: str,
) -> list[Any]:
    """One field of every record; only texts and ids must be there."""
    try:
        return [record[name] for record in batch]
    except KeyError:
        pass
    if name in plan.texts or name == plan.id:
        for index, record in enumerate(batch):
            if name not in record:
                slips = near(name, record)
                hint = f" (did you mean {listed(slips)}?)" if slips else ""
                raise fault(
                    source,
                    f"expected the field, the object has {listed(record) or 'none'}"
                    f"{hint}; add it or remove the line.",
                    row=first_row + index,
                    line=lines[index],
                    column=name,
                )
    return [record.get(name) for record in batch]
