"""The report of an evaluation, for people and for machines."""

from earmark._optional import names_at_first_use

__getattr__, __dir__, __all__ = names_at_first_use(__name__)
