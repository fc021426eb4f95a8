"""Which document to ask about next, and what is known so far.

A share of the documents, drawn at random beforehand, is kept for checking: nothing is
learned from it. Checks are asked in a random order that was fixed before any answer,
and the estimate uses the answered beginning of that order. So it is the estimate of a
plain random sample, whatever was picked for learning in between. For a promise the
model is frozen, and its guesses are checked by themselves (``Audit``).
"""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from earmark.decision.decision import Scores, log_odds
from earmark.decision.novelty import USUAL_LEVEL, NoveltyDetector, smallest_p_value
from earmark.evaluation.significance import exact_interval
from earmark.pipeline.labelling.learners import (
    AnchoredLearner,
    Answers,
    AnyOfLearner,
    Collection,
    Fitted,
    FullFit,
    FullLearner,
    Learner,
    StartedLearner,
    classes_of,
)
from earmark.pipeline.labelling.promise import (
    Audit,
    Grant,
    Standing,
    fewest_checks,
    risk_of,
)
from earmark.pipeline.labelling.representation import Representation
from earmark.pipeline.text_classifier import TextClassifier
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector

__all__ = ["Estimate", "LabellingLoop", "Pick", "View"]

# An audit takes as many guesses as are expected to be wrong no more often than this
# share of the limit, and is worth it where it reads at most half of them.
_EXPECTED = 0.25
_MOST_READ = 0.5
# Before this many answers there is nothing to be uncertain about.
_COLD_START = 8
# Full fits: the first after so many answers to learn from, the next when they have
# grown by the first factor, or by the second one and there is a new label.
_FIRST_FULL_FIT = 10
_FULL_FIT_GROWTH = 1.25
_NEW_LABEL_GROWTH = 1.1
# Checks left open, by a tab that was closed, that are asked before all else.
_FEW_OPEN = 3
# Every so many picks one goes to the most doubtful document, the others to doubtful
# ones that stand for many. So many are considered.
_PLAIN_EVERY = 2
_CANDIDATES = 600
# Documents that others are compared with, so that a view is made at once.
_MOST_COMPARED = 300
# What tells unusual documents takes longer than all else that is learned: it is made
# anew only when there are so many times the answers.
_KNOWN_GROWTH = 1.1


@dataclass(frozen=True)
class Estimate:
    """Share of right guesses among random documents that nothing was learned from."""

    n_documents: int = 0
    n_right: int = 0
    low: float = 0.0
    high: float = 1.0

    @property
    def accuracy(self) -> float | None:
        """The share; None before the first random document was answered."""
        return self.n_right / self.n_documents if self.n_documents else None


