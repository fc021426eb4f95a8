"""Classifiers on term counts and vectors, scikit-learn compatible."""

from earmark._optional import names_at_first_use

__getattr__, __dir__, __all__ = names_at_first_use(__name__)
