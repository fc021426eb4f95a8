"""Any classifier on the higher-order transform, one class against one (HO7)."""

from __future__ import annotations

from dataclasses import field
from typing import Self

import numpy as np
from sklearn.base import clone
from sklearn.svm import LinearSVC

from earmark.exceptions import NotSupportedError
from earmark.kernels.keys import fingerprints
from earmark.kernels.rows import canonical_rows, class_sums, presence
from earmark.models.base import (
    RankingClassifier,
    ScoreParts,
    linear_parts,
    repeats,
    two_classes,
)
from earmark.models.higher_order.estimates import count_class_paths
from earmark.models.higher_order.pairs import (
    OneAgainstOne,
    best_in_cross_validation,
    best_on_training,
    pair_weights,
)
from earmark.models.higher_order.transformer import check_path_parameters
from earmark.parameters import (
    random_state_of,
    require_in_range,
    require_integer,
    require_one_of,
    with_parameters,
)
from earmark.typing import (
    ArrayLike,
    Estimator,
    FloatMatrix,
    IntVector,
    Matrix,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)

__all__ = ["HigherOrderClassifier"]


@with_parameters(base="estimator")
class HigherOrderClassifier(RankingClassifier):
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

    C_: float | None = field(init=False)
    _numbers = "numeric"

    estimator: Estimator = field(default=None, kw_only=False)
    order: int = 2
    pure: bool = False
    source: str = "paths"
    normalize: bool = True
    alpha: float = 1.0
    C: float | str | None = "training"
    cv: int = 5
    random_state: RandomStateLike = None
    n_jobs: int | None = None

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike = None
    ) -> Self:
        """Transform the documents of each pair of classes and train on them.

        Paths lead through whole documents, so weights must be whole numbers: a
        document of weight 2 counts as two equal ones.
        """
        check_path_parameters(self)
        if self.C == "cross_validation":
            require_integer(self, "cv", low=2)
        X, labels = self._training_data(X, y)
        often = repeats(self, sample_weight, len(labels))
        self.classes_, y_index = two_classes(self, labels[often])
        rows = presence(canonical_rows(X), dtype=np.float64)[often]
        # In an order of their own: that of the rows has no influence.
        order = np.lexsort((fingerprints(rows), y_index))
        rows, y_index = rows[order], y_index[order]
        seed = int(random_state_of(self.random_state).randint(2**31 - 1))
        base = self._prepared_base(seed)
        task = self._task(rows, y_index)
        self.log_present_, self.log_absent_ = task.log_present, task.log_absent
        self.held_ = task.held
        data = (rows, y_index, self.classes_, self.n_jobs)
        is_chosen = isinstance(self.C, str) and "C" in base.get_params(deep=False)
        if is_chosen and self.C == "training":
            self.C_, self.estimators_ = best_on_training(task, base, *data)
            return self
        if is_chosen:
            self.C_ = best_in_cross_validation(self._task, base, *data, self.cv, seed)
        else:
            self.C_ = None if isinstance(self.C, str) else self.C
        if self.C_ is not None:
            base.set_params(C=self.C_)
        self.estimators_ = task.fit(base, *data)
        return self

    def _prepared_base(self, seed: int) -> Estimator:
        """A copy of the base classifier with a seed; raise for a senseless C."""
        base = LinearSVC() if self.estimator is None else clone(self.estimator)
        names = base.get_params(deep=False)
        if "random_state" in names and names["random_state"] is None:
            base.set_params(random_state=seed)
        if isinstance(self.C, str):
            require_one_of(self, "C", ("training", "cross_validation"))
        elif self.C is not None:
            require_in_range(self, "C", low=0.0, open_low=True)
            if "C" not in names:
                raise ValueError(
                    f"{type(base).__name__} has no parameter C; give C=None to "
                    f"{type(self).__name__}."
                )
        return base

    def _task(self, rows: SparseMatrix, y_index: IntVector) -> OneAgainstOne:
        """The transforms of all pairs, from the paths of each class (HO1)."""
        n_classes = len(self.classes_)
        paths = count_class_paths(
            rows,
            y_index,
            n_classes,
            order=check_path_parameters(self),
            pure=self.pure,
        )
        held = class_sums(rows, y_index, n_classes).toarray() > 0
        log_probabilities = paths.log_probabilities(self.alpha)
        return OneAgainstOne(*log_probabilities, held, self.normalize)

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
            linear = pair_weights(model, task.problem(first, second), n_features)
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
        return [
            ScoreParts(
                part.columns,
                part.terms,
                {
                    "intercept": intercept,
                    "vote": score - part.terms.sum(axis=0) - intercept,
                },
                note,
            )
            for part, score in zip(parts, scores, strict=True)
        ]
