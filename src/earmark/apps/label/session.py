"""One labelling session: the loop, the store, and a thread that keeps learning."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from earmark.apps.label.advice import LITTLE, expected_gain
from earmark.apps.label.store import Entry, Given, Store, opinions, settled
from earmark.apps.web.guard import failure
from earmark.apps.web.replies import Refusal
from earmark.documents import Documents
from earmark.pipeline import TextClassifier
from earmark.pipeline.labelling import Audit, LabellingLoop, Pick, View
from earmark.typing import BoolVector

__all__ = ["RESERVED_KEYS", "SWITCH_SECONDS", "Session"]

# How long a thread that learns may run on while another one waits to answer.
SWITCH_SECONDS = 0.0005

# What the page does by itself: undo, skip, new, find, note, flag, like this, guide.
RESERVED_KEYS = "usnfmxlg"

# A document shown to one tab is not shown to another for so long. A page says every ten
# seconds that it is there; what a crashed browser showed is soon free.
_LEASE_SECONDS = 30.0
# A tab that was closed may be on its way back: a reload.
_RETURN_SECONDS = 3.0
_LONGEST_LABEL = 100
_MOST_LABELS = 500


class Session:
    """Answers go to the store first, then to the loop; the model follows.

    ``first_model`` makes one that guesses before there are answers, in the background;
    or says that there is none.
    """

    def __init__(
        self,
        documents: Documents,
        loop: LabellingLoop,
        store: Store,
        overlap: Iterable[int] = (),
        first_model: Callable[[], TextClassifier | None] | None = None,
    ) -> None:
        self.documents = documents
        self.loop = loop
        self.store = store
        # Asked of two people, who do not see each other's answers.
        self.overlap = frozenset(overlap)
        # What counts for each document; independent answers by person; documents with
        # different ones that nobody has settled.
        self.entries: dict[int, Entry] = {}
        self.said: dict[int, dict[str, Entry]] = {}
        self.disputed: set[int] = set()
        # Answered by one person of two: document -> who.
        self._once: dict[int, str] = {}
        self._lock = threading.RLock()
        self._learning = threading.Lock()
        self._wake = threading.Condition(self._lock)
        # Document -> who has it, until when, and why it was picked.
        self._leases: dict[int, tuple[str, float, str]] = {}
        self._dirty = True
        self._closed = False
        self._audited_of: tuple[Audit | None, frozenset[int]] = None, frozenset()
        self._to_audit = -1, 0
        # Counts changes of labels: a model with names of before is not taken over.
        self._labelling = 0
        with self._wake:
            self._start_over()
        # One knows each answer at once; the other fits the whole model now and then.
        self._first_model = first_model
        self._is_fitting = first_model is not None
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._learn, self._fit_fully)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop learning and close the store."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        for thread in self._threads:
            thread.join()
        self.store.close()

    # -- what a tab may do -------------------------------------------------------

    def next_document(self, client: str, person: str = "") -> tuple[int, str] | None:
        """The document to show: the one this tab has, or a new one."""
        with self._lock:
            now = time.monotonic()
            self._leases = {d: x for d, x in self._leases.items() if x[1] > now}
            for document, (holder, _, why) in self._leases.items():
                entry = self.entries.get(document)
                is_open = entry is None or entry.how == "bulk"
                is_open = is_open or self._once.get(document, person) != person
                if holder == client and is_open:
                    self._leases[document] = (client, now + _LEASE_SECONDS, why)
                    return document, why
            # First a document that one other person answered and two should.
            others = (d for d, who in self._once.items() if who != person)
            second = next((d for d in others if d not in self._leases), None)
            if second is not None:
                document, why = second, "second"
            elif (pick := self._pick()) is not None:
                document, why = pick.document, pick.why
            else:
                return None
            self._leases[document] = (client, now + _LEASE_SECONDS, why)
            return document, why

    def _pick(self) -> Pick | None:
        return self.loop.next_pick(self._leases.keys(), at_once=True)

    def renew(self, client: str) -> None:
        """A tab is still there: what it was shown stays its own."""
        with self._lock:
            until = time.monotonic() + _LEASE_SECONDS
            for document, (holder, _, why) in list(self._leases.items()):
                if holder == client:
                    self._leases[document] = (client, until, why)

    def release(self, client: str) -> None:
        """Give back what a tab that is closing was shown."""
        with self._lock:
            soon = time.monotonic() + _RETURN_SECONDS
            self._leases = {
                document: (holder, min(until, soon) if holder == client else until, why)
                for document, (holder, until, why) in self._leases.items()
            }

    def answer(
        self,
        key: str,
        client: str,
        document: int,
        labels: Sequence[str] | None,
        how: str,
        person: str = "",
    ) -> bool:
        """Take down an answer (None: skipped); False if it was known already."""
        self.check_document(document)
        answer = None if labels is None else self._checked(labels)
        with self._wake:
            self._leases.pop(document, None)
            return self._write(key, [(document, answer)], how, client, person) > 0

    def answer_many(
        self,
        key: str,
        client: str,
        documents: Sequence[int],
        labels: Sequence[str],
        person: str = "",
    ) -> int:
        """Give many documents the same labels, taken back by one undo; how many."""
        answer = self._checked(labels)
        for document in documents:
            self.check_document(document)
        with self._wake:
            # What is said of many at once is no honest check or second opinion.
            wanted = [d for d in dict.fromkeys(documents) if self.may_see(d, person)]
            answers = [(document, answer) for document in wanted]
            return self._write(key, answers, "list", client, person)

    def _write(self, key: str, answers: Given, *sender: str) -> int:
        """Store answers and take them over; how many were new. Needs the lock."""
        if not answers:
            return 0
        new = self.store.write(key, answers, *sender)
        self._refresh([document for document, _ in answers])
        return len(answers) if new else 0

    def may_see(self, document: int, person: str) -> bool:
        """Whether guess and others' answers may be shown: not where they would sway."""
        is_open = not self.is_answered(document)
        if is_open and (self.loop.is_check[document] or document in self._audited()):
            return False
        said = self.said.get(document, {})
        if document not in self.overlap or person in said or len(said) > 1:
            return True
        entry = self.entries.get(document)
        return entry is not None and entry.how in ("browse", "list", "settled")

    def _audited(self) -> frozenset[int]:
        """Documents whose guesses are being checked."""
        audit = self.loop.audit
        if audit is not self._audited_of[0]:
            documents = [] if audit is None else audit.documents.tolist()
            self._audited_of = audit, frozenset(documents)
        return self._audited_of[1] if self.loop.is_auditing else frozenset()

    def undo(self, client: str) -> list[int]:
        """Take back the last answer of this tab or browser; gives its documents."""
        with self._wake:
            documents = self.store.undo(client)
            self._refresh(documents)
            if len(documents) == 1:
                expires = time.monotonic() + _LEASE_SECONDS
                self._leases = {d: x for d, x in self._leases.items() if x[0] != client}
                self._leases[documents[0]] = (client, expires, "undone")
        return documents

    def confirm(self, document: int) -> None:
        """The suspected answer to a document is right."""
        self.check_document(document)
        with self._lock:
            self.store.confirm(document)

    def add_label(self, name: str) -> None:
        """Make a new label."""
        name = self._label_name(name)
        if len(self.store.labels()) >= _MOST_LABELS:
            raise Refusal(422, "label", f"there are {_MOST_LABELS} labels already.")
        self.store.add_labels([name])

    def change_labels(
        self, action: str, old: Sequence[str], new: Sequence[str], person: str = ""
    ) -> None:
        """Rename, merge, split or delete labels; answers follow."""
        names = [self._label_name(name) for name in new]
        known = self.store.labels()
        if missing := [name for name in old if name not in known]:
            raise Refusal(422, "label", f"there is no label {missing[0]!r}.")
        n_new = {"rename": 1, "merge": 1, "delete": 0}.get(action, max(2, len(names)))
        if not old or len(set(names)) != n_new or (action != "merge" and len(old) > 1):
            raise Refusal(422, "label", f"cannot {action} these into {len(names)}.")
        if action == "rename" and names[0] in known:
            words = f"there is a label {names[0]!r} already; merge them."
            raise Refusal(422, "label", words)
        with self._wake:
            self.store.change_labels(action, old, names, person)
            audit = self.loop.audit
            if audit is not None and action in ("rename", "merge"):
                self._keep_audit(audit.renamed(old, names[0]))
            else:  # what it said of the label is void
                self._keep_audit(None)
            self._start_over()

    def undo_label_change(self, number: int, person: str = "") -> None:
        """Take back a change of labels; answers mean again what they did."""
        changes = [c for c in self.store.label_changes() if c.number == number]
        if not changes:
            raise Refusal(404, "change", "there is no such change of labels.")
        if changes[0].action == "rename":
            self.change_labels("rename", changes[0].new, changes[0].old, person)
            return
        with self._wake:
            self.store.undo_label_change(changes[0])
            self._keep_audit(None)
            self._start_over()

    def describe_label(
        self, name: str, description: str = "", key: str = "", group: str = ""
    ) -> None:
        """Say what a label means, which key gives it, and where it is listed."""
        labels = self.store.label_facts()
        if name not in [label["name"] for label in labels]:
            raise Refusal(422, "label", f"there is no label {name!r}.")
        if key and key in RESERVED_KEYS:
            raise Refusal(422, "key", f"the page uses the key {key} itself.")
        taken = [label["name"] for label in labels if key and label["key"] == key]
        if taken and taken != [name]:
            raise Refusal(422, "key", f"the key {key} gives {taken[0]!r} already.")
        self.store.describe_label(name, description.strip(), key, group.strip())

    def note(self, document: int, person: str, text: str, flagged: bool) -> None:
        """Keep a note on a document, or a flag for discussion."""
        self.check_document(document)
        self.store.set_note(document, person, text.strip(), flagged)

    def accept(self, key: str, client: str, person: str = "") -> int:
        """Take over the guesses that come with the promise."""
        with self._wake:
            open_, grant = self.acceptable(), self.loop.granted
            if grant is None:
                return 0
            pairs = zip(grant.documents.tolist(), grant.guesses, strict=True)
            answers = [pair for pair in pairs if open_[pair[0]]]
            return self._write(key, answers, "bulk", client, person)

    def begin_audit(self) -> None:
        """Freeze the model, and ask only checks of its guesses from now on."""
        with self._wake:
            if not self.loop.is_auditing and not self._begin_audit():
                words = "there are no guesses yet that a promise is worth checking for."
                raise Refusal(409, "too_early", words)

    def end_audit(self) -> None:
        """Give up the checks, and learn on."""
        with self._wake:
            if self.loop.is_auditing:
                self._keep_audit(None)
                self._learn_on()

    def n_to_audit(self) -> int:
        """How many guesses an audit would check, counted once for each view."""
        version, known = self.view.version, self._to_audit
        if known[0] != version:
            known = self._to_audit = version, len(self.loop.to_audit(self.entries))
        return min(known[1], len(self.documents) - len(self.entries))

    def acceptable(self) -> BoolVector:
        """Unanswered documents with the promise."""
        open_ = self.loop.guaranteed()
        open_[list(self.entries)] = False
        return open_

    def is_answered(self, document: int) -> bool:
        """Whether a person gave an answer (a skip or an accepted guess is none)."""
        entry = self.entries.get(document)
        return entry is not None and entry.how != "bulk" and entry.labels is not None

    # -- for looking ---------------------------------------------------------------

    def row_of(self, document: int) -> int:
        """The number of a document in its file."""
        rows = self.documents.rows
        return rows[document] if rows else document + 1

    def parts_of(self, document: int, name: str = "") -> dict[str, str]:
        """Its texts by region; a single text under ``name``."""
        texts = self.documents.texts
        if not isinstance(texts, dict):
            return {name: texts[document]}
        return {region: column[document] for region, column in texts.items()}

    @property
    def view(self) -> View:
        """The latest state of the model."""
        return self.loop.view

    @property
    def is_learning(self) -> bool:
        """Whether an answer is not in the model yet."""
        waits = self._dirty and not self._is_frozen
        return waits or self._learning.locked()

    @property
    def is_fitting(self) -> bool:
        """Whether a full fit is under way, or due."""
        return self._is_fitting or self._full_fit_is_due()

    @property
    def _is_frozen(self) -> bool:
        """Whether the model waits for an audit; it learns once, to have guesses."""
        return self.loop.is_auditing and self.loop.view.version > 0

    def _full_fit_is_due(self) -> bool:
        frozen = self._is_frozen
        return not frozen and self.loop.full_fit_due(self.loop.lessons())

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until the model knows every answer, and no full fit is due."""
        with self._wake:
            return self._wake.wait_for(
                lambda: not (self.is_learning or self.is_fitting), seconds
            )

    def left_out(self) -> tuple[list[int], list[str], Any]:
        """Learned documents judged by a model without them."""
        with self._lock:
            lessons = self.loop.lessons()
        with self._learning:
            return self.loop.left_out(lessons)

    # -- private ---------------------------------------------------------------

    def _label_name(self, name: str) -> str:
        name = " ".join(name.split())
        if not (0 < len(name) <= _LONGEST_LABEL and name.isprintable()):
            words = f"a label has 1 to {_LONGEST_LABEL} printable characters."
            raise Refusal(422, "label", words)
        return name

    def _start_over(self) -> None:
        """Read every answer anew, and learn from them afresh; needs the lock."""
        self._labelling += 1
        self.loop.forget_answers()
        stored = self.store.fact("audit") or {}
        self.loop.n_audits = stored.get("number", 0)
        self.loop.audit = Audit.from_dict(stored) if "guesses" in stored else None
        for known in (self.entries, self.said, self.disputed, self._once):
            known.clear()
        everything = self.store.entries()
        counting = {d: settled(entries) for d, entries in everything.items()}
        order = sorted(counting, key=lambda d: e.number if (e := counting[d]) else 0)
        for document in order:
            self._take(document, everything[document])
        self._dirty = True
        self._wake.notify_all()

    def _begin_audit(self) -> bool:
        """Begin an audit, where one is worth it; needs the lock."""
        audit = self.loop.begin_audit(self.entries)
        if audit is None:
            return False
        self._keep_audit(audit)
        self._leases.clear()
        return True

    def _keep_audit(self, audit: Audit | None) -> None:
        """Store the audit, so that it outlives this process."""
        self.loop.audit = audit
        fact = {"number": self.loop.n_audits}
        self.store.set_fact("audit", fact | ({} if audit is None else audit.to_dict()))

    def _learn_on(self) -> None:
        """Learn what was answered during an audit; needs the lock."""
        self._dirty = True
        self._wake.notify_all()

    def _take(self, document: int, entries: list[Entry]) -> None:
        """Update what is known of a document from its entries."""
        entry = settled(entries)
        self.entries.pop(document, None)
        if entry is not None:
            self.entries[document] = entry
        # The model's own answers teach it nothing.
        if entry is None or entry.how == "bulk":
            self.loop.retract(document)
        elif entry.labels is None:
            self.loop.skip(document)
        else:
            self.loop.answer(document, entry.labels)
        said = self.said[document] = opinions(entries)
        answers = {e.labels for e in said.values() if e.labels is not None}
        independent = entry is not None and entry.how in ("asked", "data")
        self.disputed.discard(document)
        if independent and len(answers) > 1:
            self.disputed.add(document)
        self._once.pop(document, None)
        if independent and document in self.overlap and len(said) == 1:
            self._once[document] = next(iter(said))

    def check_document(self, document: int) -> None:
        """Refuse the number of a document that is not there."""
        if not 0 <= document < len(self.documents):
            raise Refusal(404, "document", "there is no such document.")

    def _checked(self, labels: Sequence[str]) -> tuple[str, ...]:
        known = self.store.labels()
        wrong = [name for name in labels if name not in known]
        if wrong or len(set(labels)) != len(labels):
            raise Refusal(422, "label", "an answer holds existing labels, each once.")
        if not self.loop.any_of and len(labels) != 1:
            raise Refusal(422, "label", "exactly one label per document here.")
        return tuple(sorted(labels, key=known.index))

    def _refresh(self, documents: Sequence[int]) -> None:
        """Update the loop from the store, and wake the learner."""
        for document in documents:
            self._take(document, self.store.entries_of(document))
        standing = self.loop.standing()
        if standing is not None and standing.n_missing is None:
            self._keep_audit(None)  # no further check would bring the promise
        self._learn_on()

    def _learn(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(
                    lambda: self._closed or (self._dirty and not self._is_frozen)
                )
                if self._closed:
                    return
                lessons, checks = self.loop.lessons(), self.loop.checks()
                n_answers, labelling = len(self.loop.answers), self._labelling
                self._learning.acquire()
                self._dirty = False
            try:
                view = self.loop.fitted_view(lessons, checks)
                with self._lock:
                    if labelling != self._labelling:  # it speaks of other labels
                        continue
                    if self._is_frozen:  # the audit is of the view before
                        self._dirty = True
                        continue
                    self.loop.view = view
                self._note_point(view, n_answers)
            except Exception as error:  # the old view goes on
                failure(error)
            finally:
                self._learning.release()
            with self._wake:
                self._wake.notify_all()

    def _fit_fully(self) -> None:
        """Fit the whole model whenever the answers have grown enough for it."""
        try:
            self.loop.collection.vectors  # noqa: B018 - documents are picked by them
            self._begin_with_names()
        except Exception as error:  # one can do without either
            failure(error)
        with self._wake:
            self._is_fitting = False
            self._wake.notify_all()
        while True:
            with self._wake:
                self._wake.wait_for(
                    lambda: self._closed or self.loop.full_fit_due(self.loop.lessons())
                )
                if self._closed:
                    return
                lessons, labelling = self.loop.lessons(), self._labelling
                self._is_fitting = True
            fitted = None
            try:
                fitted = self.loop.full_fit(lessons)
            except Exception as error:  # the last one goes on
                failure(error)
            with self._wake:
                if fitted is not None and labelling == self._labelling:
                    self.loop.anchor(fitted)
                    self._dirty = True
                self._is_fitting = False
                self._wake.notify_all()

    def _begin_with_names(self) -> None:
        """Guess by the names of the labels, where nothing better is at hand."""
        with self._lock:
            labelling, lessons = self._labelling, self.loop.lessons()
        if self._first_model is None or self.loop.full_fit_due(lessons):
            return
        model = self._first_model()
        fitted = None if model is None else self.loop.fit_of(model)
        with self._wake:
            if fitted is not None and labelling == self._labelling:
                self.loop.begin_with(fitted)
                self._dirty = True

    def _note_point(self, view: View, n_answers: int) -> None:
        estimate = view.estimate
        if estimate.accuracy is not None:
            self.store.add_point(
                n_answers=n_answers,
                n_checks=estimate.n_documents,
                accuracy=estimate.accuracy,
                low=estimate.low,
                high=estimate.high,
                coverage=float(self.loop.guaranteed().mean()),
            )
            if self.loop.audit is None and not self.loop.n_audits:
                gain = expected_gain(self.store.curve(), estimate.n_documents)
                if gain is not None and gain < LITTLE:
                    with self._wake:
                        self._begin_audit()
