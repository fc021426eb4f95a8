"""From documents to sparse rows: counting, weighting, selecting."""

from earmark.features.hashed_counter import HashedCounter
from earmark.features.selection import TermSelector
from earmark.features.weighting import TfidfWeighting
from earmark.features.word_counter import WordCounter
from earmark.text.preparation import TextPreparation

__all__ = [
    "HashedCounter",
    "TermSelector",
    "TextPreparation",
    "TfidfWeighting",
    "WordCounter",
]
