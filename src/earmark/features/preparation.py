"""Options between raw text and words, by name: kinds of words, and stems."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from sklearn.base import BaseEstimator

from earmark._optional import require
from earmark.features.tokens import make_preprocessor, stop_word_set
from earmark.inputs.regions import ADDRESS, NUMBER
from earmark.parameters import estimator
from earmark.stored import DERIVED, in_file, optional, text

# Name -> what is looked for, and the token that stands for it. Addresses go
# first: they may hold numbers.
SUBSTITUTIONS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "address": (ADDRESS, "EMAILADDR"),
    "number": (NUMBER, "NUMBER"),
}
_TOKENS = frozenset(token for _, token in SUBSTITUTIONS.values())
_WORD = re.compile(r"\w+")
# Stems remembered: a service that reads for months must not grow with its words.
_MOST_KNOWN = 200_000


@estimator
class TextPreparation(BaseEstimator):
    """A ``preprocessor`` for ``WordCounter`` that is made of named steps.

    Lower-case and strip accents, then put one token for every number or mail
    address, then stem. The tokens are in upper case, so that NUMBER is not
    mistaken for the word "number". Being named, the steps can be saved, and
    counting stays in compiled code.

    Parameters
    ----------
    substitutions : sequence of {"number", "address"}, default=()
        Kinds of words to replace by NUMBER and EMAILADDR.
    stemmer : str, default=None
        Language of a Snowball stemmer, such as "english" or "porter" (needs
        PyStemmer); None does not stem.
    stop_words : "english" or list of str, default=None
        Words that are not stemmed, so that the counter still knows them.
    lowercase : bool, default=True
        Lower-case first.
    strip_accents : {"ascii", "unicode"} or callable, default=None
        Remove accents after lower-casing.

    References
    ----------
    .. [1] R. Raina, Y. Shen, A. Y. Ng and A. McCallum (2003). Classification with
       hybrid generative/discriminative models. NIPS. Section 3.

    Examples
    --------
    >>> TextPreparation(substitutions=("number", "address"))("Call ann@x.org at 10:30")
    'call EMAILADDR at NUMBER'

    """

    _steps: Annotated[Any, DERIVED] = None

    substitutions: Sequence[str] = ()
    stemmer: str | None = None
    stop_words: str | list[str] | None = None
    lowercase: bool = True
    strip_accents: Annotated[
        str | Callable[[str], str] | None, in_file(optional(text()))
    ] = None

    def __call__(self, text: str) -> str:
        """The text as the counter is to see it."""
        if self._steps is None:
            self._steps = self._chain()
        for step in self._steps:
            text = step(text)
        return text

    def set_params(self, **params: Any) -> TextPreparation:
        """Change parameters; the steps are made anew."""
        self._steps = None
        super().set_params(**params)
        return self

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is not one that there is."""
        self._chain()

    def _chain(self) -> list[Callable[[str], str]]:
        names = [self.substitutions] if isinstance(self.substitutions, str) else []
        chosen = set(names or self.substitutions or ())
        if not chosen <= set(SUBSTITUTIONS):
            raise ValueError(
                f"substitutions must be among {', '.join(SUBSTITUTIONS)}, "
                f"got {self.substitutions!r}."
            )
        steps = [make_preprocessor(self.lowercase, self.strip_accents)]
        steps += [
            _substitute(*kind) for name, kind in SUBSTITUTIONS.items() if name in chosen
        ]
        if self.stemmer is not None:
            steps.append(
                _stem(self.stemmer, _TOKENS | (stop_word_set(self.stop_words) or set()))
            )
        return steps


def _substitute(pattern: re.Pattern[str], token: str) -> Callable[[str], str]:
    return lambda text: pattern.sub(token, text)


def _stem(language: str, unchanged: frozenset[str]) -> Callable[[str], str]:
    """Make a function that replaces words by stems, but for the ``unchanged`` ones."""
    package = require("Stemmer", "stem words")
    if language not in package.algorithms():
        raise ValueError(
            f"stemmer must be one of {', '.join(package.algorithms())}, "
            f"got {language!r}."
        )
    own = threading.local()  # a stemmer must not be shared by threads
    known = {word: word for word in unchanged}

    def one(match: re.Match[str]) -> str:
        word = match[0]
        stem = known.get(word)
        if stem is None:
            if not hasattr(own, "stemmer"):
                own.stemmer = package.Stemmer(language)
            stem = str(own.stemmer.stemWord(word))
            if len(known) < _MOST_KNOWN:
                known[word] = stem
        return stem

    return lambda text: _WORD.sub(one, text)
