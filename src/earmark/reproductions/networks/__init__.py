"""The exercise sheet on Bishop (2006), and Wang & Manning (2012): NBSVM on IMDB."""

from earmark.reproductions.networks.reproduce import reproduce
from earmark.reproductions.networks.tables import show

__all__ = ["reproduce", "show"]
