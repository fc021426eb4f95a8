"""Data in parts, for the commands that can work part by part or on a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from earmark.apps.cli._options import column_list

# Documents and counts in memory, per byte of the file; packed files hold more.
_BYTES_PER_BYTE = {"": 14, ".gz": 50, ".zst": 50, ".parquet": 40, ".pq": 40}
# What documents may take of the memory of the machine before they are read in parts.
_SHARE = 1 / 8
_SUFFIXES = {".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq"}


def memory_for_large(data: str) -> int | None:
    """A limit in bytes for files that would take much of it; None for others."""
    path = Path(data)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    files = [file for file in files if _SUFFIXES & set(file.suffixes)]
    needed = sum(
        file.stat().st_size * _BYTES_PER_BYTE.get(file.suffix, _BYTES_PER_BYTE[""])
        for file in files
        if file.is_file()
    )
    limit = int(_SHARE * _machine_memory())
    return limit if needed > limit else None


def _machine_memory() -> int:
    """Bytes, or so many that nothing is large, where that is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 2**60


def part_columns(text: str | None) -> Any:
    """The option --text as the arguments of ``earmark.distributed`` have it."""
    named = column_list(text)
    return named.get("regions", named.get("text"))


def train_in_parts(
    classifier: Any,
    data: str,
    unlabelled: str | None,
    text: str | None,
    label: str | None,
    out: Path,
    memory: int | None,
    dask: str | None,
    skip_bad: bool,
    keep_parts: bool,
    how: dict[str, Any],
) -> dict[str, Any]:
    """Fit, save, and say what was done; goes on with a fit that was stopped."""
    from earmark.apps.cli._console import counting_parts
    from earmark.apps.cli._training_data import parts_data
    from earmark.distributed.fitting import fitting

    started, cpu = time.perf_counter(), time.process_time()
    with _place(dask) as client, counting_parts() as progress:
        checkpoint = None if client is not None else f"{out}.parts"
        with fitting(
            classifier,
            data,
            client=client,
            text=part_columns(text),
            label=label,
            unlabelled=unlabelled,
            memory=memory,
            checkpoint=checkpoint,
            keep_checkpoint=keep_parts,
            skip_bad=skip_bad,
            progress=progress,
            **how,
        ) as (fitted, job):
            if job.documents is not None and fitted.evidence_ is None:
                fitted.measure_confidence(*job.documents, unlabelled=job.pool)
            metadata = {
                "columns": {"text": text, "label": label},
                "training_data": parts_data(data, job),
            }
            fitted.save(out, metadata=metadata)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    counts = job.counts
    assert counts is not None
    return {
        "model": fitted.model_name_,
        "classes": fitted.classes_.tolist(),
        "documents": counts.n_documents,
        "labelled": counts.n_labelled,
        "parts": len(job.parts),
        "bad_parts": list(counts.bad.values()),
        "summary": fitted.summary(),
        "file": str(out),
        "bytes": out.stat().st_size,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu, 3),
        "documents_per_second": round(counts.n_documents / seconds, 1),
    }


def predict_in_parts(
    model: Path,
    data: str,
    out: str,
    text: str | None,
    max_error: float | str | None,
    max_novelty: float | str | None,
    dask: str | None,
    skip_bad: bool,
    how: dict[str, Any],
) -> dict[str, Any]:
    """Label every part, here or on a cluster, and say what was done."""
    from earmark.apps.cli._console import counting
    from earmark.apps.cli._models import load_for
    from earmark.distributed.executor import DaskExecutor
    from earmark.distributed.fitting import as_parts, trained_columns
    from earmark.distributed.predicting import SentModel, predict_parts

    classifier, stored = load_for(model, max_error, max_novelty)
    columns = part_columns(text) or trained_columns(classifier, stored.text)
    parts = as_parts(data, columns, False, **how)
    with _place(dask) as client, counting("labelled") as advance:
        report = predict_parts(
            SentModel(model, max_error, classifier, max_novelty),
            parts,
            out,
            executor=None if client is None else DaskExecutor(client),
            skip_bad=skip_bad,
            progress=advance,
        )
    return {**asdict(report), "out": out}


def evaluate_in_parts(
    model: Path,
    data: str,
    text: str | None,
    label: str | None,
    max_error: float | str | None,
    dask: str,
    how: dict[str, Any],
) -> Any:
    """A ``Report`` of answers that were given on a cluster."""
    from earmark.apps.cli._models import load_for
    from earmark.distributed.executor import DaskExecutor
    from earmark.distributed.fitting import as_parts, trained_columns
    from earmark.distributed.predicting import SentModel, report_of_parts

    classifier, stored = load_for(model, max_error)
    columns = part_columns(text) or trained_columns(classifier, stored.text)
    label = label or stored.label
    parts = as_parts(data, columns, label, **how)
    with _place(dask) as client:
        title = f"{model.name} on {data}"
        sent = SentModel(model, max_error, classifier)
        return report_of_parts(sent, parts, DaskExecutor(client), title)


@contextmanager
def _place(dask: str | None) -> Iterator[Any]:
    """A Dask client for --dask, or None for this process."""
    if dask is None:
        yield None
        return
    from earmark.distributed.executor import connected

    with connected(dask) as client:
        yield client
