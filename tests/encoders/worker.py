"""Encodes texts through the cache and logs what it encoded; killed by the tests.

python worker.py LOG RESULT N_TEXTS SECONDS_PER_TEXT HANG_AT_CALL
"""

import sys
import time
import zlib

import numpy as np

from earmark.encoders.cache import VectorCache

WIDTH = 4


def vectors(texts):
    """What each text's vector must be, whoever asks."""
    seeds = [zlib.crc32(text.encode()) for text in texts]
    rows = [np.random.default_rng(seed).normal(size=WIDTH) for seed in seeds]
    return np.array(rows, dtype=np.float32).reshape(-1, WIDTH)


def names(n):
    return [f"text number {i}" for i in range(n)]


def main(log, result, n, seconds, hang_at):
    calls = 0

    def encode(texts):
        nonlocal calls
        calls += 1
        if calls == hang_at:
            write(["hanging"])
            time.sleep(600)
        time.sleep(seconds * len(texts))
        write(texts)
        return vectors(texts)

    def write(lines):
        with open(log, "a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    cache = VectorCache("test:encoder", "", vectors(["a probe", "another"]))
    found = cache.encoded(names(n), encode, store=True, advance=lambda n: None)
    np.save(result, found)


if __name__ == "__main__":
    log, result, n, seconds, hang_at = sys.argv[1:]
    main(log, result, int(n), float(seconds), int(hang_at))
