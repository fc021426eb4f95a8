"""The students and how sure they may be: labelled documents that they did not learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import optimize, sparse
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from earmark.folds import class_keeping_folds
from earmark.kernels.rows import log_normalize
from earmark.kernels.softmax import fitted_temperature
from earmark.models.base import linear_rule_of
from earmark.models.semi_supervised.em import Pool, labelled_sums, naive_bayes_em
from earmark.models.softmax import SoftmaxRegression, cross_entropy
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    SparseMatrix,
)

__all__ = [
    "ENCODER",
    "LONG",
    "MIN_POOL",
    "MIN_POOL_RATIO",
    "SHORT",
    "SHORT_TEXT",
    "VIEWS_WEIGHT",
    "Learned",
    "LinearStudent",
    "Material",
    "Names",
    "Recipe",
    "cross_fitted",
    "fit_scale",
    "learn",
    "learned_share",
    "n_different",
    "name_weights",
    "pool_is_useful",
    "prior_offset",
    "softmax_regression",
    "total_scores",
    "vote_together",
]


# Pseudo-documents that hold a scale at 1 when labels are very few.
_PRIOR_STRENGTH = 2.0


def cross_fitted(
    y: IntVector,
    score_without: Callable[[IntVector, IntVector], FloatMatrix],
    n_folds: int,
    seed: int,
    groups: IntVector | None = None,
) -> tuple[IntVector, FloatMatrix]:
    """Scores of labelled documents by students that never saw their labels.

    ``score_without(kept, held_out)`` learns from the kept labels and scores the
    documents held out. A class keeps at least one label: classes with a single
    one are never held out. Documents of one of the ``groups`` (copies) are held out
    together. Returns the documents that were scored, and scores.
    """
    done, scores = [], []
    for kept, held_out in class_keeping_folds(y, n_folds, seed, groups):
        done.append(held_out)
        scores.append(score_without(kept, held_out))
    if not done:
        return np.empty(0, dtype=np.int64), np.empty((0, int(y.max(initial=0)) + 1))
    return np.concatenate(done), np.concatenate(scores)


def fit_scale(scores: FloatMatrix, y: IntVector, weight: FloatVector) -> float:
    """The factor on the scores with the best weighted log-likelihood.

    A penalty on its logarithm, worth a few documents, keeps it near 1 when there
    is little to go by.
    """
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


# The view and the student of an encoder's vectors.
ENCODER = "encoder"
# All views together speak with the weight of three.
VIEWS_WEIGHT = 3.0
_LEAST, _MOST = 0.02, 0.9
# Pseudo-documents that hold the encoder's share at that of one view among equals.
_SHARE_STRENGTH = 0.5
# Up to so many labelled documents, more folds leave more of them to learn from.
_FEW = 300


def vote_together(votes: Mapping[str, FloatMatrix], share: float | None) -> FloatMatrix:
    """The views' log-posteriors as one; ``share`` is the encoder's, if there is one."""
    words = [vote for name, vote in votes.items() if name != ENCODER]
    if share is None or not words:
        return np.asarray(VIEWS_WEIGHT * np.mean(list(votes.values()), axis=0))
    blend = (1.0 - share) * np.mean(words, axis=0) + share * votes[ENCODER]
    return np.asarray(VIEWS_WEIGHT * blend)


def learned_share(
    views: Mapping[str, Matrix],
    y: IntVector,
    voter: Estimator,
    weight: FloatVector,
    n_names: int = 0,
) -> float | None:
    """The encoder's share of the vote with the best likelihood; None without one.

    ``views`` has the labelled documents only, ``y`` their class numbers; the first
    ``n_names`` are names, which no document speaks for.
    """
    if ENCODER not in views:
        return None
    equal = 1.0 / len(views)
    if len(views) == 1:
        return _MOST
    votes = {}
    for name, view in views.items():
        rows, votes[name] = _cross_fitted_votes(view, y, voter, weight, n_names)
    if not len(rows):
        return equal
    return _likeliest_share(votes, y[n_names + rows], equal)


def _cross_fitted_votes(
    view: Matrix, y: IntVector, voter: Estimator, weight: FloatVector, n_names: int
) -> tuple[IntVector, FloatMatrix]:
    """Documents, and their log-posteriors by voters that did not see their labels."""

    def vote_without(kept: IntVector, held_out: IntVector) -> FloatMatrix:
        kept = np.concatenate([np.arange(n_names), n_names + kept])
        model = LinearStudent(voter).fit(view[kept], y[kept], weight[kept])
        return model.log_probabilities(view[n_names + held_out])

    n_folds = 5 if len(y) <= _FEW else 3
    return cross_fitted(y[n_names:], vote_without, n_folds, seed=0)


def _likeliest_share(
    votes: Mapping[str, FloatMatrix], y: IntVector, equal: float
) -> float:
    rows = np.arange(len(y))

    def loss(log_odds: float) -> float:
        together = log_normalize(vote_together(votes, float(expit(log_odds))))
        penalty = _SHARE_STRENGTH * (log_odds - logit(equal)) ** 2
        return float(penalty - together[rows, y].sum())

    bounds = (logit(_LEAST), logit(_MOST))
    found = optimize.minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(expit(found.x))


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
    seen = set()
    for i in np.flatnonzero(np.diff(rows.indptr)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        seen.add((rows.indices[part].tobytes(), rows.data[part].tobytes()))
    return len(seen)


# Mean tokens a document below which texts count as short.
SHORT_TEXT = 50.0
# A document counts as at most so many independent tokens in the Bayes step (SS2).
_EVIDENCE = 10.0
_ALPHA = 0.1


@dataclass(frozen=True)
class Recipe:
    """What differs between long and short texts."""

    name: str
    views: tuple[str, ...]
    n_steps: int
    """Rounds of naive Bayes over the pool."""
    pool_weight: float
    """What a pool document counts there."""
    table_weight: float = 0.0
    """Weight of a second student, on the word-table views."""
    supervised_weight: float = 0.0
    """Weight of the model that saw labelled documents only."""
    phrases: bool = False
    """Whether the student sees phrases beside words."""

    def student_weights(
        self, students: Iterable[str], encoder_share: float | None = None
    ) -> dict[str, float]:
        """What each student counts in the sum of scores.

        A student on an encoder's vectors has the share that they had in the vote.
        """
        known = {
            "words": 1.0,
            "tables": self.table_weight,
            "supervised": self.supervised_weight,
        }
        names = list(students)
        weights = {name: known[name] for name in names if name != ENCODER}
        if encoder_share is None:
            return weights
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

    rows: SparseMatrix
    y: IntVector
    weight: FloatVector


# Labels of a class that halve the weight of its names.
_NAMES_HALVED = 5.0


def name_weights(y: IntVector, n_labels: IntVector, weight: float) -> FloatVector:
    """What each name counts: its class's share, which falls as labels come (SS5).

    Names that are all a class has count like the labels of another.
    """
    usual = n_labels[n_labels > 0].mean() if n_labels.any() else 1.0
    together = weight * np.where(
        n_labels, 1.0 / (1.0 + n_labels / _NAMES_HALVED), usual
    )
    n_names = np.bincount(y, minlength=len(n_labels))
    return np.asarray(together[y] / n_names[y])


@dataclass(frozen=True)
class Material:
    """The same documents, labelled ones first, in every form the recipe needs."""

    views: Mapping[str, Matrix]
    """View name -> features, for the voters."""
    students: Mapping[str, Matrix]
    """Student name -> features."""
    terms: SparseMatrix
    """ln(1 + tf), for naive Bayes."""

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
class Learned:
    """Students, and how the classes share the labelled documents and the pool."""

    students: dict[str, LinearStudent]
    class_share: FloatVector
    student_weights: dict[str, float]
    """What each student counts in the sum of scores."""
    encoder_share: float | None
    """What an encoder's view counted in the vote; None without one."""


