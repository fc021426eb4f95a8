"""Every model that users are offered, fitted once to small documents."""

import functools
import json

import numpy as np
from typer.testing import CliRunner

from earmark import TextClassifier
from earmark.apps.cli.main import app

CLASSES = ("crafts", "engines", "gardens")
_N_WORDS = 150


@functools.cache
def model_names(in_parts=False):
    """The names that ``earmark info --models`` lists, but ``auto``."""
    result = CliRunner().invoke(app, ["info", "--models", "--json"])
    summaries = json.loads(result.stdout)
    return [
        name
        for name, summary in summaries.items()
        if name != "auto" and ("[also in parts]" in summary or not in_parts)
    ]


def _text(rng, classes, length, lean):
    """Words that lean to some classes."""
    own = np.isin(np.arange(_N_WORDS) % len(CLASSES), classes)
    weight = np.where(own, lean, 1.0) / (np.arange(_N_WORDS) + 5.0)
    drawn = rng.choice(_N_WORDS, length, p=weight / weight.sum())
    return " ".join(f"word{k}" for k in drawn)


def one_label(n, seed, lean=3.0, lengths=(4, 25), n_classes=3):
    """Texts of one class each, and its labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    texts = [_text(rng, [c], int(rng.integers(*lengths)), lean) for c in y]
    return texts, [CLASSES[c] for c in y]


def several_labels(n, seed):
    """Texts of up to two classes, and lists of their labels."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 3, (n, 2))
    texts = [_text(rng, pair, int(rng.integers(6, 25)), 5.0) for pair in pairs]
    labels = [sorted({CLASSES[c] for c in pair}) for pair in pairs]
    labels[::12] = [[] for _ in labels[::12]]
    return texts, labels


def lengths_mixed(n, seed):
    """Short and very long texts: log-odds rank the long ones too high."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    lengths = np.where(rng.random(n) < 0.5, 8, 400)
    leans = np.where(lengths == 8, 6.0, 1.1)
    rows = zip(y.tolist(), lengths.tolist(), leans.tolist(), strict=True)
    return [_text(rng, [c], length, lean) for c, length, lean in rows], [
        CLASSES[c] for c in y
    ]


DATA = {
    "one": (one_label(90, 1), one_label(60, 2)),
    "two": (one_label(90, 3, n_classes=2), one_label(60, 4, n_classes=2)),
    "several": (several_labels(90, 5), several_labels(60, 6)),
    # Sure beyond what a probability tells apart.
    "long": (
        one_label(60, 7, lengths=(200, 300), n_classes=2),
        one_label(60, 8, lengths=(200, 400), n_classes=2),
    ),
    "mixed": (lengths_mixed(200, 9), lengths_mixed(60, 10)),
    # More than were once compared with each other.
    "many": (one_label(20_200, 11, lengths=(3, 6)), one_label(60, 12)),
}


@functools.cache
def fitted(name, kind, **options):
    """A model of that name, fitted to documents of a kind."""
    return TextClassifier(name, random_state=0, **options).fit(*DATA[kind][0])


def fresh(kind):
    """Documents of a kind that no model was fitted to, and their labels."""
    return DATA[kind][1]
