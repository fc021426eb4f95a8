"""Hybrid generative/discriminative Bayes with document regions."""

from earmark.models.hybrid.hybrid import HybridBayes

__all__ = ["HybridBayes"]
