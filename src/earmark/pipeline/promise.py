"""What a TextClassifier promises about its answers when ``max_error`` is set (AB1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from earmark._checks import require_in_range
from earmark.decision.guarantee import Threshold
from earmark.exceptions import DataError
from earmark.pipeline.confidence import ConfidenceEvidence

__all__ = ["PromiseMixin"]


class PromiseMixin:
    """Thresholds and what may be said of them, under AbstainingClassifier's names."""

    max_error: float | None
    confidence: float
    evidence_: ConfidenceEvidence | None

    @property
    def thresholds_(self) -> list[Threshold]:
        """From which confidence on it answers; empty when it always does.

        One threshold, or with several labels a document one for each label.
        ``summary()`` says in words what is promised.
        """
        check_is_fitted(self)
        if self.max_error is None:
            return []
        self._check_promise()
        if self.evidence_ is None:
            raise DataError(
                "max_error needs to know how right the answers are: fit with "
                "max_error set (earmark train --max-error), with calibration=(X, y), "
                "or call measure_confidence with the training documents; what was "
                "known is gone after partial_fit and forget."
            )
        return self.evidence_.thresholds(self.max_error, self.confidence)

    @property
    def threshold_(self) -> Any:
        """The confidence from which on it answers: 0 always, inf never.

        With several labels a document an array: the distance of each label's score
        from its cut.
        """
        found = self.thresholds_
        if not found:
            return 0.0
        values = np.array([threshold.value for threshold in found])
        return values if self._has_labels() else float(values[0])

    @property
    def coverage_(self) -> float:
        """Share of the calibration documents (or label decisions) answered."""
        found = self.thresholds_
        if not found:
            return 1.0
        return sum(t.n_answered for t in found) / max(
            sum(t.n_documents for t in found), 1
        )

    @property
    def guaranteed_error_(self) -> float | None:
        """``max_error`` if it is promised, else None."""
        answered = [t for t in self.thresholds_ if t.n_answered]
        promised = bool(answered) and all(t.guaranteed for t in answered)
        return self.max_error if promised else None

    @property
    def estimated_error_(self) -> float | None:
        """Share of wrong answers among those seen, when nothing is promised."""
        answered = [t for t in self.thresholds_ if t.n_answered]
        if not answered or answered[0].guaranteed:
            return None
        return sum(t.n_errors for t in answered) / sum(t.n_answered for t in answered)

    def _check_promise(self) -> None:
        """Raise unless an error rate and a confidence that can be meant are set."""
        hint = "a share of wrong answers, such as 0.05"
        if self.max_error is not None:
            require_in_range(
                self, "max_error", low=0, high=0.999, open_low=True, hint=hint
            )
        require_in_range(self, "confidence", low=0, high=0.999999, open_low=True)

    def _has_labels(self) -> bool:
        return self.evidence_ is not None and self.evidence_.label is not None
