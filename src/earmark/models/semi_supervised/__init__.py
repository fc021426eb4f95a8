"""Few labels, many documents: unlabelled text put to work."""

from earmark.models.semi_supervised._features import PHRASE, VECTOR, WORD
from earmark.models.semi_supervised._guard import (
    MIN_POOL,
    MIN_POOL_RATIO,
    pool_is_useful,
)
from earmark.models.semi_supervised._recipe import SHORT_TEXT
from earmark.models.semi_supervised.classifier import SemiSupervisedClassifier
from earmark.models.semi_supervised.naive_bayes import SemiSupervisedNaiveBayes

__all__ = [
    "MIN_POOL",
    "MIN_POOL_RATIO",
    "PHRASE",
    "SHORT_TEXT",
    "VECTOR",
    "WORD",
    "SemiSupervisedClassifier",
    "SemiSupervisedNaiveBayes",
    "pool_is_useful",
]
