"""Opening a project: documents, settings, what was answered before."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from earmark.apps.label.session import Session
from earmark.apps.label.store import Store
from earmark.documents import Documents
from earmark.exceptions import DataError
from earmark.pipeline import TextClassifier
from earmark.pipeline.labelling import LabellingLoop
from earmark.typing import FloatMatrix

__all__ = ["claim", "described", "fingerprint", "open_project", "read_labels"]

_LABEL_COLUMNS = ("label", "description", "group", "key")


def claim(folder: Path) -> Any:
    """Hold the project for this process, until the answer is closed or the end.

    A project that another process holds is a DataError: each would ask for the same
    documents. Where the system has no such locks, nothing is held.
    """
    try:
        import fcntl
    except ImportError:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    held = (folder / "in-use").open("w")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.close()
        raise DataError(
            f"{folder}: this project is open in another `earmark label`; use its page, "
            "or end it first."
        ) from None
    return held


def fingerprint(documents: Documents) -> str:
    """A digest of the texts, so that answers never meet other documents."""
    digest = hashlib.sha256()
    for text in documents.joined("\x1f"):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


def read_labels(path: Path) -> list[dict[str, str]]:
    """Labels from a table: a column ``label``; description, group and key if given."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        unknown = sorted(set(table.fieldnames or ()) - set(_LABEL_COLUMNS))
        if unknown or "label" not in (table.fieldnames or ()):
            raise DataError(
                f"{path}: expected the columns {', '.join(_LABEL_COLUMNS)} (the first "
                f"at least), got {', '.join(table.fieldnames or ()) or 'nothing'}."
            )
        return [{k: (v or "").strip() for k, v in row.items()} for row in table]


def described(store: Store) -> dict[str, list[str]]:
    """Names and descriptions of the labels that have one, as class names."""
    return {
        row["name"]: [row["name"], row["description"]]
        for row in store.label_facts()
        if row["description"]
    }


def open_project(
    documents: Documents,
    folder: Path,
    *,
    labels: Sequence[str] | Sequence[Mapping[str, str]] = (),
    any_of: bool = False,
    model: str = "blend",
    check_share: float = 0.2,
    max_error: float = 0.05,
    overlap: float = 0.0,
    start: TextClassifier | Literal["names"] | None = None,
    seed: int = 0,
) -> Session:
    """A session on a new project, or on one that goes on.

    Labels that the documents bring along are taken over as answers, once. A share
    of ``overlap`` of the documents, drawn at random, is asked of two people. A model
    to ``start`` from brings its labels along; "names" makes one from nothing but the
    documents and the names and descriptions of the labels.
    """
    if len(documents) < 2:
        raise DataError(f"{documents.source}: expected at least two documents.")
    facts = {
        "documents": fingerprint(documents),
        "several labels": any_of,
        "share of checks": check_share,
        "seed": seed,
    }
    store = Store(folder, facts)
    try:
        _make_labels(store, labels)
        if start == "names":
            start = _named_model(documents, store)
        elif start is not None:
            store.add_labels(map(str, start.classes_.tolist()), again=False)
        _take_over(documents, store, any_of)
        loop = LabellingLoop(
            documents.joined(),
            any_of=any_of,
            model=model,
            check_share=check_share,
            max_error=max_error,
            start=None if start is None else _started(start, documents),
            random_state=seed,
        )
    except BaseException:
        store.close()
        raise
    order = np.random.default_rng([seed, 2]).permutation(len(documents))
    twice = order[: round(overlap * len(documents))]
    return Session(documents, loop, store, twice.tolist())


def _make_labels(
    store: Store, labels: Sequence[str] | Sequence[Mapping[str, str]]
) -> None:
    """Make labels; what was said of one on the page counts before the table."""
    rows = [{"label": row} if isinstance(row, str) else dict(row) for row in labels]
    store.add_labels([row["label"] for row in rows], again=False)
    known = {facts["name"]: facts for facts in store.label_facts()}
    for row in rows:
        facts = known.get(row["label"])
        if facts is not None:
            new = {k: facts[k] or row.get(k, "") for k in _LABEL_COLUMNS[1:]}
            if any(facts[k] != value for k, value in new.items()):
                store.describe_label(facts["name"], **new)


def _take_over(documents: Documents, store: Store, any_of: bool) -> None:
    if documents.labels is None:
        return
    answers = [
        (row, tuple(label) if any_of else (label,))
        for row, label in enumerate(documents.labels)
        if label is not None
    ]
    names = sorted({name for _, labels in answers for name in labels})
    store.add_labels(names, again=False)
    store.write("from-the-data", answers, "data", "data")


def _started(
    model: TextClassifier, documents: Documents
) -> tuple[list[str], FloatMatrix]:
    """Labels of a model, and what it says of every document."""
    log_proba = model.predict_log_proba(documents.texts)
    # Never so sure that no answer could change it.
    floor = np.log(1e-6)
    return list(map(str, model.classes_.tolist())), np.maximum(log_proba, floor)


def _named_model(documents: Documents, store: Store) -> TextClassifier:
    """A model from the documents and what the labels are called and mean."""
    labels = store.labels()
    names = {name: [name] for name in labels} | described(store)
    return TextClassifier(class_names=names, random_state=0).fit(
        documents.texts, classes=labels
    )
