"""Learning from few labels and a pool: votes, rounds, students (SS3 to SS8).

Each view has a voter that learned the labelled documents. Together they label the
pool; naive Bayes, and the means of the classes in an encoder's space, go over it in
rounds. Then a student in each view learns from all documents. What each view counts is
learned from labelled documents that are left out in turn.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
import scipy
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from earmark.features.columns import Rows
from earmark.features.vectors import unit
from earmark.folds import class_keeping_folds, rows_by_lot
from earmark.kernels.rows import log_normalize
from earmark.kernels.softmax import fitted_temperature
from earmark.models.base.classifier import linear_rule_of
from earmark.models.shared.pool_em import (
    ClassMeans,
    Pool,
    labelled_sums,
    naive_bayes_em,
)
from earmark.models.shared.views import Seen
from earmark.models.softmax import SoftmaxRegression, cross_entropy
from earmark.stored import classifier, floats, in_file, optional, stored
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
)

# View name -> log-posteriors of some documents.
Votes: TypeAlias = dict[str, FloatMatrix]

ENCODER = "encoder"
# All views together speak with the weight of three.
_VIEWS_WEIGHT = 3.0
# Before any evidence: the encoder's share, at most this, is halved at so many words per
# document; of the rest a third is for words, when they vote.
_MOST_ENCODER, _ENCODER_HALVED = 0.3, 25.0
_WORDS_VOTE, _WORDS_LEARN = 1.0 / 3.0, 2.0 / 3.0
# Pseudo-documents that hold the shares there.
_ENCODER_PULL, _OTHERS_PULL = 2.0, 5.0
# The means of classes, beside naive Bayes: what they count before any evidence and at
# least, with up to so many labels per class (with more, less), and the pseudo-documents
# that hold both where they are.
_MEANS, _MEANS_LABELS, _MEANS_PULL, _BAYES_PULL = 0.1, 5.0, 0.1, 5.0
# A document counts as at most so many independent tokens in naive Bayes (SS2).
_EVIDENCE = 4.0
_ALPHA = 0.1
# What a document of the pool counts there, and how much less phrases make of it.
_POOL_WEIGHT, _LESS_BY_PHRASES = 0.5, 0.3
# The greatest share of an encoder among the students.
_MOST_STUDENT = 0.9
# What is left out is learned without, from at most so many documents of the pool.
_LEFT_OUT_POOL = 2000
# Up to so many labelled documents, more folds leave more of them to learn from.
_FEW = 300
# Pseudo-documents that hold the scale of the scores.
_SCALE_PULL = 2.0


def vote_together(votes: Votes, shares: Mapping[str, float]) -> FloatMatrix:
    """The log-posteriors of all views as one."""
    total = sum(shares[name] * vote for name, vote in votes.items())
    return np.asarray(_VIEWS_WEIGHT * total)


# Pseudo-documents that hold the common scale of all parts at 1.
_SCALE_STRENGTH = 0.1


def weigh(
    parts: Mapping[str, FloatMatrix],
    y: IntVector,
    prior: Mapping[str, float],
    strength: Mapping[str, float],
    scale: float = 1.0,
    counts: FloatVector | None = None,
) -> dict[str, float]:
    """Weights of log-evidence by the likelihood of labels that it did not see (SS4)."""
    # ``strength`` holds the logarithm of each weight at the prior's, in
    # pseudo-documents. A common scale, of no further use, keeps a part from being
    # judged by how sure it is. ``counts`` is what each document counts.
    names = list(parts)
    if not len(y) or len(names) == 1:
        return dict(prior)
    stacked = np.stack([parts[name] for name in names])
    first = np.array([prior[name] for name in names])
    pull = np.array([strength[name] for name in names])
    is_true = np.zeros(stacked.shape[1:], dtype=bool)
    is_true[np.arange(len(y)), y] = True
    own = np.ones(len(y)) if counts is None else counts * (len(y) / counts.sum())

    def weights_of(moved: FloatVector) -> FloatVector:
        logs = log_normalize((np.log(first) + moved)[None])
        return np.asarray(first.sum() * np.exp(logs[0]))

    def loss(point: FloatVector) -> tuple[float, FloatVector]:
        moved, log_scale = point[:-1], point[-1]
        weights, factor = weights_of(moved), scale * np.exp(log_scale)
        blend = np.tensordot(weights, stacked, 1)
        log_proba = log_normalize(factor * blend)
        error = (np.exp(log_proba) - is_true) * own[:, None]
        slope = factor * np.tensordot(stacked, error, 2)
        slope = weights * (slope - weights @ slope / first.sum()) + 2.0 * pull * moved
        rest = factor * (error * blend).sum() + 2.0 * _SCALE_STRENGTH * log_scale
        penalty = pull @ moved**2 + _SCALE_STRENGTH * log_scale**2
        loss = float(penalty - own @ log_proba[is_true])
        return loss, np.append(slope, rest)

    start = np.zeros(len(names) + 1)
    best = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B")
    return dict(zip(names, weights_of(best.x[:-1]).tolist(), strict=True))


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


# Of the documents that the names could share out, they choose this part, but for each
# class at least so many, and so many at most of an equal share.
_SEED_SHARE, _FEWEST_SEEDS, _MOST_SEED_SHARE = 0.05, 5, 0.5
# What each of these counts, a labelled document counting 1: with full weight they drown
# the labels where names tell the classes badly.
SEED_WEIGHT = 0.1
# How much better than chance names must tell the labelled documents, and how much less
# than what was learned from other labels they may.
_SEED_GATE, _SEED_SLACK = 0.2, 0.05


def seeds(
    named: FloatMatrix,
    y_named: IntVector,
    vectors: FloatMatrix,
    y: IntVector,
    n_classes: int,
    least: float = 0.0,
) -> tuple[IntVector, IntVector]:
    """Rows of the pool that are most like one class's names, and their classes (SS9).

    ``vectors`` are those of the labelled documents, whose classes are ``y``, and then
    of the pool, and ``least`` is the share of labelled documents that others tell.
    Names that tell clearly less choose nothing.
    """
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    centers = np.zeros((n_classes, named.shape[1]))
    np.add.at(centers, y_named, named)
    centers = unit(centers)
    if not centers.any(axis=1).all():
        return nothing
    similar = vectors @ centers.T
    if len(y):
        right = float((similar[: len(y)].argmax(axis=1) == y).mean())
        gate = (1.0 - _SEED_GATE) / n_classes + _SEED_GATE
        if right < max(gate, least - _SEED_SLACK):
            return nothing
    similar = similar[len(y) :]
    own_share = len(similar) / n_classes
    wanted = max(_FEWEST_SEEDS, int(np.ceil(_SEED_SHARE * own_share)))
    wanted = min(wanted, int(_MOST_SEED_SHARE * own_share))
    best = similar.argmax(axis=1)
    two = np.partition(similar, n_classes - 2, axis=1)[:, -2:]
    lead = np.lexsort((np.arange(len(best)), two[:, 0] - two[:, 1]))
    rows = np.concatenate([lead[best[lead] == k][:wanted] for k in range(n_classes)])
    return rows, best[rows]


@dataclass(frozen=True)
class Weights:
    """What each part of the method counts."""

    shares: dict[str, float]
    """View -> its share of the vote."""
    means: float = 0.0
    """The means of classes in an encoder's space, beside naive Bayes."""

    @property
    def encoder_share(self) -> float | None:
        """The encoder's share of the vote; None without one."""
        return self.shares.get(ENCODER)

    def of_students(self, students: Mapping[str, object]) -> dict[str, float]:
        """What each student counts in the sum of scores."""
        encoder = min(self.shares.get(ENCODER, 0.0), _MOST_STUDENT)
        known = {
            "words": (1.0 - encoder) * _WORDS_LEARN,
            "tables": (1.0 - encoder) * (1.0 - _WORDS_LEARN),
            ENCODER: encoder,
        }
        return {name: known[name] for name in students}


