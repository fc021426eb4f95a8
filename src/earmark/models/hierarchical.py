"""Hierarchical Bayes: every class a mixture of hidden nodes, fitted by repeated EM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from earmark._optional import require
from earmark.exceptions import NotSupportedError
from earmark.features.scoring import ScoreParts, linear_parts
from earmark.kernels.rows import canonical_rows, dense_blocks, require_counts
from earmark.models.base.classifier import (
    JointClassifier,
    document_weights,
    require_weighted,
)
from earmark.models.base.declaration import Model
from earmark.models.base.parted import PartedRows, PartRows
from earmark.models.shared.fit_progress import CallbackSupportMixin, with_callbacks
from earmark.models.shared.gaussian import log_densities
from earmark.models.shared.mixture_nodes import node_densities
from earmark.models.shared.mixture_parts import search_in_parts
from earmark.models.shared.mixture_search import Fit, TrainingData
from earmark.parameters import (
    AtLeastOne,
    Jobs,
    Limits,
    NotNegative,
    Positive,
    PositiveShare,
    Verbosity,
    estimator,
    random_state_of,
    require_each,
)
from earmark.statistics.class_statistics import label_positions
from earmark.stored import (
    DERIVED,
    OPTIONAL,
    anything_plain,
    array,
    flag,
    floats,
    integers,
    number,
    whole,
)
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    RandomStateLike,
    WeightsLike,
)

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class NodeScores:
    """The nodes of all classes, those of a class side by side."""

    classes: Labels
    class_log_prior: FloatVector
    node_class: IntVector
    log_weight: FloatVector
    values: tuple[FloatMatrix, ...]
    """(log P(w|h,c),) or (means, variances), one row for each node."""
    linear: bool  # whether the posterior is the product of sums (HB2)

    @property
    def first(self) -> IntVector:
        """Position of the first node of each class."""
        return np.searchsorted(self.node_class, np.arange(len(self.classes)))

    @property
    def numbers(self) -> IntVector:
        """Number of each node within its class, from 1."""
        return np.arange(len(self.node_class)) - self.first[self.node_class] + 1

    def joint(self, X: Matrix) -> FloatMatrix:
        """Log P(x, c) of documents, (n_samples, n_classes)."""
        if self.linear:
            return np.asarray(X @ self.linear_weights() + self.class_log_prior)
        joint = np.empty((X.shape[0], len(self.classes)))
        for block, scores in self._node_blocks(X):
            joint[block] = self._sums(scores)  # HB1
        return joint + self.class_log_prior

    def linear_weights(self) -> FloatMatrix:
        """Log Σ_h P(h|c) P(w|h,c), (n_features, n_classes) (HB2)."""
        return self._sums((self.values[0] + self.log_weight[:, None]).T)

    def responsibilities(self, X: Matrix, y_index: IntVector) -> FloatMatrix:
        """P(h | document, its class); 0 for nodes that the class does not have."""
        sizes = np.bincount(self.node_class, minlength=len(self.classes))
        shares = np.zeros((X.shape[0], sizes.max()))
        for block, scores in self._node_blocks(X):
            total = self._sums(scores)
            for c, (start, size) in enumerate(zip(self.first, sizes, strict=True)):
                rows = np.flatnonzero(y_index[block] == c)
                own = scores[rows, start : start + size] - total[rows, c, None]
                shares[block.start + rows, :size] = np.exp(own)
        return shares

    def parts(self, X: Matrix) -> list[ScoreParts]:
        """Class scores as evidence of the node that answered for each class (AB3)."""
        # log P(x, c) = log P(c) + log P(h|c) + Σ_w evidence of w in h, for the best
        # node h, plus what the other nodes add: -log of the share of h.
        if self.linear:
            weights = self.linear_weights()
            return linear_parts(X, weights, {"class prior": self.class_log_prior})
        parts: list[ScoreParts] = []
        for block, scores in self._node_blocks(X):
            total = self._sums(scores)
            answered = self._best_nodes(scores)
            rest = total - np.take_along_axis(scores, answered, axis=1)
            for i, d in enumerate(range(block.start, block.stop)):
                columns, terms = self._evidence(X, d, answered[i])
                constants = {
                    "class prior": self.class_log_prior,
                    "hidden node": self.log_weight[answered[i]],
                    "other hidden nodes": rest[i],
                }
                best = int(np.argmax(total[i] + self.class_log_prior))
                note = self._note(best, int(answered[i, best]), float(rest[i, best]))
                parts.append(ScoreParts(columns, terms, constants, note))
        return parts

    def described(self, names: Sequence[str], top: int) -> HiddenNodes:
        """Every node with its ``top`` most telling features."""
        log_joint = self.log_weight + self.class_log_prior[self.node_class]
        if len(self.values) == 2:
            strengths = telling_features(self.values[0], self.values[1], log_joint)
        else:
            strengths = telling_terms(self.values[0], log_joint)
        labels, weights = (
            self.classes[self.node_class].tolist(),
            np.exp(self.log_weight),
        )
        nodes = []
        for h, row in enumerate(strengths):
            best = np.argsort(-row, kind="stable")[:top]
            best = best[row[best] > 0]
            terms = tuple(str(names[w]) for w in best)
            size, shares = float(weights[h]), tuple(row[best].tolist())
            nodes.append(
                HiddenNode(labels[h], int(self.numbers[h]), size, terms, shares)
            )
        return HiddenNodes(tuple(nodes))

    # -- private steps ---------------------------------------------------------------

    def _node_blocks(self, X: Matrix) -> Iterator[tuple[slice, FloatMatrix]]:
        """Log P(x, h | c) of every node, (rows of the block, n_nodes)."""
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, X.shape[0]))
            rows = X[block]
            if len(self.values) == 1:
                scores = np.asarray(rows @ self.values[0].T)
            else:
                scores = np.concatenate(
                    [node_densities(z, *self.values) for _, z in dense_blocks(rows)]
                )
            yield block, scores + self.log_weight

    def _sums(self, scores: FloatMatrix) -> FloatMatrix:
        """Log-sum-exp of each row's columns within each class."""
        top = np.maximum.reduceat(scores, self.first, axis=1)
        top = np.where(np.isneginf(top), 0.0, top)
        shares = np.exp(scores - top[:, self.node_class])
        with np.errstate(divide="ignore"):
            return np.log(np.add.reduceat(shares, self.first, axis=1)) + top

    def _best_nodes(self, scores: FloatMatrix) -> IntVector:
        """Position of each class's best node, (n_samples, n_classes)."""
        ends = np.append(self.first[1:], len(self.node_class))
        spans = zip(self.first, ends, strict=True)
        best = [start + scores[:, start:end].argmax(axis=1) for start, end in spans]
        return np.stack(best, axis=1)

    def _evidence(
        self, X: Matrix, d: int, nodes: IntVector
    ) -> tuple[IntVector, FloatMatrix]:
        """What each feature of document d adds under these nodes, (n_terms, K)."""
        if len(self.values) == 1:
            row = canonical_rows(X[[d]])
            columns = row.indices.astype(np.int64)
            return columns, row.data[:, None] * self.values[0][nodes][:, columns].T
        x = X[[d]].toarray()[0] if sparse.issparse(X) else X[d]
        mean, var = (values[nodes] for values in self.values)
        return np.arange(len(x), dtype=np.int64), log_densities(x, mean, var).T

    def _note(self, c: int, node: int, rest: float) -> str:
        size = int(np.sum(self.node_class == c))
        return (
            f"answered by hidden node {self.numbers[node]} of {size} of class "
            f"{self.classes[c]} (weight {np.exp(self.log_weight[node]):.2f}, "
            f"share in this document {np.exp(-rest):.2f})"
        )


