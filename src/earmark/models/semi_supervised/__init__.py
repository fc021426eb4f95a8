"""Few labels, many documents: unlabelled text put to work."""

from earmark.models.semi_supervised.classifier import SemiSupervisedClassifier
from earmark.models.semi_supervised.naive_bayes import SemiSupervisedNaiveBayes

__all__ = ["SemiSupervisedClassifier", "SemiSupervisedNaiveBayes"]
