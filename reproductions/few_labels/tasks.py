"""The corpora and their splits, fixed in the code; test texts are never learned."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from earmark.documents import docstring_corpus, load_corpus, stratified_split
from earmark.typing import Labels

__all__ = [
    "DEVELOPMENT",
    "SHORT",
    "UNTOUCHED",
    "Task",
    "is_large",
    "load_task",
    "sampled",
    "untouched_tasks",
]

# Sections of Debian that say what a program is for.
_SECTIONS = (
    *("admin", "database", "editors", "electronics", "fonts", "games", "graphics"),
    *("mail", "math", "net", "science", "sound", "text", "video", "web", "x11"),
)


@dataclass(frozen=True)
class Task:
    """Texts and labels of one task."""

    name: str
    train: list[str]
    y: Labels
    test: list[str]
    y_test: Labels


@lru_cache(maxsize=1)
def load_task(name: str) -> Task:
    """A task by name; the last one stays in memory."""
    return _MAKERS[name](name)


def is_large(name: str) -> bool:
    """Whether a task has so many documents or classes that it gets fewer draws."""
    return name in ("20ng", "r52")


def untouched_tasks() -> tuple[str, ...]:
    """Tasks that played no part in choosing anything; one needs Debian's lists."""
    return tuple(n for n in UNTOUCHED if n != "debian" or shutil.which("apt-cache"))


def _official(corpus: str) -> Callable[[str], Task]:
    def make(name: str) -> Task:
        train, test = (load_corpus(corpus, split) for split in ("train", "test"))
        return Task(name, *_pair(train), *_pair(test))

    return make


def _pair(documents: Any) -> tuple[list[str], Labels]:
    return list(documents.texts), np.asarray(documents.labels)


def _parts(name: str, texts: list[str], y: Any, test_size: float | int) -> Task:
    """A fixed stratified split."""
    labels = np.asarray(y)
    train, test = stratified_split(labels, test_size, random_state=0)
    return Task(
        name,
        [texts[i] for i in train],
        labels[train],
        [texts[i] for i in test],
        labels[test],
    )


def sampled(task: Task, n_train: int, n_test: int) -> Task:
    """Some documents of each part, in proportion."""
    return Task(
        task.name,
        *_some(task.train, task.y, n_train),
        *_some(task.test, task.y_test, n_test),
    )


def _some(texts: list[str], y: Labels, n: int) -> tuple[list[str], Labels]:
    if n >= len(texts):
        return texts, y
    _, rows = stratified_split(y, n, random_state=0)
    return [texts[i] for i in rows], y[rows]


def _newsgroups(name: str) -> Task:
    parts: list[Any] = []
    for split in ("train", "test"):
        documents = load_corpus("20newsgroups", split, regions=["subject", "body"])
        columns: Any = documents.texts
        rows = zip(columns["subject"], columns["body"], strict=True)
        parts += [["\n".join(row) for row in rows], np.asarray(documents.labels)]
    return Task(name, *parts)


def _newsgroup_subjects(name: str) -> Task:
    parts: list[Any] = []
    for split in ("train", "test"):
        documents = load_corpus("20newsgroups", split)
        subjects = [
            re.sub(r"(?i)\bre:\s*", "", s) for s in documents.columns["subject"]
        ]
        parts += [subjects, np.asarray(documents.labels)]
    return sampled(Task(name, *parts), 6000, 3000)


def _imdb(name: str) -> Task:
    return sampled(_official("imdb")(name), 6000, 4000)


def _imdb_sentences(name: str) -> Task:
    whole = sampled(_official("imdb")(name), 8000, 3000)
    rng = np.random.default_rng(0)

    def sentence(text: str) -> str:
        plain = re.sub(r"<[^>]+>", " ", text)
        found = [s for s in re.split(r"(?<=[.!?])\s+", plain) if len(s.split()) >= 4]
        return str(found[rng.integers(len(found))]) if found else plain

    train, test = ([sentence(t) for t in part] for part in (whole.train, whole.test))
    return Task(name, train, whole.y, test, whole.y_test)


