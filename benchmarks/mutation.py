"""Do the tests notice when the code is changed? A sample of small changes (mutants).

    python -m benchmarks.mutation [--sample 200 60 60] [--seed 0 1 2] [--jobs 1]
                                  [--resume] [--only models/rocchio]

One place of one file of models, statistics, decision or persistence is changed at a
time: a comparison, an arithmetic operation, a constant, a condition. Its mirrored tests
then run until the first fails: the mutant is killed. So is one that needs four times
the CPU of the unchanged code. Who survives is listed with its line, and with what
benchmarks/surviving_mutants.toml knows of it, such as why no test can tell it apart.

Fates are stored in benchmarks/results/mutation.json after every mutant, one sample for
each seed, and the tables of docs/trust.md are written from it. With --resume, mutants
killed before are not run again; survivors are. Without it all are, as befits code that
has changed since.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import time
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks._mutant_tests import durations, hung, start, tests_of
from benchmarks._mutants import ROOT, Mutant, all_mutants, drawn, source_files

RESULT = ROOT / "benchmarks" / "results" / "mutation.json"
KNOWN = ROOT / "benchmarks" / "surviving_mutants.toml"
_HEAVY = (
    *("numpy", "scipy.sparse", "scipy.stats", "scipy.optimize", "joblib"),
    *("sklearn.utils.estimator_checks", "sklearn.linear_model", "sklearn.naive_bayes"),
    *("sklearn.feature_extraction.text", "sklearn.svm", "sklearn.datasets"),
)


def fates(mutants: Sequence[Mutant], jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with killed, hung or survived, as they end."""
    unchanged = {t: durations(t) for m in mutants for t in tests_of(m)}
    running: dict[int, Mutant] = {}
    for mutant in mutants:
        yield from _ended(running, jobs - 1)
        tests = tests_of(mutant)
        seconds = {name: s for t in tests for name, s in unchanged[t].items()}
        running[start(tests, seconds, mutant.module, mutant.code())] = mutant
    yield from _ended(running, 0)


def _ended(running: dict[int, Mutant], left: int) -> Iterator[tuple[Mutant, str]]:
    """Wait until no more than so many run."""
    while len(running) > left:
        child, status = os.wait()
        _end_group(child)
        fate = "hung" if hung(status) else "killed" if status else "survived"
        yield running.pop(child), fate


def _end_group(leader: int) -> None:
    """End what the tests of an ended process left behind."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def survivors(mutants: Sequence[Mutant]) -> list[dict[str, Any]]:
    """Where they are, what they change, and what is known of them."""
    stored = tomllib.loads(KNOWN.read_text(encoding="utf-8"))
    known = {each["mutant"]: each for each in stored["survivor"]}
    unknown = {"equivalent": False, "reason": "A gap in the tests."}
    found = []
    for mutant in sorted(mutants, key=lambda m: (m.path, m.line)):
        about = known.get(mutant.name, unknown)
        place = {"mutant": mutant.name, "line": mutant.line}
        found.append(place | {name: about[name] for name in unknown})
    return found


def summary(mutants: Sequence[Mutant], known: dict[str, str]) -> dict[str, Any]:
    """What is stored of one sample."""
    fate = {m.name: known[m.name] for m in mutants if m.name in known}
    left = survivors([m for m in mutants if fate.get(m.name) == "survived"])
    same = sum(each["equivalent"] for each in left)
    killed = len(fate) - len(left)
    return {
        "mutants": len(fate),
        "killed": killed,
        "killed_by_time": sum(f == "hung" for f in fate.values()),
        "survived": len(left),
        "equivalent": same,
        "kill_rate": killed / max(len(fate), 1),
        "kill_rate_without_equivalent": killed / max(len(fate) - same, 1),
        "survivors": left,
        "fates": fate,
    }


def store(seed: int, sample: dict[str, Any]) -> None:
    """Put one sample into the stored result."""
    stored = _stored()
    samples = {**stored.get("samples", {}), str(seed): sample}
    places = sum(len(all_mutants(path)) for path in source_files())
    command = "python -m benchmarks.mutation"
    result = {
        "command": command,
        "places": places,
        "samples": dict(sorted(samples.items())),
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _stored() -> dict[str, Any]:
    return dict(json.loads(RESULT.read_text())) if RESULT.exists() else {}


def rates_table(result: dict[str, Any]) -> str:
    """The samples as a Markdown table."""
    head = "seed | mutants | killed | kill rate | survivors | of them equivalent"
    lines = [f"| {head} | kill rate without these |", "|---" * 7 + "|"]
    for seed, s in result["samples"].items():
        cells = (seed, s["mutants"], s["killed"], f"{s['kill_rate']:.1%}")
        rest = (s["survived"], s["equivalent"])
        rate = f"{s['kill_rate_without_equivalent']:.1%}"
        lines.append(f"| {' | '.join(map(str, (*cells, *rest, rate)))} |")
    return "\n".join(lines)


def survivors_table(result: dict[str, Any]) -> str:
    """The survivors as a Markdown table."""
    lines = ["| seed | survivor | equivalent | why |", "|---|---|---|---|"]
    for seed, sample in result["samples"].items():
        for each in sample["survivors"]:
            shown = each["mutant"].replace("|", "\\|")
            same = "yes" if each["equivalent"] else "no"
            lines.append(f"| {seed} | {shown} | {same} | {each['reason']} |")
    return "\n".join(lines)


def tables() -> dict[str, str]:
    """The tables of docs/trust.md by name, from what is stored."""
    return {"rates": rates_table(_stored()), "survivors": survivors_table(_stored())}


def run(seed: int, size: int, arguments: argparse.Namespace) -> None:
    """Test one sample; store it after every mutant, unless it is a part only."""
    mutants = drawn(seed, size, arguments.only)
    before = _stored().get("samples", {}).get(str(seed), {})
    known: dict[str, str] = before.get("fates", {}) if arguments.resume else {}
    left = [m for m in mutants if known.get(m.name, "survived") == "survived"]
    started = time.monotonic()
    for mutant, fate in fates(left, arguments.jobs):
        known[mutant.name] = fate
        minutes = f"{(time.monotonic() - started) / 60:5.1f} min"
        print(f"{minutes}  {fate:8}  {mutant.line:4} {mutant.name}", flush=True)
        if not arguments.only:
            store(seed, summary(mutants, known))
    shown = summary(mutants, known)
    print(f"seed {seed}: {shown['mutants']} mutants, {shown['kill_rate']:.1%} killed")
    if not arguments.only:
        store(seed, shown)
        print("python docs/_ext/stored_tables.py puts it into docs/trust.md")


def main() -> None:
    """Draw, change, test, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, nargs="+", default=[200, 60, 60])
    parser.add_argument("--seed", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a path; nothing is stored")
    parser.add_argument("--resume", action="store_true")
    arguments = parser.parse_args()
    if len(arguments.sample) != len(arguments.seed):
        parser.error("--sample and --seed must have as many numbers as each other")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    for module in _HEAVY:
        importlib.import_module(module)
    for seed, size in zip(arguments.seed, arguments.sample, strict=True):
        run(seed, size, arguments)


if __name__ == "__main__":
    main()
