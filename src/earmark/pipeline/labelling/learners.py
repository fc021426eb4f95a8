"""Models that learn while one labels: from few documents, many times per minute.

The documents are counted once. All models are linear in the features, which is what
lets the page show the words behind a guess.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from earmark.decision.calibration import TemperatureCalibrator
from earmark.exceptions import DataError
from earmark.features import TfidfWeighting, WordCounter
from earmark.features.tokens import WORD_PATTERN
from earmark.kernels.rows import log_normalize
from earmark.models import (
    ComplementNaiveBayes,
    MultinomialNaiveBayes,
    SoftmaxRegression,
)
from earmark.models.shared.views import WordTables
from earmark.statistics import ClassStatistics
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

__all__ = [
    "LEARNERS",
    "Answers",
    "Collection",
    "Fitted",
    "Learner",
    "StartedLearner",
    "classes_of",
    "make_learner",
]

# A word of one document tells nothing about the others; in a small collection every
# word is kept, since little else is known.
_SMALL = 200
# Directions of meaning that documents are compared in.
_MEANINGS = 100
_N_FOLDS = 5
# So many answers are enough to see how far the probabilities can be believed.
_MOST_LEFT_OUT = 300
# Weights of what was learned from the answers, beside a model of before.
_SHARES = np.linspace(0, 1, 9)

# Document number -> its labels.
Answers = Mapping[int, tuple[str, ...]]


def classes_of(answers: Answers) -> list[str]:
    """The labels that the answers name, sorted."""
    return sorted({label for answer in answers.values() for label in answer})


class Collection:
    """Word counts and tf-idf rows of all documents."""

    def __init__(self, texts: Sequence[str]) -> None:
        if not len(texts):
            raise DataError("there is no document to label.")
        self.texts = list(texts)
        self._counter = WordCounter(min_df=1 if len(self.texts) < _SMALL else 2)
        try:
            counts = self._counter.fit_transform(self.texts)
        except ValueError as error:
            raise DataError(f"no words to learn from: {error}") from None
        self.counts: SparseMatrix = counts.tocsr()
        self.n_documents, self.n_terms = self.counts.shape

    @cached_property
    def _weighting(self) -> TfidfWeighting:
        return TfidfWeighting(tf="sublinear").fit(self.counts)

    @cached_property
    def weights(self) -> SparseMatrix:
        """Rows of unit length: 1 + log of the counts, times log of rarity."""
        return self._weighting.transform(self.counts).tocsr()

    @cached_property
    def _meaning(self) -> tuple[WordTables, FloatMatrix]:
        view = WordTables(_MEANINGS)
        return view, view.fit_transform(self.weights)

    def likeness(self, text: str) -> FloatVector:
        """How like a text each document is: by its words and by their company."""
        row = self._weighting.transform(self._counter.transform([text])).tocsr()
        by_word = np.asarray((self.weights @ row.T).todense(), np.float64).ravel()
        view, vectors = self._meaning
        likeness: FloatVector = (by_word + vectors @ view.transform(row)[0]) / 2
        return likeness

    @cached_property
    def _columns(self) -> dict[str, int]:
        return dict(self._counter.vocabulary_)

    def similarity(self, rows: IntVector, to: IntVector) -> FloatVector:
        """The largest cosine of each row with any document of ``to``."""
        if not len(to):
            return np.zeros(len(rows))
        largest = (self.weights[rows] @ self.weights[to].T).max(axis=1)
        return np.asarray(largest.toarray(), dtype=np.float64).ravel()

    def spans(
        self, text: str, term_weights: FloatVector, most: int = 2000
    ) -> list[tuple[int, int, float]]:
        """Where in a text the words stand that have a weight: (start, end, weight)."""
        spans: list[tuple[int, int, float]] = []
        for word in re.finditer(WORD_PATTERN, text):
            column = self._columns.get(word.group().lower())
            if column is not None and term_weights[column] and len(spans) < most:
                spans.append((*word.span(), float(term_weights[column])))
        return spans


@dataclass(frozen=True)
class Fitted:
    """A linear model: scores are ``features @ weights + offset``."""

    classes: list[str]
    """Labels of the columns."""
    log_proba: FloatMatrix
    """Of every document of the collection. Any-of: of each label by itself,
    (n_documents, n_classes)."""
    weights: FloatMatrix
    """(n_terms, n_classes)."""
    offset: FloatVector
    """(n_classes,)."""
    features: SparseMatrix
    """What the weights apply to."""


class Learner(ABC):
    """Learns from answers; remembers what it can use again."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection

    @abstractmethod
    def fit(self, answers: Answers) -> Fitted:
        """The model of these answers."""

    def left_out(self, answers: Answers) -> FloatMatrix:
        """Log probabilities of the answered documents, each without its fold."""
        classes, documents = classes_of(answers), np.fromiter(answers, dtype=np.int64)
        log_proba = np.full((len(documents), len(classes)), np.log(0.5 / len(classes)))
        n_folds = min(_N_FOLDS, len(documents))
        for fold in range(n_folds):
            inside = np.arange(len(documents)) % n_folds == fold
            rest = {int(d): answers[int(d)] for d in documents[~inside]}
            if len(classes_of(rest)) < 2:
                continue
            fitted = self.fit(rest)
            # A model of before may know classes that no answer names.
            shared = [name for name in fitted.classes if name in classes]
            places = [fitted.classes.index(name) for name in shared]
            columns = np.ix_(inside, [classes.index(name) for name in shared])
            log_proba[columns] = fitted.log_proba[documents[inside]][:, places]
        return log_proba


