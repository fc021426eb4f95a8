"""Hierarchical Bayes: classes made of hidden nodes, fitted by repeated EM."""

from earmark.models.hierarchical.model import HiddenNode, HiddenNodes, HierarchicalBayes

__all__ = ["HiddenNode", "HiddenNodes", "HierarchicalBayes"]
