"""Few labels, many documents: the tables, with draws, errors, wins and losses.

Labelled documents are drawn per class from the training part, the rest of it is
the pool, the test part is untouched. Every method sees the same draws.
"""

from earmark.reproductions.few_labels._report import show
from earmark.reproductions.few_labels._run import reproduce

__all__ = ["reproduce", "show"]
