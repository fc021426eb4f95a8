"""What encoders cost, and what a sample of the pool saves.

    python -m benchmarks.encoder --sample 1000      # the sample of a large pool
    python -m benchmarks.encoder --cost model2vec:NAME-OR-PATH

The first needs EARMARK_DATA, with MiniLM's vectors in its folder minilm: whole corpora,
where so many documents of the pool are encoded, or all, or the pool is cut to those
that are. Results go to benchmarks/results/encoder_sample_N.json.

The second measures the CPU time of an encoder that is on this machine, for 1,000 texts
of TREC and of R8: alone, with the cache being written, and read from it. Results go to
benchmarks/results/encoder_cost.json. What encoders add to accuracy:
``earmark reproduce few-labels --part encoder``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from earmark import TextClassifier
from earmark.documents import labelled_per_class
from earmark.encoders import load_encoder
from earmark.encoders.cache import text_key
from earmark.encoders.encoder import KINDS, EncoderKind, NamedEncoder
from earmark.features import vectors
from reproductions.few_labels.encoder import read_corpus
from reproductions.few_labels.tasks import load_task
from reproductions.study import mean_and_error

N_LABELLED = 5


def main() -> None:
    """One of the two."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--sample", type=int, help="encode so many of the pool")
    asked.add_argument("--cost", metavar="NAME", help="CPU time of an encoder")
    given = parser.parse_args()
    compare_samples(given.sample) if given.sample else measure_cost(given.cost)


def measure_cost(name: str) -> None:
    """CPU seconds per 1,000 texts."""
    encoder = load_encoder(name)
    rows = []
    with TemporaryDirectory() as folder:
        os.environ["EARMARK_CACHE"] = folder
        for corpus in ("trec", "r8"):
            texts = list(dict.fromkeys(load_task(corpus).train))[:1000]
            encoder.encoded(texts[:1], store=True)
            for job, encode in (
                (
                    "alone",
                    lambda t: [encoder(t[i : i + 30]) for i in range(0, len(t), 30)],
                ),
                ("cache written", lambda t: encoder.encoded(t, store=True)),
                ("cache read", lambda t: encoder.encoded(t, store=True)),
            ):
                started = time.process_time()
                encode(texts)
                seconds = time.process_time() - started
                kind = name.partition(":")[0]
                told = f"{kind}, {encoder.probes.shape[1]} dimensions, {corpus}: {job}"
                rows.append({"job": told, "cpu_seconds": seconds})
                print(told, f"{seconds:.3f}", flush=True)
    _write("encoder_cost.json", f"--cost {name}", rows, {})


# -- a sample of a large pool ------------------------------------------------------

N_SAMPLE_DRAWS = 3
ALL, SAMPLE, CUT, NOTHING = "all encoded", "a sample encoded", "pool cut", "no encoder"


def compare_samples(n_encoded: int) -> None:
    """Accuracy with all, a sample, or none of the pool encoded; and a smaller pool."""
    os.environ["EARMARK_ENCODER_CACHE"] = "off"
    corpora = {}
    for name in ("trec", "r8"):
        known = read_corpus(name).vectors
        seen: set[str] = set()

        def encode(texts: list[str], known: Any = known, seen: Any = seen) -> Any:
            seen.update(texts)
            nothing = np.zeros(384)
            return np.array([known.get(text, nothing) for text in texts])

        _declare(name, encode)
        task = load_task(name)
        assert all(text in known for text in [*task.train, *task.test])
        corpora[name] = _sampled_pool(task, f"{name}:minilm", seen, n_encoded)
        cells = corpora[name]["methods"]
        told = (f"{method} {cell['mean']:.3f}" for method, cell in cells.items())
        print(name, *told, sep="  ", flush=True)
        _store_samples(corpora, n_encoded)


def _declare(kind: str, encode: Any) -> None:
    """A kind of encoders for this process, as an installed package declares one."""

    def load(name: str, place: str, fetch: bool) -> NamedEncoder:
        return NamedEncoder(name, encode)

    KINDS._made[kind] = EncoderKind(kind, "known vectors", load)
    KINDS._entry_points[kind] = EntryPoint(kind, __name__, KINDS.group)


def _sampled_pool(
    task: Any, encoder: str, seen: set[str], n_encoded: int
) -> dict[str, Any]:
    found: dict[str, list[float]] = {ALL: [], SAMPLE: [], CUT: [], NOTHING: []}
    seconds: dict[str, list[float]] = {method: [] for method in found}
    encoded: dict[str, int] = {}
    for seed in range(N_SAMPLE_DRAWS):
        labelled, pool = labelled_per_class(task.y, N_LABELLED, random_state=seed)
        texts, y = [task.train[i] for i in labelled], task.y[labelled]
        rest = [task.train[i] for i in pool]
        fewer = sorted(set(rest), key=text_key)[:n_encoded]
        for method, most, given, documents in (
            (ALL, len(rest), encoder, rest),
            (SAMPLE, n_encoded, encoder, rest),
            (CUT, len(rest), encoder, fewer),
            (NOTHING, 0, None, rest),
        ):
            vectors.MOST_ENCODED = most
            seen.clear()
            started = time.process_time()
            model = TextClassifier("semi-supervised", encoder=given, random_state=0)
            model.fit(texts, y, unlabelled=documents)
            seconds[method].append(time.process_time() - started)
            encoded[method] = len(seen)
            right = model.predict(task.test) == task.y_test
            found[method].append(float(np.mean(right)))
    return {
        "methods": {method: mean_and_error(values) for method, values in found.items()},
        "cpu_seconds_of_fit": {m: float(np.mean(s)) for m, s in seconds.items()},
        "texts_encoded": encoded,
    }


def _store_samples(corpora: dict[str, Any], n_encoded: int) -> None:
    means = {
        method: float(np.mean([c["methods"][method]["mean"] for c in corpora.values()]))
        for method in (ALL, SAMPLE, CUT, NOTHING)
    }
    row = {
        "job": f"{n_encoded} pool documents encoded, the rest told from words",
        "peer": ALL,
        "accuracy": means[SAMPLE],
        "peer_accuracy": means[ALL],
        "target": "accuracy not more than .01 below",
        "met": means[SAMPLE] >= means[ALL] - 0.01,
    }
    result = {"means": means, "corpora": corpora}
    options = f"--sample {n_encoded}"
    _write(f"encoder_sample_{n_encoded}.json", options, [row], result)


def _write(file: str, options: str, rows: list[Any], result: dict[str, Any]) -> None:
    payload = {
        "command": f"python -m benchmarks.encoder {options}".rstrip(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_average": os.getloadavg()[0],
        "rows": rows,
        "result": result,
    }
    target = Path(__file__).parent / "results" / file
    target.write_text(json.dumps(payload, indent=1) + "\n")


if __name__ == "__main__":
    main()
