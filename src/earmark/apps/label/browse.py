"""Looking around: search, filters, order, suspected errors, the confusion table."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from earmark.apps.label.session import Session
from earmark.apps.web.replies import Refusal
from earmark.evaluation.label_errors import suspected_label_errors
from earmark.typing import BoolVector, FloatVector, IntVector, JsonObject

__all__ = ["Browser", "Question"]

_PAGE = 50
_SNIPPET = 280
# Words before the first hit in a snippet.
_LEAD = 60


Shown = Literal[
    "all",
    "open",
    "answered",
    "skipped",
    "flagged",
    "disputed",
    "accepted",
    "sure",
    "suspects",
]


class Question(BaseModel):
    """What to list.

    ``search`` are words that the text must hold, in any case; or with ``meaning``,
    what it should be about. ``like`` orders by likeness to a document. To ``show``:
    open is unanswered, disputed where people disagree, sure what has the promise,
    suspects answers that the other documents contradict. ``guess`` and ``given``: only
    documents with this guess, or this answer.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    search: Annotated[str, Field(max_length=1000)] = ""
    meaning: bool = False
    like: Annotated[int, Field(ge=0)] | None = None
    show: Shown = "all"
    guess: str | None = None
    given: str | None = None
    sort: Literal["row", "sure", "unsure", "novel", "latest"] = "row"
    page: Annotated[int, Field(ge=0, le=10**6)] = 0


