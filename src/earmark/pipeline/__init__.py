"""From raw text to a decision: TextClassifier and what it is made of."""

from earmark._optional import names_at_first_use

__getattr__, __dir__, __all__ = names_at_first_use(__name__)
