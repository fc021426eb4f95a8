"""What the state of a stored class must be: checked before an object is made of it.

A rule is a function of a value, its place and the scope of the object it belongs to;
it raises ModelFormatError or does nothing. Sizes have names: ``array("f", "n_terms")``
and ``vocabulary("n_terms")`` in one schema say that the two have one length, whatever
it is, and ``instance("ClassStatistics", n_terms="n_terms")`` ties it to that of a part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np

from earmark.exceptions import ModelFormatError
from earmark.parameters import default_parameters
from earmark.persistence.nodes import INT64, Place

__all__ = [
    "Checker",
    "Rule",
    "Schema",
    "Scope",
    "anything_plain",
    "array",
    "constant",
    "csr",
    "either",
    "flag",
    "function",
    "instance",
    "labels",
    "mapping",
    "none",
    "number",
    "optional",
    "pair",
    "refuse",
    "sequence",
    "size",
    "text",
    "type_among",
    "vocabulary",
    "whole",
    "words",
]

Rule: TypeAlias = "Callable[[Any, Place, Scope], None]"
Size: TypeAlias = int | str | None


def refuse(place: Place, expected: str, value: object) -> ModelFormatError:
    """The error for a value that a rule does not allow."""
    got = f"{type(value).__name__}"
    if value is None or isinstance(value, (bool, int, float, str)):
        got = repr(value)[:80]
    elif isinstance(value, np.ndarray):
        got = f"an array of {value.dtype} {value.shape}"
    return ModelFormatError(f"{str(place)[:200]} must be {expected}, got {got}")


class Scope:
    """The named sizes of one object, and what is known of the objects in it."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.sizes: dict[str, int] = {}

    def bind(self, name: Size, length: int, place: Place) -> None:
        """Say that the size ``name`` is ``length``; it may be said only once."""
        known = self.sizes.setdefault(name, length) if isinstance(name, str) else name
        if known is not None and known != length:
            what = name if isinstance(name, str) else "elements"
            raise ModelFormatError(
                f"{str(place)[:200]} has {length} {what}, expected {known}"
            )


@dataclass(frozen=True)
class Schema:
    """What a class stores.

    Constructor parameters are always stored: each must be plain data, or follow the
    rule given for it, and all must pass the check that ``fit`` makes. What fitting
    adds is there completely, or absent.
    """

    fitted: Mapping[str, Rule] = field(default_factory=dict)
    optional: Mapping[str, Rule] = field(default_factory=dict)
    """Attributes that may be missing from a fitted object."""
    parameters: Mapping[str, Rule] = field(default_factory=dict)
    """Rules for constructor parameters that are more than plain data."""
    constructor: bool = False
    """Whether the class's constructor names the parameters, not only the rules."""
    check: Callable[[Any], object] | None = None
    """The check of its parameters that the class makes in ``fit``."""
    ties: Callable[[Mapping[str, Any], Scope, Place], None] | None = None
    """What must hold between the attributes beside their sizes."""

    def parameter_names(self, kind: type) -> tuple[str, ...]:
        """Names of the constructor's parameters."""
        return tuple(default_parameters(kind) if self.constructor else self.parameters)


class Checker:
    """Checks objects from the leaves up; knows the sizes of those it has checked."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._known: dict[int, tuple[object, str, bool, dict[str, int]]] = {}
        self._last: tuple[str, bool, dict[str, int]] = ("", False, {})

    def check_state(
        self, name: str, kind: type, state: Mapping[str, Any], place: Place
    ) -> None:
        """Raise unless ``state`` is one that an object of this class can have."""
        schema = self._schemas.get(name)
        if schema is None:
            raise ModelFormatError(
                f"{place}: a {name[:80]} is not stored in model files"
            )
        scope = Scope(self)
        parameters = schema.parameter_names(kind)
        is_fitted = not parameters or any(key in state for key in schema.fitted)
        required = {*parameters, *(schema.fitted if is_fitted else ())}
        allowed = required | (set(schema.optional) if is_fitted else set())
        if not required <= set(state) <= allowed:
            wrong = sorted((required - set(state)) | (set(state) - allowed))
            raise ModelFormatError(
                f"{place} ({name}) has other attributes than it should: "
                f"{', '.join(wrong)[:200]} missing or unknown"
            )
        rules = {**schema.fitted, **schema.optional, **schema.parameters}
        for key, value in state.items():
            rules.get(key, anything_plain)(value, place.attribute(key), scope)
        if schema.check is not None:
            values = {key: state[key] for key in parameters}
            _check_parameters(kind, schema.check, values, place)
        if schema.ties is not None and is_fitted:
            schema.ties(state, scope, place)
        self._last = (name, is_fitted, scope.sizes)

    def remember(self, value: object) -> None:
        """Keep what was learned of the state of ``value``, which was checked last."""
        self._known[id(value)] = (value, *self._last)

    def known(self, value: object) -> tuple[str, bool, dict[str, int]] | None:
        """Name in the table, whether fitted, and sizes of a checked object."""
        entry = self._known.get(id(value))
        return None if entry is None or entry[0] is not value else entry[1:]


def _check_parameters(
    kind: type, check: Callable[[Any], object], values: dict[str, Any], place: Place
) -> None:
    """Run the check that ``fit`` would run on these parameters."""
    probe: Any = kind.__new__(kind)  # type: ignore[call-overload]
    vars(probe).update(values)
    try:
        check(probe)
    except Exception as error:
        raise ModelFormatError(f"{place} is not legal: {error}") from error


def none(value: object, place: Place, scope: Scope) -> None:
    """None."""
    if value is not None:
        raise refuse(place, "None", value)


def flag(value: object, place: Place, scope: Scope) -> None:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise refuse(place, "True or False", value)


def constant(expected: object) -> Rule:
    """Exactly this value, of this type."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if type(value) is not type(expected) or value != expected:
            raise refuse(place, repr(expected), value)

    return rule


