"""Looking around: search, filters, suspected errors, cells of the confusion table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.apps.label.session import Session
from earmark.evaluation.label_errors import suspected_label_errors

__all__ = ["Browser", "Question"]

_PAGE = 50
_SNIPPET = 280


@dataclass(frozen=True)
class Question:
    """What to list.

    Attributes
    ----------
    search : str
        Words that the text must hold, in any case.
    show : str
        all, open (nobody answered), answered, accepted, sure (with the promise) or
        suspects (answers that the other documents contradict).
    guess, given : str or None
        Only documents with this guess, or this answer.
    page : int
        From 0.

    """

    search: str = ""
    show: str = "all"
    guess: str | None = None
    given: str | None = None
    page: int = 0


class Browser:
    """Lists documents of a session; what is costly is kept for one state."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lower: list[str] | None = None
        self._left_out: tuple[int, Any] | None = None

    def listed(self, question: Question) -> dict[str, Any]:
        """One page of documents and how many there are in all."""
        session, view = self.session, self.session.view
        if question.show == "suspects":
            rows, notes = self._suspects()
        else:
            rows, notes = np.arange(len(session.documents)), {}
            rows = rows[self._mask(question)]
        guesses = view.guesses(rows)
        kept = [
            (int(row), guess)
            for row, guess in zip(rows, guesses, strict=True)
            if self._fits(int(row), guess, question)
        ]
        start = question.page * _PAGE
        return {
            "total": len(kept),
            "page": question.page,
            "pages": -(-len(kept) // _PAGE),
            "documents": [
                self._line(row, guess, notes.get(row))
                for row, guess in kept[start : start + _PAGE]
            ],
        }

    def confusion(self) -> dict[str, Any]:
        """Answers against guesses that did not know them.

        Checks are guessed by the model, which never learned from them; the others
        by a model without the document.
        """
        session = self.session
        names = session.store.labels()
        place = {name: i for i, name in enumerate(names)}
        table = np.zeros((len(names), len(names)), dtype=int)
        if session.loop.any_of:
            return {"labels": names, "table": table.tolist(), "any_of": True}
        n_picked = 0
        for document, guess in self._unseen_guesses().items():
            answer = session.loop.answers.get(document)
            if answer and guess in place:
                table[place[answer[0]], place[guess]] += 1
                n_picked += not session.loop.is_check[document]
        return {
            "labels": names,
            "table": table.tolist(),
            "any_of": False,
            "total": int(table.sum()),
            "picked": n_picked,
        }

    def _mask(self, question: Question) -> Any:
        session, view = self.session, self.session.view
        n = len(session.documents)
        answered = np.zeros(n, dtype=bool)
        accepted = np.zeros(n, dtype=bool)
        for document, entry in session.entries.items():
            (accepted if entry.how == "bulk" else answered)[document] = True
        return {
            "all": np.ones(n, dtype=bool),
            "open": ~answered & ~accepted,
            "answered": answered,
            "accepted": accepted,
            "sure": view.guaranteed() & ~answered & ~accepted,
        }[question.show]

    def _fits(self, row: int, guess: tuple[str, ...], question: Question) -> bool:
        entry = self.session.entries.get(row)
        if question.given is not None and (
            entry is None or question.given not in (entry.labels or ())
        ):
            return False
        if question.guess is not None:
            one_of = question.given is not None and not self.session.loop.any_of
            shown = self._unseen_guesses().get(row) if one_of else None
            if question.guess not in ((shown,) if shown else guess):
                return False
        return not question.search or question.search.lower() in self._text(row)

    def _text(self, row: int) -> str:
        if self._lower is None:
            self._lower = [t.lower() for t in self.session.documents.joined()]
        return self._lower[row]

    def _line(self, row: int, guess: tuple[str, ...], note: Any) -> dict[str, Any]:
        session = self.session
        entry = session.entries.get(row)
        hidden = bool(session.loop.is_check[row]) and not session.is_answered(row)
        text = " ".join(session.loop.collection.texts[row][: 4 * _SNIPPET].split())
        documents = session.documents
        return {
            "document": row,
            "row": documents.rows[row] if documents.rows else row + 1,
            "text": text[:_SNIPPET],
            "given": None if entry is None or entry.labels is None else entry.labels,
            "how": None if entry is None else entry.how,
            "guess": None if hidden else list(guess),
            "confidence": None if hidden else float(session.view.confidence[row]),
            "hidden": hidden,
            "note": note,
        }

    def _judged(self) -> tuple[list[int], list[str], Any]:
        """Leave-one-out (or cross-fitted) judgements, once for each state."""
        version = self.session.view.version
        if self._left_out is None or self._left_out[0] != version:
            self._left_out = (version, self.session.left_out())
        found: tuple[list[int], list[str], Any] = self._left_out[1]
        return found

    def _unseen_guesses(self) -> dict[int, str]:
        session = self.session
        documents, classes, log_proba = self._judged()
        found = {
            document: classes[c]
            for document, c in zip(
                documents,
                log_proba.argmax(axis=1) if len(documents) else (),
                strict=True,
            )
        }
        checks = [d for d in session.loop.answers if session.loop.is_check[d]]
        for document, guess in zip(
            checks,
            session.view.guesses(np.asarray(checks, dtype=np.int64)),
            strict=True,
        ):
            if guess:
                found[document] = guess[0]
        return found

    def _suspects(self) -> tuple[Any, dict[int, str]]:
        documents, classes, log_proba = self._judged()
        answers = self.session.loop.answers
        # An answer may have changed since: it is judged in the next state.
        known = [
            i for i, d in enumerate(documents) if (answers.get(d) or [""])[0] in classes
        ]
        if not known or self.session.loop.any_of:
            return np.zeros(0, dtype=np.int64), {}
        y = [answers[documents[i]][0] for i in known]
        confirmed = self.session.store.confirmed()
        suspects = suspected_label_errors(
            y,
            log_proba[known],
            classes,
            keep=[n for n, i in enumerate(known) if documents[i] in confirmed],
        )
        rows = [documents[known[s.index]] for s in suspects]
        notes = {
            row: f"{s.probability:.0%} likely wrong: others like it are {s.suggested}"
            for row, s in zip(rows, suspects, strict=True)
        }
        return np.asarray(rows, dtype=np.int64), notes
