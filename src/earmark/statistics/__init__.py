"""Class statistics: what models learn, kept exactly, before any smoothing."""

from earmark.statistics.class_statistics import ClassStatistics
from earmark.statistics.path_counts import second_order_paths as second_order_paths
from earmark.statistics.path_counts import third_order_paths as third_order_paths
from earmark.statistics.vector_sums import ClassMoments, UnitVectorSums

__all__ = ["ClassMoments", "ClassStatistics", "UnitVectorSums"]
