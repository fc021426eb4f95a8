"""What the page shows, as plain data: the state, a document, lists, the people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from earmark.apps.label.advice import Facts, advice, expected_gain, promise_words
from earmark.apps.label.session import Session
from earmark.apps.label.store import Entry
from earmark.apps.web.replies import finite
from earmark.evaluation.label_errors import suspected_label_errors
from earmark.evaluation.significance import (
    cohen_kappa,
    krippendorff_alpha,
)
from earmark.pipeline.labelling import View
from earmark.pipeline.labelling.learners import spans
from earmark.pipeline.labelling.promise import fewest_checks
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, JsonObject

__all__ = [
    "Browser",
    "Coloring",
    "Question",
    "document_data",
    "project_data",
    "state_data",
]

_SCORES_SHOWN = 6
_POINTS_SHOWN = 150
# Words with less than this share of the strongest one's weight are left plain.
_FAINT = 0.12
_PAGE = 50
_SNIPPET = 280
# Answers given by the hundred, at a key each, are not trusted like labels of a corpus.
_TRUST = 10.0
# Characters before the first hit in a snippet.
_LEAD = 60


def state_data(session: Session) -> JsonObject:
    """Progress, labels, estimate and promise."""
    view, loop = session.view, session.loop
    entries = list(session.entries.values())
    people = [entry.labels for entry in entries if entry.how != "bulk"]
    counts = Counter(label for answer in people for label in answer or ())
    labels, curve = session.store.label_facts(), session.store.curve()
    facts = _facts(session, curve)
    return {
        "documents": len(session.documents),
        "source": session.documents.source,
        "any_of": loop.any_of,
        "labels": [label | {"count": counts[label["name"]]} for label in labels],
        "answered": sum(answer is not None for answer in people),
        "skipped": sum(e.labels is None for e in entries),
        "accepted": len(entries) - len(people),
        "disputed": len(session.disputed),
        "version": view.version,
        "learning": session.is_learning,
        "fitting": session.is_fitting,
        "learned": view.n_learned,
        "model": _model_words(view),
        "estimate": {
            "accuracy": view.estimate.accuracy,
            "low": view.estimate.low,
            "high": view.estimate.high,
            "checks": view.estimate.n_documents,
            "waiting": loop.n_checks_waiting,
        },
        "promise": _promise(facts, session),
        "advice": advice(facts),
        # As many points as a small picture can show, the last one always.
        "curve": [*curve[: -1 : max(1, len(curve) // _POINTS_SHOWN)], *curve[-1:]],
    }


def _model_words(view: View) -> str:
    """Which model speaks, in a sentence."""
    if view.fitted is None:
        return ""
    full, n = view.fitted.full, view.n_learned
    if full is None:
        return f"Quick model, trained on {_counted(n, 'answer')}."
    if not full.n_answers:
        return "A model that knows only the names of the labels."
    words = f"Trained on {_counted(full.n_answers, 'answer')}"
    if full.n_pool:
        words += f" and {_counted(full.n_pool, 'document')} without one"
    since = n - full.n_answers
    return words + (f", adjusted for {since:,} since." if since > 0 else ".")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _facts(session: Session, curve: list[JsonObject]) -> Facts:
    """The numbers that sentences may name."""
    loop, view = session.loop, session.view
    standing, entries = loop.standing(), session.entries
    is_over = standing is not None and standing.is_over
    n_open = len(session.documents) - len(entries)
    facts = Facts(
        n_open=n_open,
        n_checks=view.estimate.n_documents,
        n_waiting=loop.n_checks_waiting,
        n_open_checks=len(loop.check_order)
        - sum(bool(loop.is_check[d]) for d in list(entries)),
        check_share=loop.check_share,
        gain=expected_gain(curve, view.estimate.n_documents),
        max_error=loop.max_error,
        n_disputed=len(session.disputed),
        has_model=view.fitted is not None,
        n_acceptable=int(session.acceptable().sum()),
    )
    if standing is not None:
        return replace(
            facts,
            audit="holds" if standing.holds else "" if is_over else "open",
            n_audited=standing.n_checked,
            n_wrong=standing.n_wrong,
            n_missing=standing.n_missing or 0,
            n_promised=int(loop.guaranteed().sum()),
        )
    n_to_audit = session.n_to_audit()
    promise = loop.max_error, loop.next_risk
    return replace(
        facts,
        n_to_audit=n_to_audit,
        n_needed=fewest_checks(n_to_audit, *promise) if n_to_audit else None,
        n_needed_at_best=fewest_checks(n_open, *promise),
    )


def _promise(facts: Facts, session: Session) -> JsonObject:
    """What is promised, and in words what is missing."""
    return {
        "max_error": facts.max_error,
        "level": session.loop.level,
        "holds": facts.audit == "holds",
        "coverage": float(session.loop.guaranteed().mean()),
        "acceptable": facts.n_acceptable,
        "auditing": facts.audit == "open",
        "can_audit": facts.n_needed is not None,
        "words": promise_words(facts),
    }


def document_data(
    session: Session, document: int, why: str, *, person: str = ""
) -> JsonObject:
    """One document with the model's guess and the words behind it, if not hidden."""
    view, loop, ids = session.view, session.loop, session.documents.ids
    parts = session.parts_of(document)
    hidden = not session.may_see(document, person)
    entry = session.entries.get(document)
    if document in session.disputed or hidden:
        entry = session.said.get(document, {}).get(person)  # one's own answer, if any
    has_guess = view.fitted is not None and not hidden
    has_guess = has_guess and document not in session.disputed
    weights = loop.word_weights(document, view) if has_guess else {}
    return {
        **_answer_data(session, document, entry, hidden),
        "id": None if ids is None else str(ids[document]),
        "why": why,
        "unlike": view.is_unlike_known("\n".join(parts.values())),
        "twice": document in session.overlap,
        "notes": session.store.notes(document),
        "guess": _guess(view, document) if has_guess else None,
        "parts": [
            {"name": name, "text": text, "spans": _strongest(text, weights)}
            for name, text in parts.items()
        ],
    }


