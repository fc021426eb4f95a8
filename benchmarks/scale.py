"""Data in parts: throughput, memory, linear growth, and what Dask costs.

    python -m benchmarks scale                  all rows
    python -m benchmarks.scale train predict    some rows; the others are kept

Generated documents (benchmarks/_zipf.py) in Parquet parts of 50,000, kept in
EARMARK_BENCH_DIR or the system's temporary folder. CPU seconds of one thread unless
a row says otherwise; reading the parts is included on both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks import _zipf
from earmark import TextClassifier
from earmark.distributed import fit, predict

SMALL, MEDIUM, LARGER, LARGE = 100_000, 300_000, 1_000_000, 3_000_000
CLASSES = [f"topic {k}" for k in range(_zipf.N_CLASSES)]


def _cpu(job: Callable[[], Any]) -> float:
    started = time.process_time()
    job()
    return time.process_time() - started


def _best(jobs: list[Callable[[], Any]], repeats: int) -> list[float]:
    """CPU seconds of each job, interleaved, best of the repeats."""
    times = [[_cpu(job) for job in jobs] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]


def _row(
    job: str, peer: str, ratio: float, least: float | None, **more: Any
) -> dict[str, Any]:
    facts = {"job": job, "peer": peer, "cpu_ratio": ratio, "memory_ratio": None}
    if least is None:
        return {**facts, "target": "", "met": True, **more}
    return {**facts, "target": f">= {least:g}x", "met": ratio >= least, **more}


def _tables(path: Path) -> Any:
    for part in sorted(path.glob("*.parquet")):
        with pq.ParquetFile(part) as file:
            yield from file.iter_batches(10_000)


# -- throughput on one thread ---------------------------------------------------------


def train(repeats: int = 3) -> dict[str, Any]:
    """Parts to a naive Bayes model, within a budget of memory."""
    path = _zipf.dataset(SMALL)
    size = _zipf.megabytes(path)

    def ours() -> Any:
        return fit(TextClassifier("multinomial"), path, memory="1GB")

    def theirs() -> Any:
        vectorizer = HashingVectorizer(alternate_sign=False, norm=None)
        model = MultinomialNB()
        for batch in _tables(path):
            X = vectorizer.transform(batch.column("text").to_pylist())
            model.partial_fit(X, batch.column("label").to_pylist(), classes=CLASSES)
        return model

    fast, slow = _best([ours, theirs], repeats)
    return _row(
        f"train on {SMALL:,} documents in parts, {size:.0f} MB",
        "HashingVectorizer + MultinomialNB.partial_fit",
        slow / fast,
        10,
        cpu_seconds=fast,
        peer_cpu_seconds=slow,
        megabytes_per_second=size / fast,
        documents_per_second=SMALL / fast,
        peer_megabytes_per_second=size / slow,
    )


def label(repeats: int = 3) -> dict[str, Any]:
    """Parts to Parquet files of labels."""
    path = _zipf.dataset(SMALL)
    size = _zipf.megabytes(path)
    vectorizer = HashingVectorizer(alternate_sign=False, norm=None)
    peer = MultinomialNB()
    for batch in list(_tables(path))[:2]:
        X = vectorizer.transform(batch.column("text").to_pylist())
        peer.partial_fit(X, batch.column("label").to_pylist(), classes=CLASSES)
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "model.earmark"
        fit(TextClassifier("multinomial"), path).save(model)

        def ours() -> None:
            shutil.rmtree(Path(scratch) / "labels", ignore_errors=True)
            predict(model, path, Path(scratch) / "labels")

        def theirs() -> None:
            for batch in _tables(path):
                peer.predict(vectorizer.transform(batch.column("text").to_pylist()))

        fast, slow = _best([ours, theirs], repeats)
    return _row(
        f"label {SMALL:,} documents in parts, {size:.0f} MB",
        "HashingVectorizer + MultinomialNB",
        slow / fast,
        None,
        cpu_seconds=fast,
        peer_cpu_seconds=slow,
        megabytes_per_second=size / fast,
        documents_per_second=SMALL / fast,
        peer_megabytes_per_second=size / slow,
    )


# -- fastText ---------------------------------------------------------------------


def _child_cpu(command: list[str], **how: Any) -> float:
    """CPU seconds of a program, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, **how)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fasttext(repeats: int = 3) -> dict[str, Any]:
    """Labels per second against fastText, its model already loaded on both sides."""
    program = shutil.which("fasttext")
    job = f"label {SMALL:,} documents, model loaded"
    if program is None:
        print("fastText is not installed: apt-get install fasttext", file=sys.stderr)
        return {"job": job, "peer": "fastText (not installed)", "target": ">= 2x"}
    path = _zipf.dataset(SMALL)
    tables = pq.read_table(path, columns=["text", "label"])
    texts, labels = tables["text"].to_pylist(), tables["label"].to_pylist()
    with tempfile.TemporaryDirectory() as scratch:
        data, one = Path(scratch) / "data.txt", Path(scratch) / "one.txt"
        lines = [
            f"__label__{c.replace(' ', '_')} {t}"
            for t, c in zip(texts, labels, strict=True)
        ]
        data.write_text("\n".join(lines) + "\n")
        one.write_text(lines[0] + "\n")
        model = str(Path(scratch) / "model")
        training = _child_cpu(
            [
                program,
                "supervised",
                "-input",
                str(data),
                "-output",
                model,
                "-thread",
                "1",
            ],
            stdout=subprocess.DEVNULL,
        )

        def theirs(file: Path) -> float:
            command = [program, "predict", f"{model}.bin", str(file)]
            return _child_cpu(command, stdout=subprocess.DEVNULL)

        ours = TextClassifier("multinomial").fit(texts, labels)
        column = tables["text"]
        ours.predict(column[:10])
        pairs = [
            (_cpu(lambda: ours.predict(column)), theirs(data) - theirs(one))
            for _ in range(repeats)
        ]
    fast, slow = (min(times) for times in zip(*pairs, strict=True))
    return _row(
        job,
        "fastText 0.9.2, 100 dimensions",
        slow / fast,
        2,
        cpu_seconds=fast,
        peer_cpu_seconds=slow,
        documents_per_second=SMALL / fast,
        peer_documents_per_second=SMALL / slow,
        peer_train_cpu_seconds=training,
    )