def anything_plain(value: object, place: Place, scope: Scope) -> None:
    """None, truth values, numbers, strings, types, and short containers of these."""
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            anything_plain(item, place, scope)
    elif isinstance(value, dict):
        for item in value.values():
            anything_plain(item, place, scope)
    elif not (
        value is None or isinstance(value, (bool, int, float, str, np.generic, type))
    ):
        raise refuse(place, "plain data", value)


def number(low: float = -inf, high: float = inf, *, above: float = -inf) -> Rule:
    """A finite number in [low, high], and greater than ``above``."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        fits = isinstance(value, (int, float, np.integer, np.floating))
        if not fits or isinstance(value, bool) or not isfinite(float(value)):  # type: ignore[arg-type]
            raise refuse(place, "a finite number", value)
        if not (low <= value <= high and value > above):  # type: ignore[operator]
            raise refuse(place, f"in [{max(low, above)}, {high}]", value)

    return rule


def whole(low: int = 0, high: int = 2**53) -> Rule:
    """A whole number in [low, high]."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise refuse(place, "a whole number", value)
        if not low <= value <= high:
            raise refuse(place, f"in [{low}, {high}]", value)

    return rule


def size(name: str) -> Rule:
    """A whole number that is the size ``name``."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        whole(0, 2**48)(value, place, scope)
        scope.bind(name, int(value), place)  # type: ignore[call-overload]

    return rule


def text(*choices: str) -> Rule:
    """A string, one of the choices if there are any."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not isinstance(value, str) or (choices and value not in choices):
            expected = f"one of {', '.join(choices)}" if choices else "a string"
            raise refuse(place, expected, value)

    return rule


def type_among(*types: type) -> Rule:
    """One of these types."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not any(value is kind for kind in types):
            names = ", ".join(kind.__name__ for kind in types)
            raise refuse(place, f"one of the types {names}", value)

    return rule


def either(*rules: Rule) -> Rule:
    """What one of the rules allows."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        before = dict(scope.sizes)
        errors = []
        for one in rules:
            try:
                one(value, place, scope)
            except ModelFormatError as error:
                scope.sizes = dict(before)
                errors.append(error)
            else:
                return
        raise errors[-1]

    return rule


def optional(rule: Rule) -> Rule:
    """None, or what the rule allows."""
    return either(none, rule)


LARGEST = 1e100  # so that products and sums of what a file holds stay finite


def array(
    kinds: str,
    *shape: Size,
    low: float = -inf,
    high: float = inf,
    finite: bool = True,
    nan: bool = False,
) -> Rule:
    """An array of numbers of these dtype kinds and this shape, finite and in range.

    ``finite=False`` allows the infinities, ``nan=True`` whatever a float can be. What
    is finite stays below 1e100.
    """

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            raise refuse(place, f"an array of kind {kinds!r}", value)
        if value.ndim != len(shape):
            raise refuse(place, f"an array of {len(shape)} dimensions", value)
        for name, length in zip(shape, value.shape, strict=True):
            scope.bind(name, length, place)
        if not nan:
            _check_values(value, place, low, high, finite)

    return rule


def _check_values(
    value: np.ndarray[Any, Any], place: Place, low: float, high: float, finite: bool
) -> None:
    if not value.size or value.dtype.kind == "b":
        return
    ends = smallest, largest = value.min(), value.max()
    if np.isnan(smallest) or (finite and np.isinf(ends).any()):
        raise ModelFormatError(f"{place} must be finite")
    if any(LARGEST < abs(float(end)) < inf for end in ends):
        raise ModelFormatError(f"{place} must lie in [-{LARGEST}, {LARGEST}]")
    if (low > -inf and not smallest >= low) or (high < inf and not largest <= high):
        raise ModelFormatError(
            f"{place} must lie in [{low}, {high}], got [{smallest}, {largest}]"
        )


