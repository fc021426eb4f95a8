"""Do the tests notice when the code is changed? A sample of small changes (mutants).

    python -m benchmarks.mutation [--sample 200] [--seed 0] [--only models/rocchio]

One place of one file of models, statistics, decision or persistence is changed at a
time: a comparison, an arithmetic operation, a constant, a condition. Its mirrored
tests then run in a forked process that has everything else imported already. A mutant
is killed when a test fails (or hangs). Survivors are listed with their line.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "earmark"
PACKAGES = ("models", "statistics", "decision", "persistence")
RESULT = ROOT / "benchmarks" / "results" / "mutation.json"
SECONDS = 120  # CPU seconds after which a mutant counts as hanging

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATIONS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def mutants(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every place that can be changed, with the change in words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
            yield node, "comparison"
        elif isinstance(node, ast.BinOp | ast.AugAssign):
            if type(node.op) in OPERATIONS and not _is_type(node):
                yield node, "operation"
        elif isinstance(node, ast.BoolOp):
            yield node, "and/or"
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node, "condition negated"
        elif isinstance(node, ast.Constant) and _is_number(node):
            yield node, "constant"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield node, "sign or not"


def _is_number(node: ast.Constant) -> bool:
    return isinstance(node.value, bool | int | float)


def _is_type(node: ast.AST) -> bool:
    """Annotations such as ``int | None`` are not arithmetic."""
    names = {getattr(n, "id", None) for n in ast.walk(node)}
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return isinstance(getattr(node, "op", None), ast.BitOr) and (
        None in values or bool(names & {"str", "int", "float", "bool", "Any"})
    )


def change(node: Any, kind: str) -> None:
    """Change the node in place."""
    if kind == "comparison":
        node.ops[0] = COMPARISONS[type(node.ops[0])]()
    elif kind == "operation":
        node.op = OPERATIONS[type(node.op)]()
    elif kind == "and/or":
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif kind == "condition negated":
        node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
    elif kind == "constant":
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    else:
        node.op = ast.UAdd()


def places(only: str | None) -> list[tuple[Path, int, str]]:
    """Every mutant of every file, by its number."""
    found = []
    for package in PACKAGES:
        for path in sorted((SOURCE / package).rglob("*.py")):
            if path.name != "__init__.py" and (only is None or only in str(path)):
                tree = ast.parse(path.read_text())
                _drop_docstrings_and_annotations(tree)
                kinds = [kind for _, kind in mutants(tree)]
                found += [(path, i, kind) for i, kind in enumerate(kinds)]
    return found


def _drop_docstrings_and_annotations(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            node.annotation = ast.Constant("Any")


def mirrored_tests(path: Path) -> list[str]:
    """The tests beside the file: its own, else those of its package."""
    relative = path.relative_to(SOURCE)
    folder = ROOT / "tests" / relative.parts[0]
    for part in reversed(relative.with_suffix("").parts[1:]):
        name = part.lstrip("_")
        if (folder / name).is_dir():
            return [str(folder / name)]
        own = folder / f"test_{name}.py"
        if own.exists():
            return [str(own)]
    return [str(folder)]


def killed(path: Path, number: int | None) -> tuple[bool, int]:
    """Whether the tests notice the mutant, and its line; None changes nothing."""
    tree = ast.parse(path.read_text())
    _drop_docstrings_and_annotations(tree)
    line = 0
    if number is not None:
        node, kind = list(mutants(tree))[number]
        line = getattr(node, "lineno", 0)
        change(node, kind)
    code = compile(ast.fix_missing_locations(copy.deepcopy(tree)), str(path), "exec")
    child = os.fork()
    if child == 0:
        _run_tests(path, code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) != 0, line


def _run_tests(path: Path, code: Any) -> None:
    """In the child: import the changed module in place of the other, and test."""
    import pytest

    out = os.open(os.devnull, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)
    signal.setitimer(signal.ITIMER_REAL, 10 * SECONDS)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    name = "earmark." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for loaded in [m for m in sys.modules if m.split(".")[0] == "earmark"]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, _Changed(name, code, path))
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    chosen = ["-m", "not corpus and not slow and not trust"]
    status = pytest.main([*options, *chosen, *mirrored_tests(path)])
    os._exit(0 if status in (0, 5) else 1)


class _Changed:
    """Finder and loader of one module from given code."""

    def __init__(self, name: str, code: Any, path: Path) -> None:
        self.name, self.code, self.path = name, code, path

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=str(self.path))

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        module.__file__ = str(self.path)
        exec(self.code, module.__dict__)


def main() -> None:
    """Draw, change, test, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    for module in ("numpy", "scipy.sparse", "scipy.stats", "sklearn", "pytest"):
        importlib.import_module(module)
    importlib.import_module("sklearn.utils.estimator_checks")
    drawn = places(arguments.only)
    random.Random(arguments.seed).shuffle(drawn)
    end = time.monotonic() + 60 * arguments.minutes
    done, survivors = 0, []
    sound: set[str] = set()
    for path, number, kind in drawn[: arguments.sample]:
        if time.monotonic() > end:
            break
        tests = " ".join(mirrored_tests(path))
        if tests not in sound and killed(path, None)[0]:
            raise SystemExit(f"{tests} fails without any change to {path}")
        sound.add(tests)
        noticed, line = killed(path, number)
        done += 1
        place = f"{path.relative_to(ROOT)}:{line} {kind}"
        print(f"{done:4} {'killed  ' if noticed else 'SURVIVED'} {place}", flush=True)
        if not noticed:
            survivors.append(place)
    rate = 1 - len(survivors) / max(done, 1)
    print(f"{done} mutants of {len(drawn)}, {rate:.1%} killed")
    if arguments.only is None:
        result = {
            "command": "python -m benchmarks.mutation",
            "mutants": done,
            "places": len(drawn),
            "seed": arguments.seed,
            "kill_rate": rate,
            "survivors": sorted(survivors),
        }
        RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