# -- bigger than memory ---------------------------------------------------------------


def _trained(path: Path, *options: str) -> dict[str, float]:
    """Run ``earmark train`` by itself: its seconds, CPU and peak memory."""
    with tempfile.TemporaryDirectory() as scratch:
        out = str(Path(scratch) / "model.earmark")
        command = [sys.executable, "-m", "earmark", "train", str(path), "--model"]
        command += ["multinomial", "--out", out, "--json", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        facts = json.loads(process.stdout.read())
        _, _, usage = os.wait4(process.pid, 0)
        return {
            "seconds": facts["seconds"],
            "cpu": facts["cpu_seconds"],
            "startup": usage.ru_utime + usage.ru_stime - facts["cpu_seconds"],
            "peak": usage.ru_maxrss / 1e6,
            "model": facts["bytes"] / 1e6,
        }


def out_of_core(repeats: int = 1) -> dict[str, Any]:
    """3,000,000 documents within 1 GB; and fewer of them, for the growth.

    CPU seconds of the training itself, from the first part read to the model saved.
    Saving the model takes the same however many documents there were. The growth is
    linear when a further document costs the same beyond a million as below.
    """
    size = _zipf.megabytes(_zipf.dataset(LARGE))
    few, more, many = (
        min(
            (_trained(_zipf.dataset(n), "--memory", "1GB") for _ in range(times)),
            key=itemgetter("cpu"),
        )
        for n, times in ((MEDIUM, 7), (LARGER, 5), (LARGE, 3))
    )
    growth = many["cpu"] / few["cpu"]
    early = (more["cpu"] - few["cpu"]) / (LARGER - MEDIUM)
    late = (many["cpu"] - more["cpu"]) / (LARGE - LARGER)
    return {
        "job": f"train on {LARGE:,} documents, {size:.0f} MB, --memory 1GB",
        "peer": f"the same on {MEDIUM:,}",
        "cpu_ratio": None,
        "memory_ratio": None,
        "cpu_growth": growth,
        "growth": many["seconds"] / few["seconds"],
        "late_to_early_cost": late / early,
        "target": "CPU <= 11 times, late to early cost 0.9 to 1.1, peak < 1.3 GB",
        "met": growth <= 11 and 0.9 <= late / early <= 1.1 and many["peak"] < 1.3,
        "peak_gigabytes": many["peak"],
        "cpu_seconds": many["cpu"],
        "seconds": many["seconds"],
        "startup_cpu_seconds": few["startup"],
        "peer_cpu_seconds": few["cpu"],
        "middle_cpu_seconds": more["cpu"],
        "peer_seconds": few["seconds"],
        "peer_peak_gigabytes": few["peak"],
        "megabytes_per_second": size / many["cpu"],
        "model_megabytes": many["model"],
        "megabytes": size,
    }


# -- Dask ------------------------------------------------------------------------------


def _half(parts: list[Any]) -> float:
    """What a plain process does with its half: all but the last merge."""
    from earmark.distributed.counting import CountTask
    from earmark.distributed.executor import merge_tree
    from earmark.features import WordCounter

    return _cpu(lambda: merge_tree(map(CountTask(WordCounter(), None), parts)))


def _with_dask(parts: list[Any]) -> tuple[float, float]:
    """Seconds on the clock and CPU seconds of client, scheduler and workers."""
    from earmark.distributed.executor import connected

    with connected("local:2") as client:
        fit(TextClassifier("multinomial"), parts[:2], client=client)  # imports done
        before, here = client.run(time.process_time), time.process_time()
        started = time.perf_counter()
        fit(TextClassifier("multinomial"), parts, client=client)
        seconds, here = time.perf_counter() - started, time.process_time() - here
        after = client.run(time.process_time)
    return seconds, here + sum(after.values()) - sum(before.values())


def _with_processes(parts: list[Any]) -> tuple[float, float]:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_half, [parts[:1], parts[1:2]]))
        started = time.perf_counter()
        cpu = sum(pool.map(_half, [parts[0::2], parts[1::2]]))
        return time.perf_counter() - started, cpu