def learn(
    material: Material,
    y: IntVector,
    n_classes: int,
    recipe: Recipe,
    *,
    student: Estimator = None,
    voter: Estimator = None,
    label_weight: FloatVector | None = None,
    pool_factor: float = 1.0,
    n_names: int = 0,
    again: Learned | None = None,
) -> Learned:
    """Let the views label the pool together, then train the students on all.

    y has the class numbers of the first ``len(y)`` documents; the rest is the pool.
    Each document there stands for ``pool_factor`` documents, if it is a sample. The
    first ``n_names`` are names of classes, never held out. If some labels are left
    out ``again``, the encoder's share is that of all, and no student remembers what
    it has from labels.
    """
    n_labelled = len(y)
    weight = np.ones(n_labelled) if label_weight is None else label_weight
    # Each view votes on the pool with a model of its own.
    voters = {
        name: LinearStudent(voter).fit(view[:n_labelled], y, weight)
        for name, view in material.views.items()
    }
    votes = {
        name: voters[name].log_probabilities(view[n_labelled:])
        for name, view in material.views.items()
    }
    if again is None:
        known = {name: view[:n_labelled] for name, view in material.views.items()}
        share = learned_share(known, y, voter, weight, n_names)
    else:
        share = again.encoder_share
    evidence = vote_together(votes, share)
    # Naive Bayes, started by the votes and anchored to them, looks at all words.
    first = np.exp(log_normalize(2.0 * evidence))
    pool = Pool(material.terms[n_labelled:], first, _EVIDENCE, evidence)
    naive_bayes_em(
        labelled_sums(material.terms[:n_labelled], y, n_classes, weight),
        pool.sums(),
        pool.expect,
        weight=recipe.pool_weight * pool_factor,
        alpha=_ALPHA,
        max_iter=recipe.n_steps,
    )
    posterior = pool.posterior
    # The whole pool with hard labels; how sure they are is their weight.
    confidence = posterior.max(axis=1)
    labels = np.concatenate([y, posterior.argmax(axis=1)])
    n_pool = pool_factor * len(confidence)
    n_known = n_labelled - n_names + float(weight[:n_names].sum())
    label_factor = min(5.0, 1.0 + 0.2 * n_pool / n_known)
    pool_weights = 0.3 * pool_factor * confidence
    weights = np.concatenate([label_factor * weight, pool_weights])
    is_labelled = np.arange(len(labels)) < n_labelled if again is None else None
    learner = softmax_regression(_STUDENT_TOL) if student is None else student
    students = {
        name: voters["tfidf"]
        if name == "supervised"
        else LinearStudent(learner).fit(features, labels, weights, is_labelled)
        for name, features in material.students.items()
    }
    sizes = np.bincount(y, minlength=n_classes) + pool_factor * posterior.sum(axis=0)
    return Learned(
        students,
        sizes / sizes.sum(),
        recipe.student_weights(students, share),
        share,
    )


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