def csr(
    kinds: str, rows: Size, columns: Size, *, low: float = -inf, high: float = inf
) -> Rule:
    """A canonical CSR matrix: columns rise within each row, values finite, in range."""

    def rule(value: Any, place: Place, scope: Scope) -> None:
        name = type(value).__name__
        if name not in ("csr_array", "csr_matrix") or value.dtype.kind not in kinds:
            raise refuse(place, f"a CSR matrix of kind {kinds!r}", value)
        scope.bind(rows, value.shape[0], place)
        scope.bind(columns, value.shape[1], place)
        falls = np.diff(value.indices) <= 0
        starts = value.indptr[1:-1]
        starts = starts[(starts > 0) & (starts < len(value.indices))]
        falls[starts - 1] = False
        if falls.any():
            raise ModelFormatError(f"the columns of {place} do not rise within a row")
        _check_values(value.data, place, low, high, True)

    return rule


def labels(name: Size) -> Rule:
    """A vector of labels, each once: strings, numbers or truth values."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            raise refuse(place, "a vector of labels", value)
        scope.bind(name, len(value), place)
        if value.dtype.kind in "OU":
            items = value.tolist()
            plain = all(isinstance(v, (str, bool, int, float)) for v in items)
            if not plain or len(set(items)) != len(items):
                raise refuse(place, "a vector of different labels", value)
        else:
            _check_values(value, place, -inf, inf, True)
            if len(np.unique(value)) != len(value):
                raise refuse(place, "a vector of different labels", value)

    return rule


def words(name: Size = None, *, unique: bool = False, at_least: int = 0) -> Rule:
    """A list, tuple, or object or text vector of strings."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        items = value
        if isinstance(value, np.ndarray) and value.ndim == 1:
            items = value.tolist()
        if not isinstance(items, (list, tuple)) or len(items) < at_least:
            raise refuse(place, "a list of strings", value)
        if not all(isinstance(item, str) for item in items):
            raise refuse(place, "a list of strings", value)
        if unique and len(set(items)) != len(items):
            raise refuse(place, "a list of different strings", value)
        scope.bind(name, len(items), place)

    return rule


def vocabulary(name: Size) -> Rule:
    """A dict from each term to its column, columns from 0 without a gap."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not isinstance(value, dict):
            raise refuse(place, "a dict from terms to columns", value)
        if not all(isinstance(term, str) for term in value):
            raise refuse(place, "a dict from strings to columns", value)
        if not all(type(column) is int for column in value.values()):
            raise refuse(place, "a dict from terms to whole numbers", value)
        columns = np.fromiter(
            (c if c in INT64 else -1 for c in value.values()), np.int64, len(value)
        )
        if not np.array_equal(np.sort(columns), np.arange(len(columns))):
            raise refuse(place, "a dict to columns from 0 without a gap", value)
        scope.bind(name, len(value), place)

    return rule


def sequence(item: Rule, name: Size = None, *, at_least: int = 0) -> Rule:
    """A list whose elements the rule allows."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not isinstance(value, list) or len(value) < at_least:
            raise refuse(place, f"a list of at least {at_least}", value)
        scope.bind(name, len(value), place)
        for i, element in enumerate(value):
            item(element, place.item(i), scope)

    return rule


def pair(*items: Rule) -> Rule:
    """A tuple (or a list) of as many elements, each with its rule."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not isinstance(value, (tuple, list)) or len(value) != len(items):
            raise refuse(place, f"a tuple of {len(items)}", value)
        for i, (item, element) in enumerate(zip(items, value, strict=True)):
            item(element, place.item(i), scope)

    return rule


def mapping(key: Rule, item: Rule, name: Size = None) -> Rule:
    """A dict whose keys and values the rules allow."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        if not isinstance(value, dict):
            raise refuse(place, "a dict", value)
        scope.bind(name, len(value), place)
        for k, element in value.items():
            key(k, place.attribute("keys"), scope)
            item(element, place.item(k), scope)

    return rule


def instance(*names: str, fitted: bool | None = None, **ties: str) -> Rule:
    """An object of one of these classes; ``ties`` are its sizes by their names here."""

    def rule(value: object, place: Place, scope: Scope) -> None:
        known = scope.checker.known(value)
        if known is None or (names and known[0] not in names):
            raise refuse(place, f"a {' or '.join(names) or 'stored object'}", value)
        _, is_fitted, sizes = known
        if fitted is not None and fitted is not is_fitted:
            raise refuse(place, "a fitted object" if fitted else "unfitted", value)
        for theirs, ours in ties.items():
            if theirs in sizes:
                scope.bind(ours, sizes[theirs], place)

    return rule


def function(value: object, place: Place, scope: Scope) -> None:
    """A callable, which only the caller of ``load`` can have given."""
    if not callable(value) or isinstance(value, type):
        raise refuse(place, "a function", value)
