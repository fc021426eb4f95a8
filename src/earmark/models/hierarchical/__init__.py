"""Hierarchical Bayes: classes made of hidden nodes, fitted by repeated EM."""

from earmark.models.hierarchical.model import HierarchicalBayes
from earmark.models.hierarchical.scoring import HiddenNode, HiddenNodes

__all__ = ["HiddenNode", "HiddenNodes", "HierarchicalBayes"]
