"""Exercise 14.5: three languages to learn, and a fourth that nobody announced.

The texts are Django's message catalogues: the same messages in a hundred languages,
written by people. ``make reproduce`` installs Django (dependency group "reproduce"); it
is also looked for where EARMARK_DJANGO names its folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from earmark.decision import AnyOfClassifier
from earmark.models import NeighborsClassifier, RocchioClassifier
from earmark.typing import SparseMatrix
from reproductions.vector_space.features import vectors

__all__ = ["catalogue", "find_django", "one_of_and_any_of"]

KNOWN = ("en", "es", "fr")
FOURTH = ("pt", "de", "fi")
_PER_LANGUAGE = 100
_PER_DOCUMENT = 2
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLACEHOLDER = re.compile(r"%\([^)]*\)\w|%\w|\{[^}]*\}|<[^>]*>|&\w+;|\\[nt]")


def find_django() -> Path | None:
    """The folder of the Django package, or None."""
    given = os.environ.get("EARMARK_DJANGO")
    if given:
        return Path(given)
    spec = find_spec("django")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def catalogue(django: Path, language: str) -> dict[str, str]:
    """English message -> the language's; the messages themselves for "en"."""
    folder = "fr" if language == "en" else language
    messages: dict[str, str] = {}
    for file in sorted(django.glob(f"**/locale/{folder}/LC_MESSAGES/*.po")):
        for entry in file.read_text(encoding="utf-8").split("\n\n"):
            source, translated = (_field(entry, name) for name in ("msgid", "msgstr"))
            text = source if language == "en" else translated
            if source and text and "#, fuzzy" not in entry:
                messages[source] = _PLACEHOLDER.sub(" ", text)
    return messages


def one_of_and_any_of(seed: int = 0) -> dict[str, Any]:
    """Both kinds of classifier on 3 x 100 training and 4 x 100 test documents.

    Messages of the training documents are not those of the test documents, in any
    language. Features are the terms of two and three characters inside words.
    """
    django = find_django()
    if django is None:
        return {
            "not run": "Django was not found; install it (pip install --group "
            "reproduce, or pip install django) or set EARMARK_DJANGO to its folder."
        }
    found: dict[str, Any] = {"languages": list(KNOWN)}
    for fourth in FOURTH:
        found[f"fourth language {fourth}"] = _experiment(django, fourth, seed)
    return found


def _experiment(django: Path, fourth: str, seed: int) -> dict[str, Any]:
    languages = (*KNOWN, fourth)
    messages = {each: catalogue(django, each) for each in languages}
    shared = sorted(set.intersection(*(set(m) for m in messages.values())))
    shared = [source for source in shared if len(source) > 15]
    order = np.random.default_rng(seed).permutation(len(shared))
    half = len(shared) // 2
    train, train_labels = _documents(messages, KNOWN, shared, order[:half])
    test, test_labels = _documents(messages, languages, shared, order[half:])
    X, X_test = vectors(train, test, analyzer="char_wb", ngram_range=(2, 3))
    truth = np.array(test_labels)
    nearest = RocchioClassifier(metric="cosine")
    ask = _Question(X, train_labels, X_test, truth, truth != fourth)
    return {
        "test documents": {each: test_labels.count(each) for each in languages},
        "one-of": {
            "Rocchio": ask.one_of(nearest),
            "kNN": ask.one_of(NeighborsClassifier(10, random_state=0)),
        },
        "any-of": {
            "Rocchio, class against rest": ask.any_of(nearest),
            "Rocchio, radius around the class": ask.any_of(
                RocchioClassifier(metric="cosine", rule="radius")
            ),
            "kNN": ask.any_of(NeighborsClassifier(10, random_state=0)),
        },
    }


def _documents(
    messages: dict[str, dict[str, str]],
    languages: tuple[str, ...],
    shared: list[str],
    order: Any,
) -> tuple[list[str], list[str]]:
    """A hundred documents of two messages each in every language."""
    texts, labels = [], []
    for language in languages:
        for d in range(_PER_LANGUAGE):
            places = [
                (d * _PER_DOCUMENT + i) % len(order) for i in range(_PER_DOCUMENT)
            ]
            texts.append(" ".join(messages[language][shared[order[p]]] for p in places))
            labels.append(language)
    return texts, labels


@dataclass(frozen=True)
class _Question:
    X: SparseMatrix
    labels: list[str]
    test: SparseMatrix
    truth: Any
    is_known: Any

    def one_of(self, model: Any) -> dict[str, Any]:
        """How often right, and what the fourth language is taken for."""
        given = model.fit(self.X, self.labels).predict(self.test)
        names, counts = np.unique(given[~self.is_known], return_counts=True)
        return {
            "right on the three languages": _share(
                (given == self.truth)[self.is_known]
            ),
            "fourth language taken for": dict(
                zip(names.tolist(), counts.tolist(), strict=True)
            ),
        }

    def any_of(self, model: Any) -> dict[str, Any]:
        """The same with a yes or no for every language."""
        fitted = AnyOfClassifier(model).fit(self.X, [[c] for c in self.labels])
        given = fitted.predict(self.test)
        exact = np.array(
            [said == (c,) for said, c in zip(given, self.truth, strict=True)]
        )
        n_labels = np.array([len(said) for said in given])[~self.is_known]
        return {
            "exactly right on the three languages": _share(exact[self.is_known]),
            "fourth language: no label": _share(n_labels == 0),
            "fourth language: several labels": _share(n_labels > 1),
        }


def _share(hits: Any) -> float:
    return float(np.mean(hits))


def _field(entry: str, name: str) -> str:
    """The strings after msgid or msgstr, joined."""
    lines = entry.splitlines()
    for number, line in enumerate(lines):
        if line.startswith((f"{name} ", f"{name}[0] ")):
            text = [line]
            for following in lines[number + 1 :]:
                if not following.startswith('"'):
                    break
                text.append(following)
            return "".join(m for each in text for m in _STRING.findall(each))
    return ""
