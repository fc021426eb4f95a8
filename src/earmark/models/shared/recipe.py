"""The students and how sure they may be: labelled documents that they did not learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
import scipy
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from earmark.features.columns import Rows
from earmark.kernels.keys import fingerprints
from earmark.kernels.rows import log_normalize
from earmark.kernels.softmax import fitted_temperature
from earmark.models.base.classifier import linear_rule_of
from earmark.models.shared.pool_em import (
    ClassMeans,
    Pool,
    labelled_sums,
    naive_bayes_em,
)
from earmark.models.softmax import SoftmaxRegression, cross_entropy
from earmark.stored import classifier, floats, in_file, optional, stored
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    SparseMatrix,
)

# The view and the student of an encoder's vectors.
ENCODER = "encoder"
# All views together speak with the weight of three.
VIEWS_WEIGHT = 3.0


def vote_together(
    votes: Mapping[str, FloatMatrix], shares: Mapping[str, float]
) -> FloatMatrix:
    """The views' log-posteriors as one."""
    return np.asarray(VIEWS_WEIGHT * sum(shares[n] * vote for n, vote in votes.items()))


# Pseudo-documents that hold the common scale of all parts at 1.
_SCALE_STRENGTH = 0.1


def weigh(
    parts: Mapping[str, FloatMatrix],
    y: IntVector,
    prior: Mapping[str, float],
    strength: Mapping[str, float],
    scale: float = 1.0,
) -> dict[str, float]:
    """Weights of log-evidence by the likelihood of labels that it did not see (SS7)."""
    # ``strength`` holds the logarithm of each weight at the prior's, in
    # pseudo-documents. A common scale, of no further use, keeps a part from being
    # judged by how sure it is.
    names = list(parts)
    if not len(y) or len(names) == 1:
        return dict(prior)
    stacked = np.stack([parts[name] for name in names])
    first = np.array([prior[name] for name in names])
    pull = np.array([strength[name] for name in names])
    is_true = np.zeros(stacked.shape[1:], dtype=bool)
    is_true[np.arange(len(y)), y] = True

    def weights_of(moved: FloatVector) -> FloatVector:
        logs = log_normalize((np.log(first) + moved)[None])
        return np.asarray(first.sum() * np.exp(logs[0]))

    def loss(point: FloatVector) -> tuple[float, FloatVector]:
        moved, log_scale = point[:-1], point[-1]
        weights, factor = weights_of(moved), scale * np.exp(log_scale)
        blend = np.tensordot(weights, stacked, 1)
        log_proba = log_normalize(factor * blend)
        error = np.exp(log_proba) - is_true
        slope = factor * np.tensordot(stacked, error, 2)
        slope = weights * (slope - weights @ slope / first.sum()) + 2.0 * pull * moved
        rest = factor * (error * blend).sum() + 2.0 * _SCALE_STRENGTH * log_scale
        penalty = pull @ moved**2 + _SCALE_STRENGTH * log_scale**2
        return float(penalty - log_proba[is_true].sum()), np.append(slope, rest)

    start = np.zeros(len(names) + 1)
    best = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B")
    return dict(zip(names, weights_of(best.x[:-1]).tolist(), strict=True))


# View name -> log-posteriors of some documents.
Votes: TypeAlias = dict[str, FloatMatrix]
# Pseudo-documents that hold a scale at 1 when labels are very few.
_PRIOR_STRENGTH = 2.0


def fit_scale(scores: FloatMatrix, y: IntVector, weight: FloatVector) -> float:
    """The factor on the scores with the best log-likelihood, drawn towards 1."""
    if not len(y):
        return 1.0
    temperature = fitted_temperature(
        scores,
        y,
        weight * (len(y) / weight.sum()),
        softened=False,
        pull=_PRIOR_STRENGTH,
        bounds=(-4.0, 3.0),
    )
    return 1.0 / (temperature or 1.0)


