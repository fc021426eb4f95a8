"""k nearest neighbours by cosine, distance or product."""

from earmark.models.neighbors.classifier import Answer, Neighbor, NeighborsClassifier

__all__ = ["Answer", "Neighbor", "NeighborsClassifier"]