@dataclass(frozen=True)
class HiddenNode:
    """One hidden node of one class."""

    label: object  # the class it belongs to
    number: int  # its number within the class, from 1
    weight: float  # P(h|c)
    terms: tuple[str, ...]  # its most telling terms, best first
    strengths: tuple[float, ...]  # how telling each of them is


@dataclass(frozen=True)
class HiddenNodes:
    """The hidden nodes of a fitted model: ``print`` them, or ``plot`` them."""

    nodes: tuple[HiddenNode, ...]

    def __str__(self) -> str:
        lines: list[str] = []
        for position, node in enumerate(self.nodes):
            if not position or self.nodes[position - 1].label != node.label:
                lines.append(f"{node.label}")
            words = ", ".join(node.terms) or "(no telling term)"
            lines.append(f"  {node.number}  {node.weight:6.1%}  {words}")
        return "\n".join(lines)

    def plot(self, *, figure: Any = None) -> Any:
        """Draw the terms of each node as bars, one row for each class.

        Parameters
        ----------
        figure : matplotlib Figure, default=None
            Where to draw; a new figure if not given.

        Returns
        -------
        figure : matplotlib Figure

        """
        pyplot = require("matplotlib.pyplot", "plot hidden nodes")
        labels = list(dict.fromkeys(node.label for node in self.nodes))
        rows = [[n for n in self.nodes if n.label == label] for label in labels]
        n_columns = max(len(row) for row in rows)
        n_terms = max(len(node.terms) for node in self.nodes)
        if figure is None:
            size = (3.2 * n_columns, len(rows) * (0.8 + 0.2 * max(n_terms, 1)))
            figure = pyplot.figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(rows), n_columns, squeeze=False)
        for axes_row, row in zip(axes, rows, strict=True):
            for ax, node in zip(axes_row, row, strict=False):
                ax.barh(range(len(node.terms)), node.strengths, color="#4c72b0")
                ax.set_yticks(range(len(node.terms)), node.terms)
                ax.invert_yaxis()
                ax.set_xticks([])
                ax.set_title(
                    f"{node.label}, node {node.number} ({node.weight:.0%})", fontsize=9
                )
            for ax in axes_row[len(row) :]:
                ax.set_axis_off()
        return figure