MIN_POOL = 500
MIN_POOL_RATIO = 2.0


def pool_is_useful(
    n_labelled: int,
    n_pool: int,
    min_pool: int = MIN_POOL,
    min_pool_ratio: float = MIN_POOL_RATIO,
) -> bool:
    """Whether a pool has enough documents, alone and for each labelled one."""
    return n_pool >= min_pool and n_pool >= min_pool_ratio * n_labelled


def n_different(rows: SparseMatrix) -> int:
    """Number of different rows that are not empty; a copy tells nothing new."""
    return len(np.unique(fingerprints(rows)[np.diff(rows.indptr) > 0]))


# The greatest share of an encoder among the students.
_MOST = 0.9
# A document counts as at most so many independent tokens in the Bayes step (SS2).
_EVIDENCE = 10.0
_ALPHA = 0.1


@dataclass(frozen=True)
class Recipe:
    """What differs between long and short texts."""

    name: str
    views: tuple[str, ...]
    n_steps: int  # rounds of naive Bayes over the pool
    pool_weight: float  # what a pool document counts there
    table_weight: float = 0.0  # weight of a second student, on the word-table views
    supervised_weight: float = 0.0
    """Weight of the model that saw labelled documents only."""
    phrases: bool = False  # whether the student sees phrases beside words

    def student_weights(
        self, students: Iterable[str], encoder_share: float | None = None
    ) -> dict[str, float]:
        """What each student counts; that of an encoder has its share of the vote."""
        known = {
            "words": 1.0,
            "tables": self.table_weight,
            "supervised": self.supervised_weight,
        }
        names = list(students)
        weights = {name: known[name] for name in names if name != ENCODER}
        if encoder_share is None:
            return weights
        encoder_share = min(encoder_share, _MOST)
        odds = encoder_share / (1.0 - encoder_share)
        return {**weights, ENCODER: odds * sum(weights.values())}


LONG = Recipe("long texts", ("tfidf", "lsa", "ppmi"), n_steps=1, pool_weight=0.5)
SHORT = Recipe(
    "short texts",
    ("tfidf", "ppmi-full", "ppmi-unit", "subword"),
    n_steps=10,
    pool_weight=0.2,
    table_weight=0.5,
    supervised_weight=0.5,
    phrases=True,
)


@dataclass(frozen=True)
class Names:
    """Names of classes as weak documents: columns, class numbers and weights."""

    rows: Rows
    y: IntVector
    weight: FloatVector


# Labels of a class that halve the weight of its names.
_NAMES_HALVED = 5.0


def name_weights(y: IntVector, n_labels: IntVector, weight: float) -> FloatVector:
    """What each name counts: less as labels come; if none do, like others (SS5)."""
    usual = n_labels[n_labels > 0].mean() if n_labels.any() else 1.0
    together = weight * np.where(
        n_labels, 1.0 / (1.0 + n_labels / _NAMES_HALVED), usual
    )
    n_names = np.bincount(y, minlength=len(n_labels))
    return np.asarray(together[y] / n_names[y])


@dataclass(frozen=True)
class Material:
    """The same documents, labelled ones first, in every form the recipe needs."""

    views: Mapping[str, Matrix]  # view name -> features, for the voters
    students: Mapping[str, Matrix]  # student name -> features
    terms: SparseMatrix  # ln(1 + tf), for naive Bayes

    def followed_by(self, other: Material) -> Material:
        """These documents, and then the other ones."""
        return Material(
            {name: _stacked(m, other.views[name]) for name, m in self.views.items()},
            {
                name: _stacked(m, other.students[name])
                for name, m in self.students.items()
            },
            _stacked(self.terms, other.terms),
        )

    def take(self, rows: IntVector) -> Material:
        """Some of the documents."""
        return Material(
            {name: matrix[rows] for name, matrix in self.views.items()},
            {name: matrix[rows] for name, matrix in self.students.items()},
            self.terms[rows],
        )


