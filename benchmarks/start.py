"""What it costs to begin: CPU time of an import and of a small ``earmark predict``.

    python -m benchmarks start --repeats 7

Each is measured beside the import of scikit-learn's base classes, which every estimator
needs: interleaved, best of the repeats, in fresh processes with stored bytecode.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_FLOOR = "import sklearn.base"
_COMMAND = """
import sys
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


def _row(job: str, now: float, floor: float, target: float) -> dict[str, Any]:
    return {
        "job": job,
        "peer": _FLOOR,
        "cpu_ratio": floor / now,
        "memory_ratio": None,
        "target": f"<= {target} of the time",
        "met": now <= target * floor,
        "cpu_seconds": now,
        "peer_cpu_seconds": floor,
    }


def importing(repeats: int) -> dict[str, Any]:
    """``from earmark import TextClassifier``."""
    with tempfile.TemporaryDirectory() as name:
        codes = ["from earmark import TextClassifier", _FLOOR]
        now, floor = _best(codes, Path(name), repeats)
    return _row("import TextClassifier", now, floor, 1.25)


def predicting(repeats: int) -> dict[str, Any]:
    """``earmark predict`` of forty short messages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, model = folder / "messages.csv", folder / "model.earmark"
        table.write_text(_MESSAGES)
        training = ["train", str(table), "--model", "multinomial", "-o", str(model)]
        _cpu(_COMMAND.format(arguments=training), folder)
        asking = ["predict", str(model), str(table), "-o", str(folder / "answers.csv")]
        codes = [_COMMAND.format(arguments=asking), _FLOOR]
        now, floor = _best(codes, folder, repeats)
    return _row("earmark predict, 40 messages", now, floor, 1.5)


ROWS = [importing, predicting]
