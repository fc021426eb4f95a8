"""The multilayer perceptron for sparse text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import pairwise
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import DataError
from earmark.features.scoring import ScoreParts
from earmark.kernels import mlp
from earmark.kernels.rows import canonical_rows, squared_lengths
from earmark.models.base.declaration import Model
from earmark.models.shared.descent import DescentClassifier, TrainingSet
from earmark.parameters import AtLeastOne, Limits, NotNegative, estimator
from earmark.stored import DERIVED, floats, such
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    MatrixLike,
    WeightsLike,
)

# Step size of the adaptive rule on rows of length 1, for each root of a class; and
# the share of it that the dense layers take.
_STEP, _DENSE_RATE = 0.08, 0.3
_ETA = {"adam": 1e-3, "sgd": 0.1}
_BATCH = {"adaptive": 1, "adam": 32, "sgd": 1}


def _are_widths(value: object) -> bool:
    """Whether a file's value can be the widths of layers."""
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(type(n) is int and 1 <= n <= 2**24 for n in value)
    )


@estimator
class MultilayerPerceptron(DescentClassifier):
    """A neural network whose first layer is sparse.

    Hidden layers of tanh or rectified units and a softmax on top, trained by
    backpropagation of the cross-entropy. A step costs what the batch's terms cost:
    only their rows of the first layer are read and changed, whatever the vocabulary.

    Parameters
    ----------
    hidden : sequence of int, default=(100,)
        Widths of the hidden layers.
    activation : {"tanh", "relu"}, default="tanh"
        Of the hidden units.
    solver : {"adaptive", "adam", "sgd"}, default="adaptive"
        How steps are sized. "adaptive": a row of weights steps by eta over the root of
        the sum of its squared gradients. "adam": fading means of the gradient and its
        square; terms that are absent from a batch follow later what they missed.
        "sgd": eta times the gradient.
    eta : float > 0 or None, default=None
        Step size. None: 0.08 * sqrt(n_classes) / (typical length of a row) for
        "adaptive", 0.001 for "adam", 0.1 for "sgd".
    max_iter : int or None, default=None
        Passes over the documents. None: between 20 for a small collection and 5 for a
        large one.
    batch_size : int or None, default=None
        Documents in a step; None: 32 for "adam", else 1.
    dropout : float in [0, 1), default=0.0
        Share of the hidden units left out at random in each step.
    early_stopping : bool, default=False
        Hold a part of the documents out, stop when its accuracy rises no more, and
        keep the best pass.
    validation_fraction : float in (0, 0.5], default=0.1
        The part to hold out.
    patience : int, default=2
        Passes without improvement before early stopping.
    fit_intercept : bool, default=True
        Give every unit a bias.
    class_weight : None, "balanced" or dict, default=None
        Factor on the weight of each class's documents.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights, the order of visits and dropout; None is a seed of
        its own.
    verbose : int, default=0
        1 shows the passes, on a terminal only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    coefs_, intercepts_ : list of ndarray
        Weights (n_in, n_out) and biases of each layer.
    n_iter_ : int
        Passes made.
    trace_ : dict of str to list of float
        For each pass: "loss", the mean loss met on the way, and with early stopping
        "validation_accuracy" and "validation_loss".
    step_size_ : float
        The eta in use.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] C. M. Bishop (2006). Pattern recognition and machine learning. Chapter 5.
    .. [2] A. Shrikumar, P. Greenside and A. Kundaje (2017). Learning important features
       through propagating activation differences. ICML. (How a score is taken apart.)

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = MultilayerPerceptron(hidden=(8,), max_iter=2000, random_state=0)
    >>> model.fit(X, ["equal", "not", "not", "equal"]).predict(X)
    array(['equal', 'not', 'not', 'equal'], dtype='<U5')

    """

    _length: NotNegative = field(init=False)

    _first: Annotated[FloatMatrix, floats("n_features", None)] = field(init=False)
    _dense: Annotated[FloatVector, floats(None)] = field(init=False)
    _sizes: Annotated[
        tuple[int, ...], such("the widths of the layers", _are_widths)
    ] = field(init=False)
    _memory: Annotated[mlp.Memory | None, DERIVED] = None
    _first_weights: Annotated[Sequence[FloatMatrix] | None, DERIVED] = None

    hidden: Sequence[int] = (100,)
    activation: Literal["tanh", "relu"] = "tanh"
    solver: Literal["adaptive", "adam", "sgd"] = "adaptive"
    batch_size: AtLeastOne | None = None
    dropout: Annotated[float, Limits(0.0, 0.99)] = 0.0

    @property
    def coefs_(self) -> list[FloatMatrix]:
        """Weights (n_in, n_out) of each layer."""
        return [weights for weights, _ in self._network().layers()]

    @property
    def intercepts_(self) -> list[FloatVector]:
        """Biases of each layer."""
        return [bias for _, bias in self._network().layers()]

    # -- learning ------------------------------------------------------------

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike = None,
        *,
        validation: tuple[MatrixLike, ArrayLike] | None = None,
        start_weights: Sequence[FloatMatrix] | None = None,
    ) -> Self:
        """Learn X (n_samples, n_features) and y afresh.

        The order of the rows has no influence; ``validation`` (X, y) is held out
        for early stopping in place of a part of X. ``start_weights`` has the weights
        (n_in, n_out) of each layer to start from, in place of random ones.
        """
        with self._starting_from(start_weights):
            super().fit(X, y, sample_weight, validation=validation)
        return self

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: WeightsLike = None,
        *,
        start_weights: Sequence[FloatMatrix] | None = None,
    ) -> Self:
        """One more pass, over these documents.

        Give all labels in ``classes`` at the first call if ``y`` does not hold them
        all; ``start_weights``, as in ``fit``, is for the first call too. Unlike a
        count model's, the result depends on the order of the calls.
        """
        with self._starting_from(start_weights):
            super().partial_fit(X, y, classes, sample_weight)
        return self

    @contextmanager
    def _starting_from(self, weights: Sequence[FloatMatrix] | None) -> Iterator[None]:
        self._first_weights = weights
        try:
            yield
        finally:
            del self._first_weights

    def _check_parameters(self) -> None:
        super()._check_parameters()
        widths = list(self.hidden) if isinstance(self.hidden, Sequence) else []
        if not widths or any(not isinstance(w, int) or w < 1 for w in widths):
            raise ValueError(
                "MultilayerPerceptron.hidden must be one or several widths >= 1, such "
                f"as (100,), got {self.hidden!r}."
            )

    def _network(self) -> mlp.Network:
        return mlp.Network(self._first, self._dense, self._sizes, self.activation)

    def _start(self, data: TrainingSet, n_classes: int) -> None:
        sizes = (*self.hidden, n_classes)
        n_features = data.X.shape[1]
        mean_square = float(squared_lengths(data.X)[data.visits.rows].mean())
        self._length = math.sqrt(mean_square) or 1.0
        network = mlp.new_network(n_features, sizes, self.activation, self._seed())
        network.first[:] /= self._length  # as if rows had length 1
        if self._first_weights is not None:
            _set_weights(network, self._first_weights)
        self._first, self._dense, self._sizes = network.first, network.dense, sizes
        self._memory = mlp.new_memory(network, self.solver)
        automatic = _ETA.get(self.solver, _STEP * math.sqrt(n_classes) / self._length)
        self.step_size_ = automatic if self.eta is None else float(self.eta)

    def _pass(
        self, data: TrainingSet, order: IntVector, part: tuple[float, float]
    ) -> float:
        network = self._network()
        if self._memory is None:  # a model from a file learns on
            self._memory = mlp.new_memory(network, self.solver)
        falling = self.solver == "adaptive"
        first, last = ((1.0 - p * falling) * self.step_size_ for p in part)
        training = mlp.Training(
            self.solver,
            first,
            last,
            _BATCH[self.solver] if self.batch_size is None else self.batch_size,
            self._seed(),
            self.dropout,
            # Only the first layer's input has the length of a row.
            _DENSE_RATE * self._length,
            bool(self.fit_intercept),
        )
        documents = data.X, data.y_index, data.visits.weight, order
        loss = mlp.learn(*documents, network, self._memory, training)
        mlp.settle(network, self._memory, training)
        return loss

    def _arrays(self) -> list[NDArray[np.float64]]:
        return [self._first, self._dense]

    # -- answering -----------------------------------------------------------

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return mlp.scores(self._network(), X)

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart exactly (AB3).

        Each hidden unit counts by the slope of the line between its outputs for the
        empty document and for this one, so that the terms' contributions and the
        scores of the empty document add up to the scores.
        """
        rows = canonical_rows(self._validated(X))
        network = self._network()
        slopes, empty = mlp.secants(network, rows)
        *_, (last, _) = network.layers()
        middle = [weights for weights, _ in network.layers()[1:-1]]
        parts = []
        for d in range(rows.shape[0]):
            part = slice(rows.indptr[d], rows.indptr[d + 1])
            columns = rows.indices[part].astype(np.int64)
            terms = rows.data[part, None] * self._first[columns] * slopes[0][d]
            for weights, slope in zip(middle, slopes[1:], strict=True):
                terms = (terms @ weights) * slope[d]
            parts.append(
                ScoreParts(columns, terms @ last, {"empty document": empty}, _NOTE)
            )
        return parts

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report weights that do not fit the sizes of the layers."""
        widths = [int(n) for n in self._sizes]
        needed = widths[0] + sum((a + 1) * b for a, b in pairwise(widths))
        ends = (self._first.shape[1], sizes["n_classes"], len(self._dense))
        if ends != (widths[0], widths[-1], needed):
            yield ": the weights do not fit the layers"


_NOTE = (
    "A network is not a sum over terms: contributions are measured from the empty "
    "document, each hidden unit counting by the slope between its two outputs."
)


def _set_weights(network: mlp.Network, start_weights: Sequence[FloatMatrix]) -> None:
    layers = network.layers()
    if len(start_weights) != len(layers):
        raise DataError(
            "MultilayerPerceptron.fit: start_weights must hold one matrix for each of "
            f"the {len(layers)} layers, got {len(start_weights)}."
        )
    for place, ((weights, _), values) in enumerate(
        zip(layers, start_weights, strict=True)
    ):
        if np.shape(values) != weights.shape:
            raise DataError(
                f"MultilayerPerceptron.fit: start_weights[{place}] must have shape "
                f"{weights.shape} (inputs, outputs), got {np.shape(values)}."
            )
        weights[:] = values


MODEL = Model(
    "mlp",
    MultilayerPerceptron,
    "multilayer perceptron on tf-idf, with a sparse first layer",
    fed="tfidf",
    takes=("random_state",),
)
