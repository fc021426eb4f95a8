"""What any installation must be able to do: learn, answer, explain, save, load."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import earmark
from earmark import TextClassifier

TEXTS = ["cheap pills now", "lunch at noon", "cheap watches", "meeting at noon"] * 3
LABELS = ["spam", "ham"] * 6


def main() -> None:
    """Stop with an error where something does not work."""
    for name in ("auto", "multinomial", "hybrid", "knn"):
        classifier = TextClassifier(name, random_state=0).fit(TEXTS, LABELS)
        assert classifier.predict(["cheap pills"]).tolist() == ["spam"], name
        assert classifier.explain(["lunch at noon"])[0].label == "ham", name
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.earmark"
            classifier.save(path)
            assert earmark.load(path).predict(["lunch"]).tolist() == ["ham"], name
    sys.stdout.write(f"earmark {earmark.__version__} works\n")


if __name__ == "__main__":
    main()
