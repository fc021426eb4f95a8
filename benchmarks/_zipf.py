"""Documents that nobody wrote: words by Zipf's law, a few of them telling the class."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

N_WORDS, N_CLASSES, LENGTH = 100_000, 10, 60
PART = 50_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))


def folder() -> Path:
    """Where generated data are kept between runs."""
    base = os.environ.get("EARMARK_BENCH_DIR", tempfile.gettempdir())
    return Path(base) / "earmark-scale"


def words(rng: np.random.Generator) -> pa.Array:
    """Distinct words of 2 to 12 letters, the shorter ones first, as in language."""
    found: dict[str, None] = {}
    while len(found) < N_WORDS:
        length = int(
            np.clip(rng.normal(2.5 + 1.2 * np.log10(len(found) + 1), 1.5), 2, 14)
        )
        found["".join(rng.choice(LETTERS, length))] = None
    return pa.array(list(found))


def shares() -> np.ndarray:
    """Zipf's law, summed up to each word."""
    share = np.cumsum(1.0 / (np.arange(N_WORDS) + 2.7) ** 1.05)
    return share / share[-1]


def dataset(n_documents: int) -> Path:
    """A directory of Parquet parts of 50,000 documents, about 370 bytes each."""
    out = folder() / f"zipf-{n_documents}"
    if (out / "_done").exists():
        return out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    rng = np.random.default_rng(0)
    vocabulary = words(rng)
    share = shares()
    for start in range(0, n_documents, PART):
        size = min(PART, n_documents - start)
        write_part(
            out / f"part-{start // PART:05d}.parquet", size, rng, vocabulary, share
        )
    (out / "_done").touch()
    return out


def write_part(
    path: Path,
    size: int,
    rng: np.random.Generator,
    vocabulary: pa.Array,
    share: np.ndarray,
    length: int = LENGTH,
    n_labelled: int | None = None,
    every: int = 6,
) -> None:
    """Write documents of ``length`` words; ``n_labelled`` of them keep their label."""
    drawn = np.searchsorted(share, rng.random((size, length))).astype(np.int32)
    label = rng.integers(0, N_CLASSES, size)
    # Every sixth word is moved to a word of the class, which Zipf's law survives.
    told = drawn[:, ::every]
    told += ((label[:, None] - told) % N_CLASSES).astype(np.int32)
    drawn = np.minimum(drawn, N_WORDS - 1)
    tokens = pc.take(vocabulary, pa.array(drawn.ravel()))
    lists = pa.ListArray.from_arrays(
        pa.array(np.arange(0, size * length + 1, length), pa.int32()), tokens
    )
    names = pa.array([f"topic {k}" for k in range(N_CLASSES)])
    table = pa.table(
        {"text": pc.binary_join(lists, " "), "label": _labels(names, label, n_labelled)}
    )
    pq.write_table(table, path, row_group_size=10_000, compression="snappy")


def _labels(names: pa.Array, label: np.ndarray, n_labelled: int | None) -> pa.Array:
    hidden = np.arange(len(label)) >= (len(label) if n_labelled is None else n_labelled)
    return pc.take(names, pa.array(label, mask=hidden))


def megabytes(path: Path) -> float:
    """Text of a dataset, without compression."""
    total = 0
    for part in sorted(path.glob("*.parquet")):
        column = pq.read_table(part, columns=["text"]).column("text")
        total += int(pc.sum(pc.binary_length(column)).as_py())
    return total / 1e6
