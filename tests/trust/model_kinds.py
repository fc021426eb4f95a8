"""Small fitted classifiers of every kind that a model file may hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.svm import LinearSVC

from earmark import TextClassifier, models
from earmark.decision import AbstainingClassifier
from earmark.features import HashedCounter, TextPreparation, WordCounter
from earmark.models.base.declaration import MODELS
from tests.agreement.models import lengths_mixed

WORDS = [f"w{i}" for i in range(60)]
LABELS = ("a", "b", "c")


def encoder(texts: list[str]) -> np.ndarray:
    """Counts of a few words: an encoder that needs no network."""
    return np.array([[t.count(f"{w} ") for w in WORDS[:7]] for t in texts], float)


def documents(n: int, seed: int, n_classes: int = 3) -> tuple[list[str], list[str]]:
    """Short texts whose classes prefer words of their own."""
    chooser = np.random.default_rng(seed)
    labels = [LABELS[i % n_classes] for i in range(n)]
    texts = []
    for label in labels:
        weight = np.ones(len(WORDS))
        start = 20 * LABELS.index(label)
        weight[start : start + 20] *= 5
        texts.append(" ".join(chooser.choice(WORDS, 12, p=weight / weight.sum())))
    return texts, labels


TEXTS, _ = documents(5, seed=9)
MAIL = [f"Subject: {text}\n\n{text}" for text in TEXTS]
REGIONS = {"subject": TEXTS, "body": TEXTS}


# What stands for a name: a quick setting, or another's estimator.
_ESTIMATORS = {
    "hierarchical": models.HierarchicalBayes(n_restarts=2),
    "LinearSVC": LinearSVC(random_state=0),
}


def named(name: str, n_classes: int, features: object = None) -> TextClassifier:
    """A registered model, fitted."""
    X, y = documents(45, 0, n_classes)
    model = _ESTIMATORS.get(name, name)
    pool = documents(700, 1, n_classes)[0] if name == "semi-supervised" else None
    classifier = TextClassifier(model, features=features, random_state=0)
    return classifier.fit(X, y, unlabelled=pool)


N_HASHED = 61
"""Columns of hashed kinds; nothing else in their files is as large."""


def hashed(name: str) -> TextClassifier:
    """A registered model on hashed columns, whose number is all that a file says."""
    features = HashedCounter(n_features=N_HASHED, alternate_sign=False, norm=None)
    return named(name, 3, features)


def _other_kinds() -> dict[str, Callable[[], TextClassifier]]:
    X, y = documents(45, 0)
    held_out = documents(60, 2)
    several = [[label] if i % 4 else [label, "c"] for i, label in enumerate(y)]
    mail = [f"Subject: {x}\n\n{x}" for x in X]
    regions = {"subject": X, "body": X}
    pool = documents(700, 1)[0]
    characters = WordCounter(analyzer="char_wb", ngram_range=(1, 3))
    prepared = WordCounter(preprocessor=TextPreparation(substitutions=("number",)))

    def fit(model: object, X: object = X, y: object = y, **more: object) -> object:
        options = {k: more.pop(k) for k in list(more) if k in _OPTIONS}
        return TextClassifier(model, **options).fit(X, y, **more)

    return {
        "multinomial, promise": lambda: fit(
            "multinomial", max_error=0.2, calibration=held_out
        ),
        "svm, promise": lambda: fit(
            LinearSVC(random_state=0), max_error=0.2, calibration=held_out
        ),
        "multinomial, learned confidence": lambda: fit(
            "multinomial", *lengths_mixed(200, 9), learn_confidence=True
        ),
        "abstaining": lambda: fit(
            AbstainingClassifier(models.MultinomialNaiveBayes(), max_error=0.3)
        ),
        "multinomial, novelty": lambda: fit(
            "multinomial", max_novelty=0.2, max_error=0.2, calibration=held_out
        ),
        "svm, several labels": lambda: fit(LinearSVC(random_state=0), y=several),
        "multinomial, several labels": lambda: fit("multinomial", y=several),
        "hybrid, regions": lambda: fit("hybrid", X=regions),
        "multinomial, mail": lambda: fit("multinomial", X=mail, regions="email"),
        "softmax, mail": lambda: fit("softmax", X=mail, regions="email"),
        "softmax, signed": lambda: fit(
            "softmax", features=HashedCounter(n_features=64)
        ),
        "softmax, characters": lambda: fit("softmax", features=characters),
        "complement, prepared": lambda: fit("complement", features=prepared),
        "complement, numbers": lambda: fit("complement", y=[ord(v) for v in y]),
        "gaussian": lambda: fit(models.GaussianNaiveBayes()),
        "semi-supervised naive Bayes": lambda: fit(models.SemiSupervisedNaiveBayes()),
        "svm": lambda: fit(LinearSVC(random_state=0)),
        "ridge": lambda: fit(RidgeClassifier()),
        "stochastic descent": lambda: fit(SGDClassifier(random_state=0)),
        "logistic regression": lambda: fit(LogisticRegression()),
        "encoder": lambda: fit(
            "semi-supervised", encoder=encoder, unlabelled=pool, random_state=0
        ),
    }


_OPTIONS = (
    "max_error",
    "max_novelty",
    "learn_confidence",
    "regions",
    "features",
    "encoder",
    "random_state",
)


def kinds() -> Iterator[tuple[str, Callable[[], TextClassifier]]]:
    """Name and maker of each kind."""
    for name in MODELS.names():
        yield name, lambda name=name: named(name, 3)
        yield f"{name}, hashed", lambda name=name: hashed(name)
    for name in ("softmax", "linear", "hybrid", "mlp", "rocchio", "knn"):
        yield f"{name}, two classes", lambda name=name: named(name, 2)
    yield from _other_kinds().items()


def classifiers() -> Iterator[tuple[str, TextClassifier]]:
    """Each kind, fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in kinds():
            yield name, make()


def questions(name: str) -> object:
    """Documents that a classifier of this kind can be asked about."""
    if "mail" in name:
        return MAIL
    return REGIONS if "regions" in name else TEXTS
