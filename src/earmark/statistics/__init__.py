"""Class statistics: what models learn, kept exactly, before any smoothing."""

from earmark.statistics.class_moments import ClassMoments
from earmark.statistics.class_statistics import ClassStatistics

__all__ = ["ClassMoments", "ClassStatistics"]
