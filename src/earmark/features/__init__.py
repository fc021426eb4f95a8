"""From documents to sparse rows: counting, weighting, selecting."""

from earmark._optional import names_at_first_use

__getattr__, __dir__, __all__ = names_at_first_use(__name__)
