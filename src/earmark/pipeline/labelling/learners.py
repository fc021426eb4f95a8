"""Models that learn while one labels: a full fit now and then, a quick one between.

The full fit is a ``TextClassifier`` of the answers and the documents without one. The
quick model knows a new answer at once; what it has learned since the last full fit is
added to that one's scores. Both are linear in words, which lets the page mark the words
behind a guess.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from earmark.exceptions import DataError, NotSupportedError
from earmark.features import TfidfWeighting, WordCounter
from earmark.features.tokens import WORD_PATTERN
from earmark.features.vectors import EncoderColumns
from earmark.folds import rows_by_lot
from earmark.inputs.regions import RegionTexts
from earmark.kernels.backend import one_blas_thread
from earmark.kernels.rows import log_normalize
from earmark.models import ComplementNaiveBayes, SoftmaxRegression
from earmark.models.shared.views import VectorView, WordTables
from earmark.pipeline.text_classifier import TextClassifier
from earmark.typing import (
    FloatMatrix,
    FloatTable,
    FloatVector,
    SparseMatrix,
)

__all__ = [
    "AnchoredLearner",
    "Answers",
    "AnyOfLearner",
    "Collection",
    "Fitted",
    "FullFit",
    "FullLearner",
    "Learner",
    "StartedLearner",
    "classes_of",
    "spans",
]

# A word of one document tells nothing about the others; in a small collection every
# word is kept, since little else is known.
_SMALL = 200
# Directions of meaning that documents are compared in.
_MEANINGS = 100
_N_FOLDS = 5
# The full fit learns from so many documents without an answer, drawn by lot.
_MOST_POOL = 5000
# What a full fit says is never so sure that no answer could change it.
_FLOOR = np.log(1e-6)
# Weights of what was learned from the answers, beside a model of before.
_SHARES = np.linspace(0, 1, 9)

# Document number -> its labels.
Answers = Mapping[int, tuple[str, ...]]


def classes_of(answers: Answers) -> list[str]:
    """The labels that the answers name, sorted."""
    return sorted({label for answer in answers.values() for label in answer})


class Collection:
    """Word counts, tf-idf rows and vectors of all documents.

    The vectors are those of the ``encoder``; where it hardly knows the words, and
    without one, those that the company of the words gives.
    """

    def __init__(self, texts: Sequence[str], encoder: Any = "static") -> None:
        if not len(texts):
            raise DataError("there is no document to label.")
        self.texts = list(texts)
        self._encoder = encoder
        self._meant: tuple[Callable[[str], Any], FloatTable] | None = None
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

    @property
    def _meaning(self) -> tuple[Callable[[str], Any], FloatTable]:
        """What makes a vector of a text, and the vectors of all documents."""
        if self._meant is None:
            self._meant = self._with_meaning()
        return self._meant

    def _with_meaning(self) -> tuple[Callable[[str], Any], FloatTable]:
        with one_blas_thread():
            if self._encoder is not None:
                columns, view = EncoderColumns(self._encoder), VectorView()
                counter, n = self._counter, self.n_documents
                known = columns.fit_transform(self.texts, self.counts, counter, n)
                if known is not None:
                    vectors = np.asarray(view.fit(known).transform(known), np.float32)
                    return lambda text: view.transform(
                        self._encoded(columns, text)
                    ), vectors
            tables = WordTables(_MEANINGS)
            vectors = np.asarray(tables.fit_transform(self.weights), np.float32)
            return lambda text: tables.transform(self._row(text)), vectors

    def _encoded(self, columns: EncoderColumns, text: str) -> FloatMatrix:
        return columns.transform([text], self._counter.transform([text]).tocsr())

    def _row(self, text: str) -> SparseMatrix:
        """The tf-idf of a text."""
        return self._weighting.transform(self._counter.transform([text])).tocsr()

    @property
    def vectors(self) -> FloatTable:
        """What each document is about, as rows of length 1 (0 where nobody knows)."""
        return self._meaning[1]

    @property
    def has_vectors(self) -> bool:
        """Whether the vectors are there already: they may take a while."""
        return self._meant is not None

    def likeness(self, text: str) -> FloatVector:
        """How like a text each document is: by its words and by what they mean."""
        by_word = np.asarray((self.weights @ self._row(text).T).todense(), np.float64)
        vector_of, vectors = self._meaning
        likeness: FloatVector = (by_word.ravel() + vectors @ vector_of(text)[0]) / 2
        return likeness

    @cached_property
    def words(self) -> list[str]:
        """What the columns of the counts are."""
        vocabulary = self._counter.vocabulary_
        return sorted(vocabulary, key=vocabulary.__getitem__)

    def by_word(
        self, document: int, term_weights: FloatVector, features: SparseMatrix
    ) -> dict[str, float]:
        """What each word of a document adds to a score."""
        row = features[[document]]
        added = (row.data * term_weights[row.indices]).tolist()
        pairs = zip(row.indices.tolist(), added, strict=True)
        return {self.words[column]: weight for column, weight in pairs if weight}


def spans(
    text: str, weights: Mapping[str, float], most: int = 2000
) -> list[tuple[int, int, float]]:
    """Where in a text the words stand that have a weight: (start, end, weight)."""
    places: list[tuple[int, int, float]] = []
    for word in re.finditer(WORD_PATTERN, text):
        weight = weights.get(word.group().lower())
        if weight and len(places) < most:
            places.append((*word.span(), float(weight)))
    return places


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
    full: FullFit | None = None
    """The full fit that the weights correct; None: there is none yet."""


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


class QuickLearner(Learner):
    """Softmax regression plus complement naive Bayes on tf-idf, fitted from scratch.

    The first is the better of the two for few classes, the second for many; the sum of
    their scores is linear too.
    """

    def fit(self, answers: Answers) -> Fitted:
        """Fit on the answers, and answer for all documents."""
        rows = np.fromiter(answers, dtype=np.int64)
        labels = np.asarray([answer[0] for answer in answers.values()])
        features = self.collection.weights
        names, weights, offset = _linear(_softmax(), features[rows], labels)
        complement = ComplementNaiveBayes(alpha=0.1)
        # Its offset stays out: classes are about equally frequent to it.
        weights += _linear(complement, features[rows], labels)[1]
        scores = features @ weights + offset
        return Fitted(names, log_normalize(scores), weights, offset, features)


@dataclass(frozen=True)
class FullFit:
    """A ``TextClassifier``, and what it says of every document."""

    classifier: TextClassifier
    classes: list[str]
    log_proba: FloatMatrix
    """Of every document, (n_documents, n_classes)."""
    answers: dict[int, tuple[str, ...]]
    """What it learned from."""
    n_pool: int
    """Documents without an answer that it learned from."""

    @property
    def n_answers(self) -> int:
        """Answers that it learned from."""
        return len(self.answers)

    def left_out(self) -> dict[int, FloatVector]:
        """Log probabilities of the answered documents that fitting held out."""
        text_model = self.classifier.text_model_
        if text_model is None or text_model.left_out_answers is None:
            return {}
        documents = list(self.answers)
        rows, log_proba = text_model.left_out_answers
        return {documents[n]: row for n, row in zip(rows, log_proba, strict=True)}

    def word_weights(
        self, texts: Mapping[str, list[str]], best: str, second: str | None = None
    ) -> dict[str, float]:
        """What each word of a document adds for one class over another."""
        text_model = self.classifier.text_model_
        assert text_model is not None
        columns = text_model.columns

        def term(column: int) -> str:
            return columns.describe(column)[0]

        renamed: RegionTexts = dict(zip(columns.regions, texts.values(), strict=True))
        try:
            (parts,) = text_model.contributions(renamed, term)
        except NotSupportedError:
            return {}
        terms = parts.terms[:, self.classes.index(best)]
        if second is not None:
            terms = terms - parts.terms[:, self.classes.index(second)]
        names = parts.names or [term(int(column)) for column in parts.columns]
        weights: dict[str, float] = {}
        for name, weight in zip(names, terms.tolist(), strict=True):
            weights[name] = weights.get(name, 0.0) + weight
        return weights


class FullLearner:
    """Fits the classifier that an export would hold, to answers and pool.

    Parameters
    ----------
    texts : list of str, or dict of str to list of str
        All documents, by region if there are several.
    model, encoder : str, default="auto" and "static"
        As in ``TextClassifier``.
    class_names : dict, optional
        What is known of the classes; only those with an answer are used.

    """

    def __init__(
        self,
        texts: Sequence[str] | Mapping[str, Sequence[str]],
        model: str = "auto",
        encoder: Any = "static",
        class_names: Mapping[str, list[str]] | None = None,
    ) -> None:
        self.regions = texts if isinstance(texts, Mapping) else {"": texts}
        self.n_documents = len(next(iter(self.regions.values())))
        self.model = model
        self.encoder = encoder
        self.class_names = dict(class_names or {})

    def take(self, documents: Iterable[int]) -> Any:
        """Some documents, as a classifier takes them."""
        rows = list(documents)
        taken = {k: [v[d] for d in rows] for k, v in self.regions.items()}
        return taken.get("", taken)

    def region_texts(self, document: int) -> dict[str, list[str]]:
        """The texts of one document by region."""
        return {name: [texts[document]] for name, texts in self.regions.items()}

    def fit(self, answers: Answers) -> FullFit:
        """Learn from the answers and from the documents without one."""
        classes = classes_of(answers)
        rest = np.setdiff1d(np.arange(self.n_documents), list(answers))
        pool = rest[rows_by_lot(len(rest), _MOST_POOL)]
        names = {k: v for k, v in self.class_names.items() if k in classes}
        classifier = TextClassifier(
            self.model,
            encoder=self.encoder,
            class_names=names or "auto",
            multi_label=False,
            random_state=0,
        )
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier.fit(
                self.take(answers),
                [answer[0] for answer in answers.values()],
                unlabelled=self.take(pool.tolist()) if len(pool) else None,
            )
        return self.fitted(classifier, answers, len(pool))

    def fitted(
        self,
        classifier: TextClassifier,
        answers: Answers = MappingProxyType({}),
        n_pool: int = 0,
    ) -> FullFit:
        """A fitted classifier, with what it says of every document."""
        classes = [str(name) for name in classifier.classes_.tolist()]
        # Never so sure that no answer could change it.
        texts = self.take(range(self.n_documents))
        log_proba = np.maximum(classifier.predict_log_proba(texts), _FLOOR)
        return FullFit(classifier, classes, log_proba, dict(answers), n_pool)


class AnchoredLearner(Learner):
    """The last full fit, corrected by what the quick model has learned since.

    ``anchor`` is that fit. Scores are its log probabilities plus the difference between
    the quick model of all answers and the quick model of the answers that the full fit
    knew; so a changed or retracted answer counts as well.
    """

    def __init__(self, collection: Collection) -> None:
        super().__init__(collection)
        self._quick = QuickLearner(collection)
        self._then: tuple[FullFit | None, Fitted | None] = None, None
        self.anchor: FullFit | None = None

    def fit(self, answers: Answers) -> Fitted:
        """The scores of the full fit, corrected; without one those of the quick one."""
        anchor = self.anchor
        enough = len(classes_of(answers)) > 1
        if anchor is None:
            return self._quick.fit(answers)
        names = sorted({*anchor.classes, *classes_of(answers)})
        log_proba = on_classes(anchor.log_proba, anchor.classes, names)
        n_terms = self.collection.n_terms
        weights, offset = np.zeros((n_terms, len(names))), np.zeros(len(names))
        if enough and anchor.answers != answers:
            models = (1.0, self._quick.fit(answers)), (-1.0, self._of(anchor))
            for sign, fitted in models:
                if fitted is None:
                    continue
                learned = on_classes(fitted.log_proba, fitted.classes, names)
                log_proba = log_proba + sign * learned
                places = [names.index(name) for name in fitted.classes]
                weights[:, places] += sign * fitted.weights
        features = self.collection.weights
        log_proba = log_normalize(log_proba)
        return Fitted(names, log_proba, weights, offset, features, anchor)

    def _of(self, anchor: FullFit) -> Fitted | None:
        """The quick model of what the full fit knew."""
        known, fitted = self._then
        if known is not anchor:
            enough = len(classes_of(anchor.answers)) > 1
            fitted = self._quick.fit(anchor.answers) if enough else None
            self._then = anchor, fitted
        return fitted

    def left_out(self, answers: Answers) -> FloatMatrix:
        """By the full fit where it held a document out, else by the quick model."""
        log_proba = self._quick.left_out(answers)
        anchor, classes = self.anchor, classes_of(answers)
        if anchor is None or not set(anchor.classes) <= set(classes):
            return log_proba
        row_of = {document: row for row, document in enumerate(answers)}
        for document, judged in anchor.left_out().items():
            if answers.get(document) == anchor.answers[document]:
                row = on_classes(judged[None], anchor.classes, classes)
                log_proba[row_of[document]] = row[0]
        return log_proba


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
        before = on_classes(self._log_proba, self._classes, names)
        weights = np.zeros((self.collection.n_terms, len(names)))
        offset = np.zeros(len(names))
        if len(classes) < 2:
            return Fitted(names, before, weights, offset, self.collection.weights)
        fitted = self._learner.fit(answers)
        self._weigh(answers, names, before)
        learned = on_classes(fitted.log_proba, fitted.classes, names)
        mixed = self._weight * learned + (1 - self._weight) * before
        weights[:, [names.index(name) for name in fitted.classes]] = fitted.weights
        log_proba = log_normalize(mixed)
        return Fitted(names, log_proba, weights, offset, fitted.features, fitted.full)

    def _weigh(self, answers: Answers, names: list[str], before: FloatMatrix) -> None:
        if len(answers) < max(1.25 * self._weighed_at, 8):
            return
        self._weighed_at = len(answers)
        own = self._learner.left_out(answers)
        learned = on_classes(own, classes_of(answers), names)
        before = before[np.fromiter(answers, dtype=np.int64)]
        cells = [(d, names.index(a[0])) for d, a in enumerate(answers.values())]
        rows, columns = np.asarray(cells).T
        mixed = [log_normalize(w * learned + (1 - w) * before) for w in _SHARES]
        gains = [log_proba[rows, columns].sum() for log_proba in mixed]
        self._weight = float(_SHARES[int(np.argmax(gains))])


def on_classes(
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
