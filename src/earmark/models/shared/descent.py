"""What the models trained by gradient descent share: passes, early stopping, trace."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from operator import methodcaller
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from earmark.exceptions import DataError, DivergenceError
from earmark.kernels.keys import Visits, distinct_documents
from earmark.kernels.rows import canonical_rows, log_normalize
from earmark.models.base.classifier import (
    LogitClassifier,
    RankingClassifier,
    document_weights,
    two_classes,
)
from earmark.models.shared.fit_progress import (
    CallbackSupportMixin,
    fit_progress,
    with_callbacks,
)
from earmark.parameters import (
    AtLeastOne,
    Limits,
    Positive,
    Verbosity,
    estimator,
    seed_of,
)
from earmark.statistics.class_statistics import label_positions, require_same_classes
from earmark.stored import any_float, anything_plain
from earmark.typing import (
    ArrayLike,
    ClassWeightLike,
    IntVector,
    Labels,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)

# Passes: enough steps for a small collection, few for a large one.
_FEWEST_PASSES, _MOST_PASSES, _VISITS = 5, 20, 50_000
# A model that knows nothing has loss log K. A mean loss of this many times that
# is no model on its way but one that has run off.
_RUNAWAY = 1000.0


@dataclass(frozen=True)
class TrainingSet:
    """Documents as descent takes them; weights have mean 1."""

    X: SparseMatrix
    y_index: IntVector
    visits: Visits
    total_weight: float


@estimator
class DescentClassifier(CallbackSupportMixin, RankingClassifier, LogitClassifier):
    """Base of softmax regression and the multilayer perceptron.

    A child says how a model starts (``_start``), how one pass changes it (``_pass``)
    and which arrays a model consists of (``_arrays``).
    """

    needs_calibration = True
    eta: Positive | None = None
    max_iter: AtLeastOne | None = None
    early_stopping: bool = False
    validation_fraction: Annotated[float, Limits(0.0, 0.5, open_low=True)] = 0.1
    patience: AtLeastOne = 2
    fit_intercept: bool = True
    class_weight: ClassWeightLike = None
    random_state: RandomStateLike = None
    verbose: Verbosity = 0
    step_size_: Annotated[float, any_float] = field(init=False)
    trace_: Annotated[dict[str, list[float]], anything_plain] = field(init=False)
    n_iter_: int = field(init=False)

    @abstractmethod
    def _start(self, data: TrainingSet, n_classes: int) -> None:
        """Become an untrained model."""

    @abstractmethod
    def _pass(
        self, data: TrainingSet, order: IntVector, part: tuple[float, float]
    ) -> float:
        """Learn the rows in ``order``, a ``part`` of it all; the sum of the losses."""

    @abstractmethod
    def _arrays(self) -> list[NDArray[np.float64]]:
        """The arrays that training changes."""

    def _learns_in_passes(self) -> bool:
        """Say that one more pass is possible; raise an error if it is not."""
        return True

    def _meet(self, data: TrainingSet) -> None:
        """Take note of more documents, before ``partial_fit`` learns them."""

    # -- learning ------------------------------------------------------------

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike = None,
        *,
        validation: tuple[MatrixLike, ArrayLike] | None = None,
    ) -> Self:
        """Learn X (n_samples, n_features) and y afresh.

        The order of the rows has no influence; ``validation`` (X, y) is held out
        for early stopping in place of a part of X.
        """
        self._check_parameters()
        X, labels = self._training_data(X, y)
        classes, y_index = two_classes(self, labels)
        data = self._training_set(X, labels, y_index, sample_weight)
        self.classes_ = classes
        data, held_out = self._hold_out(data, validation)
        self._fit_data(data, held_out)
        return self

    def _fit_data(
        self, data: TrainingSet, held_out: tuple[SparseMatrix, IntVector] | None
    ) -> None:
        self._start(data, len(self.classes_))
        self._descend(data, held_out)

    @available_if(methodcaller("_learns_in_passes"))
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: WeightsLike = None,
    ) -> Self:
        """One more pass, over these documents.

        Give all labels in ``classes`` at the first call if ``y`` does not hold them
        all. Unlike a count model's, the result depends on the order of the calls.
        """
        self._check_parameters()
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"{type(self).__name__}.class_weight must be None or a dict for "
                f"partial_fit, got {self.class_weight!r}; the balance of documents "
                "still to come is not known."
            )
        first = not hasattr(self, "classes_")
        X, labels = self._training_data(X, y, reset=first)
        if classes is not None and not first:
            require_same_classes(np.unique(np.asarray(classes)), self.classes_)
        elif first:
            known = np.unique(labels if classes is None else np.asarray(classes))
            if len(known) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs at least 2 classes, got "
                    f"{known.tolist()!r}; give all in `classes` at the first call."
                )
            self.classes_ = known
        y_index = label_positions(labels, self.classes_, X.shape[0])
        data = self._training_set(X, labels, y_index, sample_weight)
        if first:
            self._start(data, len(self.classes_))
            self.trace_, self.n_iter_ = {"loss": []}, 0
        else:
            self._meet(data)
        order = data.visits.order(self._seed(), self.n_iter_)
        self._record(self._pass(data, order, (0.0, 0.0)) / len(order))
        return self

    def _descend(
        self, data: TrainingSet, held_out: tuple[SparseMatrix, IntVector] | None
    ) -> None:
        """Pass after pass, until the last or until the held-out part gets no better."""
        self.trace_, self.n_iter_ = {"loss": []}, 0
        best, best_arrays, wait = (-math.inf, -math.inf), None, 0
        n_passes = self._n_passes(len(data.visits))
        with fit_progress(self, n_passes, "pass", verbose=self.verbose) as task_done:
            for order, part in self._orders(data.visits):
                self._record(self._pass(data, order, part) / len(order))
                task_done()
                if held_out is None:
                    continue
                quality = self._quality(*held_out)
                wait = 0 if quality > best else wait + 1
                if wait == 0:
                    best, best_arrays = (
                        quality,
                        [array.copy() for array in self._arrays()],
                    )
                elif wait >= self.patience:
                    break
        if best_arrays is not None:
            for array, value in zip(self._arrays(), best_arrays, strict=True):
                array[...] = value

    def _orders(
        self, visits: Visits
    ) -> Iterator[tuple[IntVector, tuple[float, float]]]:
        """The rows of each pass, and the stretch of the training it makes up."""
        n_passes = self._n_passes(len(visits))
        for epoch in range(n_passes):
            part = (epoch / n_passes, (epoch + 1) / n_passes)
            yield visits.order(self._seed(), epoch), part

    def _n_passes(self, n_documents: int) -> int:
        if self.max_iter is not None:
            return self.max_iter
        wanted = math.ceil(_VISITS / max(1, n_documents))
        return min(_MOST_PASSES, max(_FEWEST_PASSES, wanted))

    def _record(self, loss: float) -> None:
        """Enter a pass into the trace, or stop if the descent has run away."""
        self.n_iter_ += 1
        finite = all(np.isfinite(array[..., :1]).all() for array in self._arrays())
        if not finite or not loss <= _RUNAWAY * math.log(len(self.classes_)):
            raise DivergenceError(
                f"{type(self).__name__} diverged in pass {self.n_iter_}: the mean loss "
                f"is {loss:.3g} with step size eta = {self.step_size_:.3g}; give a "
                "smaller eta, or scale X (unit rows are usual for text)."
            )
        self.trace_["loss"].append(loss)

    def _quality(self, X: SparseMatrix, y_index: IntVector) -> tuple[float, float]:
        """Accuracy and, to break ties, log-likelihood on held-out documents."""
        log_proba = log_normalize(self._class_scores(X))
        accuracy = float((log_proba.argmax(axis=1) == y_index).mean())
        loss = -float(log_proba[np.arange(len(y_index)), y_index].mean())
        self.trace_.setdefault("validation_accuracy", []).append(accuracy)
        self.trace_.setdefault("validation_loss", []).append(loss)
        return accuracy, -loss

    # -- data ----------------------------------------------------------------

    def _training_data(
        self, X: MatrixLike, y: ArrayLike, *, reset: bool = True
    ) -> tuple[SparseMatrix, Labels]:
        X, labels = super()._training_data(X, y, reset=reset)
        return canonical_rows(X), labels

    def _training_set(
        self,
        X: SparseMatrix,
        labels: Labels,
        y_index: IntVector,
        sample_weight: WeightsLike,
    ) -> TrainingSet:
        weight = document_weights(sample_weight, labels, self.class_weight)
        visits = distinct_documents(X, y_index, weight)
        total = float(visits.weight[visits.rows].sum())
        if not len(visits):
            raise DataError("sample_weight must not be zero for every document.")
        visits = replace(visits, weight=visits.weight * (len(visits) / total))
        return TrainingSet(X, y_index, visits, total)

    def _hold_out(
        self, data: TrainingSet, validation: tuple[MatrixLike, ArrayLike] | None
    ) -> tuple[TrainingSet, tuple[SparseMatrix, IntVector] | None]:
        """The documents to learn from, and those that say when to stop."""
        if validation is not None:
            X, labels = self._training_data(*validation, reset=False)
            return data, (X, label_positions(labels, self.classes_, X.shape[0]))
        if not self.early_stopping:
            return data, None
        if len(data.visits) < 2:
            raise DataError(
                f"{type(self).__name__}.early_stopping needs at least 2 different "
                "documents, one of them to hold out."
            )
        learned, judged = data.visits.split(self._seed(), self.validation_fraction)
        held_out = (data.X[judged.rows], data.y_index[judged.rows])
        return replace(data, visits=learned), held_out

    def _seed(self) -> int:
        return seed_of(self.random_state)