def prior_weights(views: Mapping[str, object], n_words: float) -> Weights:
    """What counts before any evidence, for documents of so many words in the mean."""
    encoder = min(_MOST_ENCODER, 1.0 / (1.0 + n_words / _ENCODER_HALVED))
    encoder = encoder if ENCODER in views else 0.0
    shares = {
        "words": (1.0 - encoder) * _WORDS_VOTE,
        "tables": (1.0 - encoder) * (1.0 - _WORDS_VOTE),
        ENCODER: encoder,
    }
    return Weights({name: shares[name] for name in views})


@dataclass(frozen=True)
class Learned:
    """Students, and how the classes share the labelled documents and the pool."""

    students: dict[str, LinearStudent]
    class_share: FloatVector
    weights: dict[str, float]
    """What each student counts in the sum of scores."""


@dataclass(frozen=True)
class FewLabels:
    """Labelled documents, names first, then a pool: all that is learned from."""

    seen: Seen
    y: IntVector
    """Class numbers of the first documents; the rest is the pool."""
    weight: FloatVector
    """What the first documents count."""
    n_classes: int
    n_steps: int
    """Rounds over the pool."""
    pool_weight: float
    """What a document of the pool counts in a round."""
    voter: Estimator = None
    """None is softmax regression, as for the student."""
    student: Estimator = None
    n_names: int = 0
    """Of the first documents so many are names, or were chosen by names."""
    n_chosen: int = 0
    """Of these, documents that were chosen."""
    pool_factor: float = 1.0
    """What a document of the pool stands for, in a sample."""

    def votes(self) -> Votes:
        """Log-posteriors of the pool, by a voter in each view."""
        n, votes, weight = len(self.y), {}, self.even_weights()
        for name, view in self.seen.views.items():
            voter = LinearStudent(self.voter).fit(view[:n], self.y, weight)
            votes[name] = log_normalize(voter.scores(view[n:]))
        return votes

    def even_weights(self) -> FloatVector:
        """Weights under which a class counts the same, however many labels it has.

        A few labels drawn as they come tell little of how large the classes are, and a
        voter would put most of the pool into the class with one more. The pool tells.
        """
        labelled = np.arange(len(self.y)) >= self.n_names
        n_labels = np.bincount(self.y[labelled], minlength=self.n_classes)
        mean = n_labels.sum() / max(np.count_nonzero(n_labels), 1)
        factor = mean / np.maximum(n_labels, 1)
        return np.where(labelled, factor[self.y], 1.0) * self.weight

    def labelled_pool(self, votes: Votes, weights: Weights) -> Pool:
        """The pool with posteriors, after the rounds."""
        n, seen = len(self.y), self.seen
        anchor = vote_together(votes, weights.shares)
        first = np.exp(log_normalize(2.0 * anchor))
        means = self.class_means(weights.means) if weights.means else None
        pool = Pool(seen.terms[n:], first, _EVIDENCE, anchor, means)
        naive_bayes_em(
            labelled_sums(seen.terms[:n], self.y, self.n_classes, self.weight),
            pool.sums(),
            pool.expect,
            weight=self.pool_weight * self.pool_factor,
            alpha=_ALPHA,
            max_iter=self.n_steps,
        )
        return pool

    def class_sizes(self, votes: Votes, weights: Weights) -> FloatVector:
        """The shares of the classes in the pool, by these weights."""
        sizes = self.labelled_pool(votes, weights).posterior.sum(axis=0)
        return np.asarray(sizes / sizes.sum())

    def class_means(self, weight: float = 1.0) -> ClassMeans:
        """The classes in the encoder's space."""
        vectors = self.seen.views[ENCODER]
        pool_weight = self.pool_weight * self.pool_factor
        labels = self.y, self.n_classes, self.weight
        return ClassMeans(vectors, *labels, pool_weight, weight)

    def learned(self, votes: Votes, weights: Weights, remember: bool = True) -> Learned:
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
        students = {
            name: LinearStudent(learner).fit(
                view, labels, document_weights, is_labelled
            )
            for name, view in self.seen.views.items()
        }
        sizes = np.bincount(self.y, minlength=self.n_classes)
        sizes = sizes + self.pool_factor * posterior.sum(axis=0)
        return Learned(students, sizes / sizes.sum(), weights.of_students(students))

    # -- with labels left out -----------------------------------------------------

    def parts(
        self, n_folds: int, seed: int, copies: IntVector | None
    ) -> list[LeftOutPart]:
        """The same without some labelled documents at a time, never without names."""
        y, n_names = self.y, self.n_names
        if len(y) - n_names <= _FEW and ENCODER in self.seen.views:
            n_folds = max(n_folds, 5)
        n_pool = self.seen.terms.shape[0] - len(y)
        pool = len(y) + rows_by_lot(n_pool, _LEFT_OUT_POOL, seed)
        parts = []
        for known, rows in class_keeping_folds(y[n_names:], n_folds, seed, copies):
            known = np.concatenate([np.arange(n_names), n_names + known])
            order = np.concatenate([known, n_names + rows, pool])
            part = replace(
                self,
                seen=self.seen.take(order),
                y=y[known],
                weight=self.weight[known],
                pool_factor=n_pool / len(pool),
            )
            parts.append(LeftOutPart(rows, y[n_names + rows], part, part.votes()))
        return parts


