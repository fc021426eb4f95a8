"""Few labels and a pool that does not fit in memory: accuracy, memory, time.

    EARMARK_DATA=... python -m benchmarks.pool_in_parts [--draws 5]

Real corpora: 10 labels per class, the rest of the training part is the pool; in memory,
in parts within 1 GB, and on two Dask workers. Generated short documents (20 words by
Zipf's law, every third one of its class, 10 classes, 100 labels): what a sample of the
pool costs in accuracy, and time and memory up to 10 million documents, each size in a
process of its own.
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
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import _zipf
from earmark import TextClassifier
from earmark.distributed import fit

RESULTS = Path(__file__).parent / "results" / "pool_in_parts.json"
CORPORA = {"20 Newsgroups": "20newsgroups_bydate", "IMDB": "imdb"}
LABELS_PER_CLASS, BUDGET = 10, "1GB"
SIZES = (1_000_000, 3_000_000, 10_000_000)
IN_MEMORY = 150_000


def corpus(name: str, draw: int) -> tuple[list[str], list[str | None], Any]:
    """Training texts, labels of a few of them, and test texts and labels."""
    data = Path(os.environ["EARMARK_DATA"])
    train, test = (
        pq.read_table(
            data / f"{CORPORA[name]}_{part}.parquet", columns=["text", "label"]
        )
        for part in ("train", "test")
    )
    truth = np.array([str(label) for label in train["label"].to_pylist()], dtype=object)
    rng = np.random.default_rng(draw)
    labels = np.full(len(truth), None, dtype=object)
    for label in np.unique(truth.astype(str)):
        rows = rng.choice(
            np.flatnonzero(truth == label), LABELS_PER_CLASS, replace=False
        )
        labels[rows] = label
    tested = (test["text"].to_pylist(), [str(x) for x in test["label"].to_pylist()])
    return train["text"].to_pylist(), labels.tolist(), tested


def write_parts(
    folder: Path, texts: list[str], labels: list[str | None], n: int
) -> Path:
    """The documents as Parquet parts."""
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(texts)), n)):
        some = {
            "text": pa.array([texts[i] for i in rows]),
            "label": pa.array([labels[i] for i in rows], pa.string()),
        }
        pq.write_table(pa.table(some), folder / f"part-{k:03d}.parquet")
    return folder


def real(name: str, n_draws: int) -> dict[str, Any]:
    """Accuracy in memory, in parts and on Dask, of the same draws."""
    import distributed

    rows: dict[str, list[float]] = {"memory": [], "parts": [], "dask": []}
    gap = 0.0
    for draw in range(n_draws):
        texts, labels, (X, y) = corpus(name, draw)
        with tempfile.TemporaryDirectory() as scratch:
            folder = write_parts(Path(scratch) / "parts", texts, labels, 8)
            here = TextClassifier().fit(texts, labels)
            parts = fit(TextClassifier(), folder, label="label", memory=BUDGET)
            with (
                warnings.catch_warnings(),
                distributed.LocalCluster(n_workers=2, threads_per_worker=1) as cluster,
                distributed.Client(cluster) as client,
            ):
                warnings.simplefilter("ignore")
                spread = fit(
                    TextClassifier(),
                    folder,
                    label="label",
                    memory=BUDGET,
                    client=client,
                )
        for key, model in (("memory", here), ("parts", parts), ("dask", spread)):
            rows[key].append(model.score(X, y))
        some = X[:500]
        difference = parts.predict_proba(some) - spread.predict_proba(some)
        gap = max(gap, float(np.abs(difference).max()))
        print(name, draw, {k: round(v[-1], 4) for k, v in rows.items()}, flush=True)
    return {
        "corpus": name,
        "documents": len(texts),
        "accuracy": {key: float(np.mean(values)) for key, values in rows.items()},
        "draws": rows,
        "largest_gap_parts_dask": gap,
    }


# -- generated pools -----------------------------------------------------------------


def pool(n_documents: int) -> Path:
    """Parts of short documents, 100 of them with a label."""
    out = _zipf.folder() / f"short-{n_documents}"
    if not (out / "_done").exists():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        rng = np.random.default_rng(0)
        words, share = _zipf.words(rng), _zipf.shares()
        for k, start in enumerate(range(0, n_documents, 500_000)):
            size = min(500_000, n_documents - start)
            path = out / f"part-{k:03d}.parquet"
            n_labelled = 100 if k == 0 else 0
            _zipf.write_part(path, size, rng, words, share, 20, n_labelled, every=3)
        (out / "_done").touch()
    return out


def held_out() -> tuple[list[str], list[str]]:
    """Documents of the same kind with their labels."""
    out = _zipf.folder() / "short-test.parquet"
    if not out.exists():
        rng = np.random.default_rng(0)
        words = _zipf.words(rng)
        rng = np.random.default_rng(1)
        _zipf.write_part(out, 20_000, rng, words, _zipf.shares(), 20, every=3)
    table = pq.read_table(out)
    return table["text"].to_pylist(), table["label"].to_pylist()


def sampled(n_draws: int) -> list[dict[str, Any]]:
    """Accuracy by the number of pool documents, the same labels and test documents."""
    table = pq.read_table(pool(SIZES[0]))
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    own = [i for i, label in enumerate(labels) if label is not None]
    rest = np.array([i for i, label in enumerate(labels) if label is None])
    X, y = held_out()
    rows = []
    for size in (5_000, 15_000, 35_000, 70_000, IN_MEMORY):
        scores = []
        for draw in range(n_draws if size < IN_MEMORY else 1):
            some = np.random.default_rng(draw).choice(rest, size, replace=False)
            model = TextClassifier("semi-supervised").fit(
                [texts[i] for i in own],
                [labels[i] for i in own],
                unlabelled=[texts[i] for i in np.sort(some)],
            )
            scores.append(model.score(X, y))
        rows.append({"pool": size, "accuracy": float(np.mean(scores)), "draws": scores})
        print(rows[-1], flush=True)
    return rows


def measured(n_documents: int) -> dict[str, Any]:
    """Seconds and peak memory of one fit in this process."""
    folder = pool(n_documents)
    cpu, wall = time.process_time(), time.perf_counter()
    model = fit(TextClassifier(), folder, label="label", memory=BUDGET)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    X, y = held_out()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "documents": n_documents,
        "megabytes": _zipf.megabytes(folder),
        "cpu_seconds": cpu,
        "seconds": wall,
        "peak_bytes": peak,
        "accuracy": model.score(X, y),
    }


def grown() -> list[dict[str, Any]]:
    """Every size in a process of its own."""
    rows = []
    for size in SIZES:
        pool(size)
        held_out()
        command = [
            sys.executable,
            "-m",
            "benchmarks.pool_in_parts",
            "--size",
            str(size),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
    return rows


def page(result: dict[str, Any]) -> str:
    """The results as Markdown."""
    lines = ["| 10 labels per class | in memory | in parts, 1 GB | two Dask workers |"]
    lines += ["|---|---|---|---|"]
    for row in result["real"]:
        three = (f"{row['accuracy'][key]:.4f}" for key in ("memory", "parts", "dask"))
        lines.append(
            f"| {row['corpus']} ({row['documents']:,}) | {' | '.join(three)} |"
        )
    lines += [
        "",
        "| pool documents of a million learned from | accuracy |",
        "|---|---|",
    ]
    lines += [f"| {r['pool']:,} | {r['accuracy']:.4f} |" for r in result["sampled"]]
    lines += [
        "",
        "| short documents | MB of text | CPU s per million | peak GB |",
        "|---|---|---|---|",
    ]
    for row in result["grown"]:
        each = row["cpu_seconds"] / row["documents"] * 1e6
        lines.append(
            f"| {row['documents']:,} | {row['megabytes']:,.0f} | {each:.1f} | "
            f"{row['peak_bytes'] / 1e9:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, store, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--size", type=int, help="one fit of the generated pool")
    asked = parser.parse_args()
    if asked.size is not None:
        print(json.dumps(measured(asked.size)))
        return
    result = {
        "command": f"python -m benchmarks.pool_in_parts --draws {asked.draws}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "grown": grown(),
        "sampled": sampled(asked.draws),
        "real": [real(name, asked.draws) for name in CORPORA],
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(page(result))


if __name__ == "__main__":
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(_name, "1")
    main()
