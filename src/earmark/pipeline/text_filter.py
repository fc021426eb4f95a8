"""Keep the documents, or the paragraphs, that a classifier gives a wanted label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from earmark.exceptions import DataError, Named
from earmark.typing import BoolVector

_BREAK = re.compile(r"\n[^\S\n]*\n\s*")


class TextFilter:
    r"""Decide by label and confidence what stays of a corpus.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    keep : str or sequence of str
        Labels to keep.
    min_confidence : float, default=0.0
        Keep only if the probability of the label is at least this.

    Examples
    --------
    >>> from earmark import TextClassifier
    >>> texts, labels = ["good text", "spam spam"], ["good", "bad"]
    >>> model = TextClassifier("multinomial").fit(texts, labels)
    >>> TextFilter(model, "good").mask(["text", "spam"]).tolist()
    [True, False]
    >>> TextFilter(model, "good").paragraphs(["good text\n\nspam\n\ntext"])
    ['good text\n\ntext']

    """

    def __init__(
        self, classifier: Any, keep: str | Sequence[str], min_confidence: float = 0.0
    ) -> None:
        wanted = [keep] if isinstance(keep, str) else list(keep)
        known = {str(label): label for label in classifier.classes_.tolist()}
        unknown = [label for label in wanted if str(label) not in known]
        if unknown or not wanted:
            must = f" must name labels of the model ({', '.join(sorted(known))}), "
            got = f"got {', '.join(map(str, wanted)) or 'none'}."
            raise DataError([Named("keep", is_argument=True), must, got], about="keep")
        if not 0.0 <= min_confidence <= 1.0:
            raise DataError(
                f"min_confidence must be between 0 and 1, got {min_confidence!r}."
            )
        self.classifier = classifier
        self.labels = {known[str(label)] for label in wanted}
        self.min_confidence = min_confidence

    def mask(self, texts: Any) -> BoolVector:
        """Whether each document stays."""
        decision = self.classifier.decide(texts)
        if self.min_confidence and np.isnan(decision.confidence).any():
            needs = (
                " needs a model that learned from labels, got one of class names only"
            )
            raise DataError([Named("min_confidence"), f"{needs}."])
        named = [_has(label, self.labels) for label in decision.labels.tolist()]
        keeps = np.asarray(named, dtype=bool)
        if not self.min_confidence:  # also where nobody knows the confidence
            return keeps
        return np.asarray(keeps & (decision.confidence >= self.min_confidence))

    def paragraphs(self, texts: Sequence[str]) -> list[str]:
        """What stays of each document; "" if nothing does.

        Paragraphs end at empty lines and are judged one by one, all documents of
        the batch together.
        """
        split = [[p for p in _BREAK.split(text) if p.strip()] for text in texts]
        every = [paragraph for document in split for paragraph in document]
        if not every:
            return ["" for _ in texts]
        stays = iter(self.mask(every).tolist())
        return [
            "\n\n".join(paragraph for paragraph in document if next(stays))
            for document in split
        ]


def _has(label: Any, wanted: set[Any]) -> bool:
    return bool(wanted & {*label}) if isinstance(label, tuple) else label in wanted