def _stacked(first: Matrix, second: Matrix) -> Matrix:
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack([first, second], format="csr"))
    return np.concatenate([first, second])


@dataclass(frozen=True)
class Weights:
    """What each part of the recipe counts."""

    shares: dict[str, float]  # view name -> its share of the vote
    means: float = 0.0
    """The step to class means in an encoder's space, beside vote and Bayes step."""

    @property
    def encoder_share(self) -> float | None:
        """The encoder's share of the vote; None without one."""
        return self.shares.get(ENCODER)


@dataclass(frozen=True)
class Learned:
    """Students, and how the classes share the labelled documents and the pool."""

    students: dict[str, LinearStudent]
    class_share: FloatVector
    student_weights: dict[str, float]  # what each student counts in the sum of scores


@dataclass(frozen=True)
class Lesson:
    """Labelled documents, names first, and a pool: all that the recipe learns from."""

    material: Material
    y: IntVector  # class numbers of the first documents; the rest is the pool
    weight: FloatVector  # weights of the first documents
    n_classes: int
    recipe: Recipe
    voter: Estimator = None  # None is softmax regression, as for the student
    student: Estimator = None
    n_names: int = 0
    pool_factor: float = 1.0  # what a document of the pool stands for, in a sample

    def votes(self) -> tuple[dict[str, LinearStudent], Votes]:
        """A model for each view, and its log-posteriors of the pool."""
        n, voters, votes = len(self.y), {}, {}
        for name, view in self.material.views.items():
            voters[name] = LinearStudent(self.voter).fit(view[:n], self.y, self.weight)
            votes[name] = voters[name].log_probabilities(view[n:])
        return voters, votes

    def labelled_pool(self, votes: Votes, weights: Weights) -> Pool:
        """The pool with posteriors: the views' vote, and what all words make of it."""
        # Naive Bayes is started by the votes and anchored to them, and so are the means
        # of the classes in an encoder's space.
        n, material = len(self.y), self.material
        evidence = vote_together(votes, weights.shares)
        first = np.exp(log_normalize(2.0 * evidence))
        means = self.class_means(weights.means) if weights.means else None
        pool = Pool(material.terms[n:], first, _EVIDENCE, evidence, means)
        naive_bayes_em(
            labelled_sums(material.terms[:n], self.y, self.n_classes, self.weight),
            pool.sums(),
            pool.expect,
            weight=self.recipe.pool_weight * self.pool_factor,
            alpha=_ALPHA,
            max_iter=self.recipe.n_steps,
        )
        return pool

    def class_means(self, weight: float = 1.0) -> ClassMeans:
        """The classes in the encoder's space."""
        vectors = self.material.views[ENCODER]
        pool_weight = self.recipe.pool_weight * self.pool_factor
        labels = self.y, self.n_classes, self.weight
        return ClassMeans(vectors, *labels, pool_weight, weight)

    def learned(
        self,
        voters: Mapping[str, LinearStudent],
        votes: Votes,
        weights: Weights,
        remember: bool = True,
    ) -> Learned:
        """Train the students on all, each document of the pool by how sure it is."""
        posterior = self.labelled_pool(votes, weights).posterior
        confidence = posterior.max(axis=1)
        labels = np.concatenate([self.y, posterior.argmax(axis=1)])
        n, n_names = len(self.y), self.n_names
        n_pool = self.pool_factor * len(confidence)
        n_known = n - n_names + float(self.weight[:n_names].sum())
        label_factor = min(5.0, 1.0 + 0.2 * n_pool / n_known)
        pool_weights = 0.3 * self.pool_factor * confidence
        document_weights = np.concatenate([label_factor * self.weight, pool_weights])
        is_labelled = np.arange(len(labels)) < n if remember else None
        learner = self.student
        if learner is None:
            learner = softmax_regression(_STUDENT_TOL)
        students = {}
        for name, features in self.material.students.items():
            if name == "supervised" and "tfidf" in voters:
                students[name] = voters["tfidf"]
                continue
            student = LinearStudent(learner)
            students[name] = student.fit(
                features, labels, document_weights, is_labelled
            )
        sizes = np.bincount(self.y, minlength=self.n_classes)
        sizes = sizes + self.pool_factor * posterior.sum(axis=0)
        shares = self.recipe.student_weights(students, weights.encoder_share)
        return Learned(students, sizes / sizes.sum(), shares)


