"""Model cards: what a model file is, what it was made from, and what it is good for."""

from earmark.apps.card.card import card_facts, front_matter, to_html, to_markdown

__all__ = ["card_facts", "front_matter", "to_html", "to_markdown"]
