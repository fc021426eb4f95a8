"""Small documents that are the same on every run."""

import numpy as np

CLASSES = ("crafts", "engines", "gardens")
_N_WORDS = 240


def _texts(rng, y, size):
    """Texts of a Zipf vocabulary that lean to their class."""
    words = np.array(
        [f"wörd{k}" if k % 7 == 0 else f"word{k}" for k in range(_N_WORDS)]
    )
    own = np.arange(_N_WORDS) % len(CLASSES)
    share = 1.0 / (np.arange(_N_WORDS) + 5.0)
    texts = []
    for label in y:
        weight = share * np.where(own == label, 3.0, 1.0)
        length = int(rng.integers(*size))
        chosen = rng.choice(words, length, p=weight / weight.sum())
        texts.append(" ".join(chosen.tolist()))
    return texts


def documents(n, seed, size=(4, 24)):
    """Texts and labels; a text in twenty nearly repeats the one before."""
    rng = np.random.default_rng(seed)
    y = rng.choice(len(CLASSES), n, p=(0.5, 0.3, 0.2))
    texts = _texts(rng, y, size)
    for i in range(19, n, 20):
        texts[i], y[i] = texts[i - 1] + " once", y[i - 1]
    return texts, [CLASSES[c] for c in y]


def regions(n, seed):
    """Documents of a short and a long region, with labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice(len(CLASSES), n, p=(0.5, 0.3, 0.2))
    texts = {"subject": _texts(rng, y, (1, 6)), "body": _texts(rng, y, (5, 20))}
    return texts, [CLASSES[c] for c in y]


def several(n, seed):
    """Texts about one or two classes, and lists of their labels; some have none."""
    rng = np.random.default_rng(seed)
    one, two = rng.integers(0, len(CLASSES), (2, n))
    first, second = _texts(rng, one, (3, 12)), _texts(rng, two, (3, 12))
    texts = [f"{a} {b}" for a, b in zip(first, second, strict=True)]
    pairs = zip(one.tolist(), two.tolist(), strict=True)
    labels = [sorted({CLASSES[a], CLASSES[b]}) for a, b in pairs]
    for i in range(0, n, 15):
        labels[i] = []
    return texts, labels
