"""Time a newcomer's way from the README to a first prediction on a table of their own.

    python tools/newcomer.py [--extra NAME] [--repeats N]

Makes an environment in a temporary folder and runs the commands of the README's
sections "Install" and "Your first prediction" one by one, as they stand there, on a csv
file of 120 messages. Prints wall and CPU seconds of each step. ``--extra ''`` installs
without extras; ``--repeats`` runs the steps after the installation more than once and
prints the fastest.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = ("Install", "Your first prediction")


def commands() -> Iterator[str]:
    """The shell commands of the sections, in order, without comments."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    for title in SECTIONS:
        section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
        for block in re.findall(r"^```sh\n(.*?)^```", section, re.S | re.M):
            yield from (line.split("#")[0].strip() for line in block.splitlines())


def timed(command: str, folder: Path, path: str) -> tuple[float, float]:
    """Wall and CPU seconds of a command; what it prints is shown."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=sys.stderr,
        check=True,
    )
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall - started, cpu


def bring(folder: Path) -> None:
    """What a newcomer has: labelled messages in a csv file, and new ones."""
    sys.path.insert(0, str(ROOT / "src"))
    from earmark.documents import support_corpus

    corpus = support_corpus()
    rows = list(zip(list(corpus.texts), corpus.labels or (), strict=True))
    with (folder / "mails.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "topic"), *rows[:120]])
    lines = (json.dumps({"text": text}) for text, _ in rows[120:])
    (folder / "new.jsonl").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Follow the README and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extra", default="all")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    extra = f".[{options.extra}]" if options.extra else "."
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bring(folder)
        path = f"{folder}/venv/bin:{os.environ['PATH']}"
        print("| step | seconds | CPU s |\n|---|--:|--:|")
        steps = [f"{sys.executable} -m venv venv", *commands()]
        for step in steps:
            install = step.startswith("pip ")
            command = step.replace(".[all]", extra) if install else step
            place = ROOT if install else folder
            runs = 1 if install or "venv" in step else options.repeats
            wall, cpu = min(timed(command, place, path) for _ in range(runs))
            shown = command.replace(sys.executable, "python")
            print(f"| `{shown}` | {wall:.1f} | {cpu:.1f} |", flush=True)
        n_rows = len((folder / "labels.csv").read_text().splitlines()) - 1
        print(f"\n{n_rows} documents labelled in labels.csv")


if __name__ == "__main__":
    main()