def _sms(name: str) -> Task:
    documents = load_corpus("sms")
    return _parts(name, list(documents.texts), documents.labels, 0.3)


def _trec_fine(name: str) -> Task:
    """Fine question types with at least 6 training documents."""
    parts: list[Any] = []
    for split in ("train", "test"):
        documents = load_corpus("trec", split)
        parts += [list(documents.texts), np.asarray(documents.columns["label_fine"])]
    labels, sizes = np.unique(parts[1], return_counts=True)
    kept = labels[sizes >= 6]
    for i in (0, 2):
        rows = np.flatnonzero(np.isin(parts[i + 1], kept))
        parts[i : i + 2] = [parts[i][r] for r in rows], parts[i + 1][rows]
    return Task(name, *parts)


def _ag_news(columns: tuple[str, ...]) -> Callable[[str], Task]:
    def make(name: str) -> Task:
        documents = load_corpus("ag-news")
        rows = zip(*(documents.columns[c] for c in columns), strict=True)
        return _parts(name, [" ".join(row) for row in rows], documents.labels, 2000)

    return make


def _reuters_titles(name: str) -> Task:
    """Titles of stories with exactly one topic, one of the eight of R8."""
    topics = {"acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade"}
    parts: list[Any] = []
    for split in ("train", "test"):
        documents = load_corpus("reuters21578", split)
        titles = documents.columns["title"]
        rows = [
            i
            for i, label in enumerate(documents.labels or [])
            if len(label) == 1 and label[0] in topics and titles[i].strip()
        ]
        labels: Any = documents.labels
        parts += [[titles[i] for i in rows], np.array([labels[i][0] for i in rows])]
    return Task(name, *parts)


def _docstrings(name: str) -> Task:
    """Every package with at least 100 docstrings."""
    documents = docstring_corpus()
    texts: Any = documents.texts
    columns = texts.values() if isinstance(texts, Mapping) else (texts,)
    joined = ["\n".join(row) for row in zip(*columns, strict=True)]
    y = np.asarray(documents.labels)
    labels, sizes = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, labels[sizes >= 100]))
    return _parts(name, *_some([joined[i] for i in rows], y[rows], 9000), 0.3)


def _debian(name: str) -> Task:
    """One-line descriptions of Debian packages, by section: programs, no libraries."""
    listed = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, str] = {}
    for entry in listed.split("\n\n"):
        fields = dict(re.findall(r"(?m)^(Section|Description): (.+)$", entry))
        if fields.get("Section") in _SECTIONS and "Description" in fields:
            found.setdefault(fields["Description"], fields["Section"])
    texts = sorted(found)
    y = np.asarray([found[text] for text in texts])
    return _parts(name, *_some(texts, y, 9000), 0.3)


def _term_numbers(corpus: str) -> Callable[[str], Task]:
    def make(name: str) -> Task:
        documents = load_corpus(corpus)
        return _parts(name, list(documents.texts), documents.labels, 0.3)

    return make


_MAKERS: Mapping[str, Callable[[str], Task]] = {
    "20ng": _newsgroups,
    "r8": _official("r8"),
    "r52": _official("r52"),
    "webkb": _official("webkb"),
    "imdb": _imdb,
    "sms": _sms,
    "trec": _official("trec"),
    "trec-fine": _trec_fine,
    "20ng-subjects": _newsgroup_subjects,
    "ag-titles": _ag_news(("title",)),
    "ag-descriptions": _ag_news(("title", "description")),
    "reuters-titles": _reuters_titles,
    "imdb-sentences": _imdb_sentences,
    "docstrings": _docstrings,
    "debian": _debian,
    "cora": _term_numbers("cora"),
    "citeseer": _term_numbers("citeseer"),
}
DEVELOPMENT = ("20ng", "r8", "r52", "webkb", "imdb", "sms", "trec")
SHORT = (
    "trec-fine",
    "20ng-subjects",
    "ag-titles",
    "ag-descriptions",
    "reuters-titles",
    "sms",
    "imdb-sentences",
)
# These played no part in choosing anything.
UNTOUCHED = ("docstrings", "debian", "cora", "citeseer")
