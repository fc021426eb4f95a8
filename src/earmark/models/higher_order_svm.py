"""Any classifier on the higher-order transform, one class against one (HO7)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from earmark.exceptions import DataError, NotSupportedError
from earmark.features.scoring import ScoreParts, linear_parts
from earmark.folds import stratified_folds
from earmark.kernels.keys import fingerprints
from earmark.kernels.offset_svm import fit_offset_svm
from earmark.kernels.rows import canonical_rows, presence
from earmark.models.base.classifier import (
    RankingClassifier,
    linear_rule_of,
    repeats,
    require_weighted,
    two_classes,
)
from earmark.models.base.declaration import Model
from earmark.models.shared.paths import PathWeights, pair_ratio
from earmark.parameters import (
    Jobs,
    Limits,
    NotNegative,
    estimator,
    offers,
    random_state_of,
    require_number,
    require_one_of,
)
from earmark.stored import classifier, in_file, optional, truths
from earmark.typing import (
    ArrayLike,
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)


@dataclass(frozen=True)
class PairProblem:
    """The transform (HO6) between two classes."""

    columns: IntVector
    """Terms of the two classes' training documents; others are disregarded."""
    difference: FloatVector
    """Value of each of them when present, less that when absent."""
    offset: FloatVector
    """Value of each of them when absent: the constant part."""

    def features(self, rows: SparseMatrix) -> SparseMatrix:
        """The sparse part of the transform of presence rows."""
        cut = rows[:, self.columns]
        data = self.difference[cut.indices]
        return sparse.csr_array((data, cut.indices, cut.indptr), shape=cut.shape)

    def fit(self, base: Estimator, rows: SparseMatrix, labels: Labels) -> Estimator:
        """Train a copy of the base classifier on the documents of the two classes."""
        # LIBLINEAR's SVM penalizes its intercept, so for it the constant part matters:
        # it is trained on the full transform, exactly, others on the sparse part.
        if type(base) is LinearSVC and base.penalty == "l2":
            return _fit_linear_svm(base, self.features(rows), self.offset, labels)
        return clone(base).fit(self.features(rows), labels)

    def margin(self, model: Estimator, rows: SparseMatrix) -> FloatVector:
        """Margin of each row, positive for the second class."""
        linear = self.weights(model, rows.shape[1])
        if linear is not None:
            return np.asarray(rows @ linear[0] + linear[1], dtype=np.float64)
        features = self.features(rows)
        if offers(model, "decision_function"):
            return np.asarray(model.decision_function(features), np.float64).ravel()
        if offers(model, "predict_proba"):
            return np.asarray(model.predict_proba(features)[:, 1] - 0.5, np.float64)
        is_second = model.predict(features) == model.classes_[1]
        return np.where(is_second, 1.0, -1.0)

    def weights(
        self, model: Estimator, n_features: int
    ) -> tuple[FloatVector, float] | None:
        """A linear model's weights on presences, its intercept; None if not linear."""
        rule = linear_rule_of(model)
        if rule is None or not rule.on_rows:
            return None
        weights = np.zeros(n_features)
        margin = rule.weights[:, 1] - rule.weights[:, 0]
        weights[self.columns] = margin * self.difference
        return weights, float(rule.offset[1] - rule.offset[0])


def _fit_linear_svm(
    base: LinearSVC, features: SparseMatrix, offset: FloatVector, labels: Labels
) -> LinearSVC:
    """LinearSVC on the rows offset + features, without making them."""
    classes = np.unique(labels)
    weight = compute_class_weight(base.class_weight, classes=classes, y=labels)
    is_second = labels == classes[1]
    fit = fit_offset_svm(
        features,
        offset,
        np.where(is_second, 1.0, -1.0),
        base.C * weight[is_second.astype(np.intp)],
        scale=float(base.intercept_scaling) if base.fit_intercept else 0.0,
        squared=base.loss == "squared_hinge",
        tol=base.tol,
        max_iter=base.max_iter,
        seed=base.random_state or 0,
    )
    if not fit.converged:
        warnings.warn(
            f"the linear SVM did not converge in {base.max_iter} passes; "
            "raise max_iter, or take a smaller C.",
            ConvergenceWarning,
            stacklevel=2,
        )
    model = clone(base)
    model.classes_ = classes
    model.coef_, model.intercept_ = fit.weights[None, :], np.array([fit.intercept])
    model.n_iter_, model.n_features_in_ = fit.n_iter, features.shape[1]
    return model