def telling_terms(log_prob: FloatMatrix, log_weight: FloatVector) -> FloatMatrix:
    """Each term's share in a node's divergence from all, φ_hw log(φ_hw / mean φ_w)."""
    probability = np.exp(log_prob)
    share = np.exp(log_weight - np.logaddexp.reduce(log_weight))
    overall = share @ probability
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(probability > 0, np.log(probability / overall), 0.0)
    return np.asarray(probability * ratio, dtype=np.float64)


def telling_features(
    mean: FloatMatrix, var: FloatMatrix, log_weight: FloatVector
) -> FloatMatrix:
    """How far a Gaussian node lies from the overall mean, in overall deviations."""
    share = np.exp(log_weight - np.logaddexp.reduce(log_weight))
    center = share @ mean
    spread = share @ (var + (mean - center) ** 2)
    return np.asarray(np.abs(mean - center) / np.sqrt(spread), dtype=np.float64)


@estimator
class HierarchicalBayes(CallbackSupportMixin, JointClassifier):
    """A class is a mixture of hidden nodes, its sub-topics, found by repeated EM.

    A document is drawn from one hidden node of its class. With the sum of products
    (the default) the decision is not linear: it can separate what naive Bayes cannot,
    XOR among it. EM ends in a local optimum, so it is run from many random starts,
    all side by side, and the start that classifies validation documents best is kept.

    Parameters
    ----------
    event_model : {"multinomial", "gaussian"}, default="multinomial"
        What a node draws: the tokens of a document (X holds counts), or real-valued
        features, each from a normal distribution of its own.
    n_hidden : int or list of int, default=2
        Hidden nodes of a class. Of several values the one that validates best is
        taken. A class with fewer different training documents has that many nodes.
    em : {"soft", "hard"}, default="soft"
        A document belongs to the nodes in shares, or to the best one wholly.
    posterior : {"sum_of_products", "product_of_sums"}, default="sum_of_products"
        The second is linear. With ``hidden_prior="tokens"`` it is multinomial naive
        Bayes with smoothing ``n_hidden * alpha``, whatever EM found; it has no
        Gaussian form.
    hidden_prior : {"tokens", "documents"}, default="tokens"
        Whether a node weighs as many tokens or as many documents as it holds. With
        "documents" the penalised likelihood never falls. Gaussian nodes always weigh
        documents.
    alpha : float or list of float, default=(0.03, 0.3, 3.0)
        Smoothing count of every term in every node (multinomial). Of several values
        the one that validates best is taken.
    var_floor : float > 0, default=0.001
        Least variance of a feature in a node, as a share of its overall variance
        (Gaussian).
    n_restarts : int, default=50
        Random starts of each class. Start r of all classes is one candidate.
    max_iter : int or None, default=None
        Most iterations of a start; None: 5 for multinomial nodes, 100 for Gaussian.
    tol : float, default=1e-5
        A start has converged when its bound changes by at most this share of itself.
    validation_fraction : float, default=0.1
        Share of every class that ``fit`` holds out to choose by, if it is given no
        validation data. Equal documents stay together. Where the share comes to less
        than half a document in every class, the training documents themselves choose.
    select : {"accuracy", "log_loss"}, default="accuracy"
        What is best on the validation data; the likelihood log P(x, y) breaks ties.
    refit : bool, default=True
        Let the chosen start go on with the documents that ``fit`` held out. Given
        validation data are never learned.
    drop_after : int or None, default=None
        After this many iterations only the likeliest starts of each class go on.
    keep : float, default=0.5
        Which share of them.
    dtype : {"float64", "float32"}, default="float64"
        Type of the EM passes; float32 takes half the memory and is faster.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts and of the hold-out.
    n_jobs : int or None, default=None
        Classes fitted at a time, in threads. The result does not depend on it.
    verbose : int, default=0
        Positive: show a progress bar on a terminal.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    class_log_prior_ : ndarray of shape (n_classes,)
        log P(class).
    n_hidden_ : ndarray of shape (n_classes,)
        Hidden nodes of each class.
    alpha_ : float
        The smoothing chosen.
    node_class_ : ndarray of shape (n_nodes,)
        Position in ``classes_`` of each node's class; ascending.
    node_log_weight_ : ndarray of shape (n_nodes,)
        log P(node | class).
    feature_log_prob_ : ndarray of shape (n_nodes, n_features)
        log P(term | node); multinomial only.
    theta_, var_ : ndarray of shape (n_nodes, n_features)
        Mean and variance of each feature in each node; Gaussian only.
    responsibilities_ : ndarray of shape (n_samples, max n_hidden_)
        P(node | document, its class) of the documents given to ``fit``.
    trials_ : list of dict
        The settings tried: alpha, n_hidden, and the best validation score.
    restart_scores_ : ndarray of shape (n_trials, n_candidates)
        Validation accuracy of every candidate, or minus log loss by ``select``.
    best_restart_ : ndarray of shape (n_classes,)
        Number of the start that was kept, for each class.
    validation_score_ : float
        Score of the candidate kept.
    bounds_ : ndarray of shape (n_classes, n_restarts, max_iter)
        Penalised log-likelihood of every start before each M-step, for the settings
        chosen; NaN after its end.
    converged_ : bool
        Whether the kept start of every class converged within ``max_iter``.
    n_iter_ : int
        Most iterations that a kept start took.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] C. S. Carlos and G. Rakshit (2016). Learning non-linear functions for text
       classification. Proc. 13th International Conference on Natural Language
       Processing, 208-218.

    Examples
    --------
    XOR, scaled and shifted, which no linear classifier can learn:

    >>> X, y = [[1, 1], [5, 5], [1, 5], [5, 1]], ["even", "even", "odd", "odd"]
    >>> HierarchicalBayes(random_state=0).fit(X, y).predict(X)
    array(['even', 'even', 'odd', 'odd'], dtype='<U4')

    """

    class_log_prior_: Annotated[FloatVector, floats("n_classes", high=0)] = field(
        init=False
    )
    node_class_: Annotated[IntVector, integers("n_nodes")] = field(init=False)
    node_log_weight_: Annotated[FloatVector, floats("n_nodes", finite=False)] = field(
        init=False
    )
    alpha_: Annotated[float, number(0), OPTIONAL] = field(init=False)
    best_restart_: Annotated[IntVector, array("i", "n_classes"), OPTIONAL] = field(
        init=False
    )
    bounds_: Annotated[
        FloatMatrix, floats("n_classes", None, None, nan=True), OPTIONAL
    ] = field(init=False)
    converged_: Annotated[bool, flag, OPTIONAL] = field(init=False)
    feature_log_prob_: Annotated[
        FloatMatrix, floats("n_nodes", "n_features", finite=False), OPTIONAL
    ] = field(init=False)
    theta_: Annotated[FloatMatrix, floats("n_nodes", "n_features"), OPTIONAL] = field(
        init=False
    )
    var_: Annotated[FloatMatrix, floats("n_nodes", "n_features", low=0), OPTIONAL] = (
        field(init=False)
    )
    n_hidden_: Annotated[IntVector, integers("n_classes", low=1), OPTIONAL] = field(
        init=False
    )
    n_iter_: Annotated[int, whole(), OPTIONAL] = field(init=False)
    responsibilities_: Annotated[
        FloatMatrix, floats(None, None, nan=True), OPTIONAL
    ] = field(init=False)
    restart_scores_: Annotated[FloatMatrix, floats(None, None, nan=True), OPTIONAL] = (
        field(init=False)
    )
    trials_: Annotated[Any, anything_plain, OPTIONAL] = field(init=False)
    validation_score_: Annotated[Any, anything_plain, OPTIONAL] = field(init=False)
    _skl_callbacks: Annotated[Any, DERIVED] = field(init=False)
    _skl_callbacks_to_teardown: Annotated[Any, DERIVED] = field(init=False)
    _callback_fit_ctx: Annotated[Any, DERIVED] = field(init=False)

    event_model: Literal["multinomial", "gaussian"] = "multinomial"
    n_hidden: int | Sequence[int] = 2
    em: Literal["soft", "hard"] = "soft"
    posterior: Literal["sum_of_products", "product_of_sums"] = "sum_of_products"
    hidden_prior: Literal["tokens", "documents"] = "tokens"
    alpha: float | Sequence[float] = (0.03, 0.3, 3.0)
    var_floor: Positive = 1e-3
    n_restarts: AtLeastOne = 50
    max_iter: AtLeastOne | None = None
    tol: NotNegative = 1e-5
    validation_fraction: Annotated[
        float, Limits(0.0, 0.9, hint="a share of the documents")
    ] = 0.1
    select: Literal["accuracy", "log_loss"] = "accuracy"
    refit: bool = True
    drop_after: AtLeastOne | None = None
    keep: PositiveShare = 0.5
    dtype: Literal["float64", "float32"] = "float64"
    random_state: RandomStateLike = None
    n_jobs: Jobs = None
    verbose: Verbosity = 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_each(self, "n_hidden", Limits(1), whole=True)
        require_each(self, "alpha", Limits(0))
        if self.event_model == "gaussian" and self.posterior == "product_of_sums":
            raise ValueError(
                "HierarchicalBayes.posterior must be 'sum_of_products' for Gaussian "
                "nodes, got 'product_of_sums'; the product of sums has no Gaussian "
                "form."
            )

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike = None,
        *,
        validation: tuple[MatrixLike, ArrayLike] | None = None,
    ) -> Self:
        """Fit the hidden nodes of every class and keep the best start.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents; counts for multinomial nodes.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A document of weight 2 counts as two equal ones.
        validation : (X, y), default=None
            Documents to choose by. A class without any is not judged; a label that
            is not in ``y`` is an error.

        Returns
        -------
        self

        """
        self._check_parameters()
        X, labels = self._training_data(X, y)
        X = self._checked_counts(X)
        self.classes_, y_index = np.unique(labels, return_inverse=True)
        weight = document_weights(sample_weight, labels)
        require_weighted(labels, weight)
        docs = np.bincount(y_index, weights=weight)
        self.class_log_prior_ = np.log(docs) - np.log(docs.sum())  # NB5
        rng = random_state_of(self.random_state)
        data = TrainingData(X, y_index, weight, self._validation_data(validation))
        fitted = Fit(self, data, rng).run()
        for name, value in fitted.items():
            setattr(self, name, value)
        self.responsibilities_ = self.node_scores_.responsibilities(X, y_index)
        return self

    def fit_in_parts(self, rows: PartedRows) -> Self:
        """The same search as in memory; every E-step is summed over the parts."""
        self._check_parameters()
        if self.event_model != "multinomial" or rows.class_weight is not None:
            raise NotSupportedError(
                "HierarchicalBayes is fitted in parts with multinomial nodes and "
                f"without class weights, got event_model={self.event_model!r}."
            )
        self.classes_, self.n_features_in_ = rows.classes, rows.n_features
        docs = rows.docs.astype(np.float64)
        self.class_log_prior_ = np.log(docs) - np.log(docs.sum())  # NB5
        fitted = search_in_parts(self, rows, random_state_of(self.random_state))
        if hasattr(self, "_callback_fit_ctx"):  # scikit-learn's, of a fit now over
            del self._callback_fit_ctx
        for name, value in fitted.items():
            setattr(self, name, value)
        self.responsibilities_ = np.concatenate(rows.gather("shares", _shares, self))
        return self

    def describe(
        self, feature_names: Sequence[str] | None = None, *, top: int = 10
    ) -> HiddenNodes:
        """Show each class's hidden nodes with their weight and most indicative words.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            Names of the columns of X, such as a vectoriser's
            ``get_feature_names_out()``. Default: the column names seen in ``fit``,
            or x0, x1, ...
        top : int, default=10
            How many words of each node.

        Returns
        -------
        nodes : HiddenNodes
            Prints as text; ``nodes.plot()`` draws it.

        """
        check_is_fitted(self)
        if top < 1:
            raise ValueError(f"top must be a whole number >= 1, got {top!r}.")
        return self.node_scores_.described(self._feature_names(feature_names), top)

    # -- scores ------------------------------------------------------------------

    @property
    def node_scores_(self) -> NodeScores:
        """The nodes as they score documents."""
        is_gaussian = self.event_model == "gaussian"
        values = (self.theta_, self.var_) if is_gaussian else (self.feature_log_prob_,)
        return NodeScores(
            self.classes_,
            self.class_log_prior_,
            self.node_class_,
            self.node_log_weight_,
            values,
            linear=self.posterior == "product_of_sums",
        )

    def _validated(self, X: MatrixLike) -> Matrix:
        return self._checked_counts(super()._validated(X))

    def _joint_log_likelihood(self, X: Matrix) -> FloatMatrix:
        return self.node_scores_.joint(X)

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart by the nodes that answered (AB3)."""
        return self.node_scores_.parts(self._validated(X))

    # -- input -----------------------------------------------------------------------

    def _checked_counts(self, X: Matrix, where: str = "") -> Matrix:
        """X as the event model takes it: canonical counts, or as it is."""
        if self.event_model == "gaussian":
            return X
        rows = canonical_rows(X)
        hint = f'{where}; use event_model="gaussian" for real values'
        require_counts(rows, f"{type(self).__name__} takes", hint)
        return rows

    def _validation_data(self, validation: Any) -> tuple[Matrix, IntVector] | None:
        if validation is None:
            return None
        if not isinstance(validation, tuple | list) or len(validation) != 2:
            raise TypeError(
                f"validation must be a pair (X, y), got {type(validation).__name__}."
            )
        X, labels = self._training_data(*validation, reset=False)
        y_index = label_positions(labels, self.classes_, X.shape[0])
        return self._checked_counts(X, " of the validation data"), y_index

    def _feature_names(self, names: Sequence[str] | None) -> Sequence[str]:
        if names is None:
            default = [f"x{j}" for j in range(self.n_features_in_)]
            return list(getattr(self, "feature_names_in_", default))
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"feature_names must hold {self.n_features_in_} names, one for each "
                f"column of X, got {len(names)}."
            )
        return names

    @property
    def _takes_counts(self) -> bool:
        return self.event_model != "gaussian"

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report nodes that are not in the order of classes, or lack parameters."""
        if not np.array_equal(
            np.unique(self.node_class_), np.arange(sizes["n_classes"])
        ):
            yield ".node_class_ must name each class"
        if (np.diff(self.node_class_) < 0).any():
            yield ".node_class_ must not fall"
        if not (hasattr(self, "feature_log_prob_") or hasattr(self, "theta_")):
            yield " has no parameters of its nodes"


def _shares(model: HierarchicalBayes, rows: PartRows) -> Any:
    """P(node | document, its class) under the fitted model, a row per document."""
    if not len(rows.y):
        return np.zeros((0, int(model.n_hidden_.max())))
    X = canonical_rows(rows.X.astype(np.float64))
    return model.node_scores_.responsibilities(X, rows.y)


MODEL = Model(
    "hierarchical",
    HierarchicalBayes,
    "hierarchical Bayes: classes made of sub-topics, found by repeated EM",
    takes=("random_state", "n_jobs", "verbose"),
)