def _answer_data(
    session: Session, document: int, entry: Entry | None, hidden: bool
) -> JsonObject:
    """Which document it is, and what was answered by whom."""
    said = session.said[document] if document in session.disputed else None
    return {
        "document": document,
        "row": session.row_of(document),
        "hidden": hidden,
        "given": None if entry is None or entry.labels is None else list(entry.labels),
        "how": None if entry is None else entry.how,
        "person": None if entry is None else entry.person,
        "said": None
        if said is None or hidden
        else {who: list(one.labels or ()) for who, one in said.items()},
    }


def _guess(view: View, document: int) -> JsonObject:
    assert view.fitted is not None
    proba = np.exp(view.fitted.log_proba[document])
    order = np.argsort(-proba, kind="stable")[:_SCORES_SHOWN]
    return {
        "labels": list(view.guesses(np.asarray([document]))[0]),
        "confidence": finite(float(view.confidence[document])),
        "scores": [[view.fitted.classes[c], float(proba[c])] for c in order],
    }


def _strongest(text: str, weights: Mapping[str, float]) -> list[list[float]]:
    """Spans of words with weights from -1 to 1, without the faint ones."""
    marked = spans(text, weights)
    largest = max((abs(weight) for _, _, weight in marked), default=0.0)
    return [
        [start, end, round(weight / largest, 3)]
        for start, end, weight in marked
        if abs(weight) > _FAINT * largest
    ]


# -- the people -----------------------------------------------------------------------

# Document -> (person, labels) of each.
Table = tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]


def project_data(session: Session) -> JsonObject:
    """Guidelines, labels, people, agreement and changes of labels."""
    store = session.store
    answers = [
        tuple(
            (who, entry.labels)
            for who, entry in said.items()
            if entry.labels is not None and entry.how == "asked"
        )
        for said in list(session.said.values())
    ]
    table = tuple(said for said in answers if len(said) > 1)
    return {
        "guidelines": store.fact("guidelines") or "",
        "labels": store.label_facts(),
        "people": store.people(),
        "twice": len(table),
        "overlap": len(session.overlap),
        "disputed": len(session.disputed),
        "agreement": _agreement(table),
        "changes": [asdict(c) for c in reversed(store.label_changes(undone=True))],
    }


@lru_cache(maxsize=4)
def _agreement(table: Table) -> list[JsonObject]:
    """Coefficients over the documents that two or more people answered."""
    if not table:
        return []
    answers = [dict(said) for said in table]
    rows = [list(said.values()) for said in answers]
    measured = [(krippendorff_alpha(rows), "everybody")]
    people = sorted({who for said in answers for who in said})
    for pair in combinations(people, 2):
        both = [[said[who] for who in pair] for said in answers if {*pair} <= {*said}]
        if both:
            kappa = cohen_kappa(*map(list, zip(*both, strict=True)))
            names = " and ".join(who or "(no name)" for who in pair)
            measured.append((kappa, names))
    return [
        {k: finite(v) if isinstance(v, float) else v for k, v in one.to_dict().items()}
        | {"people": names}
        for one, names in measured
    ]


