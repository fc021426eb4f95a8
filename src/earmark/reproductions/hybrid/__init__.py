"""Raina, Shen, Ng & McCallum (2003): figures 1 and 2, Theorem 1, and twenty classes."""

from earmark.reproductions.hybrid.reproduce import reproduce
from earmark.reproductions.hybrid.tables import show

__all__ = ["reproduce", "show"]