@dataclass(frozen=True)
class View:
    """One state of the model; never changed, only replaced."""

    any_of: bool
    certainty: FloatVector
    """Log-odds that the guess for each document is right, by the model itself,
    (n_documents,)."""
    doubt: FloatVector
    """From 0 to 1: the second best guess's chance over the best one's, (n_documents,).
    """
    fitted: Fitted | None = None
    """None until there is something to tell apart."""
    estimate: Estimate = Estimate()
    """Accuracy of the guesses, with its interval."""
    n_learned: int = 0
    """Documents learned from."""
    version: int = 0
    """Counts the states."""
    known: NoveltyDetector | None = None
    """Tells documents unlike these; None while they are too few to tell."""

    @classmethod
    def empty(cls, n_documents: int, any_of: bool) -> View:
        """Before any answer."""
        return cls(any_of, np.zeros(n_documents), np.zeros(n_documents))

    def after(self, fitted: Fitted | None, n_learned: int, checks: Answers) -> View:
        """The next state; ``checks`` are the random documents kept apart."""
        view = replace(
            View.empty(len(self.certainty), self.any_of),
            n_learned=n_learned,
            version=self.version + 1,
        )
        if fitted is None:
            return view
        certainty, doubt = _certainty(fitted, self.any_of)
        view = replace(view, fitted=fitted, certainty=certainty, doubt=doubt)
        n_right = int(view.right(checks).sum())
        interval = exact_interval(n_right, len(checks))
        return replace(view, estimate=Estimate(len(checks), n_right, *interval))

    def right(self, answers: Answers) -> BoolVector:
        """Whether the guesses are the answers."""
        guesses = self.guesses(np.fromiter(answers, dtype=np.int64))
        pairs = zip(guesses, answers.values(), strict=True)
        return np.asarray([set(guess) == set(answer) for guess, answer in pairs], bool)

    def is_unlike_known(self, text: str) -> bool:
        """Whether a text is unlike all that was learned from."""
        if self.known is None:
            return False
        return bool(self.known.p_values([text])[0] <= USUAL_LEVEL)

    def guesses(self, documents: IntVector) -> list[tuple[str, ...]]:
        """The labels that the model would give."""
        if self.fitted is None:
            return [() for _ in documents]
        rows, names = self.fitted.log_proba[documents], self.fitted.classes
        if not self.any_of:
            return [(names[c],) for c in rows.argmax(axis=1)]
        return [
            tuple(names[c] for c in np.flatnonzero(row > np.log(0.5))) for row in rows
        ]

    @property
    def confidence(self) -> FloatVector:
        """Probability of the guess for each document, as people read it.

        NaN where nobody knows: the model knows the names of the labels alone.
        """
        if self.fitted is None:
            return self.certainty
        full = self.fitted.full
        if full is not None and not full.n_answers:
            return np.full(len(self.certainty), np.nan)
        confidence: FloatVector = special.expit(self.certainty)
        return confidence


def _certainty(fitted: Fitted, any_of: bool) -> tuple[FloatVector, FloatVector]:
    """Log-odds of the guess, and doubt: the smaller the gap, the nearer to 1."""
    log_proba = fitted.log_proba
    if any_of:
        each = special.log_expit(np.abs(log_odds(log_proba)))
        return log_odds(each.sum(axis=1)), 2 - 2 * np.exp(each.min(axis=1))
    if log_proba.shape[1] == 1:
        return np.full(len(log_proba), np.inf), np.zeros(len(log_proba))
    gap = Scores.from_margins(log_proba).certainty
    return Scores.from_log_proba(log_proba).certainty, np.exp(-gap)


@dataclass(frozen=True)
class Pick:
    """A document to ask about, and why: check, audit, typical, uncertain, random."""

    document: int
    why: str


