"""Raw text, few labels and a pool -> the semi-supervised model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from earmark.decision.evidence import group_copies
from earmark.exceptions import DataError
from earmark.models.semi_supervised import SemiSupervisedClassifier
from earmark.pipeline.inputs import RegionTexts, n_documents
from earmark.pipeline.matrix_engine import MatrixEngine
from earmark.pipeline.semi_features import SemiFeatures
from earmark.typing import BoolVector, FloatMatrix, IntVector, Labels

__all__ = ["SemiEngine", "told_of_encoder"]


class SemiEngine(MatrixEngine):
    """Words, phrases and vectors of all texts, and a model that uses the pool.

    Parameters
    ----------
    features : SemiFeatures
        Unfitted.
    estimator : SemiSupervisedClassifier
        Unfitted.
    class_weight : None, "balanced" or dict
        Turned into weights of the labelled documents.
    random_state : int or None
        Kept for the interface; the estimator has its own.

    """

    features: SemiFeatures

    def fit(
        self,
        texts: RegionTexts,
        y: Labels,
        sample_weight: Any | None = None,
        pool: RegionTexts | None = None,
        validation: Any | None = None,
        counted: Any | None = None,
    ) -> Self:
        """Learn afresh from labelled texts and a pool; ``validation`` has no part."""
        pool = {name: [] for name in texts} if pool is None else pool
        X = self.features.fit_transform(texts, pool)
        if not np.any(self.features.kinds_ == 0):
            raise DataError(
                "no term is left to learn from: the documents are empty or hold only "
                "stop words."
            )
        labels = np.full(X.shape[0], None, dtype=object)
        labels[: n_documents(texts)] = y
        model: SemiSupervisedClassifier = clone(self.estimator)
        weight = self._weighted(y, sample_weight)
        if weight is not None:  # the pool is weighted by the model
            weight = np.concatenate([weight, np.ones(X.shape[0] - len(y))])
        self.model_ = model.fit(
            X,
            labels,
            weight,
            kinds=self.features.kinds_,
            terms=self.features.terms_,
            copies=group_copies(texts).group,
        )
        self.classes_ = self.model_.classes_
        self.calibrator_ = None
        return self

    @property
    def encoder_share(self) -> float | None:
        """What an encoder counts in the vote; None if it has none."""
        share: float | None = self.model_.encoder_share_
        return share

    @property
    def left_out(self) -> tuple[IntVector, FloatMatrix] | None:
        """Labelled documents held out in turn, and their log probabilities."""
        left_out: tuple[IntVector, FloatMatrix] | None = self.model_.left_out_
        return left_out

    def left_out_right(self, y: Labels) -> BoolVector | None:
        """Whether each of those was answered rightly."""
        if self.left_out is None:
            return None
        rows, log_proba = self.left_out
        right: BoolVector = self.classes_[log_proba.argmax(axis=1)] == y[rows]
        return right

    def term_weights(self) -> FloatMatrix | None:
        """Weight of each word and phrase for each class in the student on words."""
        made = self.model_.features_
        columns = np.concatenate([made.words_, made.phrases_])
        weights = np.zeros((len(self.features.kinds_), len(self.classes_)))
        student = self.model_.students_["words"].weights_
        weights[columns[: len(student)]] = student
        return weights


def told_of_encoder(engine: Any) -> str:
    """What the encoder that the user gave is worth, in words."""
    share = engine.encoder_share if isinstance(engine, SemiEngine) else None
    if share is None:
        return "the encoder was not used: it is a view for semi-supervised learning"
    return f"the encoder has {share:.0%} of the vote"
