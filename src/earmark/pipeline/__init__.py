"""From raw text to a decision: TextClassifier and what it is made of."""

from typing import TYPE_CHECKING

import earmark._sklearn  # noqa: F401
from earmark._optional import names_at_first_use
from earmark.pipeline.explanation import Explanation, TermEvidence
from earmark.pipeline.text_classifier import TextClassifier

if TYPE_CHECKING:
    from earmark.pipeline.files import load

__all__ = ["Explanation", "TermEvidence", "TextClassifier", "load"]

__getattr__ = names_at_first_use(__name__, {"files": "load"})
