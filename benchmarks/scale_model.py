"""What a fit costs beyond this machine: a model fed with measured figures.

    python -m benchmarks.scale_model

Reads benchmarks/results/scale.json, simulates multinomial naive Bayes over any number
of tokens and workers, puts the result into docs/scale.md and stores
it in benchmarks/simulations/scale.json.

A worker counts its share of the parts, then neighbours merge in a binary tree; the
last result becomes the model in the driver. Assumed, not measured: Heaps' law with the
constants of Reuters-RCV1 (Manning, Raghavan & Schütze 2008, section 5.1.1), a network
of 1 GB/s to each worker, and 1 ms of the scheduler for each task.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SIMULATED = Path(__file__).parent / "simulations" / "scale.json"
HEAPS_K, HEAPS_B = 44.0, 0.49
NETWORK = 1e9
TASK_SECONDS = 1e-3
LENGTH = 60
N_CLASSES = 10
PART_TOKENS = 3e7  # half a million short documents in a part
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- costs -->", "<!-- end of costs -->"
SHOWN = {
    "cpu_ratio": "times less CPU",
    "megabytes_per_second": "MB a CPU second",
    "documents_per_second": "documents a CPU second",
    "peer_documents_per_second": "theirs",
    "peak_gigabytes": "peak GB",
    "cpu_seconds": "CPU seconds",
    "cpu_growth": "times the CPU",
    "late_to_early_cost": "a late document's cost to an early one's",
    "share_of_speed_up": "share of the speed-up",
    "cpu_overhead": "more CPU",
    "bytes_a_term": "bytes a term in memory",
    "shipped_bytes_a_term": "shipped or on disk",
    "merge_seconds_a_million_terms": "seconds a million terms",
}
TOKENS = (1.8e8, 1e10, 1e11, 1e12)
WORKERS = (1, 2, 10, 100, 1000)


@dataclass(frozen=True)
class Measured:
    """Figures of this machine."""

    seconds_a_token: float
    bytes_a_token: float
    bytes_a_term: float
    shipped_bytes_a_term: float
    merge_seconds_a_term: float
    ship_seconds_a_byte: float


@dataclass(frozen=True)
class Cost:
    """One fit."""

    tokens: float
    workers: int
    count_hours: float
    merge_hours: float
    scheduler_hours: float
    total_hours: float
    cpu_hours: float
    terms: float
    shipped_gigabytes: float
    worker_gigabytes: float
    driver_gigabytes: float
    efficiency: float


def measured() -> Measured:
    rows = {
        row["job"]: row
        for row in json.loads((RESULTS / "scale.json").read_text())["rows"]
    }

    def row(start: str) -> dict[str, Any]:
        return next(r for job, r in rows.items() if job.startswith(start))

    train, merge = row("train on 3,000,000"), row("merge the counts")
    tokens = 3_000_000 * LENGTH
    return Measured(
        train["cpu_seconds"] / tokens,
        train["megabytes"] * 1e6 / tokens,
        merge["bytes_a_term"],
        merge["shipped_bytes_a_term"],
        merge["merge_seconds_a_million_terms"] / 1e6,
        merge["ship_seconds_a_gigabyte"] / 1e9,
    )


def terms(tokens: float) -> float:
    """Distinct terms of so many tokens (Heaps' law)."""
    return min(tokens, HEAPS_K * tokens**HEAPS_B)


def cost(known: Measured, tokens: float, workers: int) -> Cost:
    """Simulate one fit, level by level of the tree."""
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
    found = terms(tokens)
    return Cost(
        tokens,
        workers,
        counting / 3600,
        (merging + across) / 3600,
        scheduling / 3600,
        total / 3600,
        (alone + workers * merging) / 3600,
        found,
        shipped / 1e9,
        3 * terms(own) * known.bytes_a_term / 1e9,
        found * (32 * N_CLASSES + 150) / 1e9,
        alone / total / workers,
    )


def _merges(known: Measured, tokens: float, levels: int) -> float:
    """Seconds to merge 2**levels results of so many tokens each."""
    seconds = 0.0
    for level in range(levels):
        pairs = 2 ** (levels - level - 1)
        seconds += pairs * 2 * terms(tokens * 2**level) * known.merge_seconds_a_term
    return seconds


def main() -> None:
    known = measured()
    costs = [cost(known, tokens, workers) for tokens in TOKENS for workers in WORKERS]
    payload = {
        "command": "python -m benchmarks.scale_model",
        "measured": asdict(known),
        "cpu_seconds_a_million_documents": known.seconds_a_token * LENGTH * 1e6,
        "megabytes_a_million_documents": known.bytes_a_token * LENGTH,
        "costs": [asdict(c) for c in costs],
    }
    text = json.dumps(payload, indent=1) + "\n"
    SIMULATED.parent.mkdir(exist_ok=True)
    SIMULATED.write_text(text)
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    shown = "\n\n".join(["", measured_lines(known), table(costs), verdict(known), ""])
    PAGE.write_text(f"{before}{BEGIN}{shown}{END}{after}")
    print(shown)


def measured_lines(known: Measured) -> str:
    """What was measured, row by row of scale.json, for people."""
    rows = json.loads((RESULTS / "scale.json").read_text())["rows"]
    lines = []
    for row in rows:
        facts = [
            f"{name}: {row[key]:,.3g}" for key, name in SHOWN.items() if row.get(key)
        ]
        against = "" if row["peer"] == "none" else f" (against {row['peer']})"
        target = f"; target {row['target']}" if row["target"] else ""
        lines.append(f"- **{row['job']}**{against}: {', '.join(facts)}{target}.")
    million = known.seconds_a_token * LENGTH * 1e6
    lines.append(
        f"- So a million documents of {LENGTH} words "
        f"({known.bytes_a_token * LENGTH:,.0f} MB) cost {million:.1f} CPU seconds."
    )
    return "\n".join(lines)


def table(costs: list[Cost]) -> str:
    """The simulation as a table."""
    lines = [
        "| tokens | workers | hours | of these merging | efficiency | terms | "
        "shipped | a worker's memory | the client's |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {c.tokens:.1e} | {c.workers:,} | {c.total_hours:.3g} | "
        f"{c.merge_hours:.2g} | {c.efficiency:.0%} | {c.terms / 1e6:.1f} M | "
        f"{c.shipped_gigabytes:.2g} GB | {c.worker_gigabytes:.2g} GB | "
        f"{c.driver_gigabytes:.2g} GB |"
        for c in costs
    ]
    return "\n".join(lines)


def verdict(known: Measured) -> str:
    """What breaks first, at 10^12 tokens and 1,000 workers."""
    most, few = cost(known, 1e12, 1000), cost(known, 1e12, 100)
    size, terms_ = most.driver_gigabytes, most.terms / 1e6
    minutes = {c.workers: (c.merge_hours * 60, c.total_hours * 60) for c in (most, few)}
    return (
        f"At 10^12 tokens the client breaks first: {terms_:.0f} million terms of "
        f"{N_CLASSES} classes need {size:.0f} GB while the model is derived. Give "
        "`--memory`, which leaves out the terms of the fewest documents once the exact "
        "counts are known, or count into hashed columns (`--hashed`), which fixes the "
        "size of everything, the merges included. Next come the last merges, which one "
        f"worker does alone: with 1,000 workers {minutes[1000][0]:.1f} of "
        f"{minutes[1000][1]:.1f} minutes are merging (with 100, {minutes[100][0]:.1f} "
        f"of {minutes[100][1]:.0f}). Last is the scheduler, busy for "
        f"{most.scheduler_hours * 60:.1f} minutes with parts of "
        f"{PART_TOKENS / LENGTH:,.0f} documents: make the parts larger before there "
        "are more than about 100,000 of them."
    )


if __name__ == "__main__":
    main()
