"""Hierarchical Bayes: every class a mixture of hidden nodes, fitted by repeated EM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.kernels.rows import canonical_rows, require_counts
from earmark.models.base import JointClassifier, ScoreParts, document_weights
from earmark.models.hierarchical.fitting import Fit, TrainingData, check_parameters
from earmark.models.hierarchical.scoring import HiddenNodes, NodeScores
from earmark.models.progress import CallbackSupportMixin, with_callbacks
from earmark.parameters import random_state_of, with_parameters
from earmark.statistics.class_statistics import label_positions
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    IntVector,
    Matrix,
    MatrixLike,
    RandomStateLike,
    WeightsLike,
)


@with_parameters()
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

    _transient = ("_skl_callbacks",)

    event_model: Literal["multinomial", "gaussian"] = "multinomial"
    n_hidden: int | Sequence[int] = 2
    em: Literal["soft", "hard"] = "soft"
    posterior: Literal["sum_of_products", "product_of_sums"] = "sum_of_products"
    hidden_prior: Literal["tokens", "documents"] = "tokens"
    alpha: float | Sequence[float] = (0.03, 0.3, 3.0)
    var_floor: float = 1e-3
    n_restarts: int = 50
    max_iter: int | None = None
    tol: float = 1e-5
    validation_fraction: float = 0.1
    select: Literal["accuracy", "log_loss"] = "accuracy"
    refit: bool = True
    drop_after: int | None = None
    keep: float = 0.5
    dtype: Literal["float64", "float32"] = "float64"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

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
        check_parameters(self)
        X, labels = self._training_data(X, y)
        X = self._checked_counts(X)
        self.classes_, y_index = np.unique(labels, return_inverse=True)
        weight = document_weights(sample_weight, labels)
        docs = np.bincount(y_index, weights=weight)
        if not docs.all():
            empty = self.classes_[np.flatnonzero(docs == 0)[0]]
            raise DataError(
                f"every class needs a document of positive sample_weight, "
                f"got none for class {empty!r}."
            )
        self.class_log_prior_ = np.log(docs) - np.log(docs.sum())  # NB5
        rng = random_state_of(self.random_state)
        data = TrainingData(X, y_index, weight, self._validation_data(validation))
        fitted = Fit(self, data, rng).run()
        for name, value in fitted.items():
            setattr(self, name, value)
        self.responsibilities_ = self.node_scores_.responsibilities(X, y_index)
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
        values: tuple[FloatMatrix, ...]
        if self.event_model == "gaussian":
            values = (self.theta_, self.var_)
        else:
            values = (self.feature_log_prob_,)
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

    def _feature_names(self, given: Sequence[str] | None) -> Sequence[str]:
        if given is None:
            default = [f"x{j}" for j in range(self.n_features_in_)]
            return list(vars(self).get("feature_names_in_", default))
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"feature_names must hold {self.n_features_in_} names, one for each "
                f"column of X, got {len(given)}."
            )
        return given

    def _takes_counts(self) -> bool:
        return self.event_model != "gaussian"
