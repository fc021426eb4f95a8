"""The mirrored tests of a source file, run in a forked process with one module changed.

The parent has the heavy packages imported but nothing of earmark: the child imports it
afresh, and the changed module in place of the one on the disk.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.machinery
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest
from hypothesis import Phase, settings

from benchmarks._mutants import ROOT, SOURCE, Mutant, module_name, source_files

# A mutant hangs when it needs so many times the CPU of the unchanged code, and more.
_PATIENCE = 4
_EXTRA_SECONDS = 10
_MEMORY = 6 << 30
_QUICK = 0.2  # seconds: tests below run first, file by file
_OPTIONS = (
    *(
        "-x",
        "-q",
        "--tb=no",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ),
    *("-m", "not corpus and not slow and not trust"),
    "--hypothesis-profile=mutation",
)
# The same examples every time, nothing remembered, no smaller example looked for.
settings.register_profile(
    "mutation",
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)


_SIGNATURES = ROOT / "tests" / "test_public_api.py"


def tests_of(mutant: Mutant) -> tuple[Path, ...]:
    """The tests that should notice: of its file, and of signatures if it is in one."""
    mirrored = mirrored_tests(mutant.path)
    return (*mirrored, _SIGNATURES) if mutant.in_signature else mirrored


@functools.cache
def mirrored_tests(path: Path) -> tuple[Path, ...]:
    """The file's own tests, else its folder's, else those of who imports it."""
    relative = path.relative_to(SOURCE).with_suffix("")
    for place in (relative, *relative.parents):
        if len(place.parts) < 2:
            break
        folder = ROOT / "tests" / place.parent
        own = folder / f"test_{place.name.lstrip('_')}.py"
        for tests in (own, folder / place.name):
            if tests.exists():
                return (tests,)
    found = {t for user in _importers(path) for t in mirrored_tests(user)}
    whole = sorted(t for t in found if found.isdisjoint(t.parents))
    return tuple(whole) or (ROOT / "tests" / relative.parts[0],)


def _importers(path: Path) -> list[Path]:
    """The files of the same package that import this one."""
    package = path.relative_to(SOURCE).parts[0]
    name = module_name(path)
    return [
        other
        for other in source_files()
        if other.relative_to(SOURCE).parts[0] == package
        and other != path
        and name in _imported(other)
    ]


@functools.cache
def _imported(path: Path) -> frozenset[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset(n.module or "" for n in nodes if isinstance(n, ast.ImportFrom))


@functools.cache
def durations(tests: Path) -> dict[str, float]:
    """Seconds of every test with nothing changed; stops when one fails."""
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "durations.json"
        child = start((tests,), {}, stored=stored)
        _, status = os.waitpid(child, 0)
        if status:
            raise SystemExit(f"{tests} fails without any change; expected it to pass")
        return dict(json.loads(stored.read_text()))


def start(
    tests: Sequence[Path],
    seconds: dict[str, float],
    module: str = "",
    code: CodeType | None = None,
    stored: Path | None = None,
) -> int:
    """Fork a process that runs the tests; its exit status is theirs. Returns its id."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        _limit(seconds)
        if code is not None:
            sys.meta_path.insert(0, _Changed(module, code))
        order = _CheapFirst(seconds)
        status = pytest.main([*_OPTIONS, *map(str, tests)], plugins=[order])
        if stored is not None:
            stored.write_text(json.dumps(order.seen))
        os._exit(int(status))
    finally:
        os._exit(70)


def hung(status: int) -> bool:
    """Whether a process was ended by its time limit."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (
        signal.SIGPROF,
        signal.SIGALRM,
    )


def _limit(seconds: dict[str, float]) -> None:
    if seconds:
        limit = _EXTRA_SECONDS + _PATIENCE * sum(seconds.values())
        signal.setitimer(signal.ITIMER_PROF, limit)
        signal.setitimer(signal.ITIMER_REAL, 300 + 4 * limit)  # asleep, or stopped
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _CheapFirst:
    """A plugin of pytest: quick tests first, and how long each took."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds, self.seen = seconds, dict[str, float]()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=self._cost)

    def _cost(self, item: pytest.Item) -> tuple[bool, str, float]:
        seconds = self.seconds.get(item.nodeid, 0.0)
        return seconds >= _QUICK, item.nodeid.split("::")[0], seconds

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self.seen.get(report.nodeid, 0.0)
        self.seen[report.nodeid] = before + report.duration


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader of one module from given code."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        file = self.code.co_filename
        spec = importlib.machinery.ModuleSpec(name, self, origin=file)
        spec.has_location = True  # gives the module its __file__
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)
