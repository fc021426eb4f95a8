"""Model cards: what a model file is, what it was made from, and what it is good for."""

from earmark.apps.card.facts import CardFacts
from earmark.apps.card.render import to_html, to_markdown
from earmark.apps.card.sections import sections

__all__ = ["CardFacts", "sections", "to_html", "to_markdown"]
