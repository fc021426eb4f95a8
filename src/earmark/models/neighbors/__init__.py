"""k nearest neighbours by cosine, on an inverted index."""

from earmark.models.neighbors.classifier import NeighborsClassifier
from earmark.models.neighbors.votes import Answer, Neighbor

__all__ = ["Answer", "Neighbor", "NeighborsClassifier"]
