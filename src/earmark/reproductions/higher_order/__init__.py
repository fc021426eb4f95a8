"""Ganiz, Lytkin & Pottenger (2009): tables 2 to 5, figures 2 to 4, honest rows."""

from earmark.reproductions.higher_order.reproduce import reproduce
from earmark.reproductions.higher_order.tables import show

__all__ = ["reproduce", "show"]