# Before any evidence: the encoder's share of the vote on long texts, which say enough
# in words, and on short ones; the step to class means.
_LONG_SHARE, _SHORT_SHARE, _MEANS = 0.1, 0.6, 0.1
# Pseudo-documents that hold these, and the views of words at equal shares.
_ENCODER_STRENGTH, _LONG_EQUAL, _SHORT_EQUAL = 0.2, 5.0, 1.0
_WORDS_STRENGTH, _MEANS_STRENGTH = 5.0, 0.1


@dataclass(frozen=True)
class HeldOut:
    """What is learned without some labelled documents, which stand before the pool."""

    rows: IntVector  # the documents held out, numbered without the names
    y: IntVector
    lesson: Lesson
    voters: dict[str, LinearStudent]
    votes: Votes


def prior_weights(views: Iterable[str], is_short: bool) -> Weights:
    """What counts before any evidence: views of words the same."""
    names = list(views)
    n_words = sum(name != ENCODER for name in names)
    encoder = _SHORT_SHARE if is_short else _LONG_SHARE
    if n_words in (0, len(names)):
        encoder = 0.0 if n_words else 1.0
    equal = (1.0 - encoder) / max(n_words, 1)
    return Weights({name: encoder if name == ENCODER else equal for name in names})


def weights_by_evidence(
    parts: Sequence[HeldOut], recipe: Recipe, views: Iterable[str]
) -> Weights:
    """What the parts of the recipe count, by labels held out (SS7)."""
    prior = prior_weights(views, recipe.phrases)
    equal = _SHORT_EQUAL if recipe.phrases else _LONG_EQUAL
    if not parts or (ENCODER not in prior.shares and not recipe.phrases):
        return prior
    y = np.concatenate([part.y for part in parts])
    votes = {
        name: np.concatenate([part.votes[name][: len(part.y)] for part in parts])
        for name in prior.shares
    }
    pulls = {n: _ENCODER_STRENGTH if n == ENCODER else equal for n in votes}
    weights = Weights(weigh(votes, y, prior.shares, pulls, VIEWS_WEIGHT))
    if ENCODER not in prior.shares:
        return weights
    steps = [_steps(part, weights) for part in parts]
    together = {n: np.concatenate([step[n] for step in steps]) for n in steps[0]}
    pulls = {"words": _WORDS_STRENGTH, "means": _MEANS_STRENGTH}
    by_step = weigh(together, y, {"words": 1.0, "means": _MEANS}, pulls)
    return replace(weights, means=min(1.0, by_step["means"] / by_step["words"]))


def _steps(part: HeldOut, weights: Weights) -> Votes:
    """Log-posteriors of the documents held out: by words, and by class means."""
    posterior = part.lesson.labelled_pool(part.votes, weights).posterior
    means = part.lesson.class_means().evidence(posterior)
    words = np.log(np.maximum(posterior, 1e-300))
    n = len(part.y)
    return {"words": words[:n], "means": means[:n]}


def total_scores(
    students: Mapping[str, LinearStudent],
    weights: Mapping[str, float],
    features: Mapping[str, Matrix],
    offset: FloatVector,
) -> FloatMatrix:
    """Weighted sum of the students' scores, and an offset for each class."""
    return offset + sum(
        weights[name] * student.scores(features[name])
        for name, student in students.items()
    )


def prior_offset(class_share: FloatVector, correction: float) -> FloatVector:
    """Take a little of a class's share off, so that rare ones are not swallowed."""
    return np.asarray(-correction * np.log(class_share))


