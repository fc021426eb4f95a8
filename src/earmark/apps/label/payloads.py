"""What the page is told, as plain data."""

from __future__ import annotations

import numpy as np

from earmark.apps.label.session import Session
from earmark.evaluation.learning_curve import fit_power_laws
from earmark.pipeline.labelling import View
from earmark.typing import JsonObject

__all__ = ["document_data", "state_data"]

_SCORES_SHOWN = 6
_POINTS_SHOWN = 150
# Labels that the advice looks ahead, what of it is little (in points), and from how
# many checks and points on it is given.
_MORE_LABELS = 60
_LITTLE = 1.0
_FEWEST_CHECKS = 20
_FEWEST_POINTS = 6
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
    labels, curve = session.store.label_facts(), session.store.curve()
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
        "promise": (promise := _promise(session, view)),
        "advice": _advice(session, promise, curve),
        "curve": _thinned(curve),
    }


def _thinned(points: list[JsonObject]) -> list[JsonObject]:
    """As many points as a small picture can show, the last one always."""
    step = max(1, len(points) // _POINTS_SHOWN)
    return [*points[:-1:step], *points[-1:]]


def _promise(session: Session, view: View) -> JsonObject:
    loop = session.loop
    data: JsonObject = {
        "max_error": loop.max_error,
        "confidence": loop.confidence,
        "holds": False,
        "coverage": 0.0,
        "acceptable": 0,
        "missing": None,
        "words": "Answer a few documents first.",
    }
    if view.threshold is None and view.granted is None:
        return data
    return data | {
        "holds": view.granted is not None,
        "coverage": float(view.guaranteed().mean()),
        "acceptable": int(session.acceptable(view).sum()),
        "missing": _missing(view),
        "words": _words(view, loop.max_error),
    }


def _missing(view: View) -> int | None:
    """Random checks until there may be a promise; None: not by checks alone."""
    threshold = view.threshold
    if view.granted is not None or threshold is None or threshold.n_missing is None:
        return None
    return max(threshold.n_missing, view.next_look - view.estimate.n_documents, 1)


def _advice(session: Session, promise: JsonObject, curve: list[JsonObject]) -> str:
    """What to do next and what it brings, in a sentence or three."""
    estimate, limit = session.view.estimate, f"{100 * promise['max_error']:g} %"
    if session.view.fitted is None:
        return "Label documents of at least two classes; the model learns from then on."
    if len(session.entries) == len(session.documents) and not session.disputed:
        return "Every document has an answer: export the labels or a model."
    words = []
    gain = _gain(curve, estimate.n_documents)
    if gain is not None:
        brings = f"bring about {100 * gain:.1f} points of accuracy"
        if 100 * gain < _LITTLE:
            brings = f"bring less than {_LITTLE:g} point of accuracy"
        words.append(f"Another {_MORE_LABELS} labels {brings}")
    else:
        missing = max(_FEWEST_CHECKS - estimate.n_documents, 1)
        words.append(
            f"Go on: about {round(missing / max(session.loop.check_share, 0.01)):,} "
            "more answers show what more labels bring"
        )
    if promise["holds"]:
        n = promise["acceptable"]
        words.append(
            f"the promise of {limit} covers {n:,} open documents: accept them"
            if n
            else f"every document that the promise of {limit} covers has a label"
        )
    elif promise["missing"]:
        checks = _more_checks(promise["missing"])
        words.append(f"the promise of {limit} needs about {checks}")
    else:
        words.append(f"the promise of {limit} needs a better model first")
    if session.disputed:
        words.append(f"{len(session.disputed):,} disagreements are to be settled")
    if promise["holds"] and gain is not None and 100 * gain < _LITTLE:
        words.append("you can stop")
    return "; ".join(words) + "."


def _gain(curve: list[JsonObject], n_checks: int) -> float | None:
    """How much accuracy some more labels bring, by a power law; None: too early."""
    points = [p for p in curve if p["n_checks"] >= _FEWEST_CHECKS // 2]
    if n_checks < _FEWEST_CHECKS or len(points) < _FEWEST_POINTS:
        return None
    sizes = np.asarray([p["n_answers"] for p in points], dtype=np.float64)
    errors = np.asarray([[1 - p["accuracy"] for p in points]])
    (law,) = fit_power_laws(sizes, errors, [p["n_checks"] for p in points])
    now, then = law.error([sizes[-1], sizes[-1] + _MORE_LABELS])
    return float(max(now - then, 0.0))


def _more_checks(number: int) -> str:
    return f"{number:,} more random {'check' if number == 1 else 'checks'}"


def _words(view: View, max_error: float) -> str:
    wrong = f"{100 * max_error:g} %"
    if view.granted is not None:
        learned = view.granted.n_learned
        again = max(view.next_look - view.estimate.n_documents, 1)
        return (
            f"At most {wrong} of the predictions it was certain of after {learned:,} "
            f"answers are wrong. Looked at again after {_more_checks(again)}."
        )
    missing = _missing(view)
    if missing is None:
        return (
            f"Even its most certain predictions are wrong more often than {wrong}: "
            "the model must get better first. Go on labelling."
        )
    return (
        f"About {_more_checks(missing)} until at most {wrong} wrong can be promised "
        "for a part of the documents."
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
