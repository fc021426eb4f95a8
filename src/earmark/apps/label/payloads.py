"""What the page is told, as plain data."""

from __future__ import annotations

import numpy as np

from earmark.apps.label.session import Session
from earmark.decision.guarantee import Threshold
from earmark.pipeline.labelling import View
from earmark.typing import JsonObject

__all__ = ["document_data", "state_data"]

_SCORES_SHOWN = 6
_POINTS_SHOWN = 150
# Words with less than this share of the strongest one's weight are left plain.
_FAINT = 0.12


def state_data(session: Session) -> JsonObject:
    """Progress, labels, estimate and promise."""
    view, loop = session.view, session.loop
    entries = list(session.entries.values())
    counts: dict[str, int] = {}
    for entry in entries:
        if entry.how != "bulk":
            for label in entry.labels or ():
                counts[label] = counts.get(label, 0) + 1
    labels = session.store.label_facts()
    return {
        "documents": len(session.documents),
        "source": session.documents.source,
        "any_of": loop.any_of,
        "labels": [label | {"count": counts.get(label["name"], 0)} for label in labels],
        "answered": sum(e.labels is not None and e.how != "bulk" for e in entries),
        "skipped": sum(e.labels is None for e in entries),
        "accepted": sum(e.how == "bulk" for e in entries),
        "disputed": len(session.disputed),
        "version": view.version,
        "learning": session.is_learning,
        "learned": view.n_learned,
        "estimate": {
            "accuracy": view.estimate.accuracy,
            "low": view.estimate.low,
            "high": view.estimate.high,
            "checks": view.estimate.n_documents,
            "waiting": session.loop.n_checks_waiting,
        },
        "promise": _promise(session, view),
        "curve": _thinned(session.store.curve()),
    }


def _thinned(points: list[JsonObject]) -> list[JsonObject]:
    """As many points as a small picture can show, the last one always."""
    step = max(1, len(points) // _POINTS_SHOWN)
    return [*points[:-1:step], *points[-1:]]


def _promise(session: Session, view: View) -> JsonObject:
    loop, threshold = session.loop, view.threshold
    data: JsonObject = {
        "max_error": loop.max_error,
        "confidence": loop.confidence,
        "holds": False,
        "coverage": 0.0,
        "acceptable": 0,
        "missing": None,
        "words": "Answer a few documents first.",
    }
    if threshold is None:
        return data
    return data | {
        "holds": view.granted is not None,
        "coverage": float(view.guaranteed().mean()),
        "acceptable": int(session.acceptable(view).sum()),
        "missing": None if view.granted else threshold.n_missing,
        "words": _words(view, threshold),
    }


def _words(view: View, threshold: Threshold) -> str:
    wrong = f"{100 * threshold.max_error:g} %"
    again = max(view.next_look - view.estimate.n_documents, 1)
    checks = f"{again:,} more random {'check' if again == 1 else 'checks'}"
    if view.granted is not None:
        learned = view.granted.n_learned
        return (
            f"At most {wrong} of the predictions it was certain of after {learned:,} "
            f"answers are wrong. Looked at again after {checks}."
        )
    if threshold.n_missing is None:
        return (
            f"Even its most certain predictions are wrong more often than {wrong}: "
            "the model must get better first. Go on labelling."
        )
    return (
        f"About {max(threshold.n_missing, again):,} more random checks until at most "
        f"{wrong} wrong can be promised for a part of the documents."
    )


def document_data(
    session: Session, document: int, why: str, *, person: str = ""
) -> JsonObject:
    """One document with the model's guess and the words behind it.

    The guess on a random check stays hidden until it is answered: seeing it would
    sway the answer, and the estimate with it. So do others' answers to a document
    that two people answer.
    """
    view, loop = session.view, session.loop
    documents = session.documents
    texts = documents.texts
    parts = (
        {name: column[document] for name, column in texts.items()}
        if isinstance(texts, dict)
        else {"": texts[document]}
    )
    entry = session.entries.get(document)
    said = session.said.get(document, {})
    if document in session.disputed or not session.may_see(document, person):
        entry = said.get(person)  # one's own answer, if any
    answer = None if entry is None else entry.labels
    hidden = not session.may_see(document, person)
    disputed = document in session.disputed and not hidden
    has_guess = view.fitted is not None and not hidden
    weights = loop.word_weights(document, view) if has_guess else None
    return {
        "document": document,
        "row": documents.rows[document] if documents.rows else document + 1,
        "id": None if documents.ids is None else str(documents.ids[document]),
        "why": why,
        "unlike": view.is_unlike_known("\n".join(parts.values())),
        "hidden": hidden,
        "given": None if answer is None else list(answer),
        "how": None if entry is None else entry.how,
        "person": None if entry is None else entry.person,
        "twice": document in session.overlap,
        "said": {who: list(e.labels or ()) for who, e in said.items()}
        if disputed
        else None,
        "notes": session.store.notes(document),
        "guess": _guess(view, document) if has_guess else None,
        "parts": [
            {
                "name": name,
                "text": text,
                "spans": []
                if weights is None
                else _strongest(loop.collection.spans(text, weights)),
            }
            for name, text in parts.items()
        ],
    }


def _guess(view: View, document: int) -> JsonObject:
    assert view.fitted is not None
    proba = np.exp(view.fitted.log_proba[document])
    order = np.argsort(-proba, kind="stable")[:_SCORES_SHOWN]
    return {
        "labels": list(view.guesses(np.asarray([document]))[0]),
        "confidence": float(view.confidence[document]),
        "scores": [[view.fitted.classes[c], float(proba[c])] for c in order],
    }


def _strongest(spans: list[tuple[int, int, float]]) -> list[list[float]]:
    """Spans with weights from -1 to 1, without the faint ones."""
    largest = max((abs(weight) for _, _, weight in spans), default=0.0)
    if not largest:
        return []
    return [
        [start, end, round(weight / largest, 3)]
        for start, end, weight in spans
        if abs(weight) > _FAINT * largest
    ]
