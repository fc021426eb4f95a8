"""Opening a project: documents, settings, what was answered before."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from earmark.apps.label.session import Session
from earmark.apps.label.store import Store
from earmark.documents import Documents
from earmark.exceptions import DataError
from earmark.pipeline import TextClassifier
from earmark.pipeline.labelling import LabellingLoop
from earmark.typing import FloatMatrix

__all__ = ["claim", "fingerprint", "named_model", "open_project"]


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


def open_project(
    documents: Documents,
    folder: Path,
    *,
    labels: Sequence[str] = (),
    any_of: bool = False,
    model: str = "blend",
    check_share: float = 0.2,
    max_error: float = 0.05,
    overlap: float = 0.0,
    start: TextClassifier | None = None,
    seed: int = 0,
) -> Session:
    """A session on a new project, or on one that goes on.

    Labels that the documents bring along are taken over as answers, once. A share
    of ``overlap`` of the documents, drawn at random, is asked of two people. A model
    to ``start`` from brings its labels along.
    """
    if len(documents) < 2:
        raise DataError(f"{documents.source}: expected at least two documents.")
    loop = LabellingLoop(
        documents.joined(),
        any_of=any_of,
        model=model,
        check_share=check_share,
        max_error=max_error,
        start=None if start is None else _started(start, documents),
        random_state=seed,
    )
    store = Store(
        folder,
        {
            "documents": fingerprint(documents),
            "several labels": any_of,
            "share of checks": check_share,
            "seed": seed,
        },
    )
    known = [] if start is None else list(map(str, start.classes_.tolist()))
    store.add_labels([*labels, *known], again=False)
    _take_over(documents, store, any_of)
    order = np.random.default_rng([seed, 2]).permutation(len(documents))
    twice = order[: round(overlap * len(documents))]
    return Session(documents, loop, store, twice.tolist())


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


def named_model(documents: Documents, labels: Sequence[str]) -> TextClassifier:
    """A model from nothing but the documents and the names of the labels."""
    return TextClassifier(random_state=0).fit(documents.texts, classes=list(labels))