# -- lists ----------------------------------------------------------------------------

Shown = (
    Literal["all", "open", "answered", "skipped", "flagged"]
    | Literal["disputed", "accepted", "sure", "suspects"]
)


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


@dataclass(frozen=True)
class _Guess:
    """What may be shown of a guess."""

    labels: tuple[str, ...] | None
    """None: nothing."""
    confidence: float | None
    left_out: bool
    """Whether the document was learned from, so that the guess is of a fit without."""


Coloring = Literal["guess", "answer", "doubt", "novelty"]


class Browser:
    """Lists documents of a session; what is costly is kept for one state."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._kept: dict[str, tuple[object, Any]] = {}

    def _once(self, name: str, state: object, make: Callable[[], Any]) -> Any:
        """A result computed once for each state, and kept until the state changes."""
        entry = self._kept.get(name)
        if entry is None or entry[0] != state:
            entry = self._kept[name] = (state, make())
        return entry[1]

    def listed(self, question: Question, person: str = "") -> JsonObject:
        """One page of documents and how many there are in all."""
        rows, remarks = self.rows(question, person)
        start = question.page * _PAGE
        page = rows[start : start + _PAGE]
        flags = {n["document"]: n for n in self.session.store.notes()}
        session = self.session
        hidden = [not session.may_see(int(row), person) for row in rows]
        answered = [session.is_answered(int(row)) for row in rows]
        return {
            "total": len(rows),
            "hidden": sum(hidden),
            "answered": sum(a and not h for a, h in zip(answered, hidden, strict=True)),
            "page": question.page,
            "pages": -(-len(rows) // _PAGE),
            "documents": [
                self._line(int(row), guess, person, question)
                | {"note": remarks.get(int(row)), "flag": flags.get(int(row))}
                for row, guess in zip(page, self._guesses(page, person), strict=True)
            ],
        }

    def colors(self, by: Coloring, person: str = "") -> JsonObject:
        """What the map shows of each document: the number of a label, or percents.

        -1 where nobody knows, or it must not be shown to this person.
        """
        session = self.session
        rows = np.arange(len(session.documents))
        hidden = [row for row in rows.tolist() if not session.may_see(row, person)]
        veiled = frozenset(hidden)
        answered = [
            row
            for row in list(session.entries)
            if session.is_answered(row) and row not in veiled
        ]
        values = np.full(len(rows), -1, dtype=np.int64)
        if by == "novelty":
            values[:] = np.rint(100 * (1 - self._novelty()))
            if session.view.known is None:
                values[:] = -1
        elif by == "answer":
            number = self._label_numbers()
            for row, entry in list(session.entries.items()):
                if entry.labels and row not in veiled:
                    values[row] = number.get(entry.labels[0], -1)
        else:
            number = self._label_numbers()
            for row, guess in enumerate(self._guesses(rows, person)):
                if by == "guess" and guess.labels:
                    values[row] = number.get(guess.labels[0], -1)
                elif by == "doubt" and guess.confidence is not None:
                    values[row] = round(100 * (1 - guess.confidence))
        return {
            "by": by,
            "labels": session.store.labels(),
            "values": values.tolist(),
            "answered": answered,
            "hidden": hidden,
        }

    def _label_numbers(self) -> dict[str, int]:
        return {name: n for n, name in enumerate(self.session.store.labels())}

    def confusion(self) -> JsonObject:
        """Answers against guesses that did not know them."""
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
        """Every document that a question is about, in its order; remarks on some."""
        if question.like is not None:
            self.session.check_document(question.like)
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
            "sure": session.loop.guaranteed() & ~answered & ~accepted,
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
        texts = self.session.documents.joined
        lower = self._once("lower", None, lambda: [t.lower() for t in texts()])
        return question.search.lower() in lower[row]

    def _guessed(self, rows: IntVector, question: Question, person: str) -> IntVector:
        """Documents with the wanted guess, except those whose guess is hidden."""
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
            likeness = session.loop.collection.likeness
            key = -self._once("likeness", text, lambda: likeness(text))[rows]
        elif question.sort == "latest":
            at = {d: entry.number for d, entry in session.entries.items()}
            key = np.asarray([-at.get(int(row), 0) for row in rows], dtype=float)
        elif question.sort in ("sure", "unsure"):
            sign = -1.0 if question.sort == "sure" else 1.0
            seen = [session.may_see(int(row), person) for row in rows]
            key = np.where(seen, sign * session.view.certainty[rows], np.inf)
        elif question.sort == "novel":
            key = self._novelty()[rows]
        else:
            return rows
        ordered: IntVector = rows[np.argsort(key, kind="stable")]
        return ordered

    def _novelty(self) -> FloatVector:
        """How surely each document is like those answered."""
        known, texts = self.session.view.known, self.session.loop.collection.texts
        if known is None:
            return np.ones(len(texts))
        p_values: FloatVector = self._once(
            "novelty", known, lambda: known.p_values(texts)
        )
        return p_values

    # -- what is shown of one ------------------------------------------------------

    def _guesses(self, rows: IntVector, person: str) -> list[_Guess]:
        """The guesses that a person may see of documents."""
        session, view = self.session, self.session.view
        confidence, has_guess = view.confidence, view.fitted is not None
        is_check, one_of = session.loop.is_check, not session.loop.any_of
        learned_from = {d for d in list(session.entries) if session.is_answered(d)}
        learned_from = {d for d in learned_from if not is_check[d]}
        judge = one_of and any(row in learned_from for row in rows.tolist())
        unseen = self._unseen_guesses() if judge else {}
        guesses = []
        for row, guess in zip(rows.tolist(), view.guesses(rows), strict=True):
            # A guess that the model learned from the answer itself says nothing.
            learned = row in learned_from
            if row in session.disputed or not session.may_see(row, person):
                guesses.append(_Guess(None, None, learned))
            elif learned and one_of:
                judged = (unseen[row],) if row in unseen else ()
                guesses.append(_Guess(judged, None, True))
            else:
                sure = finite(float(confidence[row])) if has_guess else None
                guesses.append(_Guess(guess, sure, learned))
        return guesses

    def _line(
        self, row: int, guess: _Guess, person: str, question: Question
    ) -> JsonObject:
        session = self.session
        may_see = session.may_see(row, person)
        entry = session.entries.get(row) if may_see else None
        text, spans = self._snippet(row, question)
        return {
            **_answer_data(session, row, entry, not may_see),
            "text": text,
            "spans": spans,
            "guess": None if guess.labels is None else list(guess.labels),
            "left_out": guess.left_out,
            "confidence": guess.confidence,
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
        snippet = " ".join(text[start : start + 4 * _SNIPPET].split())
        ended = len(snippet) <= _SNIPPET and start + 4 * _SNIPPET >= len(text)
        snippet = ("… " if start else "") + snippet[:_SNIPPET] + ("" if ended else " …")
        matches = re.finditer(wanted, snippet, re.IGNORECASE) if wanted else ()
        return snippet, [[*match.span(), 1.0] for match in matches]

    # -- judged without the answer ---------------------------------------------------

    def _judged(self) -> tuple[list[int], list[str], FloatMatrix]:
        """Leave-one-out (or cross-fitted) judgments, once for each state."""
        judged: tuple[list[int], list[str], FloatMatrix] = self._once(
            "left out", self.session.view.version, self.session.left_out
        )
        return judged

    def _unseen_guesses(self) -> dict[int, str]:
        """Guesses for labelled documents by models that did not learn from them."""
        session = self.session
        documents, classes, log_proba = self._judged()
        best = log_proba.argmax(axis=1) if len(documents) else ()
        guesses = {
            document: classes[c] for document, c in zip(documents, best, strict=True)
        }
        checks = [d for d in session.loop.answers if session.loop.is_check[d]]
        by_model = session.view.guesses(np.asarray(checks, dtype=np.int64))
        pairs = zip(checks, by_model, strict=True)
        return guesses | {document: guess[0] for document, guess in pairs if guess}

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
            trust=_TRUST,
        )
        rows = [documents[known[s.index]] for s in suspects]
        remarks = {
            row: f"{s.probability:.0%} likely wrong: others like it are {s.suggested}"
            for row, s in zip(rows, suspects, strict=True)
        }
        return np.asarray(rows, dtype=np.int64), remarks
