"""Labels that are probably wrong, with the probability that they are.

What is known of a document is its label g and the log-posterior l_c that a model
gives it without having learned from it. The true class z is not known. Two steps lead
from l to g, and both are estimated from all documents together:

    p(z) = (1 - w) softmax(s (l_z - log pi_z) + log pi_z + b_z) + w pi_z
    P(g|z) = 1 - rho if g = z, else rho q_zg

with pi the shares of the labels. The first says what the scores are worth. The
temperature s and the offsets b take back the overconfidence of the model; on a share w
of the documents it is astray, however sure. Nothing in the data tells a model that is
surely wrong from a label that is, so w is set: to (d - rho)^2, the square of the share
of documents that the model gets wrong, where its scores contradict a share d of the
labels. (The upper end of the interval takes w = (d / 10)^2; of fewer than 1,000 labels,
which cannot tell a weak model from wrong labels, it is not below the upper end of the
interval of d.) The second says how
labels go wrong. Errors near the boundary of
the model speak for a small s, errors far from it for a large rho.

P(z|g) is proportional to p(z) P(g|z), and 1 - P(z = g|g) is the probability that the
label is wrong. The rate rho has the prior Beta(1, trust), so that few documents accuse
nobody, the rows of q are drawn towards the shares of the labels, and what is reported
is the mean over the posterior of rho.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
import scipy
from scipy.special import expit, log_expit, logit, ndtr, softmax
from sklearn.base import clone

from earmark.evaluation.result import Result
from earmark.evaluation.significance import wilson_interval
from earmark.exceptions import DataError
from earmark.folds import stratified_folds, take
from earmark.inputs.labels import all_known, as_labels, index_of
from earmark.kernels.backend import one_blas_thread
from earmark.parameters import offers
from earmark.typing import (
    BoolVector,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    JsonObject,
    Label,
    Labels,
    LabelsLike,
    MatrixLike,
)

_PRIOR_WRONG = 1.0  # documents' worth of prior belief in rho
_PRIOR_PAIRS = 10.0  # documents' worth of prior belief in a row of q
_FEW = 5  # documents: with fewer, a class is not known well enough to accuse
_MORE = 2.0  # times the odds of its share: by less, a document says nothing
_FARTHEST = 1000.0  # log-odds that are as good as certain
_SMALL = 1000  # labels: of fewer, contradicted ones may all be wrong
_MANY = 0.2  # of the labels: if surely more are contradicted, that is said
_ENTRIES = 2_000_000  # of the score matrix that the noise model is fitted to
_GRID = np.linspace(-3.5, 3.5, 9)  # of log-odds of rho, in standard deviations


@dataclass(frozen=True)
class SuspectedLabelError(Result):
    """A document whose label is probably wrong."""

    index: int
    given: Label
    suggested: Label  # the most probable other class
    probability: float  # that the label is wrong
    margin: float  # log P(suggested|d) - log P(given|d) in the scores as they came
    text: str | None = None

    def to_dict(self) -> JsonObject:
        """Plain values for JSON, without the text."""
        content = super().to_dict()
        del content["text"]
        return content


@dataclass(frozen=True, eq=False)
class SuspectedLabelErrors(Sequence[SuspectedLabelError]):
    """Labels more probably wrong than right, first the most probable; and totals."""

    errors: tuple[SuspectedLabelError, ...]
    probability: FloatVector = field(repr=False)  # of every document
    n_wrong: float  # wrong labels to be expected among all documents, listed or not
    interval: tuple[float, float]  # where their number lies with probability 0.95
    noise_rate: float  # what n_wrong would be per document if they were drawn anew
    informed: bool = True  # whether the scores tell the classes apart at all
    contradicted: IntVector = field(  # where another class scores more; worst first
        default_factory=lambda: np.zeros(0, np.int64), repr=False
    )

    @property
    def warning(self) -> str | None:
        """That many labels are contradicted, listed or not; None if few surely are."""
        n = len(self.contradicted)
        if not self.informed or not n:
            return None
        surely, _ = wilson_interval(n, len(self.probability))
        if surely <= _MANY:
            return None
        return (
            f"Left-out answers differ from {n:,} of {len(self.probability):,} labels: "
            "the task is hard or many labels are wrong; look at some."
        )

    def __len__(self) -> int:
        return len(self.errors)

    @overload
    def __getitem__(self, index: int) -> SuspectedLabelError: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SuspectedLabelError]: ...
    def __getitem__(
        self, index: int | slice
    ) -> SuspectedLabelError | Sequence[SuspectedLabelError]:
        return self.errors[index]

    def __str__(self) -> str:
        if not self.informed:
            return (
                "Nothing can be said about wrong labels: the texts do not tell the "
                "classes apart."
            )
        low, high = self.interval
        number = {0: "none is", 1: "1 is"}.get(len(self), f"{len(self):,} are")
        return (
            f"About {self.n_wrong:,.0f} of {len(self.probability):,} labels "
            f"{'is' if round(self.n_wrong) == 1 else 'are'} wrong "
            f"(95 % interval {low:,.0f} to {high:,.0f}); {number} more probably wrong "
            "than right."
        )


@one_blas_thread()
def suspected_label_errors(
    y: LabelsLike,
    loo_log_proba: MatrixLike,
    classes: LabelsLike,
    *,
    texts: Sequence[str] | None = None,
    keep: Iterable[int] = (),
    min_probability: float = 0.5,
    top: int | None = None,
    trust: float = 50.0,
) -> SuspectedLabelErrors:
    """Documents whose label is probably wrong, the most probable first.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        The labels as they are.
    loo_log_proba : array-like of shape (n_documents, n_classes)
        Log posteriors of each document under a model fitted without it, as
        ``left_out_log_proba`` gives them. They need not be calibrated, but the better
        they separate the classes, the more is found.
    classes : array-like of shape (n_classes,)
        Labels of the columns.
    texts : sequence of str, optional
        Kept with the findings, for showing them.
    keep : iterable of int, optional
        Positions of documents whose label somebody has looked at and confirmed. They
        are never listed, and count as evidence of the accuracy of the others.
    min_probability : float, default=0.5
        Where the list ends: each label on it is wrong with at least this
        probability. At one half, a listed label is more probably wrong than right.
    top : int, optional
        List at most so many.
    trust : float, default=50
        How many right labels are believed to come with one wrong label, before there
        is evidence. Of a few hundred labels, less trust lists more.

    Returns
    -------
    SuspectedLabelErrors
        A sequence, ranked by probability, then by margin, then by position; with the
        number of wrong labels to be expected in all, and its interval.

    Notes
    -----
    Wrong labels are those that contradict their documents as the other labels would
    have it. Labels that are wrong in the same way everywhere cannot be found.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> log_p = np.log(np.where(y[:, None] == [0, 1], 0.99, 0.01))
    >>> y[7] = 1 - y[7]
    >>> [suspect.index for suspect in suspected_label_errors(y, log_p, [0, 1])]
    [7]

    """
    if not 0 <= min_probability <= 1:
        raise ValueError(f"min_probability must be in [0, 1], got {min_probability!r}.")
    if not 0 < trust < np.inf:
        raise ValueError(f"trust must be a positive number, got {trust!r}.")
    labels, names = as_labels(y), as_labels(list(classes))
    log_proba, index = _checked(labels, loo_log_proba, names, texts)
    confirmed, positions = np.zeros(len(labels), bool), np.fromiter(keep, np.int64)
    if len(positions) and (positions.min() < 0 or positions.max() >= len(labels)):
        raise DataError(
            f"keep must hold positions from 0 to {len(labels) - 1}, got "
            f"{positions.min()} to {positions.max()}."
        )
    confirmed[positions] = True
    if len(names) < 2 or not len(labels):
        nothing = np.zeros(len(labels))
        return SuspectedLabelErrors((), nothing, 0.0, (0.0, 0.0), 0.0)
    noise = _NoiseModel(log_proba, index, confirmed, trust)
    posterior, n_wrong, (low, high) = noise.judge()
    rate = noise.rate
    # Upwards, that the model is hardly ever astray.
    _, _, (_, highest) = noise.trusted().judge()
    interval = low, max(high, highest)
    rows = np.arange(len(labels))
    probability = np.where(confirmed, 0.0, 1 - posterior[rows, index])
    own = log_proba[rows, index]
    contradicted = np.flatnonzero(~confirmed & (log_proba.max(axis=1) > own))
    worst_first = np.argsort(-probability[contradicted], kind="stable")
    contradicted = contradicted[worst_first]
    if len(labels) < _SMALL:
        _, share = wilson_interval(len(contradicted), len(labels))
        most = min(share * len(labels), float((~confirmed).sum()))
        interval = low, max(*interval, most) if len(contradicted) else interval[1]
    posterior[rows, index] = -1.0
    rival = posterior.argmax(axis=1)
    with np.errstate(invalid="ignore"):  # -inf against -inf: nothing is known
        margin = log_proba[rows, rival] - log_proba[rows, index]
    margin = np.nan_to_num(margin, nan=0.0, posinf=np.inf, neginf=-np.inf)
    order = np.lexsort((-margin, -probability))
    order = order[(probability[order] >= min_probability) & ~confirmed[order]][:top]
    errors = tuple(
        SuspectedLabelError(
            index=int(row),
            given=labels[row],
            suggested=names[rival[row]],
            probability=float(probability[row]),
            margin=float(margin[row]),
            text=None if texts is None else texts[int(row)],
        )
        for row in order
    )
    informed = _informed(log_proba, index)
    return SuspectedLabelErrors(
        errors, probability, n_wrong, interval, rate, informed, contradicted
    )


def _informed(log_proba: FloatMatrix, index: IntVector) -> bool:
    """Whether some document speaks for its label, more than its share does."""
    share = (np.bincount(index) / len(index))[index]
    with np.errstate(invalid="ignore"):  # a row of -inf: nothing is known
        own = softmax(log_proba, axis=1)[np.arange(len(index)), index]
    varied = log_proba.min(axis=1) < log_proba.max(axis=1)
    return bool(np.any(varied & (own * (1 - share) > _MORE * share * (1 - own))))


def left_out_log_proba(
    estimator: Estimator,
    X: DocumentsLike,
    y: LabelsLike,
    *,
    groups: IntVector | None = None,
    n_folds: int = 5,
    random_state: int = 0,
) -> tuple[Labels, FloatMatrix]:
    """Log posteriors of each document under the estimator fitted without it.

    Exact leave-one-out where the estimator has ``leave_one_out`` and no two documents
    share a group; else folds that keep each group together, because a copy with the
    same wrong label would vouch for it.

    Parameters
    ----------
    estimator : classifier
        Unfitted, with ``leave_one_out`` or ``predict_proba``.
    X : documents
        What the estimator takes.
    y : array-like of shape (n_documents,)
        One label for each document.
    groups : ndarray of shape (n_documents,), optional
        Documents that repeat each other, such as
        ``group_near_duplicates(texts).group``.
    n_folds : int, default=5
        Fits, if it is done by folds.
    random_state : int, default=0
        Of the folds.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Labels of the columns.
    log_proba : ndarray of shape (n_documents, n_classes)
        A row is constant where nothing is known: no other document has its label.

    """
    labels = np.asarray(as_labels(y))
    alone = groups is None or len(np.unique(groups)) == len(labels)
    fitted = clone(estimator)
    if alone and offers(fitted.fit(X, labels), "leave_one_out"):
        return fitted.classes_, np.asarray(fitted.leave_one_out(X, labels))
    classes, index = np.unique(labels, return_inverse=True)
    log_proba = np.zeros((len(labels), len(classes)))
    for train, test in stratified_folds(index, n_folds, random_state, groups):
        known = np.unique(index[train])
        test = test[np.isin(index[test], known)]
        if len(known) < 2 or not len(test):
            continue
        model = clone(estimator).fit(take(X, train), labels[train])
        columns = np.searchsorted(classes, as_labels(model.classes_))
        log_proba[test] = -np.inf
        with np.errstate(divide="ignore"):
            scores = np.log(model.predict_proba(take(X, test)))
        log_proba[np.ix_(test, columns)] = scores
    return classes, log_proba


def _checked(
    labels: list[Label],
    loo_log_proba: MatrixLike,
    names: list[Label],
    texts: Sequence[str] | None,
) -> tuple[FloatMatrix, IntVector]:
    """The scores as a matrix, and the column of every label."""
    log_proba = np.asarray(loo_log_proba, dtype=np.float64)
    known = all_known(labels, "y", loo_log_proba=log_proba, texts=texts)
    index = index_of(known, names)
    if log_proba.ndim != 2 or log_proba.shape[1] != len(names):
        raise DataError(
            f"loo_log_proba must be of shape (n_documents, {len(names)}), one column "
            f"per class, got shape {log_proba.shape}."
        )
    if (index < 0).any():
        row = int(np.flatnonzero(index < 0)[0])
        raise DataError(
            f"every label must be among the {len(names)} classes, got "
            f"{labels[row]!r} in row {row}."
        )
    return log_proba, index


class _NoiseModel:
    """The steps from scores to labels, fitted by EM; see the module."""

    # Probabilities need no logarithms here: w pi bounds every class away from 0.

    def __init__(
        self,
        log_proba: FloatMatrix,
        index: IntVector,
        confirmed: BoolVector,
        trust: float,
    ):
        n, k = log_proba.shape
        self.trust = trust
        counts = np.bincount(index, minlength=k)
        self.index, self.confirmed, self.wary = index, confirmed, True
        self.share = (counts + 0.5) / (n + 0.5 * k)
        contradicted = np.count_nonzero(log_proba.argmax(axis=1) != index)
        self.contradicted = (contradicted + 0.5) / (n + 1)
        self.evidence = _evidence(log_proba, self.share)
        self.evidence[counts[index] < _FEW] = 0.0
        self.fitted = np.arange(0, n, -(-n * k // _ENTRIES))
        self.scaling = np.zeros(k + 1)  # log s, then b
        self.rate = 0.02
        towards = np.tile(self.share, (k, 1))
        np.fill_diagonal(towards, 0.0)
        self.towards = towards / towards.sum(axis=1, keepdims=True)
        self.pairs = self.towards
        self._fit()

    def trusted(self) -> _NoiseModel:
        """Fit again, now trusting the scores as far as possible."""
        self.wary = False
        self._fit()
        return self

    def judge(self) -> tuple[FloatMatrix, float, tuple[float, float]]:
        """P(z|g) of every document, the number of wrong labels and its interval."""
        rates, weights, scalings = self._posterior_of_rate()
        rows, free = np.arange(len(self.index)), ~self.confirmed
        posterior = np.zeros_like(self.evidence)
        means, deviations = [], []
        for rate, weight, scaling in zip(rates, weights, scalings, strict=True):
            given_rate = self._posterior(rate, scaling, slice(None))
            wrong = 1 - given_rate[rows, self.index][free]
            means.append(wrong.sum())
            deviations.append(np.sqrt((wrong * (1 - wrong)).sum()))
            posterior += weight * given_rate
        n_wrong = float(weights @ means)
        low, high = _mixture_interval(weights, np.array(means), np.array(deviations))
        return posterior, n_wrong, (low, min(high, float(free.sum())))

    def _fit(self) -> None:
        """Learn scaling, error rate and confused pairs of classes by EM."""
        rows = self.fitted
        label = np.zeros((len(rows), len(self.share)))
        label[np.arange(len(rows)), self.index[rows]] = ~self.confirmed[rows]
        n_prior = _PRIOR_WRONG + self.trust
        for _ in range(50):
            self.scaling, _ = self._scale(self.rate, self.scaling, 5)
            flows = self._posterior(self.rate, self.scaling, rows).T @ label
            np.fill_diagonal(flows, 0.0)  # what is left: class z with another label
            rate = (flows.sum() + _PRIOR_WRONG) / (label.sum() + n_prior)
            pairs = flows + _PRIOR_PAIRS * self.towards
            self.pairs = pairs / pairs.sum(axis=1, keepdims=True)
            change, self.rate = abs(rate - self.rate), float(rate)
            if change < 1e-5:
                break

    def _posterior_of_rate(self) -> tuple[FloatVector, FloatVector, list[FloatVector]]:
        """Rates, how probable they are, and the best scaling for each."""
        deviation = 1.5 / np.sqrt(len(self.fitted) * self.rate * (1 - self.rate) + 1)
        logits = logit(self.rate) + deviation * _GRID
        scalings, scores = [], []
        scaling = self.scaling
        for place in logits:
            scaling, likelihood = self._scale(float(expit(place)), scaling, 8)
            # The Beta prior, with the Jacobian of the log-odds.
            prior = _PRIOR_WRONG * log_expit(place) + self.trust * log_expit(-place)
            scalings.append(scaling)
            scores.append(likelihood + prior)
        weights = softmax(scores)
        self.rate = float(weights @ expit(logits))
        return expit(logits), weights, scalings

    def _posterior(
        self, rate: float, scaling: FloatVector, rows: IntVector | slice
    ) -> FloatMatrix:
        """Probability of each true class given label and scores, for one error rate."""
        astray = self._astray(rate)
        classes = (1 - astray) * self._believed(scaling, rows) + astray * self.share
        joint = classes * self._channel(rate, rows)
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def _believed(self, scaling: FloatVector, rows: IntVector | slice) -> FloatMatrix:
        """Class probabilities of documents by their scaled scores."""
        offsets = np.log(self.share) + scaling[1:]
        scores = np.exp(scaling[0]) * self.evidence[rows] + offsets
        return np.asarray(softmax(scores, axis=1))

    def _astray(self, rate: float) -> float:
        """How often scores are astray: the square of their share of wrong answers."""
        least = 0.1 * self.contradicted
        return float(max(self.contradicted - rate, least) if self.wary else least) ** 2

    def _channel(self, rate: float, rows: IntVector | slice) -> FloatMatrix:
        """Probability of the labels of these documents, for each true class."""
        channel = rate * self.pairs
        np.fill_diagonal(channel, 1 - rate)
        labels = self.index[rows]
        noise: FloatMatrix = channel.T[labels]
        confirmed = np.flatnonzero(self.confirmed[rows])
        noise[confirmed] = 0.0
        noise[confirmed, labels[confirmed]] = 1.0
        return noise

    def _scale(
        self, rate: float, start: FloatVector, max_iter: int
    ) -> tuple[FloatVector, float]:
        """The most probable temperature and offsets, and log P(labels, scaling)."""
        # One call moves s by a factor e at most: far out the loss is flat.
        bounds = [(start[0] - 1, start[0] + 1), *[(-20, 20)] * len(self.share)]
        how = {"method": "L-BFGS-B", "options": {"maxiter": max_iter}}
        loss = self._loss(rate)
        best = scipy.optimize.minimize(loss, start, jac=True, bounds=bounds, **how)
        return best.x, -float(best.fun) * len(self.fitted)

    def _loss(self, rate: float) -> Callable[[FloatVector], tuple[float, FloatVector]]:
        """Make the loss for one error rate: from a scaling to its value and slope."""
        rows, astray = self.fitted, self._astray(rate)
        evidence, channel = self.evidence[rows], self._channel(rate, rows)
        without_scores = astray * (channel @ self.share)
        # Weak priors: s within a factor e^2 of 1, the offsets within 1 of 0.
        precision = np.append(0.25, np.ones(len(self.share)))

        def loss(scaling: FloatVector) -> tuple[float, FloatVector]:
            believed = self._believed(scaling, rows)
            due = (1 - astray) * believed * channel
            by_scores = due.sum(axis=1)
            likelihood = by_scores + without_scores
            # The slope of log(likelihood) along the exponents of the softmax.
            pull = (due - believed * by_scores[:, None]) / likelihood[:, None]
            value = np.log(likelihood).sum() - 0.5 * precision @ scaling**2
            stretch = np.exp(scaling[0]) * np.vdot(pull, evidence)
            slope = np.append(stretch, pull.sum(axis=0)) - precision * scaling
            return -value / len(rows), -slope / len(rows)

        return loss


def _evidence(log_proba: FloatMatrix, share: FloatVector) -> FloatMatrix:
    """Log posteriors without the prior, the largest of every row 0."""
    with np.errstate(invalid="ignore"):  # a row of -inf: nothing is known
        below = log_proba - log_proba.max(axis=1, keepdims=True)
    below = np.maximum(np.nan_to_num(below, nan=0.0), -_FARTHEST)
    evidence: FloatMatrix = below - np.log(share)
    evidence -= evidence.max(axis=1, keepdims=True)
    return evidence


def _mixture_interval(
    weights: FloatVector, means: FloatVector, deviations: FloatVector
) -> tuple[float, float]:
    """Where 95 % of a mixture of normal distributions lies, not below 0."""
    spread = np.maximum(deviations, 1e-9)
    first = max(0.0, float((means - 4 * spread).min()))
    places = np.linspace(first, float((means + 4 * spread).max()), 2001)
    below = ndtr((places[:, None] - means) / spread) @ weights
    low, high = np.searchsorted(below, [0.025, 0.975])
    return float(places[low]), float(places[min(high, len(places) - 1)])
