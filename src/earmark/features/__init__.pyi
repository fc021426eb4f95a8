from earmark.features.preparation import TextPreparation as TextPreparation

from .selection import TermSelector as TermSelector
from .weighting import TfidfWeighting as TfidfWeighting
from .word_counter import HashedCounter as HashedCounter
from .word_counter import WordCounter as WordCounter