class LabellingLoop:
    """Asks, learns, estimates.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    regions : dict of str to sequence of str, optional
        The documents by region, where they have several.
    any_of : bool, default=False
        Whether a document may have any number of labels.
    model, encoder : str, default="auto" and "static"
        What learns while one labels: as in ``TextClassifier``, which is fitted to the
        answers and to the documents without one after 10 answers, and whenever they
        have grown by a quarter. A quick model adjusts it in between. Several labels per
        document have the quick model alone.
    class_names : dict of str to list of str, optional
        Descriptions of labels, as in ``TextClassifier``.
    check_share : float in [0, 1), default=0.2
        Share of the documents, and of the questions, kept for the estimate.
    strategy : {"active", "random"}, default="active"
        How documents to learn from are picked: by lot, or first those that stand for
        many others, then the doubtful ones, every second by how many doubtful
        ones it stands for.
    max_error, level : float
        The promise to work towards.
    start : TextClassifier, optional
        A model that guesses from the first document on. If it was trained on labels,
        it counts as much as it explains the answers; one that knows only the names of
        the classes gives way to the first full fit.
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
        regions: Mapping[str, Sequence[str]] | None = None,
        any_of: bool = False,
        model: str = "auto",
        encoder: Any = "static",
        class_names: Mapping[str, list[str]] | None = None,
        check_share: float = 0.2,
        strategy: str = "active",
        max_error: float = 0.05,
        level: float = 0.95,
        start: TextClassifier | None = None,
        random_state: int = 0,
    ) -> None:
        self.collection = Collection(texts, encoder)
        self.any_of = any_of
        self.check_share = check_share
        self.strategy = strategy
        self.max_error = max_error
        self.level = level
        self.answers: dict[int, tuple[str, ...]] = {}
        self.skipped: set[int] = set()
        # What is being checked, or was checked last; how many audits there were.
        self.audit: Audit | None = None
        self.n_audits = 0
        columns = self.collection.texts if regions is None else regions
        self._full = FullLearner(columns, model, encoder, class_names)
        self._anchored = AnchoredLearner(self.collection)
        self._learner: Learner = self._anchored
        if any_of:
            self._learner = AnyOfLearner(self.collection)
        self._represented: Representation | None = None
        self._detector: tuple[int, NoveltyDetector | None] = 0, None
        self._is_started = start is not None
        self._named: FullFit | None = None
        # Answers at the last full fit that was tried.
        self._tried_at = 0
        if start is not None:
            fitted = self.fit_of(start)
            if start.text_model_ is not None and start.text_model_.has_labels:
                before = fitted.classes, fitted.log_proba
                self._learner = StartedLearner(self._learner, *before)
            else:
                self.begin_with(fitted)
        n_documents = self.collection.n_documents
        self._seed = random_state
        order = np.random.default_rng(random_state).permutation(n_documents)
        n_checks = round(check_share * len(order))
        self.check_order, self.learn_order = order[:n_checks], order[n_checks:]
        self.is_check = np.zeros(n_documents, dtype=bool)
        self.is_check[self.check_order] = True
        self.view = View.empty(n_documents, any_of)

    def fit_of(self, start: TextClassifier) -> FullFit:
        """What a model of before says of the documents; touches no other state."""
        if self.any_of:
            raise ValueError("start is for one label per document.")
        return self._full.fitted(start)

    def begin_with(self, fitted: FullFit) -> None:
        """Guess by a model that knows only names, until there is a full fit."""
        self._named, self._is_started = fitted, True
        if self._anchored.anchor is None:
            self._anchored.anchor = fitted

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

    def forget_answers(self) -> None:
        """As if nothing had been asked; also the view is empty again."""
        self.answers.clear()
        self.skipped.clear()
        self._anchored.anchor, self._tried_at = self._named, 0
        self.view = View.empty(self.collection.n_documents, self.any_of)

    def checks(self) -> dict[int, tuple[str, ...]]:
        """Answers of the random sample: the beginning of the order, without gaps."""
        checks = {}
        for document in self.check_order.tolist():
            if document in self.answers:
                checks[document] = self.answers[document]
            elif document not in self.skipped:
                break
        return checks

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
        """Learn from all answers so far, fully where due, and make that the view."""
        lessons = self.lessons()
        if self.full_fit_due(lessons):
            self.anchor(self.full_fit(lessons))
        self.view = self.fitted_view(lessons, self.checks())
        return self.view

    def full_fit_due(self, lessons: Answers) -> bool:
        """Whether the answers have grown enough for a full fit."""
        classes, n_lessons = classes_of(lessons), len(lessons)
        if self.any_of or n_lessons < _FIRST_FULL_FIT or len(classes) < 2:
            return False
        last = self._anchored.anchor
        if last is None or n_lessons >= _FULL_FIT_GROWTH * self._tried_at:
            return n_lessons >= _NEW_LABEL_GROWTH * self._tried_at
        is_new = not set(classes) <= set(last.classes)
        return is_new and n_lessons >= _NEW_LABEL_GROWTH * self._tried_at

    def full_fit(self, lessons: Answers) -> FullFit:
        """Fit to answers and pool; touches no state that others read, for a thread."""
        self._tried_at = len(lessons)
        return self._full.fit(lessons)

    def anchor(self, fitted: FullFit) -> None:
        """From now on a full fit speaks, corrected by what is learned after it."""
        self._anchored.anchor = fitted

    def fitted_view(self, lessons: Answers, checks: Answers) -> View:
        """The view of given answers; touches no other state, for a thread."""
        fewest = 1 if self.any_of else 2
        enough = len(classes_of(lessons)) >= fewest or self._is_started
        fitted = self._learner.fit(lessons) if enough else None
        view = self.view.after(fitted, len(lessons), checks)
        return replace(view, known=self._known(lessons))

    def _known(self, lessons: Answers) -> NoveltyDetector | None:
        """What tells documents unlike the lessons, once they are enough to tell."""
        if smallest_p_value(len(lessons)) > USUAL_LEVEL:
            return None
        n_known, known = self._detector
        if known is None or not n_known <= len(lessons) < _KNOWN_GROWTH * n_known:
            texts = [self.collection.texts[document] for document in lessons]
            detector = NoveltyDetector(max_documents=_MOST_COMPARED)
            known = detector.fit(texts, list(lessons.values()))
            self._detector = len(lessons), known
        return known

    def left_out(self, lessons: Answers) -> tuple[list[int], list[str], FloatMatrix]:
        """Learned documents, classes, and log probabilities without the document."""
        classes = classes_of(lessons)
        if len(classes) < 2:
            return [], classes, np.zeros((0, len(classes)))
        return list(lessons), classes, self._learner.left_out(lessons)

    def word_weights(self, document: int, view: View) -> dict[str, float]:
        """What each word adds for the guess over the runner-up."""
        fitted = view.fitted
        if fitted is None:
            return {}
        best = np.argsort(-fitted.log_proba[document], kind="stable")
        weights = fitted.weights[:, best[0]]
        second = None if view.any_of or len(best) < 2 else int(best[1])
        if second is not None:
            weights = weights - fitted.weights[:, second]
        words = self.collection.by_word(document, weights, fitted.features)
        full, names = fitted.full, fitted.classes
        chosen = [names[c] for c in (best[0], second) if c is not None]
        if full is not None and set(chosen) <= set(full.classes):
            texts = self._full.region_texts(document)
            for word, weight in full.word_weights(texts, *chosen).items():
                words[word] = words.get(word, 0.0) + weight
        return words

    # -- the promise -----------------------------------------------------------

    @property
    def next_risk(self) -> float:
        """What the next audit may spend of the risk."""
        return risk_of(self.n_audits + 1, self.level)

    def standing(self) -> Standing | None:
        """How far the audit has come; None without one."""
        audit = self.audit
        return None if audit is None else audit.standing(self.answers, self.skipped)

    @property
    def is_auditing(self) -> bool:
        """Whether the model is frozen, and only checks of its guesses are asked."""
        standing = self.standing()
        return standing is not None and not standing.is_over

    @property
    def granted(self) -> Grant | None:
        """The guesses that come with the promise."""
        audit = self.audit
        return None if audit is None else audit.grant(self.answers, self.skipped)

    def guaranteed(self) -> BoolVector:
        """Which documents may be accepted with the promise: guesses of ``granted``."""
        covered, grant = np.zeros(self.collection.n_documents, dtype=bool), self.granted
        if grant is not None:
            covered[grant.documents] = True
        return covered

    def begin_audit(self, without: Container[int] = ()) -> Audit | None:
        """Freeze the guesses that may be trusted; None where a promise is no use."""
        documents = self.to_audit(without)
        if not len(documents):
            return None
        risk, self.n_audits = self.next_risk, self.n_audits + 1
        # No order of anything before, and the same one for the same project.
        order = np.random.default_rng([self._seed, 3, self.n_audits]).permutation
        shuffled = order(documents)
        guesses = tuple(self.view.guesses(shuffled))
        learned = self.view.n_learned, self.max_error
        self.audit = Audit(shuffled, guesses, *learned, risk, self.n_audits)
        return self.audit

    def end_audit(self) -> None:
        """Learn on, and forget what was checked."""
        self.audit = None

    def to_audit(self, without: Container[int] = ()) -> IntVector:
        """Open documents whose guesses are right often enough, as far as is known."""
        view, none = self.view, np.zeros(0, dtype=np.int64)
        if view.fitted is None or np.isnan(view.confidence).any():
            return none
        open_ = np.flatnonzero(~self._marked([*self.answers, *self.skipped, *without]))
        open_ = open_[np.argsort(-view.certainty[open_], kind="stable")]
        checks = self.checks()
        wrong = special.expit(-view.certainty)
        expected = wrong[np.fromiter(checks, dtype=np.int64)].sum()
        # How much more often guesses are wrong than the model thinks.
        factor = (np.sum(~view.right(checks)) + 1) / (expected + 1)
        rate = factor * np.cumsum(wrong[open_]) / np.arange(1, len(open_) + 1)
        sure = np.flatnonzero(rate <= _EXPECTED * self.max_error)
        if not len(sure):
            return none
        chosen: IntVector = open_[: sure[-1] + 1]
        fewest = fewest_checks(len(chosen), self.max_error, self.next_risk)
        worth = fewest is not None and fewest <= _MOST_READ * len(chosen)
        return chosen if worth else none

    # -- picking ---------------------------------------------------------------

    def next_pick(
        self, busy: Container[int] = (), *, at_once: bool = False
    ) -> Pick | None:
        """The next document to ask about, but no ``busy`` one; None at the end.

        ``at_once`` does without the vectors of the documents until they are there.
        """
        if self.audit is not None and self.is_auditing:
            to_check = self.audit.open_documents(self.answers, self.skipped)
            return next((Pick(d, "audit") for d in to_check if d not in busy), None)
        is_asked = self._marked([*self.answers, *self.skipped])
        is_busy = self._marked(list(busy))
        asked_checks = is_asked[self.check_order]
        checks = self.check_order[~asked_checks]
        # Later checks count only after the earliest open one, so a few open ones are
        # asked first. With labels that were there before, many are open; those are
        # asked in turn.
        n_checked = int(asked_checks.sum())
        until_last = int(asked_checks.nonzero()[0][-1]) + 1 if n_checked else 0
        n_gaps = until_last - n_checked
        if 0 < n_gaps <= _FEW_OPEN and not is_busy[checks[0]]:
            return Pick(int(checks[0]), "check")
        due = n_checked < self.check_share * (is_asked.sum() - _COLD_START / 2)
        checks = checks[~is_busy[checks]]
        check = Pick(int(checks[0]), "check") if len(checks) else None
        if due and check is not None:
            return check
        left = self.learn_order[~(is_asked | is_busy)[self.learn_order]]
        if not len(left):
            return check
        if self.strategy == "random":
            return Pick(int(left[0]), "random")
        if at_once and not self.collection.has_vectors:
            return self._most_doubtful(left)
        return self._lesson(left, busy)

    def _marked(self, documents: Sequence[int]) -> BoolVector:
        """Which documents these are."""
        marked = np.zeros(self.collection.n_documents, dtype=bool)
        marked[np.asarray(documents, dtype=np.int64)] = True
        return marked

    def _lesson(self, left: IntVector, busy: Container[int]) -> Pick:
        """Which of the open documents to learn from next."""
        if self._represented is None:
            self._represented = Representation(self.collection.vectors)
        known, gains = {*self.lessons(), *busy}, self._represented.gains
        n_lessons = len(self.lessons())
        if n_lessons < _COLD_START or self.view.fitted is None:
            some = left[:_CANDIDATES]
            return Pick(int(some[gains(some, known).argmax()]), "typical")
        if n_lessons % _PLAIN_EVERY:
            return self._most_doubtful(left)
        doubt, some = self.view.doubt, left
        if len(left) > _CANDIDATES:
            some = left[np.argpartition(-doubt[left], _CANDIDATES)[:_CANDIDATES]]
        weights = doubt[self._represented.documents]
        best = (doubt[some] * gains(some, known, weights)).argmax()
        return Pick(int(some[best]), "uncertain")

    def _most_doubtful(self, left: IntVector) -> Pick:
        if self.view.fitted is None:
            return Pick(int(left[0]), "random")
        return Pick(int(left[self.view.doubt[left].argmax()]), "uncertain")