class Browser:
    """Lists documents of a session; what is costly is kept for one state."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lower: list[str] | None = None
        self._left_out: tuple[int, Any] | None = None
        self._novelty: tuple[int, FloatVector] | None = None
        self._likeness: tuple[str, FloatVector] | None = None

    def listed(self, question: Question, person: str = "") -> JsonObject:
        """One page of documents and how many there are in all."""
        rows, remarks = self.rows(question, person)
        start = question.page * _PAGE
        page = rows[start : start + _PAGE]
        flags = {n["document"]: n for n in self.session.store.notes()}
        return {
            "total": len(rows),
            "page": question.page,
            "pages": -(-len(rows) // _PAGE),
            "documents": [
                self._line(int(row), guess, person, question)
                | {"note": remarks.get(int(row)), "flag": flags.get(int(row))}
                for row, guess in zip(
                    page, self.session.view.guesses(page), strict=True
                )
            ],
        }

    def confusion(self) -> JsonObject:
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
            if answer and guess in place and answer[0] in place:
                table[place[answer[0]], place[guess]] += 1
                asked = session.entries[document].how == "asked"
                n_picked += asked and not session.loop.is_check[document]
        return {
            "labels": names,
            "table": table.tolist(),
            "any_of": False,
            "total": int(table.sum()),
            "picked": n_picked,
        }

    # -- which, and in which order ------------------------------------------------

    def rows(self, question: Question, person: str) -> tuple[IntVector, dict[int, str]]:
        """Every document that a question is about, in its order, and remarks on some.

        A document to be ``like`` that does not exist is a Refusal.
        """
        if question.like is not None and question.like >= len(self.session.documents):
            raise Refusal(404, "document", "there is no such document.")
        remarks: dict[int, str] = {}
        if question.show == "suspects":
            rows, remarks = self._suspects()
        else:
            rows = np.flatnonzero(self._mask(question.show))
        fits = [self._fits(int(row), question, person) for row in rows]
        rows = rows[np.asarray(fits, dtype=bool)]
        if question.guess is not None:
            rows = self._guessed(rows, question, person)
        return self._ordered(rows, question, person), remarks

    def _mask(self, show: str) -> BoolVector:
        session = self.session
        n = len(session.documents)

        def marked(documents: Any) -> BoolVector:
            mask = np.zeros(n, dtype=bool)
            mask[list(documents)] = True
            return mask

        entries = session.entries.items()
        answered = marked(d for d, entry in entries if entry.how != "bulk")
        accepted = marked(d for d, entry in entries if entry.how == "bulk")
        if show == "flagged":
            notes = session.store.notes()
            return marked(note["document"] for note in notes if note["flagged"])
        return {
            "all": np.ones(n, dtype=bool),
            "open": ~answered & ~accepted,
            "answered": answered,
            "skipped": marked(d for d, entry in entries if entry.labels is None),
            "disputed": marked(session.disputed),
            "accepted": accepted,
            "sure": session.view.guaranteed() & ~answered & ~accepted,
        }[show]

    def _fits(self, row: int, question: Question, person: str) -> bool:
        entry = self.session.entries.get(row)
        if question.given is not None and (
            entry is None
            or question.given not in (entry.labels or ())
            or not self.session.may_see(row, person)
        ):
            return False
        if question.meaning or not question.search:
            return row != question.like
        return question.search.lower() in self._text(row)

    def _guessed(self, rows: IntVector, question: Question, person: str) -> IntVector:
        """Those with a guess; where it is hidden, also the list does not tell."""
        one_of = question.given is not None and not self.session.loop.any_of
        unseen = self._unseen_guesses() if one_of else {}
        wanted = [
            self.session.may_see(int(row), person)
            and question.guess in ((unseen[row],) if row in unseen else guess)
            for row, guess in zip(rows, self.session.view.guesses(rows), strict=True)
        ]
        guessed: IntVector = rows[np.asarray(wanted, dtype=bool)]
        return guessed

    def _ordered(self, rows: IntVector, question: Question, person: str) -> IntVector:
        session = self.session
        by_likeness = question.meaning and question.search.strip()
        if question.like is not None or by_likeness:
            text = question.search
            if question.like is not None:
                text = session.loop.collection.texts[question.like]
            key = -self._likeness_to(text)[rows]
        elif question.sort == "latest":
            at = {d: entry.number for d, entry in session.entries.items()}
            key = np.asarray([-at.get(int(row), 0) for row in rows], dtype=float)
        elif question.sort in ("sure", "unsure"):
            sign = -1.0 if question.sort == "sure" else 1.0
            seen = [session.may_see(int(row), person) for row in rows]
            key = np.where(seen, sign * session.view.certainty[rows], np.inf)
        elif question.sort == "novel":
            key = self._p_values()[rows]
        else:
            return rows
        ordered: IntVector = rows[np.argsort(key, kind="stable")]
        return ordered

    def _likeness_to(self, text: str) -> FloatVector:
        if self._likeness is None or self._likeness[0] != text:
            self._likeness = (text, self.session.loop.collection.likeness(text))
        return self._likeness[1]

    def _p_values(self) -> FloatVector:
        view = self.session.view
        if self._novelty is None or self._novelty[0] != view.version:
            texts = self.session.loop.collection.texts
            known = view.known
            values = np.ones(len(texts)) if known is None else known.p_values(texts)
            self._novelty = (view.version, values)
        return self._novelty[1]

    def _text(self, row: int) -> str:
        if self._lower is None:
            self._lower = [t.lower() for t in self.session.documents.joined()]
        return self._lower[row]

    # -- what is shown of one ------------------------------------------------------

    def _line(
        self, row: int, guess: tuple[str, ...], person: str, question: Question
    ) -> JsonObject:
        session, documents = self.session, self.session.documents
        may_see = session.may_see(row, person)
        entry = session.entries.get(row) if may_see else None
        text, spans = self._snippet(row, question)
        disputed = row in session.disputed and may_see
        return {
            "document": row,
            "row": documents.rows[row] if documents.rows else row + 1,
            "text": text,
            "spans": spans,
            "given": None if entry is None or entry.labels is None else entry.labels,
            "how": None if entry is None else entry.how,
            "person": None if entry is None else entry.person,
            "guess": list(guess) if may_see else None,
            "confidence": float(session.view.confidence[row]) if may_see else None,
            "hidden": not may_see,
            "said": {
                who: list(said.labels or ()) for who, said in session.said[row].items()
            }
            if disputed
            else None,
        }

    def _snippet(self, row: int, question: Question) -> tuple[str, list[list[float]]]:
        """The part of a text with the first hit, and where the hits are."""
        text = self.session.loop.collection.texts[row]
        words = [question.search]
        if question.meaning:
            words = re.findall(r"\w{3,}", question.search)
        wanted = "|".join(re.escape(word) for word in words if word)
        hit = re.search(wanted, text, re.IGNORECASE) if wanted else None
        start = 0
        if hit is not None and hit.start() > _SNIPPET - _LEAD:
            start = text.rfind(" ", 0, hit.start() - _LEAD) + 1
        shown = " ".join(text[start : start + 4 * _SNIPPET].split())
        ended = len(shown) <= _SNIPPET and start + 4 * _SNIPPET >= len(text)
        shown = ("… " if start else "") + shown[:_SNIPPET] + ("" if ended else " …")
        found = re.finditer(wanted, shown, re.IGNORECASE) if wanted else ()
        return shown, [[*match.span(), 1.0] for match in found]

    # -- judged without the answer ---------------------------------------------------

    def _judged(self) -> tuple[list[int], list[str], Any]:
        """Leave-one-out (or cross-fitted) judgements, once for each state."""
        version = self.session.view.version
        if self._left_out is None or self._left_out[0] != version:
            self._left_out = (version, self.session.left_out())
        judged: tuple[list[int], list[str], Any] = self._left_out[1]
        return judged

    def _unseen_guesses(self) -> dict[int, str]:
        session = self.session
        documents, classes, log_proba = self._judged()
        best = log_proba.argmax(axis=1) if len(documents) else ()
        guesses = {
            document: classes[c] for document, c in zip(documents, best, strict=True)
        }
        checks = [d for d in session.loop.answers if session.loop.is_check[d]]
        for document, guess in zip(
            checks,
            session.view.guesses(np.asarray(checks, dtype=np.int64)),
            strict=True,
        ):
            if guess:
                guesses[document] = guess[0]
        return guesses

    def _suspects(self) -> tuple[IntVector, dict[int, str]]:
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
        remarks = {
            row: f"{s.probability:.0%} likely wrong: others like it are {s.suggested}"
            for row, s in zip(rows, suspects, strict=True)
        }
        return np.asarray(rows, dtype=np.int64), remarks
