"""What a fit costs beyond this machine: a model fed with measured figures.

    python -m benchmarks.scale_model

Reads the stored results of benchmarks.scale and benchmarks.pool_in_parts, simulates
multinomial naive Bayes and the few-labels recipe over any number of documents and
workers, and stores the result in benchmarks/simulations/scale.json. First it predicts
what was measured, and says how far off it is.

A worker counts its share of the parts, then neighbours merge in a binary tree; the
last result becomes the model in the driver. The recipe reads every document once,
keeps a sample and fits it in the driver. Assumed, not measured: Heaps' law with the
constants of Reuters-RCV1 (Manning, Raghavan & Schütze 2008, section 5.1.1), a network
of 1 GB/s to each worker, 1 ms of the scheduler for each task, 0.05 dollars per hour
of a core.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import pool_in_parts

RESULTS = Path(__file__).parent / "results"
SIMULATED = Path(__file__).parent / "simulations" / "scale.json"
HEAPS_K, HEAPS_B = 44.0, 0.49
NETWORK = 1e9
TASK_SECONDS = 1e-3
CORE_HOUR = 0.05
LENGTH = 60
N_CLASSES = 10
PART_TOKENS = 3e7  # half a million short documents in a part
DOCUMENTS = (3e6, 1e9, 1.6e10)
WORKERS = (1, 10, 100, 1000)


@dataclass(frozen=True)
class Measured:
    """Figures of this machine."""

    seconds_a_token: float
    bytes_a_token: float
    bytes_a_term: float
    shipped_bytes_a_term: float
    merge_seconds_a_term: float
    ship_seconds_a_byte: float
    start_seconds: float


@dataclass(frozen=True)
class Cost:
    """One fit."""

    documents: float
    workers: int
    merge_depth: int
    count_hours: float
    merge_hours: float
    scheduler_hours: float
    total_hours: float
    cpu_hours: float
    terms: float
    shipped_gigabytes: float
    worker_gigabytes: float
    driver_gigabytes: float
    dollars: float
    efficiency: float


def stored_rows() -> dict[str, dict[str, Any]]:
    """The rows of benchmarks.scale by the first words of their job."""
    rows = json.loads((RESULTS / "scale.json").read_text())["rows"]
    return {" ".join(row["job"].split()[:3]): row for row in rows}


def measured() -> Measured:
    """Speed from the runs of 300,000 and a million documents, the rest from merging."""
    rows = stored_rows()
    train, merge = rows["train on 3,000,000"], rows["merge the counts"]
    few, more = train["peer_cpu_seconds"], train["middle_cpu_seconds"]
    second = (more - few) / 700_000
    return Measured(
        second / LENGTH,
        train["megabytes"] * 1e6 / (3_000_000 * LENGTH),
        merge["bytes_a_term"],
        merge["shipped_bytes_a_term"],
        merge["merge_seconds_a_million_terms"] / 1e6,
        merge["ship_seconds_a_gigabyte"] / 1e9,
        few - second * 300_000,
    )


def errors(known: Measured) -> list[tuple[str, float, float]]:
    """What was measured and not used above: the job, predicted, measured."""
    rows = stored_rows()
    train, dask = rows["train on 3,000,000"], rows["two Dask workers,"]
    alone, two = cost(known, 3e6, 1), cost(known, 3e6, 2)
    few = cost(known, 3e5, 1).worker_gigabytes
    grown = train["peer_peak_gigabytes"] + alone.worker_gigabytes - few
    start, each, middle = recipe()
    return [
        (
            "multinomial, 3 million documents, CPU s",
            alone.cpu_hours * 3600 + known.start_seconds,
            train["cpu_seconds"],
        ),
        ("the same, peak GB", grown, train["peak_gigabytes"]),
        (
            "the same on two Dask workers, s",
            two.total_hours * 3600 + known.start_seconds,
            dask["seconds"],
        ),
        (
            "few labels, 3 million short documents, CPU s",
            start + each * middle["documents"],
            middle["cpu_seconds"],
        ),
    ]


def recipe() -> tuple[float, float, dict[str, Any]]:
    """Few labels: CPU seconds in any case, per document, and the run in between."""
    first, middle, last = json.loads(pool_in_parts.RESULTS.read_text())["grown"]
    each = (last["cpu_seconds"] - first["cpu_seconds"]) / (
        last["documents"] - first["documents"]
    )
    return first["cpu_seconds"] - each * first["documents"], each, middle


def terms(tokens: float) -> float:
    """Distinct terms of so many tokens (Heaps' law)."""
    return min(tokens, HEAPS_K * tokens**HEAPS_B)


def cost(known: Measured, documents: float, workers: int) -> Cost:
    """Simulate one fit, level by level of the tree."""
    tokens = documents * LENGTH
    n_parts = max(workers, math.ceil(tokens / PART_TOKENS))
    own = tokens / workers
    # A worker merges its own parts two by two: every level halves their number.
    levels = max(0, math.ceil(math.log2(n_parts / workers)))
    merging = _merges(known, own / 2**levels, levels)
    across, shipped = 0.0, 0.0
    level_tokens, pairs = own, workers / 2
    while pairs >= 0.5 and workers > 1:
        size = terms(level_tokens) * known.shipped_bytes_a_term
        across += size / NETWORK + size * known.ship_seconds_a_byte
        across += 2 * terms(level_tokens) * known.merge_seconds_a_term
        shipped += size * max(1.0, pairs)
        level_tokens *= 2
        pairs /= 2
    counting = own * known.seconds_a_token
    scheduling = 2 * n_parts * TASK_SECONDS if workers > 1 else 0.0
    total = max(counting + merging, scheduling) + across
    alone = tokens * known.seconds_a_token
    cpu_hours = (alone + workers * merging) / 3600
    n_terms = terms(tokens)
    return Cost(
        documents,
        workers,
        math.ceil(math.log2(n_parts)),
        counting / 3600,
        (merging + across) / 3600,
        scheduling / 3600,
        total / 3600,
        cpu_hours,
        n_terms,
        shipped / 1e9,
        3 * terms(own) * known.bytes_a_term / 1e9,
        n_terms * (32 * N_CLASSES + 150) / 1e9,
        workers * total / 3600 * CORE_HOUR,
        alone / total / workers,
    )


def _merges(known: Measured, tokens: float, levels: int) -> float:
    """Seconds to merge 2**levels results of so many tokens each."""
    seconds = 0.0
    for level in range(levels):
        pairs = 2 ** (levels - level - 1)
        seconds += pairs * 2 * terms(tokens * 2**level) * known.merge_seconds_a_term
    return seconds


def simulated() -> str:
    """The whole section as Markdown: what was measured, how wrong it is, and beyond."""
    known = measured()
    costs = [cost(known, n, workers) for n in DOCUMENTS for workers in WORKERS]
    return "\n\n".join(
        [measured_lines(known), error_table(known), table(costs), verdict(known)]
    )


def main() -> None:
    """Simulate and store."""
    known = measured()
    costs = [cost(known, n, workers) for n in DOCUMENTS for workers in WORKERS]
    payload = {
        "command": "python -m benchmarks.scale_model",
        "measured": asdict(known),
        "errors": errors(known),
        "costs": [asdict(c) for c in costs],
    }
    SIMULATED.parent.mkdir(exist_ok=True)
    SIMULATED.write_text(json.dumps(payload, indent=1) + "\n")
    print(simulated())


def measured_lines(known: Measured) -> str:
    """What a million documents cost on one core."""
    million = known.seconds_a_token * LENGTH * 1e6
    return (
        f"A million documents of {LENGTH} words "
        f"({known.bytes_a_token * LENGTH:,.0f} MB) take {million:.1f} CPU seconds. "
        "The performance page has all measurements, under Scale."
    )


def error_table(known: Measured) -> str:
    """The model against runs that it was not calibrated on."""
    lines = ["| run | predicted | measured | error |", "|---|---|---|---|"]
    lines += [
        f"| {job} | {guess:.3g} | {truth:.3g} | {guess / truth - 1:+.0%} |"
        for job, guess, truth in errors(known)
    ]
    return "\n".join(lines)


def table(costs: list[Cost]) -> str:
    """The simulation as a table."""
    lines = [
        "| documents | workers | minutes | of these merging | merges deep | "
        "efficiency | shipped | memory per worker | of the client | dollars |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {c.documents / 1e6:,.0f} million | {c.workers:,} | "
        f"{c.total_hours * 60:,.{0 if c.total_hours > 0.2 else 2}f} | "
        f"{c.merge_hours * 60:.2g} | {c.merge_depth} | "
        f"{c.efficiency:.0%} | {c.shipped_gigabytes:.2g} GB | "
        f"{c.worker_gigabytes:.2g} GB | {c.driver_gigabytes:.2g} GB | "
        f"{c.dollars:.2g} |"
        for c in costs
    ]
    return "\n".join(lines)


def verdict(known: Measured) -> str:
    """What breaks first, and what a billion short documents cost the recipe."""
    most, few = cost(known, 1.6e10, 1000), cost(known, 1.6e10, 100)
    size, terms_ = most.driver_gigabytes, most.terms / 1e6
    minutes = {c.workers: (c.merge_hours * 60, c.total_hours * 60) for c in (most, few)}
    start, each, _ = recipe()
    return (
        "With 16 billion documents, three limits appear in this order:\n\n"
        f"- **The client's memory.** {terms_:.0f} million terms of {N_CLASSES} classes "
        f"need {size:.0f} GB while the model is derived. `--memory` drops the terms "
        "with the fewest documents once the exact counts are known. `--hashed` fixes "
        "the size of everything, including the merges.\n"
        "- **The last merges**, which one worker does alone. With 1,000 workers, "
        f"{minutes[1000][0]:.1f} of {minutes[1000][1]:.1f} minutes are merging (with "
        f"100 workers, {minutes[100][0]:.1f} of {minutes[100][1]:.0f}).\n"
        f"- **The scheduler**, which is busy for {most.scheduler_hours * 60:.1f} "
        f"minutes with parts of {PART_TOKENS / LENGTH:,.0f} documents. Make the parts "
        "larger before there are more than about 100,000 of them.\n\n"
        "With few labels and a pool of a billion documents of 20 words, each document "
        f"takes {each * 1e6:.1f} microseconds to read, so 100 workers read the pool in "
        f"{each * 1e9 / 100:.0f} seconds. Training on the sample in the client takes "
        f"another {start:.0f} CPU seconds, for a pool of any size."
    )


if __name__ == "__main__":
    main()