class LinearStudent(BaseEstimator):
    """A linear classifier that remembers which part of its weights had labels.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Anything linear whose ``fit`` takes ``sample_weight``; None is softmax
        regression.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features, n_classes)
        Weight of each feature for each class.
    offsets_ : ndarray of shape (n_classes,)
        Constant of each class.
    labelled_weights_ : ndarray of shape (n_features, n_classes)
        The part of ``weights_`` that labelled documents put there; the rest came
        from documents without a label.

    """

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
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        with warnings.catch_warnings():
            # A last digit of the optimum does not matter here, and a document or two
            # of each class are what there is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The number of unique classes")
            model = clone(estimator).fit(dense, y, **given)
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
        """Share out the weights among the documents.

        At the optimum of a penalised log-loss each weight is a sum over documents,
        w = c * sum_i s_i (1[y_i] - p_i) x_i: those with a label give their part.
        """
        _, error = cross_entropy(X @ weights + self.offsets_, y, -sample_weight)
        labelled = X[is_labelled].T @ error[is_labelled]
        every = labelled + X[~is_labelled].T @ error[~is_labelled]
        size = float((every * every).sum())
        scale = float((weights * every).sum()) / size if size else 0.0
        return np.asarray(scale * labelled)

    def scores(self, X: Matrix) -> FloatMatrix:
        """Log-odds up to a constant a document, (n_documents, n_classes)."""
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
