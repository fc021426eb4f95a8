"""Higher-order models: evidence from paths that lead across documents."""

from earmark.models.higher_order.classifier import HigherOrderClassifier
from earmark.models.higher_order.naive_bayes import HigherOrderNaiveBayes
from earmark.models.higher_order.transformer import HigherOrderTransformer

__all__ = ["HigherOrderClassifier", "HigherOrderNaiveBayes", "HigherOrderTransformer"]
