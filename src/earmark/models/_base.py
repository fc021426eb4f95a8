"""Names of before, for the layers above until they have moved over."""

from earmark.models.base import ScoringClassifier as ClassScoresMixin
from earmark.models.protocols import LinearRule, ScoreParts, linear_parts

__all__ = ["ClassScoresMixin", "LinearRule", "ScoreParts", "linear_parts"]
