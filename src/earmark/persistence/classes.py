"""The closed class table: which classes a model file may name.

The callers' table comes first; beside it stand the linear scikit-learn models below,
imported only when one of them is saved or named by a file. A name from a file is
only ever looked up here.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from functools import cache

# Parameters of the machine, not of the model: stored as None and read as None, so a
# file neither starts threads nor tells on how many it was made.
NOT_OBEYED = frozenset({"n_jobs"})


# Attributes of scikit-learn models that are no data and are rebuilt when needed.
_SKLEARN_TRANSIENT = {"sklearn.SGDClassifier": frozenset({"_loss_function_"})}
_NEVER_STORED = frozenset({"_sklearn_version"})


@cache
def sklearn_linear() -> Mapping[str, type]:
    """Name in the file -> scikit-learn class; imported at the first call."""
    from sklearn import linear_model, preprocessing, svm

    kinds: tuple[type, ...] = (
        preprocessing.LabelBinarizer,  # a part of RidgeClassifier
        svm.LinearSVC,
        linear_model.LogisticRegression,
        linear_model.RidgeClassifier,
        linear_model.SGDClassifier,
    )
    return {f"sklearn.{kind.__name__}": kind for kind in kinds}


def find_class(name: str, table: Mapping[str, type]) -> type | None:
    """The class a file means by ``name``; None if the name is not in the table."""
    if name in table:
        return table[name]
    return sklearn_linear().get(name) if name.startswith("sklearn.") else None


def class_name(kind: type, table: Mapping[str, type]) -> str | None:
    """The name of a class in the file; None if the class is not in the table."""
    for name, candidate in table.items():
        if candidate is kind:
            return name
    name = f"sklearn.{kind.__name__}"
    if kind.__module__.startswith("sklearn.") and find_class(name, {}) is kind:
        return name
    return None


def transient(kind: type, name: str) -> frozenset[str]:
    """Attributes that are not stored: ``_transient`` of the class and its bases."""
    names = set(_NEVER_STORED | _SKLEARN_TRANSIENT.get(name, frozenset()))
    for base in kind.__mro__:
        names.update(vars(base).get("_transient", ()))
    return frozenset(names)


def is_attribute(name: object) -> bool:
    """Whether a file may set an attribute of this name."""
    return (
        isinstance(name, str)
        and name.isidentifier()
        and not keyword.iskeyword(name)
        and not name.startswith("__")
    )
