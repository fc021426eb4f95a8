"""A tiny model2vec model, made on the spot: a vector for each of a few words."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

UNKNOWN = "[UNK]"


def tiny_model2vec(folder: Path, words, width=8, seed=0) -> Path:
    """Write the three files that model2vec reads; a text is the mean of its words."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {UNKNOWN: 0, **{word: i + 1 for i, word in enumerate(words)}}
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(len(vocabulary), width)).astype(np.float32)
    save_file({"embeddings": vectors}, folder / "model.safetensors")
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": UNKNOWN},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "config.json").write_text(json.dumps({"normalize": True}))
    return folder