@dataclass(frozen=True)
class OneAgainstOne:
    """One two-class problem for each pair of classes (HO7)."""

    log_present: FloatMatrix
    """log P(term present | class), (n_classes, n_features)."""
    log_absent: FloatMatrix
    """log P(term absent | class), (n_classes, n_features)."""
    held: BoolVector
    """Whether a training document of the class holds the term, of that shape."""
    normalize: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(0, 1), (0, 2), ..., (1, 2), ..."""
        return list(combinations(range(len(self.held)), 2))

    def problem(self, first: int, second: int) -> PairProblem:
        """The transform (HO6) between two classes, on the terms of the two."""
        columns = np.flatnonzero(self.held[first] | self.held[second])
        present, absent = (
            # The two rows first: those of the other classes are not looked at.
            pair_ratio(logs[[first, second]][:, columns], 0, 1, self.normalize)
            for logs in (self.log_present, self.log_absent)
        )
        return PairProblem(columns, present - absent, absent)

    def fit(
        self, base: Estimator, rows: SparseMatrix, labels: Labels, n_jobs: int | None
    ) -> list[Estimator]:
        """A classifier for each pair; all classes have documents."""
        classes = np.unique(labels)

        def fit_one(first: int, second: int) -> Estimator:
            mine = np.flatnonzero(np.isin(labels, classes[[first, second]]))
            return self.problem(first, second).fit(base, rows[mine], labels[mine])

        return list(
            Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(fit_one)(*pair) for pair in self.pairs
            )
        )

    def scores(self, models: list[Estimator], rows: SparseMatrix) -> FloatMatrix:
        """Class scores of presence rows, (n_samples, n_classes)."""
        margins = np.empty((rows.shape[0], len(models)))
        for p, (pair, model) in enumerate(zip(self.pairs, models, strict=True)):
            margins[:, p] = self.problem(*pair).margin(model, rows)
        if len(models) == 1:
            return np.asarray(margins * np.array([-0.5, 0.5]))
        return self._vote(margins)

    def _vote(self, margins: FloatMatrix) -> FloatMatrix:
        """Votes per class; ties by summed margins, squashed into (-1/3, 1/3)."""
        votes: FloatMatrix = np.zeros((len(margins), len(self.held)))
        sums = np.zeros_like(votes)
        for margin, (first, second) in zip(margins.T, self.pairs, strict=True):
            votes[:, second] += margin > 0
            votes[:, first] += margin <= 0
            sums[:, second] += margin
            sums[:, first] -= margin
        return np.asarray(votes + sums / (3 * (1 + np.abs(sums))))


COSTS = tuple(10.0**k for k in range(-4, 5))


@estimator
class HigherOrderClassifier(PathWeights, RankingClassifier):
    """A linear SVM, or any classifier, on documents weighted by higher-order paths.

    For each pair of classes the documents of the two are transformed as in
    ``HigherOrderTransformer`` and a base classifier is trained on them. The class
    with the most votes wins; equal votes are decided by the sum of the margins.

    Parameters
    ----------
    estimator : classifier, default=None
        Trained for each pair of classes; None is scikit-learn's ``LinearSVC()``. A
        ``LinearSVC`` with an l2 penalty is fitted on the full transform, absent
        terms included, without making it; others get the sparse part of it, which
        is the same to any learner that ignores where the origin is.
    order : {1, 2, 3}, default=2
        Documents on a path; 1 takes documents themselves.
    pure : bool, default=False
        Count only paths whose end terms share no training document (order 2).
    source : {"paths", "first_order"}, default="paths"
        "first_order" weights terms by Bernoulli naive Bayes instead of by paths.
    normalize : bool, default=True
        Divide each log-ratio by the root of its size.
    alpha : float > 0, default=1.0
        Smoothing of the term probabilities.
    C : {"training", "cross_validation"}, float or None, default="training"
        The base classifier's ``C``, the same for all pairs: the smallest of
        10**-4 ... 10**4 with the best accuracy on the training documents, as in
        [1]_, or in cross-validation; or a number; or None to leave it alone.
        A base without a ``C`` is left alone.
    cv : int >= 2, default=5
        Parts of the cross-validation.
    random_state : int, RandomState instance or None, default=None
        Seed of the base classifiers and of the cross-validation.
    n_jobs : int or None, default=None
        Pairs trained at the same time, in threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    estimators_ : list
        A base classifier for each pair of classes, in the order (0, 1), (0, 2), ...
    C_ : float or None
        The cost in use, where it was chosen or given.
    log_present_, log_absent_ : ndarray of shape (n_classes, n_features)
        log P(term present | class) and log P(term absent | class).
    held_ : ndarray of shape (n_classes, n_features)
        Whether a training document of the class holds the term.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] M. C. Ganiz, N. I. Lytkin and W. M. Pottenger (2009). Leveraging higher
       order dependencies between features for text classification. ECML PKDD.

    Examples
    --------
    >>> X = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1]]
    >>> model = HigherOrderClassifier().fit(X, ["a", "a", "a", "b", "b"])
    >>> model.predict([[0, 1, 1, 0]])
    array(['a'], dtype='<U1')

    """

    estimators_: list[Annotated[Estimator, classifier(fitted=True)]] = field(init=False)
    held_: Annotated[BoolVector, truths("n_classes", "n_features")] = field(init=False)

    C_: NotNegative | None = None
    _numbers = "numeric"

    estimator: Annotated[Estimator, in_file(optional(classifier(fitted=False)))] = (
        field(default=None, kw_only=False)
    )
    C: float | str | None = "training"
    cv: int = 5
    random_state: RandomStateLike = None
    n_jobs: Jobs = None

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike = None
    ) -> Self:
        """Transform the documents of each pair of classes and train on them.

        Paths lead through whole documents, so weights must be whole numbers: a
        document of weight 2 counts as two equal ones.
        """
        self._check_parameters()
        if self.C == "cross_validation":
            require_number(self, "cv", Limits(2), whole=True)
        X, labels = self._training_data(X, y)
        often = repeats(self, sample_weight, len(labels))
        require_weighted(labels, np.bincount(often, minlength=len(labels)))
        self.classes_, y_index = two_classes(self, labels[often])
        rows = presence(canonical_rows(X), dtype=np.float64)[often]
        # In an order of their own: that of the rows has no influence.
        order = np.lexsort((fingerprints(rows), y_index))
        rows, y_index = rows[order], y_index[order]
        labels = self.classes_[y_index]
        seed = int(random_state_of(self.random_state).randint(2**31 - 1))
        base = self._prepared_base(seed)
        task = self._task(rows, y_index)
        self.log_present_, self.log_absent_ = task.log_present, task.log_absent
        self.held_ = task.held
        is_chosen = isinstance(self.C, str) and "C" in base.get_params(deep=False)
        if is_chosen and self.C == "training":
            self.C_, self.estimators_ = self._best_on_training(task, base, rows, labels)
            return self
        if is_chosen:
            self.C_ = self._best_in_cross_validation(base, rows, y_index, seed)
        else:
            self.C_ = None if isinstance(self.C, str) else self.C
        if self.C_ is not None:
            base.set_params(C=self.C_)
        self.estimators_ = task.fit(base, rows, labels, self.n_jobs)
        return self

    def _best_on_training(
        self, task: OneAgainstOne, base: Estimator, rows: SparseMatrix, labels: Labels
    ) -> tuple[float, list[Estimator]]:
        """The smallest cost with the best training accuracy (HO7), its classifiers."""
        best_accuracy, best_cost, best_models = -1.0, COSTS[0], []
        for cost, models in self._fits(task, base, rows, labels):
            answers = self.classes_[task.scores(models, rows).argmax(axis=1)]
            accuracy = float(np.mean(answers == labels))
            if accuracy > best_accuracy:
                best_accuracy, best_cost, best_models = accuracy, cost, models
            if accuracy == 1.0:
                break
        return best_cost, best_models

    def _best_in_cross_validation(
        self, base: Estimator, rows: SparseMatrix, y_index: IntVector, seed: int
    ) -> float:
        """The smallest cost with the best accuracy; paths are counted for each fold."""
        smallest = int(np.bincount(y_index).min())
        if smallest < 2:
            raise DataError(
                "C='cross_validation' needs at least 2 documents in every class, got a "
                "class of 1; take C='training' or a number."
            )
        correct = dict.fromkeys(COSTS, 0)
        for train, test in stratified_folds(y_index, min(self.cv, smallest), seed):
            task = self._task(rows[train], y_index[train])
            labels = self.classes_[y_index[train]]
            for cost, models in self._fits(task, base, rows[train], labels):
                answers = task.scores(models, rows[test]).argmax(axis=1)
                correct[cost] += int(np.sum(answers == y_index[test]))
        return max(COSTS, key=correct.__getitem__)

    def _fits(
        self, task: OneAgainstOne, base: Estimator, rows: SparseMatrix, labels: Labels
    ) -> Iterator[tuple[float, list[Estimator]]]:
        """The classifiers at each cost; one far too large need not converge."""
        for cost in COSTS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                base = base.set_params(C=cost)
                models = task.fit(base, rows, labels, self.n_jobs)
            yield cost, models

    def _prepared_base(self, seed: int) -> Estimator:
        """A copy of the base classifier with a seed; raise for a senseless C."""
        base = LinearSVC() if self.estimator is None else clone(self.estimator)
        names = base.get_params(deep=False)
        if "random_state" in names and names["random_state"] is None:
            base.set_params(random_state=seed)
        if isinstance(self.C, str):
            require_one_of(self, "C", ("training", "cross_validation"))
        elif self.C is not None:
            require_number(self, "C", Limits(0.0, open_low=True))
            if "C" not in names:
                raise ValueError(
                    f"{type(base).__name__} has no parameter C; give C=None to "
                    f"{type(self).__name__}."
                )
        return base

    def _task(self, rows: SparseMatrix, y_index: IntVector) -> OneAgainstOne:
        """The transforms of all pairs, from the paths of each class (HO1)."""
        weights = self._weights(rows, y_index, len(self.classes_))
        return OneAgainstOne(*weights, self.normalize)

    # -- scores --------------------------------------------------------------------

    def _validated(self, X: MatrixLike) -> Matrix:
        return presence(canonical_rows(super()._validated(X)), dtype=np.float64)

    def _fitted_task(self) -> OneAgainstOne:
        return OneAgainstOne(
            self.log_present_, self.log_absent_, self.held_, self.normalize
        )

    def _class_scores(self, X: SparseMatrix) -> FloatMatrix:
        return self._fitted_task().scores(self.estimators_, X)

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Each term's part in the summed margins; the vote as one item (AB3)."""
        rows = self._validated(X)
        n_classes, n_features = len(self.classes_), rows.shape[1]
        weights, intercept = np.zeros((n_features, n_classes)), np.zeros(n_classes)
        share = 0.5 if n_classes == 2 else 1.0
        task = self._fitted_task()
        for (first, second), model in zip(task.pairs, self.estimators_, strict=True):
            linear = task.problem(first, second).weights(model, n_features)
            if linear is None:
                raise NotSupportedError(
                    f"{type(model).__name__} is not linear: its scores cannot be "
                    "taken apart by term."
                )
            for sign, c in ((-share, first), (share, second)):
                weights[:, c] += sign * linear[0]
                intercept[c] += sign * linear[1]
        parts = linear_parts(rows, weights, {"intercept": intercept})
        if n_classes == 2:
            return parts
        scores = self._class_scores(rows)
        note = "The vote of the pairs decides; terms show the sum of the margins."
        answers = []
        for part, score in zip(parts, scores, strict=True):
            vote = score - part.terms.sum(axis=0) - intercept
            constants = {"intercept": intercept, "vote": vote}
            answers.append(ScoreParts(part.columns, part.terms, constants, note))
        return answers

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a pair of classes without a machine on the terms of either."""
        yield from super()._faults(sizes)
        pairs = list(combinations(self.held_, 2))
        fits = len(pairs) == len(self.estimators_) and all(
            int((a | b).sum()) == model.n_features_in_ and len(model.classes_) == 2
            for (a, b), model in zip(pairs, self.estimators_, strict=True)
        )
        if not fits:
            yield ".estimators_ do not fit the pairs of classes and columns"


MODEL = Model(
    "higher-order-svm",
    HigherOrderClassifier,
    "linear SVM on words weighted by higher-order paths, one-vs-one",
    takes=("random_state", "n_jobs"),
)
