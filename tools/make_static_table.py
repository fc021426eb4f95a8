"""Make a table of word vectors (``static:FOLDER/NAME``) from a teacher and texts.

    python tools/make_static_table.py passages.parquet minilm tables/news

The teacher is any encoder of earmark: ``minilm``, ``model2vec:NAME``, ... The table is
learned so that the sum of the vectors of a text's words points where the teacher's
vector of the text points, and written as tables/news.txt and tables/news.safetensors.
``TextClassifier(encoder="static:tables/news")`` uses it. Passages of one to three
sentences serve best; a million of them and 3,500 steps made the table of earmark.
State the teacher and its license wherever the table goes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.documents import read_documents
from earmark.encoders import load_encoder
from earmark.kernels.static_vectors import VectorTable

Vectors = NDArray[np.float32]
Teacher = Callable[[list[str]], Vectors]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_INSIDE = "##"
# Letters of a piece.
_SHORTEST, _LONGEST = 2, 6
# A word is dropped from a passage with this probability, so that the others say more.
_DROPPED = 0.15
# Adam's step, and how long its means remember.
_RATE, _FIRST, _SECOND = 0.01, 0.9, 0.99


def choose_lines(
    texts: Sequence[str], n_words: int, n_pieces: int
) -> tuple[list[str], int]:
    """The words and marks of most texts, then the pieces that other words share.

    Also how many lines are words or marks.
    """
    n_texts = Counter(t for text in texts for t in set(_TOKEN.findall(text.lower())))
    ranked = sorted(n_texts, key=lambda token: (-n_texts[token], token))
    words, rest = ranked[:n_words], ranked[n_words:]
    pieces: Counter[str] = Counter()
    for word in rest:
        for piece in _pieces_of(word):
            pieces[piece] += n_texts[word]
    # A long piece tells more than a short one of the same frequency.
    by_use = sorted(pieces, key=lambda p: (-pieces[p] * len(p.strip("#")), p))
    return words + by_use[:n_pieces], len(words)


def _pieces_of(word: str) -> set[str]:
    single = {word[0], *(_INSIDE + letter for letter in word[1:])}
    longer = {
        (_INSIDE if start else "") + word[start:end]
        for start in range(len(word))
        for end in range(start + _SHORTEST, min(len(word), start + _LONGEST) + 1)
    }
    return single | longer


def count_lines(
    texts: Sequence[str], lines: list[str], n_words: int
) -> sparse.csr_array:
    """How often each line is in each text, (n_texts, n_lines)."""
    nothing = np.zeros((len(lines), 1), dtype=np.int8)
    table = VectorTable(lines, n_words, nothing, np.ones(len(lines), dtype=np.float32))
    spelled: dict[str, list[int]] = {}
    columns: list[int] = []
    ends = [0]
    for text in texts:
        for token in _TOKEN.findall(text.lower()):
            if token not in spelled:
                spelled[token] = [k for t in table.tokens(token) for k in t.lines]
            columns += spelled[token]
        ends.append(len(columns))
    ones = np.ones(len(columns), dtype=np.float32)
    counts = sparse.csr_array((ones, columns, ends), shape=(len(texts), len(lines)))
    counts.sum_duplicates()
    return counts


def learn_table(
    counts: sparse.csr_array,
    wanted: Vectors,
    start: Vectors,
    *,
    n_steps: int,
    batch: int,
    seed: int = 0,
    note: Callable[[str], None] = lambda words: None,
) -> Vectors:
    """Vectors of lines whose sum over a text points where ``wanted`` points (Adam)."""
    rng = np.random.default_rng(seed)
    table = start.astype(np.float32, copy=True)
    first, second = np.zeros_like(table), np.zeros_like(table)
    for step in range(1, n_steps + 1):
        rows = rng.choice(counts.shape[0], min(batch, counts.shape[0]), replace=False)
        some = counts[rows]
        some.data *= rng.random(some.nnz) >= _DROPPED
        sums = some @ table
        length = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        units = sums / length
        cosine = (units * wanted[rows]).sum(axis=1, keepdims=True)
        # The slope of 1 - cosine, in the mean of the passages.
        slope = some.T @ ((cosine * units - wanted[rows]) / length / len(rows))
        first += (1.0 - _FIRST) * (slope - first)
        second += (1.0 - _SECOND) * (slope * slope - second)
        rate = _RATE * min(1.0, 2.0 * (1.0 - (step - 1) / n_steps))
        moved = first / (1.0 - _FIRST**step)
        size = np.sqrt(second / (1.0 - _SECOND**step))
        table -= rate * moved / (size + 1e-12)
        if step % 100 == 0 or step == n_steps:
            note(f"step {step:,} of {n_steps:,}: mean cosine {cosine.mean():.3f}")
    return table


def on_main_axes(table: Vectors, counts: sparse.csr_array, width: int) -> Vectors:
    """The table turned so that texts differ most along its first columns, and cut."""
    sums = np.asarray(counts @ table, dtype=np.float64)
    units = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    _, axes = np.linalg.eigh(units.T @ units)
    return np.asarray(table @ axes[:, ::-1][:, :width], dtype=np.float32)


def make(
    texts: Sequence[str],
    teacher: Teacher,
    *,
    n_words: int = 30_000,
    n_pieces: int = 8_000,
    width: int = 256,
    n_steps: int = 3_500,
    batch: int = 16_384,
    seed: int = 0,
    note: Callable[[str], None] = lambda words: None,
) -> tuple[list[str], int, Vectors]:
    """Lines, how many of them are words or marks, and a vector for each line."""
    lines, known = choose_lines(texts, n_words, n_pieces)
    counts = count_lines(texts, lines, known)
    note(f"{len(texts):,} passages, {known:,} words, {len(lines) - known:,} pieces")
    wanted = _units(teacher(list(texts)))
    note(f"the teacher's vectors have {wanted.shape[1]} dimensions")
    # Rare words tell more: their vectors begin longer.
    n_texts = np.bincount(counts.indices, minlength=len(lines))
    weight = np.log1p(len(texts) / (1.0 + n_texts)).astype(np.float32)
    start = _units(teacher([line.removeprefix(_INSIDE) for line in lines]))
    table = learn_table(
        counts,
        wanted,
        weight[:, None] * start,
        n_steps=n_steps,
        batch=batch,
        seed=seed,
        note=note,
    )
    return lines, known, on_main_axes(table, counts, width)


def _units(vectors: Vectors) -> Vectors:
    vectors = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def write(stem: Path, lines: list[str], n_words: int, table: Vectors) -> None:
    """The two files of a table, rounded to whole numbers of one byte."""
    from safetensors.numpy import save_file

    largest = np.maximum(np.abs(table).max(axis=1), 1e-12)
    scale = (largest / 127.0).astype(np.float16)
    scale[scale == 0] = np.finfo(np.float16).smallest_subnormal
    rounded = np.round(table / scale[:, None].astype(np.float32))
    tensors = {"vectors": rounded.clip(-127, 127).astype(np.int8), "scale": scale}
    stem.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{stem}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = {"version": "1", "words": str(n_words)}
    save_file(tensors, f"{stem}.safetensors", metadata=facts)


def main() -> None:
    """Read the command line, and make a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", help="documents, as earmark reads them")
    parser.add_argument("teacher", help="an encoder, such as minilm")
    parser.add_argument("out", type=Path, help="FOLDER/NAME, without a suffix")
    parser.add_argument("--text", help="column with the text")
    parser.add_argument("--words", type=int, default=30_000)
    parser.add_argument("--pieces", type=int, default=8_000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--steps", type=int, default=3_500)
    parser.add_argument("--batch", type=int, default=16_384)
    asked = parser.parse_args()
    columns = {"text": asked.text} if asked.text else {}
    documents = read_documents(asked.texts, label=False, **columns)
    encoder = load_encoder(asked.teacher)
    lines, n_words, table = make(
        documents.joined(),
        lambda texts: encoder.encoded(texts, store=False),
        n_words=asked.words,
        n_pieces=asked.pieces,
        width=asked.dimensions,
        n_steps=asked.steps,
        batch=asked.batch,
        note=lambda words: print(words, file=sys.stderr),
    )
    write(asked.out, lines, n_words, table)
    print(f"wrote {asked.out}.txt and {asked.out}.safetensors")


if __name__ == "__main__":
    main()
