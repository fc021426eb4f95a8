"""What it costs to begin: CPU time of an import and of a small ``earmark predict``.

    python -m benchmarks start --repeats 7

Each is measured beside the same at an earlier commit (``BEFORE``, taken out of the
repository's history), interleaved, best of the repeats, in fresh processes with plain
kernels and stored bytecode. The import of scikit-learn's base classes, which every
estimator needs, is given as the floor.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEFORE = "98fe18b"
TARGET = 0.75

# The checkout of each side comes first, whatever is installed.
_FROM = """
import sys
sys.meta_path = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
sys.path.insert(0, {source!r})
import earmark
assert earmark.__file__.startswith({source!r}), earmark.__file__
"""
_COMMAND = """
sys.argv = ["earmark", *{arguments!r}]
from earmark.apps.cli.main import main
main()
"""
_MESSAGES = "text,label\n" + "win a prize now,spam\nlunch at noon then,ham\n" * 20


def _cpu(code: str, folder: Path) -> float:
    """Processor seconds of a fresh process that runs the code."""
    environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(folder / "bytecode"))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _best(codes: list[str], folder: Path, repeats: int) -> list[float]:
    """Of each code, after one run that stores the bytecode."""
    times = [[_cpu(code, folder) for code in codes] for _ in range(repeats + 1)][1:]
    return [min(column) for column in zip(*times, strict=True)]


def _sources(folder: Path) -> list[str]:
    """The package as it is, and as it was."""
    archive = subprocess.run(
        ["git", "archive", BEFORE, "src"], cwd=ROOT, check=True, capture_output=True
    )
    old = folder / "before"
    old.mkdir()
    subprocess.run(["tar", "-x", "-C", str(old)], input=archive.stdout, check=True)
    return [str(ROOT / "src"), str(old / "src")]


def _row(job: str, now: float, before: float, **more: Any) -> dict[str, Any]:
    return {
        "job": job,
        "peer": f"commit {BEFORE}",
        "cpu_ratio": before / now,
        "memory_ratio": None,
        "target": f"<= {TARGET} of the time",
        "met": now <= TARGET * before,
        "cpu_seconds": now,
        "peer_cpu_seconds": before,
        **more,
    }


def importing(repeats: int) -> dict[str, Any]:
    """``import earmark; earmark.TextClassifier``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = [
            _FROM.format(source=source) + "earmark.TextClassifier"
            for source in _sources(folder)
        ]
        now, before, floor = _best([*codes, "import sklearn.base"], folder, repeats)
    return _row("import TextClassifier", now, before, sklearn_base_cpu_seconds=floor)


def predicting(repeats: int) -> dict[str, Any]:
    """``earmark predict`` of forty short messages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "messages.csv"
        table.write_text(_MESSAGES)
        codes = []
        for number, source in enumerate(_sources(folder)):
            model, answers = (
                folder / f"{number}.{kind}" for kind in ("earmark", "csv")
            )
            begin = _FROM.format(source=source)
            training = ["train", str(table), "--model", "multinomial", "-o", str(model)]
            _cpu(begin + _COMMAND.format(arguments=training), folder)
            asking = ["predict", str(model), str(table), "-o", str(answers)]
            codes.append(begin + _COMMAND.format(arguments=asking))
        now, before = _best(codes, folder, repeats)
    return _row("earmark predict, 40 messages", now, before)


ROWS = [importing, predicting]
