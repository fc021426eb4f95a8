"""Few labels, many documents: unlabelled text put to work."""

from earmark.models.semi_supervised.classifier import SemiSupervisedClassifier
from earmark.models.semi_supervised.em import SemiSupervisedNaiveBayes
from earmark.models.semi_supervised.recipe import (
    MIN_POOL,
    MIN_POOL_RATIO,
    SHORT_TEXT,
    pool_is_useful,
)
from earmark.models.semi_supervised.views import PHRASE, VECTOR, WORD

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
