"""Hierarchical Bayes: classes made of hidden nodes, fitted by repeated EM."""

from earmark.models.hierarchical.description import HiddenNode, HiddenNodes
from earmark.models.hierarchical.model import HierarchicalBayes

__all__ = ["HiddenNode", "HiddenNodes", "HierarchicalBayes"]