# Labels that are guesses are not worth more digits.
_STUDENT_TOL = 5e-2


def softmax_regression(tol: float = 1e-3) -> SoftmaxRegression:
    """The linear classifier of every voter and student: L2 softmax regression."""
    return SoftmaxRegression(solver="dual", C=10.0, tol=tol)


@stored
class LinearStudent(BaseEstimator):
    """A linear classifier that remembers which part of its weights had labels."""

    estimator: Annotated[Estimator, in_file(optional(classifier(fitted=False)))]
    weights_: Annotated[FloatMatrix, floats("n_columns", "n_classes")]
    labelled_weights_: Annotated[FloatMatrix, floats("n_columns", "n_classes")]
    offsets_: Annotated[FloatVector, floats("n_classes")]

    def __init__(self, estimator: Estimator = None) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: Matrix,
        y: IntVector,
        sample_weight: FloatVector | None = None,
        is_labelled: BoolVector | None = None,
    ) -> Self:
        """Learn from features and class numbers; every class must occur."""
        used, dense = _used_columns(X)
        estimator = softmax_regression() if self.estimator is None else self.estimator
        arguments = {} if sample_weight is None else {"sample_weight": sample_weight}
        with warnings.catch_warnings():
            # A last digit of the optimum does not matter here, and a document or two
            # of each class are what there is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The number of unique classes")
            model = clone(estimator).fit(dense, y, **arguments)
        weights, offsets = _linear_form(model)
        self.offsets_ = offsets
        self.weights_ = np.zeros((X.shape[1], len(offsets)))
        self.weights_[used] = weights
        self.labelled_weights_ = self.weights_.copy()
        if is_labelled is not None and not np.all(is_labelled):
            weight = np.ones(len(y)) if sample_weight is None else sample_weight
            self.labelled_weights_[used] = self._labelled_part(
                dense, weights, y, weight, np.asarray(is_labelled)
            )
        return self

    def _labelled_part(
        self,
        X: Matrix,
        weights: FloatMatrix,
        y: IntVector,
        sample_weight: FloatVector,
        is_labelled: BoolVector,
    ) -> FloatMatrix:
        """Share out the weights among the documents."""
        # At the optimum of a penalised log-loss each weight is a sum over documents,
        # w = c * sum_i s_i (1[y_i] - p_i) x_i: those with a label give their part.
        _, error = cross_entropy(X @ weights + self.offsets_, y, -sample_weight)
        labelled = X[is_labelled].T @ error[is_labelled]
        every = labelled + X[~is_labelled].T @ error[~is_labelled]
        size = float((every * every).sum())
        scale = float((weights * every).sum()) / size if size else 0.0
        return np.asarray(scale * labelled)

    def scores(self, X: Matrix) -> FloatMatrix:
        """Log-odds up to a constant per document, (n_documents, n_classes)."""
        return np.asarray(X @ self.weights_ + self.offsets_)

    def log_probabilities(self, X: Matrix) -> FloatMatrix:
        """Log-posteriors, (n_documents, n_classes)."""
        return log_normalize(self.scores(X))


def _used_columns(X: Matrix) -> tuple[Any, Matrix]:
    """Columns that are not all zero, and X on them; the others get no weight."""
    if not sparse.issparse(X):
        return slice(None), X
    used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    return (slice(None), X) if len(used) == X.shape[1] else (used, X[:, used])


def _linear_form(model: Estimator) -> tuple[FloatMatrix, FloatVector]:
    """Weights (n_features, n_classes) and offsets; a margin is split in halves."""
    rule = linear_rule_of(model)
    if rule is None or not rule.on_rows:
        raise TypeError(
            "SemiSupervisedClassifier.student must be 'softmax' or a linear classifier "
            f"with coef_ and intercept_, got {model!r}."
        )
    return rule.weights, np.array(rule.offset)
