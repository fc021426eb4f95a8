"""One table of speed and memory against named peers, measured in one run.

    python -m benchmarks [NAME ...] [--repeats 3] [--list]

NAME is a module of this folder, such as text or vector_space; none runs them all. Every
row is measured side by side with its peer, interleaved, best of the repeats, on one
thread. Results are stored in benchmarks/results/NAME.json with the command.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
import time
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

FOLDER = Path(__file__).parent
COLUMNS = ("job", "peer", "cpu_ratio", "memory_ratio", "target", "met")


def modules() -> list[str]:
    """Names of the modules that have rows."""
    names = sorted(
        found.name
        for found in pkgutil.iter_modules([str(FOLDER)])
        if not found.name.startswith("_")
    )
    return [n for n in names if "\nROWS = " in (FOLDER / f"{n}.py").read_text()]


def run(name: str, repeats: int) -> list[dict[str, Any]]:
    """Measure the rows of one module and store them."""
    module = importlib.import_module(f"benchmarks.{name}")
    rows = []
    for measure in module.ROWS:
        started = time.perf_counter()
        row = measure(repeats)
        if row is None:  # it has said what is missing
            continue
        rows.append(row)
        seconds = time.perf_counter() - started
        print(f"{rows[-1]['job']} ({seconds:.0f} s)", file=sys.stderr)
    results = FOLDER / "results"
    results.mkdir(exist_ok=True)
    payload = {
        "command": f"python -m benchmarks {name} --repeats {repeats}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_average": os.getloadavg()[0],
        "rows": rows,
    }
    text = json.dumps(payload, indent=1, default=float) + "\n"
    (results / f"{name}.json").write_text(text)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print the rows as one table."""
    cells = [COLUMNS, *(tuple(_cell(row.get(c)) for c in COLUMNS) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    for line in cells:
        print("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    known = modules()
    if arguments.list:
        print("\n".join(known))
        return
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: not one of {', '.join(known)}")
    rows = []
    for name in arguments.names or known:
        rows += run(name, arguments.repeats)
    show(rows)


if __name__ == "__main__":
    main()
