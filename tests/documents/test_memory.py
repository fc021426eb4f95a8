"""Reading in batches holds one batch, however long the file."""

import json
import tracemalloc

import pytest

from earmark.documents import iter_documents

WORDS = "the quick brown fox jumps over the lazy dog and runs away again " * 20


@pytest.fixture(scope="module")
def long_file(tmp_path_factory):
    """About 50 MB of JSON lines."""
    path = tmp_path_factory.mktemp("memory") / "long.jsonl"
    line = json.dumps({"id": 1, "text": WORDS, "label": "x"}) + "\n"
    with path.open("w") as file:
        for _ in range(50):
            file.write(line * (1_000_000 // len(line)))
    return path


def peak(path, **options):
    """Most memory that Python objects took while all batches passed."""
    tracemalloc.start()
    try:
        n_documents = sum(len(batch) for batch in iter_documents(path, **options))
        return n_documents, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_a_stream_does_not_grow_with_the_file(long_file):
    n_documents, used = peak(long_file, batch_size=1000)
    assert n_documents > 35_000
    assert used < 6e6


def test_memory_is_bounded_by_bytes_when_rows_are_long(long_file):
    _, used = peak(long_file, batch_size=10**9, batch_bytes=2_000_000)
    assert used < 9e6
