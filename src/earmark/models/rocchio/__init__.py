"""Rocchio classification on exact sums of unit vectors."""

from earmark.models.rocchio.classifier import RocchioClassifier

__all__ = ["RocchioClassifier"]
