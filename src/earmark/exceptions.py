"""The errors and warnings of earmark: one base class each."""

from __future__ import annotations

__all__ = [
    "DataError",
    "DivergenceError",
    "EarmarkError",
    "EarmarkWarning",
    "MissingDependencyError",
    "ModelFormatError",
    "NotSupportedError",
    "UnavailableError",
]


class EarmarkError(Exception):
    """Base class of every error that earmark raises on purpose."""


class DataError(EarmarkError, ValueError):
    """The data are at fault: the message names the place, what was expected and got."""


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


class EarmarkWarning(UserWarning):
    """Base class of every warning that earmark gives."""
