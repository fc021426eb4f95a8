"""One labelling session: the loop, the store, and a thread that keeps learning."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from earmark.apps.label.store import Entry, Store
from earmark.apps.web.logs import failure
from earmark.apps.web.replies import Refusal
from earmark.documents import Documents
from earmark.pipeline.labelling import LabellingLoop, View
from earmark.typing import BoolVector

__all__ = ["Session"]

# A document shown to one tab is not shown to another for so long.
_LEASE_SECONDS = 300.0
# A tab that was closed may be on its way back: a reload.
_RETURN_SECONDS = 3.0
_LONGEST_LABEL = 100
_MOST_LABELS = 500


class Session:
    """Answers go to the store first, then to the loop; the model follows.

    Parameters
    ----------
    documents : Documents
        What there is to label.
    loop : LabellingLoop
        Over the same documents.
    store : Store
        Whose answers are taken over.

    """

    def __init__(self, documents: Documents, loop: LabellingLoop, store: Store) -> None:
        self.documents = documents
        self.loop = loop
        self.store = store
        self._lock = threading.RLock()
        self._learning = threading.Lock()
        self._wake = threading.Condition(self._lock)
        # Document -> who has it, until when, and why it was picked.
        self._leases: dict[int, tuple[str, float, str]] = {}
        self._dirty = True
        self._closed = False
        # Looks at the promise of earlier sessions have spent their share of the risk.
        loop.view = replace(loop.view, n_looks=store.fact("looks") or 0)
        self.entries: dict[int, Entry] = store.current()
        for entry in self.entries.values():
            self._apply(entry.document, entry)
        self._thread = threading.Thread(target=self._learn, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop learning and close the store."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        self._thread.join()
        self.store.close()

    # -- what a tab may do -------------------------------------------------------

    def next_document(self, client: str) -> tuple[int, str] | None:
        """The document to show: the one this tab has, or a new one."""
        with self._lock:
            now = time.monotonic()
            self._leases = {d: x for d, x in self._leases.items() if x[1] > now}
            for document, (holder, _, why) in self._leases.items():
                if holder == client and not self._is_settled(document):
                    self._leases[document] = (client, now + _LEASE_SECONDS, why)
                    return document, why
            pick = self.loop.next_pick(self._leases.keys())
            if pick is None:
                return None
            self._leases[pick.document] = (client, now + _LEASE_SECONDS, pick.why)
            return pick.document, pick.why

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
    ) -> bool:
        """Take down an answer (None: skipped); False if it was known already."""
        self._check_document(document)
        answer = None if labels is None else self._checked(labels)
        with self._wake:
            new = self.store.write(key, [(document, answer)], how, client)
            self._leases.pop(document, None)
            self._refresh([document])
        return new

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
        self._check_document(document)
        with self._lock:
            self.store.confirm(document)

    def add_label(self, name: str) -> None:
        """Make a new label."""
        name = " ".join(name.split())
        if not name or len(name) > _LONGEST_LABEL:
            raise Refusal(
                422, "label", f"a label has 1 to {_LONGEST_LABEL} characters."
            )
        if len(self.store.labels()) >= _MOST_LABELS:
            raise Refusal(422, "label", f"there are {_MOST_LABELS} labels already.")
        self.store.add_labels([name])

    def accept(self, key: str, client: str) -> int:
        """Take over the guesses that come with the promise."""
        with self._wake:
            view = self.loop.view
            rows = np.flatnonzero(self.acceptable(view))
            guesses = view.guaranteed_guesses(rows)
            answers = list(zip(rows.tolist(), guesses, strict=True))
            if not answers or not self.store.write(key, answers, "bulk", client):
                return 0
            self._refresh(rows.tolist())
            return len(answers)

    def acceptable(self, view: View) -> BoolVector:
        """Documents with the promise that nobody has answered."""
        open_ = view.guaranteed().copy()
        open_[list(self.entries)] = False
        return open_

    def is_answered(self, document: int) -> bool:
        """Whether a person gave an answer (a skip or an accepted guess is none)."""
        entry = self.entries.get(document)
        return entry is not None and entry.how != "bulk" and entry.labels is not None

    # -- for looking ---------------------------------------------------------------

    @property
    def view(self) -> View:
        """The latest state of the model."""
        return self.loop.view

    @property
    def is_learning(self) -> bool:
        """Whether an answer is not in the model yet."""
        return self._dirty or self._learning.locked()

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until the model knows every answer."""
        with self._wake:
            return self._wake.wait_for(
                lambda: not self._dirty and not self._learning.locked(), seconds
            )

    def left_out(self) -> tuple[list[int], list[str], Any]:
        """Learned documents judged by a model without them."""
        with self._lock:
            lessons = self.loop.lessons()
        with self._learning:
            return self.loop.left_out(lessons)

    # -- private ---------------------------------------------------------------

    def _is_settled(self, document: int) -> bool:
        entry = self.entries.get(document)
        return entry is not None and entry.how != "bulk"

    def _check_document(self, document: int) -> None:
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
        """Bring the loop in line with the store, and wake the learner."""
        for document in documents:
            entry = self.store.current_of(document)
            if entry is None:
                self.entries.pop(document, None)
            else:
                self.entries[document] = entry
            self._apply(document, entry)
        self._dirty = True
        self._wake.notify_all()

    def _apply(self, document: int, entry: Entry | None) -> None:
        """The model's own answers teach it nothing."""
        if entry is None or entry.how == "bulk":
            self.loop.retract(document)
        elif entry.labels is None:
            self.loop.skip(document)
        else:
            self.loop.answer(document, entry.labels)

    def _learn(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._dirty or self._closed)
                if self._closed:
                    return
                lessons, checks = self.loop.lessons(), self.loop.checks()
                n_answers = len(self.loop.answers)
                self._learning.acquire()
                self._dirty = False
            try:
                view = self.loop.fitted_view(lessons, checks)
                if view.n_looks != self.loop.view.n_looks:
                    self.store.set_fact("looks", view.n_looks)  # before it is seen
                with self._lock:
                    self.loop.view = view
                self._note(view, n_answers)
            except Exception as error:  # the old view goes on
                failure(error)
            finally:
                self._learning.release()
            with self._wake:
                self._wake.notify_all()

    def _note(self, view: View, n_answers: int) -> None:
        estimate = view.estimate
        if estimate.accuracy is None:
            return
        share = float(view.guaranteed().mean())
        self.store.add_point(
            n_answers=n_answers,
            n_checks=estimate.n_documents,
            accuracy=estimate.accuracy,
            low=estimate.low,
            high=estimate.high,
            coverage=share,
        )
