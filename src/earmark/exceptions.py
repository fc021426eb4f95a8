"""The errors and warnings of earmark: one base class each.

A message is what is wrong, then what to try. Where it names a parameter, it does so by
a ``Named`` or a ``Try``, so that each surface can call the parameter by its own name:
an argument in Python, an option on the command line. What is text, users' data among
it, is never looked into.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

__all__ = [
    "DataError",
    "DivergenceError",
    "EarmarkError",
    "EarmarkWarning",
    "MissingDependencyError",
    "ModelFormatError",
    "NotSupportedError",
    "ParameterError",
    "UnavailableError",
]

# How a surface writes a parameter: from its name and a value (``...``: without one) to
# text; None if it has no such parameter.
Words: TypeAlias = Callable[[str, object], str | None]


def in_python(name: str, value: object = ...) -> str:
    """A parameter as an argument: ``encoding='utf-8'``, or ``encoding=``."""
    return f"{name}=" if value is ... else f"{name}={value!r}"


@dataclass(frozen=True)
class Named:
    """A parameter within the text of a message."""

    name: str
    is_argument: bool = False
    """Written ``name=`` in Python."""

    def said(self, words: Words) -> str:
        """Its name on a surface; the one in Python if it has none there."""
        if words is in_python:
            return f"{self.name}=" if self.is_argument else self.name
        return words(self.name, ...) or self.name


class Try:
    """What to do about a fault: words, perhaps ended by a parameter and its value.

    A surface that has no such parameter leaves the advice out. The value ``...`` stands
    for one of the user's.
    """

    python_only = False

    def __init__(self, words: str, then: str = "", /, **given: object) -> None:
        self.words, self.then, self.given = words, then, given

    def said(self, words: Words) -> str | None:
        """The advice on a surface; None if it makes no sense there."""
        if self.python_only and words is not in_python:
            return None
        named = [words(name, value) for name, value in self.given.items()]
        if None in named:
            return None
        joined = (", " if words is in_python else " ").join(map(str, named))
        return " ".join(filter(None, [self.words, joined])) + self.then


def only_in_python(words: str) -> Try:
    """Advice about methods, which other surfaces do not have."""
    advice = Try(words)
    advice.python_only = True
    return advice


Text: TypeAlias = str | Sequence[str | Named]


class Message(Exception):  # noqa: N818 - the errors and warnings below are its children
    """A fault and what to try, for errors and warnings."""

    def __init__(self, fault: Text = "", *tries: Try, about: str | None = None) -> None:
        super().__init__(fault, *tries)
        self.fault, self.tries, self.about = fault, tries, about
        self.place = ""

    def __copy__(self) -> Self:
        # Other packages, such as those of Dask, change how exceptions are copied.
        other = type(self).__new__(type(self), *self.args)
        state: Any = self.__reduce__()[2]
        other.__setstate__(dict(state))
        return other

    def at(self, place: str) -> Self:
        """The same, beginning with where it was met."""
        other = copy.copy(self)
        other.place = f"{place}: {self.place}"
        return other

    def said(self, words: Words) -> str:
        """The message on a surface, which has ``words`` of its own for parameters."""
        text = f"{self.place}{self._fault(words)}"
        advice = [one for one in (t.said(words) for t in self.tries) if one is not None]
        for one in advice:
            if one[:1].isupper():
                text = f"{_closed(text)} {one}"
            else:
                comma = "," if one.startswith(("or ", "and ")) else ";"
                text = f"{text.removesuffix('.')}{comma} {one}"
        return _closed(text) if self.tries else text

    def _fault(self, words: Words) -> str:
        if isinstance(self.fault, str):
            return self.fault
        parts = (p if isinstance(p, str) else p.said(words) for p in self.fault)
        return "".join(parts)

    def __str__(self) -> str:
        return self.said(in_python)


def _closed(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


class EarmarkError(Message):
    """Base class of every error that earmark raises on purpose.

    Its text says what is wrong and what to do; ``said(words)`` says it in the words of
    another surface, and ``about`` is the parameter that it is about, if there is one.
    """


class DataError(EarmarkError, ValueError):
    """The data are at fault: the message names the place, what was expected and got."""


class ParameterError(EarmarkError, ValueError):
    """A parameter has a value that it must not have.

    Attributes
    ----------
    parameter : str
        Its name.
    expected, got : str
        What it must be, and what it was.

    """

    def __init__(
        self,
        parameter: str,
        expected: str,
        got: str,
        hint: str = "",
        owner: str = "",
    ) -> None:
        tail = f"; {hint}" if hint else ""
        fault = (Named(parameter), f" must {expected}, got {got}{tail}.")
        Message.__init__(self, fault, about=parameter)
        self.args = (parameter, expected, got, hint, owner)
        self.parameter, self.got, self.owner = parameter, got, owner
        self.expected = expected.removeprefix("be ")

    def _fault(self, words: Words) -> str:
        text = super()._fault(words)
        return f"{self.owner}.{text}" if words is in_python and self.owner else text


class DivergenceError(EarmarkError, ArithmeticError):
    """Training ran away; the message names the step size to make smaller."""


class ModelFormatError(EarmarkError, ValueError):
    """A model file is damaged, foreign, too new or hostile."""


class NotSupportedError(EarmarkError, TypeError):
    """The model cannot do this by its nature, such as forgetting a document."""


class UnavailableError(NotSupportedError, AttributeError):
    """A method that this model has not got: ``hasattr`` says so, and this says why."""


class MissingDependencyError(EarmarkError, ImportError):
    """An optional package is needed: the message says which extra to install."""


class EarmarkWarning(Message, UserWarning):
    """Base class of every warning that earmark gives."""
