"""How many rooms a document walks through: files of ours in one fit and one predict."""

import sys
from pathlib import Path

import pytest

import earmark
from earmark import TextClassifier

SOURCE = Path(earmark.__file__).parent

# Files whose functions run in one fit and one predict.
LIMITS = {"multinomial": 23, "auto": 36, "semi-supervised": 40}

WORDS = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "theta"]
TEXTS = [
    f"{WORDS[i % 4]} {WORDS[(i // 4) % 8]} {'spring rain' if i % 2 else 'winter snow'}"
    for i in range(36)
]
LABELS = ["wet" if i % 2 else "cold" for i in range(36)]
WEATHER = ["spring", "winter", "rain", "snow", "cloud", "ice", "mud", "frost"]
POOL = [
    " ".join([WEATHER[i % 8], WEATHER[i // 8 % 8], WORDS[i // 64 % 8], f"word{i}"])
    for i in range(700)
]


def files_walked(model):
    """The files of the package whose functions ran, after one walk to load them."""
    data = {"unlabelled": POOL} if model == "semi-supervised" else {}

    def walk():
        TextClassifier(model).fit(TEXTS, LABELS, **data).predict(["winter rain"])

    walk()
    seen = set()

    def note(frame, event, argument):
        if event == "call":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
    paths = (Path(name) for name in seen)
    return sorted(
        str(path.relative_to(SOURCE)) for path in paths if path.is_relative_to(SOURCE)
    )


@pytest.mark.parametrize("model", LIMITS)
def test_a_document_walks_through_few_files(model):
    walked = files_walked(model)
    assert "pipeline/text_classifier.py" in walked
    assert len(walked) <= LIMITS[model], walked