class CountLearner(Learner):
    """Naive Bayes: each new answer is added exactly, a retracted one taken out."""

    def __init__(self, collection: Collection, model: Any) -> None:
        super().__init__(collection)
        self._model = model
        self._known: dict[int, str] = {}
        self._statistics: ClassStatistics | None = None

    def _learned(self, answers: Answers) -> tuple[Any, IntVector]:
        """The model of these answers, and the terms that any of them holds."""
        wanted = {document: labels[0] for document, labels in answers.items()}
        names, statistics = np.asarray(classes_of(answers)), self._statistics
        if statistics is None or not np.array_equal(statistics.classes, names):
            statistics = ClassStatistics(names, self.collection.n_terms)
            self._statistics, self._known = statistics, {}
        gone = {d: c for d, c in self._known.items() if wanted.get(d) != c}
        new = {d: c for d, c in wanted.items() if self._known.get(d) != c}
        for changed, update in ((gone, statistics.remove), (new, statistics.add)):
            if changed:
                rows = np.fromiter(changed, dtype=np.int64)
                labels = np.asarray(list(changed.values()))
                update(self.collection.counts[rows], labels)
        self._known = wanted
        seen = np.flatnonzero(statistics.document_frequency())
        return self._model.finalise(statistics.select(seen)), seen

    def fit(self, answers: Answers) -> Fitted:
        """Bring the class statistics up to date, and answer for all documents."""
        model, seen = self._learned(answers)
        counts, rule = self.collection.counts, model.linear_rule()
        # Terms that no labelled document holds say nothing.
        weights = np.zeros((self.collection.n_terms, len(model.classes_)))
        weights[seen] = rule.weights
        scores = counts @ weights + rule.offset
        calibrator = self._calibrated(model, self._known, seen)
        log_proba = (
            log_normalize(scores)
            if calibrator is None
            else calibrator.transform(scores)
        )
        names = model.classes_.tolist()
        return Fitted(names, log_proba, weights, rule.offset, counts)

    def left_out(self, answers: Answers) -> FloatMatrix:
        """Exact leave-one-out (NB8)."""
        model, seen = self._learned(answers)
        return self._without(model, self._known, seen)

    def _calibrated(
        self, model: Any, known: dict[int, str], seen: IntVector
    ) -> TemperatureCalibrator | None:
        """Naive Bayes is too sure of itself; leave-one-out tells by how much."""
        if len(known) < 2 * len(model.classes_):
            return None
        some = dict(list(known.items())[-_MOST_LEFT_OUT:])
        y_index = np.searchsorted(model.classes_, list(some.values()))
        return TemperatureCalibrator().fit(self._without(model, some, seen), y_index)

    def _without(
        self, model: Any, known: dict[int, str], seen: IntVector
    ) -> FloatMatrix:
        rows = self.collection.counts[np.fromiter(known, dtype=np.int64)][:, seen]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The number of unique classes")
            labels = np.asarray(list(known.values()))
            log_proba: FloatMatrix = model.leave_one_out(rows, labels)
        return log_proba


class LinearLearner(Learner):
    """Softmax regression on tf-idf, fitted afresh: exact, and quick for few labels.

    With ``blend`` the scores of complement naive Bayes are added: the first is the
    better of the two for few classes, the second for many; their sum is linear too.
    """

    def __init__(self, collection: Collection, blend: bool = False) -> None:
        super().__init__(collection)
        self._models: list[Any] = [_softmax()]
        if blend:
            self._models.append(ComplementNaiveBayes(alpha=0.1))

    def fit(self, answers: Answers) -> Fitted:
        """Fit on the answers, and answer for all documents."""
        rows = np.fromiter(answers, dtype=np.int64)
        labels = np.asarray([answer[0] for answer in answers.values()])
        features = self.collection.weights
        names, weights, offset = _linear(self._models[0], features[rows], labels)
        for model in self._models[1:]:  # classes are about equally frequent to it
            weights += _linear(model, features[rows], labels)[1]
        scores = features @ weights + offset
        return Fitted(names, log_normalize(scores), weights, offset, features)


