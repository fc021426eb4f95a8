"""From documents to sparse rows: counting, weighting, selecting."""

from typing import TYPE_CHECKING

from earmark._optional import names_at_first_use

if TYPE_CHECKING:
    from earmark.features.selection import TermSelector
    from earmark.features.weighting import TfidfWeighting
    from earmark.features.word_counter import HashedCounter, WordCounter
    from earmark.text.preparation import TextPreparation

__all__ = [
    "HashedCounter",
    "TermSelector",
    "TextPreparation",
    "TfidfWeighting",
    "WordCounter",
]

__getattr__ = names_at_first_use(
    __name__,
    {
        "analysis": "TextPreparation",
        "selection": "TermSelector",
        "weighting": "TfidfWeighting",
        "word_counter": "HashedCounter WordCounter",
    },
    estimators=True,
)
