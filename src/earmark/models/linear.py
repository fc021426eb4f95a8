"""One linear machine over several views of a document: earmark's default.

Rows come in views: words and marks, pieces of words, and the vectors of an encoder.
Each class has a machine against the rest (LM2) whose weights may start from the ratios
of naive Bayes (LM3). The strength of the penalty, whether the ratios are used, and what
words and vectors count beside the pieces are chosen by the log loss on held-out
documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import astuple, field, fields, replace
from typing import Annotated, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.features.columns import Rows
from earmark.features.scoring import (
    LinearRule,
    ScoreParts,
    VectorWeights,
    linear_parts,
)
from earmark.features.tokens import WORD_OR_MARK
from earmark.kernels.rows import log_normalize
from earmark.models.base.classifier import (
    LogitClassifier,
    document_weights,
    require_weighted,
    two_classes,
)
from earmark.models.base.declaration import Model
from earmark.models.shared.machines import (
    Settings,
    as_views,
    choose,
    distinct_task,
    in_half_precision,
    machine_scores,
    share_of_vectors,
)
from earmark.parameters import AtLeastOne, NotNegative, Positive, estimator, seed_of
from earmark.stored import DERIVED, floats
from earmark.typing import (
    ArrayLike,
    BoolMatrix,
    ClassWeightLike,
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)

# From so many documents on, those that were held out tell how good the model is.
_MANY = 1_500


@estimator
class LinearMachine(LogitClassifier):
    """Linear machines of all classes against the rest, fitted together.

    Rows may have several views: words, pieces of words and vectors. What is None is
    chosen by the log loss on a quarter of the documents, held out; below 1,500
    documents several times, and below 20 not at all. Probabilities are the softmax of
    the scores times one factor, learned from the same held-out documents.

    Parameters
    ----------
    C : float > 0 or None, default=None
        Inverse strength of the penalty.
    prior : bool or None, default=None
        Whether a term's weight is expected to be as large as its log-ratio in naive
        Bayes, instead of as large as that of any other.
    word_weight : float > 0 or None, default=None
        Length of the rows of words, where those of pieces have length 1.
    vector_weight : float >= 0 or None, default=None
        Length of the vectors; at 0 they have no part.
    max_iter : int, default=12
        The most passes over the documents.
    tol : float > 0, default=0.01
        The fit ends when the dual variables move by less than this share of their sum.
    class_weight : None, "balanced" or dict, default=None
        Factor on the weight of each class's documents.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of visits and of what is held out; None is the seed 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    weights_ : ndarray of shape (n_features, n_machines)
        Weights on the rows; one machine for two classes. Each is a number of half
        precision.
    offset_ : ndarray of shape (n_machines,)
        Offsets.
    settings_ : dict
        C, prior, word_weight and vector_weight, as they were chosen.
    scale_ : float
        The factor that made scores log-odds; weights and offsets have it in them.
    n_iter_ : int
        Passes over the documents.
    n_held_out_ : int
        Documents that settings were chosen on; 0: none were chosen.
    encoder_share_ : float or None
        What vectors count in the scores; None without vectors.
    left_out_ : tuple (rows, log probabilities) or None
        Documents that were held out and what was said of them, of many documents only.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] S. Wang and C. D. Manning (2012). Baselines and bigrams: simple, good
       sentiment and topic classification. ACL.
    .. [2] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan
       (2008). A dual coordinate descent method for large-scale linear SVM. ICML.

    Examples
    --------
    >>> X = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> model = LinearMachine().fit(X, ["good", "good", "bad", "bad"])
    >>> model.predict([[1, 0, 1]])
    array(['good'], dtype='<U4')

    """

    weights_: Annotated[FloatTable, floats("n_features", "n_machines")] = field(
        init=False
    )
    offset_: Annotated[FloatVector, floats("n_machines")] = field(init=False)
    settings_: dict[str, float | bool] = field(init=False)
    scale_: Positive = field(init=False)
    n_iter_: int = field(init=False)
    n_held_out_: int = field(init=False)
    _rule: Annotated[LinearRule, DERIVED] = field(init=False)

    takes_rows = True
    C: Positive | None = None
    prior: bool | None = None
    word_weight: Positive | None = None
    vector_weight: NotNegative | None = None
    max_iter: AtLeastOne = 12
    tol: Positive = 0.01
    class_weight: ClassWeightLike = None
    random_state: RandomStateLike = None

    # -- learning ------------------------------------------------------------

    def fit(
        self,
        X: Rows | MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike = None,
        *,
        copies: IntVector | None = None,
    ) -> Self:
        """Learn X and y.

        Parameters
        ----------
        X : Rows, or {array-like, sparse matrix} of shape (n_samples, n_features)
            Weighted terms. ``Rows`` has a block for each view, a matrix is one view.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the documents.
        copies : array-like of int of shape (n_samples,), default=None
            Group of each document; the documents of a group, copies of each other, are
            held out together.

        """
        self._check_parameters()
        matrix, labels = self._training_rows(X, y)
        self.classes_, y_index = two_classes(self, labels)
        weight = document_weights(sample_weight, labels, self.class_weight)
        require_weighted(labels, weight)
        n, n_classes = len(labels), len(self.classes_)
        truth = sparse.csr_array(
            (np.ones(n, dtype=np.float32), y_index, np.arange(n + 1)),
            shape=(n, n_classes),
        )
        if n_classes == 2:
            truth = sparse.csr_array(truth[:, [1]])
        self._learn(matrix, truth, y_index, weight, copies)
        return self

    def fit_labels(
        self,
        X: Rows | MatrixLike,
        truth: BoolMatrix,
        *,
        factor: FloatMatrix,
        sample_weight: WeightsLike = None,
        copies: IntVector | None = None,
    ) -> list[LinearMachine]:
        """A machine for each of several labels, fitted together; settings are shared.

        ``truth`` (n_samples, n_labels) says which labels each document has, ``factor``
        (2, n_labels) what documents without and with a label count in its problem.
        """
        self._check_parameters()
        matrix, _ = self._training_rows(X, np.zeros(len(truth)))
        weight = document_weights(sample_weight, np.zeros(len(truth)))
        # Documents are held out by the rarest label that they have.
        often = truth.sum(axis=0)
        rarest = np.where(truth, often, len(truth) + 1).argmin(axis=1)
        strata = np.where(truth.any(axis=1), rarest, truth.shape[1])
        self.classes_ = np.arange(2)
        labels = sparse.csr_array(truth.astype(np.float32))
        self._learn(matrix, labels, strata, weight, copies, factor)
        return [self._machine(k) for k in range(truth.shape[1])]

    def _machine(self, k: int) -> LinearMachine:
        """The machine of one label, as a classifier of its own."""
        one = copy(self)
        one.weights_ = np.ascontiguousarray(self.weights_[:, [k]])
        one.offset_, one.left_out_ = self.offset_[[k]], None
        one._derive()
        return one

    def _training_rows(
        self, X: Rows | MatrixLike, y: ArrayLike
    ) -> tuple[Rows | Matrix, Labels]:
        """Check X and y, and take note of the width of X."""
        if not isinstance(X, Rows):
            return self._training_data(X, y)
        self.n_features_in_ = X.n_columns
        return X, np.asarray(y)

    def _learn(
        self,
        X: Rows | Matrix,
        truth: SparseMatrix,
        strata: IntVector,
        weight: FloatVector,
        copies: IntVector | None,
        factor: FloatMatrix | None = None,
    ) -> None:
        """Choose the settings and fit the machines."""
        seed = seed_of(self.random_state)
        factor = np.ones((2, truth.shape[1])) if factor is None else factor
        task, first, place = distinct_task(as_views(X), truth, weight, factor)
        group = np.arange(len(weight)) if copies is None else np.asarray(copies)
        fixed = self._fixed()
        choice = choose(task, strata[first], group[first], fixed, self.tol, seed)
        machines = task.machines(choice.settings)
        machines.run(choice.settings.C, self.max_iter, self.tol, seed)
        weights = machines.weights
        weights *= np.float32(choice.scale)
        self.weights_ = in_half_precision(weights)
        self.offset_ = choice.scale * machines.solver.bias.astype(np.float64)
        self.settings_ = dict(zip(_NAMES, astuple(choice.settings), strict=True))
        self.n_iter_, self.scale_ = machines.n_passes, choice.scale
        self.encoder_share_ = share_of_vectors(task.views, self.weights_)
        self.n_held_out_ = 0
        self.left_out_ = None
        if choice.held_out is not None and choice.scores is not None:
            held_out = np.unique(choice.held_out)
            self.n_held_out_ = len(held_out)
            if len(held_out) == len(choice.held_out) and len(task) >= _MANY:
                self._note_left_out(choice.held_out, choice.scores, place)
        self._derive()

    def _fixed(self) -> dict[str, float]:
        """The settings that a user has set."""
        asked = (self.C, self.prior, self.word_weight, self.vector_weight)
        names = (one.name for one in fields(Settings))
        both = zip(names, asked, strict=True)
        return {name: value for name, value in both if value is not None}

    def _note_left_out(
        self, held_out: IntVector, scores: FloatMatrix, place: IntVector
    ) -> None:
        """Keep what was said of documents that were held out, and of their copies."""
        n_distinct = int(place.max()) + 1
        at = np.full(n_distinct, -1)
        at[held_out] = np.arange(len(held_out))
        answer = np.where(place >= 0, at[place], -1)
        rows = np.flatnonzero(answer >= 0)
        log_proba = log_normalize(self.scale_ * _by_class(scores[answer[rows]]))
        self.left_out_ = rows, log_proba

    def settled(self) -> Self:
        """An unfitted copy that has the settings of this one, and chooses none."""
        check_is_fitted(self)
        copied: Self = clone(self).set_params(**self.settings_)
        return copied

    # -- answering -----------------------------------------------------------

    @property
    def wanted_of_counter(self) -> Mapping[str, object]:
        """Words and marks, alone and in pairs, that two documents have."""
        return {"token_pattern": WORD_OR_MARK, "ngram_range": (1, 2), "min_df": 2}

    def _validated(self, X: Rows | MatrixLike) -> Rows | Matrix:
        if not isinstance(X, Rows):
            return super()._validated(X)
        check_is_fitted(self)
        if X.n_columns != self.n_features_in_:
            raise DataError(
                f"X has {X.n_columns} columns, but LinearMachine was fitted with "
                f"{self.n_features_in_}."
            )
        return X

    def _class_scores(self, X: Rows | Matrix) -> FloatMatrix:
        return _by_class(machine_scores(as_views(X), self.weights_, self.offset_))

    def linear_rule(self) -> LinearRule:
        """The scores as a sum over a row's entries."""
        return self._rule

    def score_parts(self, X: Rows | MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        rows = self._validated(X)
        blocks, vectors = [rows], None
        if isinstance(rows, Rows):
            counted = zip(rows.blocks, rows.kinds, strict=True)
            blocks = [block for block, kind in counted if kind != "vector"]
            vectors = rows.of("vector")
        matrix = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        bias = {"bias": self._rule.offset}
        parts = linear_parts(matrix, self._rule.weights, bias)
        if vectors is None:
            return parts
        added = vectors @ self._rule.weights[matrix.shape[1] :]
        return [
            replace(part, constants={**bias, "encoder": own})
            for part, own in zip(parts, added, strict=True)
        ]

    def vector_weights(self, row: Rows) -> VectorWeights:
        """What the vector of a document is multiplied by."""
        width = row.of("vector").shape[1]
        return VectorWeights(self._rule.weights[-width:].astype(np.float64))

    # -- model files ---------------------------------------------------------

    def _derive(self) -> None:
        weights = self.weights_.astype(np.float32, copy=False)
        if weights.shape[1] == 1:
            weights = np.concatenate([-weights, weights], axis=1)
        offset = _by_class(self.offset_[None, :])[0]
        self._rule = LinearRule(weights, offset, log_posteriors=log_normalize)

    def __getstate__(self) -> dict[str, object]:
        state = super().__getstate__()
        if "weights_" in state:
            state["weights_"] = self.weights_.astype(np.float16)
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        if "weights_" in state:
            state = {
                **state,
                "weights_": np.asarray(state["weights_"], dtype=np.float32),
            }
        super().__setstate__(state)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a wrong number of machines: one for two classes, else one for each."""
        n_classes = sizes["n_classes"]
        if n_classes < 2 or sizes["n_machines"] != (1 if n_classes == 2 else n_classes):
            yield " must have weights for each class"
        if set(self.settings_) != set(_NAMES):
            yield ".settings_ are not those of a machine"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the checks' data are not texts
        return tags


# Parameters that hold the settings, in their order.
_NAMES = ("C", "prior", "word_weight", "vector_weight")


def _by_class(scores: FloatMatrix) -> FloatMatrix:
    """A column for each class; the score s of one machine becomes (-s, s)."""
    if scores.shape[1] > 1:
        return scores
    return np.concatenate([-scores, scores], axis=1)


MODEL = Model(
    "linear",
    LinearMachine,
    "words, pieces of words and meaning, weighed by one linear machine; the default",
    fed="whole",
    views=("word", "piece", "vector"),
    takes=("random_state",),
)
