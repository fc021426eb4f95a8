"""Model cards: what a model file is, what it was made from, and what it is good for."""

from earmark.apps.card.facts import CardFacts
from earmark.apps.card.render import to_html, to_markdown
from earmark.apps.card.sections import front_matter, sections

__all__ = ["CardFacts", "front_matter", "sections", "to_html", "to_markdown"]
