"""k nearest neighbours by cosine, distance or product."""

from earmark.models.neighbors.classifier import NeighborsClassifier
from earmark.models.neighbors.search import Answer, Neighbor

__all__ = ["Answer", "Neighbor", "NeighborsClassifier"]
