"""Small datasets in parts, and the same documents in memory."""

import json

import numpy as np
import pytest


class Corpus:
    """Documents with labels, some without, written as parts on request."""

    def __init__(self, n_documents=400, n_classes=3, seed=0, unlabelled=0.0):
        rng = np.random.default_rng(seed)
        words = np.array([f"wörd{k}" if k % 7 == 0 else f"w{k}" for k in range(300)])
        share = 1.0 / np.arange(1, 301)
        self.texts, self.labels = [], []
        for _ in range(n_documents):
            label = int(rng.integers(n_classes))
            weight = share * np.where(np.arange(300) % n_classes == label, 4.0, 1.0)
            size = int(rng.integers(3, 25))
            chosen = rng.choice(words, size, p=weight / weight.sum())
            self.texts.append(" ".join(chosen.tolist()))
            none = rng.random() < unlabelled
            self.labels.append(None if none else f"class {label}")

    def rows(self):
        pairs = zip(self.texts, self.labels, strict=True)
        return [{"text": text, "label": label} for text, label in pairs]

    def write(self, folder, n_parts, kind="jsonl"):
        folder.mkdir()
        rows = self.rows()
        for k, places in enumerate(np.array_split(np.arange(len(rows)), n_parts)):
            part = [rows[i] for i in places]
            if kind == "jsonl":
                lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in part)
                (folder / f"part-{k:03d}.jsonl").write_text(lines + "\n")
            else:
                import pyarrow as pa
                import pyarrow.parquet as pq

                pq.write_table(
                    pa.Table.from_pylist(part), folder / f"part-{k:03d}.parquet"
                )
        return folder


@pytest.fixture(scope="session")
def corpus():
    return Corpus()


@pytest.fixture
def saved(tmp_path):
    """Bytes of a model file."""

    def save(classifier):
        path = tmp_path / "model.earmark"
        classifier.save(path)
        return path.read_bytes()

    return save