def _by_itself(parts: list[Any]) -> tuple[float, float]:
    started, cpu = time.perf_counter(), time.process_time()
    fit(TextClassifier("multinomial"), parts)
    return time.perf_counter() - started, time.process_time() - cpu


def dask(repeats: int = 3) -> dict[str, Any]:
    """Two Dask workers against two plain processes, seconds on the clock."""
    from earmark.distributed.fitting import as_parts

    parts = as_parts(_zipf.dataset(LARGE), "text", "label")
    ways = {"": _with_dask, "plain_": _with_processes, "alone_": _by_itself}
    found: list[dict[str, float]] = []
    for _ in range(repeats):
        run = {}
        for name, way in ways.items():
            run[f"{name}seconds"], run[f"{name}cpu"] = way(parts)
        found.append(run)
    best = {name: min(run[name] for run in found) for name in found[0]}
    speed_up = best["alone_seconds"] / best["seconds"]
    plain = best["alone_seconds"] / best["plain_seconds"]
    ratio = speed_up / plain
    overhead = best["cpu"] / best["alone_cpu"] - 1.0
    return {
        "job": f"two Dask workers, {LARGE:,} documents, speed-up",
        "peer": "two plain processes",
        "cpu_ratio": None,
        "memory_ratio": None,
        "share_of_speed_up": ratio,
        "target": ">= 0.8 of the speed-up, CPU overhead <= 15 %",
        "met": ratio >= 0.8 and overhead <= 0.15,
        "speed_up": speed_up,
        "peer_speed_up": plain,
        "cpu_overhead": overhead,
        **best,
    }


# -- for the cost model -----------------------------------------------------------


def reduction(repeats: int = 3) -> dict[str, Any]:
    """Size of one part's counts, and what it costs to merge two of them."""
    import pickle

    from earmark.distributed.counting import CountTask
    from earmark.distributed.executor import merged
    from earmark.distributed.fitting import as_parts
    from earmark.features import WordCounter

    parts = as_parts(_zipf.dataset(SMALL), "text", "label")
    task = CountTask(WordCounter(), None)
    left, right = task(parts[0]), task(parts[1])
    seconds = min(_cpu(lambda: merged(left, right)) for _ in range(repeats))
    shipped = min(
        _cpu(lambda: pickle.loads(pickle.dumps(left))) for _ in range(repeats)
    )
    counts = left.labelled["text"]
    sent = len(pickle.dumps(left))
    both = merged(left, right).labelled["text"]
    return {
        "job": "merge the counts of two parts of 50,000 documents",
        "peer": "none",
        "cpu_ratio": None,
        "memory_ratio": None,
        "target": "",
        "met": True,
        "terms": counts.n_terms,
        "entries": int(counts.tokens.nnz),
        "bytes_a_term": counts.nbytes / counts.n_terms,
        "shipped_bytes_a_term": sent / counts.n_terms,
        "merged_terms": both.n_terms,
        "merge_seconds_a_million_terms": seconds
        / (counts.n_terms + both.n_terms)
        * 2e6,
        "ship_seconds_a_gigabyte": shipped / sent * 1e9,
    }


ROWS = (train, label, fasttext, out_of_core, dask, reduction)


def main() -> None:
    """Measure some rows and put them in the place of the older ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = {row.__name__: row for row in ROWS}
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(names))
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    unknown = [name for name in given.rows if name not in names]
    if unknown:
        parser.error(f"{', '.join(unknown)}: not one of {', '.join(names)}")
    rows = given.rows or list(names)
    if len(rows) > 1:  # each in a process of its own: its memory is measured
        for name in rows:
            command = [sys.executable, "-m", "benchmarks.scale", name]
            subprocess.run([*command, "--repeats", str(given.repeats)], check=True)
        return
    row = names[rows[0]](given.repeats)
    store({**row, "load_average": os.getloadavg()[0]})
    print(json.dumps(row, indent=1, default=float), flush=True)


def store(row: dict[str, Any]) -> None:
    """Put one row into the place of the older one."""
    path = Path(__file__).parent / "results" / "scale.json"
    stored = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = {old["job"]: old for old in stored}
    rows[row["job"]] = row
    payload = {
        "command": "python -m benchmarks.scale",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "rows": list(rows.values()),
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(payload, indent=1, default=float) + "\n")


if __name__ == "__main__":
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(_name, "1")
    main()