@dataclass(frozen=True)
class LeftOutPart:
    """What is learned without some labelled documents, which stand before the pool."""

    rows: IntVector
    """The documents left out, numbered without the names."""
    y: IntVector
    task: FewLabels
    votes: Votes

    def steps(self, weights: Weights) -> Votes:
        """Log-posteriors of the documents left out: by words, and by class means."""
        posterior = self.task.labelled_pool(self.votes, weights).posterior
        means = self.task.class_means().evidence(posterior)
        words = np.log(np.maximum(posterior, 1e-300))
        n = len(self.y)
        return {"words": words[:n], "means": means[:n]}

    def scores(self, weights: Weights, correction: float) -> FloatMatrix:
        """Scores of the documents left out, by students that have not seen them."""
        task, n = self.task, len(self.y)
        out = len(task.y) + np.arange(n)
        others = np.delete(np.arange(task.seen.terms.shape[0]), out)
        known = replace(task, seen=task.seen.take(others))
        votes = {name: vote[n:] for name, vote in self.votes.items()}
        learned = known.learned(votes, weights, remember=False)
        offset = prior_offset(learned.class_share, correction)
        views = task.seen.take(out).views
        return total_scores(learned.students, learned.weights, views, offset)


def left_out_accuracy(parts: Sequence[LeftOutPart], prior: Weights) -> float:
    """The share of documents left out that all views together tell; 0 without any."""
    right = [
        vote_together(part.votes, prior.shares)[: len(part.y)].argmax(axis=1) == part.y
        for part in parts
    ]
    return float(np.concatenate(right).mean()) if right else 0.0


