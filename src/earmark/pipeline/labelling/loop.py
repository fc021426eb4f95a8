"""Which document to ask about next, and what is known so far.

A share of the documents, drawn at random beforehand, is kept for checking: nothing is
learned from it. Checks are asked in a random order that was fixed before any answer,
and the estimate uses the answered beginning of that order. So it is the estimate of a
plain random sample, whatever was picked for learning in between.
"""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from earmark.decision.novelty import (
    USUAL_LEVEL,
    NoveltyDetector,
    smallest_p_value,
)
from earmark.pipeline.labelling.collection import Collection
from earmark.pipeline.labelling.learners import make_learner
from earmark.pipeline.labelling.view import View, make_view
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["LabellingLoop", "Pick"]

# Before this many answers there is nothing to be uncertain about.
_COLD_START = 8
# Every so many picks one goes to what is least like all that was answered.
_DIVERSE_EVERY = 10
_CANDIDATES = 300
# Documents that others are compared with, so that a view is made at once.
_MOST_COMPARED = 300


@dataclass(frozen=True)
class Pick:
    """A document to ask about, and why: check, uncertain, different or first."""

    document: int
    why: str


class LabellingLoop:
    """Asks, learns, estimates.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    any_of : bool, default=False
        Whether a document may have any number of labels.
    model : {"blend", "softmax", "complement", "multinomial"}, default="blend"
        What learns while one labels.
    check_share : float in [0, 1), default=0.2
        Share of the documents, and of the questions, kept for the estimate.
    strategy : {"active", "random"}, default="active"
        How documents to learn from are picked.
    max_error, confidence : float
        The promise to work towards.
    random_state : int, default=0
        Seed of every random choice.

    Examples
    --------
    >>> loop = LabellingLoop(["good film", "bad film", "good book", "bad book"] * 5)
    >>> pick = loop.next_pick()
    >>> loop.answer(pick.document, ["good"])
    >>> loop.refit().n_learned
    1

    """

    def __init__(
        self,
        texts: Sequence[str],
        *,
        any_of: bool = False,
        model: str = "blend",
        check_share: float = 0.2,
        strategy: str = "active",
        max_error: float = 0.05,
        confidence: float = 0.95,
        random_state: int = 0,
    ) -> None:
        self.collection = Collection(texts)
        self.any_of = any_of
        self.check_share = check_share
        self.strategy = strategy
        self.max_error = max_error
        self.confidence = confidence
        self.answers: dict[int, tuple[str, ...]] = {}
        self.skipped: set[int] = set()
        self._learner = make_learner(model, self.collection, any_of)
        order = np.random.default_rng(random_state).permutation(
            self.collection.n_documents
        )
        n_checks = round(check_share * len(order))
        self.check_order, self.learn_order = order[:n_checks], order[n_checks:]
        self.is_check = np.zeros(len(order), dtype=bool)
        self.is_check[self.check_order] = True
        self.view = self._empty_view()

    # -- answers ---------------------------------------------------------------

    def answer(self, document: int, labels: Sequence[str]) -> None:
        """Take down the labels of a document; an earlier answer is replaced."""
        self.answers[document] = tuple(labels)
        self.skipped.discard(document)

    def skip(self, document: int) -> None:
        """Leave a document out: it is neither learned from nor used as a check."""
        self.answers.pop(document, None)
        self.skipped.add(document)

    def retract(self, document: int) -> None:
        """As if the document had never been asked about."""
        self.answers.pop(document, None)
        self.skipped.discard(document)

    def checks(self) -> dict[int, tuple[str, ...]]:
        """Answers of the random sample: the beginning of the order, without gaps."""
        found = {}
        for document in self.check_order.tolist():
            if document in self.answers:
                found[document] = self.answers[document]
            elif document not in self.skipped:
                break
        return found

    @property
    def n_checks_waiting(self) -> int:
        """Answered checks that count once an earlier one, still open, is answered."""
        answered = sum(bool(self.is_check[d]) for d in self.answers)
        return answered - len(self.checks())

    def lessons(self) -> dict[int, tuple[str, ...]]:
        """Answers to learn from."""
        return {d: a for d, a in self.answers.items() if not self.is_check[d]}

    # -- learning --------------------------------------------------------------

    def refit(self) -> View:
        """Learn from all answers so far, and make that the view."""
        self.view = self.fitted_view(self.lessons(), self.checks())
        return self.view

    def fitted_view(
        self,
        lessons: dict[int, tuple[str, ...]],
        checks: dict[int, tuple[str, ...]],
    ) -> View:
        """The view of given answers; touches no other state, for a thread."""
        classes = sorted({label for given in lessons.values() for label in given})
        enough = len(classes) > (0 if self.any_of else 1)
        fitted = self._learner.fit(lessons, classes) if enough else None
        view = make_view(
            self.view,
            classes,
            fitted,
            self.any_of,
            self.collection.n_documents,
            checks,
            self.max_error,
            self.confidence,
            len(lessons),
        )
        return replace(view, known=self._known(lessons))

    def _known(self, lessons: dict[int, tuple[str, ...]]) -> NoveltyDetector | None:
        """What tells documents unlike the lessons, once they are enough to tell."""
        if smallest_p_value(len(lessons)) > USUAL_LEVEL:
            return None
        texts = [self.collection.texts[document] for document in lessons]
        detector = NoveltyDetector(max_documents=_MOST_COMPARED)
        return detector.fit(texts, list(lessons.values()))

    def left_out(
        self, lessons: dict[int, tuple[str, ...]]
    ) -> tuple[list[int], list[str], FloatMatrix]:
        """Learned documents, classes, and log probabilities without the document."""
        classes = sorted({label for given in lessons.values() for label in given})
        if len(classes) < 2:
            return [], classes, np.zeros((0, len(classes)))
        return list(lessons), classes, self._learner.left_out(lessons, classes)

    def word_weights(self, document: int, view: View) -> FloatVector:
        """What each term adds for the guess over the runner-up."""
        fitted = view.fitted
        if fitted is None:
            return np.zeros(self.collection.n_terms)
        row = fitted.log_proba[document]
        best = np.argsort(-row, kind="stable")
        weights = fitted.weights[:, best[0]]
        if not view.any_of and len(best) > 1:
            weights = weights - fitted.weights[:, best[1]]
        factors = np.zeros(self.collection.n_terms)
        one = fitted.features[[document]]
        factors[one.indices] = one.data
        return np.asarray(weights * factors)

    # -- picking ---------------------------------------------------------------

    def next_pick(self, busy: Container[int] = ()) -> Pick | None:
        """The next document to ask about, or None when all are answered.

        ``busy`` documents are being answered elsewhere and are passed over.
        """
        earliest = self._next_check(())
        if self.n_checks_waiting and earliest and earliest.document not in busy:
            return earliest  # later checks count only after this one
        n_asked = len(self.answers) + len(self.skipped)
        n_checked = sum(1 for d in (*self.answers, *self.skipped) if self.is_check[d])
        due = n_checked < self.check_share * (n_asked - _COLD_START / 2)
        first, second = self._next_check, self._next_lesson
        if not due:
            first, second = second, first
        return first(busy) or second(busy)

    def _open(self, order: IntVector, busy: Container[int]) -> IntVector:
        known = self.answers.keys() | self.skipped
        return np.asarray(
            [d for d in order.tolist() if d not in known and d not in busy],
            dtype=np.int64,
        )

    def _next_check(self, busy: Container[int]) -> Pick | None:
        for document in self.check_order.tolist():
            known = document in self.answers or document in self.skipped
            if not known and document not in busy:
                return Pick(document, "check")
        return None

    def _next_lesson(self, busy: Container[int]) -> Pick | None:
        left = self._open(self.learn_order, busy)
        if not len(left):
            return None
        n_lessons = sum(1 for d in self.answers if not self.is_check[d])
        if self.strategy == "random":
            return Pick(int(left[0]), "random")
        if n_lessons < _COLD_START or self.view.fitted is None:
            return Pick(int(left[0]), "first")
        doubt = self.view.doubt[left]
        if n_lessons % _DIVERSE_EVERY == _DIVERSE_EVERY - 1:
            return Pick(self._different(left, doubt), "different")
        return Pick(int(left[doubt.argmax()]), "uncertain")

    def _different(self, left: IntVector, doubt: FloatVector) -> int:
        """Among the more doubtful ones, the least like what was answered."""
        most = np.argsort(-doubt, kind="stable")[:_CANDIDATES]
        candidates = left[np.sort(most)]
        known = np.fromiter(self.lessons(), dtype=np.int64)
        similar = self.collection.similarity(candidates, known)
        return int(candidates[similar.argmin()])

    def _empty_view(self) -> View:
        return make_view(
            None,
            [],
            None,
            self.any_of,
            self.collection.n_documents,
            {},
            self.max_error,
            self.confidence,
            0,
        )
