"""From raw text to a decision: TextClassifier and what it is made of."""

from earmark.pipeline.explanation import Explanation, TermEvidence
from earmark.pipeline.files import load
from earmark.pipeline.text_classifier import TextClassifier

__all__ = ["Explanation", "TermEvidence", "TextClassifier", "load"]