class AnyOfLearner(Learner):
    """One yes/no model for each label."""

    def fit(self, answers: Answers) -> Fitted:
        """Fit a model for each label; one that is always or never given is flat."""
        classes, rows = classes_of(answers), np.fromiter(answers, dtype=np.int64)
        features = self.collection.weights
        X = features[rows]
        weights = np.zeros((self.collection.n_terms, len(classes)))
        offset = np.zeros(len(classes))
        for c, name in enumerate(classes):
            is_member = np.asarray([name in labels for labels in answers.values()])
            share = (is_member.sum() + 0.5) / (len(is_member) + 1)
            offset[c] = np.log(share / (1 - share))
            if 0 < is_member.sum() < len(is_member):
                _, both, off = _linear(_softmax(), X, is_member)
                weights[:, c], offset[c] = both[:, 1] - both[:, 0], off[1] - off[0]
        log_odds = features @ weights + offset
        log_proba = -np.logaddexp(0.0, -log_odds)
        return Fitted(classes, log_proba, weights, offset, features)


class StartedLearner(Learner):
    """Answers on top of a model that was there before the first one.

    Log probabilities of both are averaged; the weight of what was learned here is the
    one that explains the answers best, each left out, looked for again whenever their
    number has grown by a quarter.
    """

    def __init__(
        self, learner: Learner, classes: Sequence[str], log_proba: FloatMatrix
    ) -> None:
        super().__init__(learner.collection)
        self._learner = learner
        self._classes = list(classes)
        self._log_proba = log_proba
        self._weight, self._weighed_at = 0.0, 0

    def fit(self, answers: Answers) -> Fitted:
        """Answer for all documents, also without any answer to learn from."""
        classes = classes_of(answers)
        names = sorted({*self._classes, *classes})
        before = _on_classes(self._log_proba, self._classes, names)
        weights = np.zeros((self.collection.n_terms, len(names)))
        offset = np.zeros(len(names))
        if len(classes) < 2:
            return Fitted(names, before, weights, offset, self.collection.weights)
        fitted = self._learner.fit(answers)
        self._weigh(answers, names, before)
        learned = _on_classes(fitted.log_proba, fitted.classes, names)
        mixed = self._weight * learned + (1 - self._weight) * before
        weights[:, [names.index(name) for name in fitted.classes]] = fitted.weights
        return Fitted(names, log_normalize(mixed), weights, offset, fitted.features)

    def _weigh(self, answers: Answers, names: list[str], before: FloatMatrix) -> None:
        if len(answers) < max(1.25 * self._weighed_at, 8):
            return
        self._weighed_at = len(answers)
        own = self._learner.left_out(answers)
        learned = _on_classes(own, classes_of(answers), names)
        before = before[np.fromiter(answers, dtype=np.int64)]
        cells = [(d, names.index(a[0])) for d, a in enumerate(answers.values())]
        rows, columns = np.asarray(cells).T
        mixed = [log_normalize(w * learned + (1 - w) * before) for w in _SHARES]
        gains = [log_proba[rows, columns].sum() for log_proba in mixed]
        self._weight = float(_SHARES[int(np.argmax(gains))])


def _on_classes(
    log_proba: FloatMatrix, classes: Sequence[str], names: list[str]
) -> FloatMatrix:
    """Columns for all names; a class that a model does not know is unlikely."""
    unknown = np.log(0.5 / max(len(names), 1))
    spread = np.full((len(log_proba), len(names)), unknown)
    spread[:, [names.index(name) for name in classes]] = log_proba
    normalized: FloatMatrix = log_normalize(spread)
    return normalized


def _softmax() -> SoftmaxRegression:
    return SoftmaxRegression(solver="dual", C=10.0, tol=1e-2)


def _linear(
    model: Any, X: SparseMatrix, y: Any
) -> tuple[list[Any], FloatMatrix, FloatVector]:
    """Classes, weights and offsets of a model fitted on the columns that X uses."""
    used = np.unique(X.indices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few passes are enough
        warnings.filterwarnings("ignore", message="The number of unique classes")
        model.fit(X[:, used], y)
    rule = model.linear_rule()
    weights = np.zeros((X.shape[1], len(model.classes_)))
    weights[used] = rule.weights
    return model.classes_.tolist(), weights, np.asarray(rule.offset, dtype=np.float64)


# Name -> what makes the learner.
LEARNERS: dict[str, Callable[[Collection], Learner]] = {
    "blend": lambda c: LinearLearner(c, blend=True),
    "softmax": LinearLearner,
    "complement": lambda c: CountLearner(c, ComplementNaiveBayes(alpha=0.3)),
    "multinomial": lambda c: CountLearner(c, MultinomialNaiveBayes(alpha=0.1)),
}


def make_learner(name: str, collection: Collection, any_of: bool) -> Learner:
    """The learner of that name; any-of has one of its own."""
    if name not in LEARNERS:
        raise ValueError(f"model must be one of {', '.join(LEARNERS)}, got {name!r}.")
    if any_of:
        return AnyOfLearner(collection)
    return LEARNERS[name](collection)