def weights_by_evidence(
    parts: Sequence[LeftOutPart], prior: Weights, sizes: FloatVector
) -> Weights:
    """What the parts of the method count, by labels left out (SS4).

    ``sizes`` are the shares of the classes in the pool.
    """
    if not parts:
        return replace(prior, means=_MEANS if ENCODER in prior.shares else 0.0)
    y = np.concatenate([part.y for part in parts])
    votes = {
        name: np.concatenate([part.votes[name][: len(part.y)] for part in parts])
        for name in prior.shares
    }
    pulls = {n: _ENCODER_PULL if n == ENCODER else _OTHERS_PULL for n in votes}
    weights = Weights(weigh(votes, y, prior.shares, pulls, _VIEWS_WEIGHT))
    if ENCODER not in prior.shares:
        return weights
    steps = [part.steps(weights) for part in parts]
    together = {n: np.concatenate([step[n] for step in steps]) for n in steps[0]}
    pulls = {"words": _BAYES_PULL, "means": _MEANS_PULL}
    # Each label counts as its class does in the pool.
    drawn = np.bincount(y, minlength=len(sizes)) / len(y)
    counts = sizes[y] / drawn[y]
    least = _MEANS * min(1.0, _MEANS_LABELS * len(sizes) / len(y))
    by_step = weigh(together, y, {"words": 1.0, "means": least}, pulls, 1.0, counts)
    share = by_step["means"] / by_step["words"]
    return replace(weights, means=float(np.clip(share, least, 1.0)))


def fit_scale(
    scores: FloatMatrix, y: IntVector, weight: FloatVector, usual: float
) -> float:
    """The factor on the scores with the best log-likelihood, drawn to the usual one."""
    if not len(y):
        return usual
    temperature = fitted_temperature(
        usual * scores,
        y,
        weight * (len(y) / weight.sum()),
        softened=False,
        pull=_SCALE_PULL,
        bounds=(-4.0, 3.0),
    )
    return usual / (temperature or 1.0)


def scale_of_confidence(
    scores: FloatMatrix, pool_scores: FloatMatrix, y: IntVector, weight: FloatVector
) -> float:
    """The factor at which the mean confidence on the pool is what it should be (SS8).

    That is the share of left-out documents that ``scores`` answer rightly, with two
    more that are right by chance and two more as sure as the scores.
    """
    n_classes = scores.shape[1]
    right = float(weight @ (scores.argmax(axis=1) == y) / weight.sum()) if len(y) else 0
    sure = float(_confidence(pool_scores, 1.0))
    wanted = (len(y) * right + 2.0 / n_classes + 2.0 * sure) / (len(y) + 4.0)
    low, high = 1e-2, 20.0
    for _ in range(40):
        middle = np.sqrt(low * high)
        if _confidence(pool_scores, middle) < wanted:
            low = middle
        else:
            high = middle
    return float(np.sqrt(low * high))


def _confidence(scores: FloatMatrix, scale: float) -> float:
    """Mean probability of the likeliest class, for scores times ``scale``."""
    return float(np.exp(log_normalize(scale * scores).max(axis=1)).mean())


def total_scores(
    students: Mapping[str, LinearStudent],
    weights: Mapping[str, float],
    views: Mapping[str, Matrix],
    offset: FloatVector,
) -> FloatMatrix:
    """Weighted sum of the students' scores, and an offset for each class."""
    return offset + sum(
        weights[name] * student.scores(views[name])
        for name, student in students.items()
    )


def prior_offset(class_share: FloatVector, correction: float) -> FloatVector:
    """Take a little of a class's share off, so that rare ones are not swallowed."""
    return np.asarray(-correction * np.log(class_share))


def pool_weight(phrase_share: float) -> float:
    """What a document of the pool counts in a round, by what its phrases count."""
    return _POOL_WEIGHT - _LESS_BY_PHRASES * phrase_share


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
    return np.asarray(rule.weights, dtype=np.float64), np.array(rule.offset)
