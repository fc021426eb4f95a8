"""Carlos & Rakshit (2016): tables 1 to 4, figures 1 to 3, and honest rows."""

from earmark.reproductions.hierarchical.reproduce import reproduce
from earmark.reproductions.hierarchical.tables import show

__all__ = ["reproduce", "show"]
