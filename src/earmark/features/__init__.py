"""From documents to sparse rows: counting, weighting, selecting."""

from earmark.features.weighting import TfidfWeighting
from earmark.features.word_counter import WordCounter

__all__ = ["TfidfWeighting", "WordCounter"]
