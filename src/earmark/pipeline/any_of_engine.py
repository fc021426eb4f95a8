"""Raw text -> any number of labels a document."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.decision.any_of import AnyOfClassifier
from earmark.decision.decision import Decision
from earmark.exceptions import NotSupportedError
from earmark.models._base import ScoreParts
from earmark.pipeline.inputs import RegionTexts
from earmark.pipeline.matrix_engine import MatrixEngine, score_parts
from earmark.typing import FloatMatrix

__all__ = ["AnyOfEngine"]


class AnyOfEngine(MatrixEngine):
    """A matrix engine whose estimator is an ``AnyOfClassifier``."""

    multi_label = True
    model_: AnyOfClassifier

    @property
    def leaves_one_out(self) -> bool:
        """Never: labels are decided on one by one."""
        return False

    def decide(self, texts: RegionTexts) -> Decision:
        """The labels of each document, each decided on by itself."""
        return self.model_.decide(self.matrix(texts))

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """Score of each label over its threshold: yes from 0 on."""
        return self.model_._margins(self.matrix(texts))

    def log_probabilities(self, texts: RegionTexts) -> FloatMatrix:
        """Log probability of each label by itself; rows do not sum to 1."""
        proba = self.model_.predict_proba(self.matrix(texts))
        return np.asarray(np.log(np.maximum(proba, 1e-300)))

    def parts(self, texts: RegionTexts) -> list[ScoreParts]:
        """Each label's score over its threshold, taken apart."""
        X = self.matrix(texts)
        columns = [self._label_parts(c, X) for c in range(len(self.classes_))]
        found = []
        for d in range(X.shape[0]):
            one = [column[d] for column in columns]
            where = one[0].columns
            constants = {
                "bias": np.array(
                    [sum(_gap(v) for v in p.constants.values()) for p in one]
                ),
                "threshold": -self.model_.threshold_,
            }
            terms = np.stack([p.terms[:, 1] - p.terms[:, 0] for p in one], axis=1)
            found.append(ScoreParts(where, terms, constants))
        return found

    def term_weights(self) -> FloatMatrix | None:
        """Refused silently: each label has a model of its own."""
        return None

    def refusals(self) -> dict[str, str]:
        """Nothing is learned or left out one by one."""
        why = "is for one label a document; with several, fit again or cross-validate."
        names = ("partial_fit", "forget", "leave_one_out")
        return {name: f"{name} {why}" for name in names}

    def decision_scores(self, texts: RegionTexts) -> FloatMatrix:
        """Score of each label over its threshold: yes from 0 on."""
        return self.scores(texts)

    def _label_parts(self, c: int, X: Any) -> list[ScoreParts]:
        model = self.model_.estimators_[c]
        if model is None:
            raise NotSupportedError(
                f"label {self.classes_[c]!r} is on every training document, so no "
                "word speaks for or against it."
            )
        return score_parts(model, X)


def _gap(value: Any) -> float:
    return float(value[1] - value[0])
