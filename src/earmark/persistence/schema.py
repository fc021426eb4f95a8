"""What the state of a stored class must be: checked before an object is made of it.

A rule is a function of a value and where it stands; it raises ModelFormatError or does
nothing. Sizes have names: ``array("f", "n_terms")`` and ``vocabulary("n_terms")`` in
one schema say that the two have one length, whatever it is, and
``instance("ClassStatistics", n_terms="n_terms")`` ties it to that of a part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from math import inf, isfinite
from types import SimpleNamespace
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np

from earmark.exceptions import ModelFormatError
from earmark.parameters import check_declared, default_parameters
from earmark.persistence.nodes import INT64, Place

_P = ParamSpec("_P")
Rule: TypeAlias = "Callable[[Any, At], object]"
Size: TypeAlias = int | str | None


def _rule(check: Callable[Concatenate[Any, At, _P], None]) -> Callable[_P, Rule]:
    """The maker of a rule: its arguments are those that follow."""

    @wraps(check)
    def make(*args: _P.args, **kwargs: _P.kwargs) -> Rule:
        return lambda value, at: check(value, at, *args, **kwargs)

    return make


@dataclass(frozen=True, slots=True)
class At:
    """Where a value stands; the named sizes of its object, and who knows of others."""

    place: Place
    checker: Checker
    sizes: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.place)[:200]

    def attribute(self, name: str) -> At:
        """The attribute ``name`` of what stands here."""
        return At(self.place.attribute(name), self.checker, self.sizes)

    def item(self, key: object) -> At:
        """The element at ``key`` of the container here."""
        return At(self.place.item(key), self.checker, self.sizes)

    def bind(self, name: Size, length: int) -> None:
        """Say that the size ``name`` is ``length``; it may be said only once."""
        known = self.sizes.setdefault(name, length) if isinstance(name, str) else name
        if known is not None and known != length:
            what = name if isinstance(name, str) else "elements"
            raise self.fault(f" has {length} {what}, expected {known}")

    def size_of(self, part: object, name: str) -> int | None:
        """A size of a part that was checked before."""
        known = self.checker.known(part)
        return None if known is None else known[2].get(name)

    def fault(self, what: str) -> ModelFormatError:
        """The error for what stands here; ``what`` goes on after its name."""
        return ModelFormatError(f"{self}{what}")

    def refuse(self, expected: str, value: object) -> ModelFormatError:
        """The error for a value that a rule does not allow."""
        got = type(value).__name__
        if value is None or isinstance(value, (bool, int, float, str)):
            got = repr(value)[:80]
        elif isinstance(value, np.ndarray):
            got = f"an array of {value.dtype} {value.shape}"
        return self.fault(f" must be {expected}, got {got}")


class Schema:
    """What a class stores: rules for its attributes, and what must hold between them.

    A key names one or more attributes that follow one rule. ``name=`` is a parameter of
    the constructor: an estimator stores all of them, those without a rule are plain
    data, and together they must pass ``check``, the one that ``fit`` makes. ``name?``
    may be missing from a fitted object; of the others it has all, and an unfitted one
    none. A key that begins with no letter is what an error says unless its function is
    true of the fitted object.
    """

    def __init__(
        self, fields: Mapping[str, Rule], check: Callable[[Any], object] | None = None
    ) -> None:
        self.check = check
        self.ties = {key: rule for key, rule in fields.items() if key[0] in ".: "}
        marked = {
            name: rule
            for key, rule in fields.items()
            if key not in self.ties
            for name in key.split()
        }
        self.rules = {name.rstrip("=?"): rule for name, rule in marked.items()}
        self.parameters = [name[:-1] for name in marked if name.endswith("=")]
        self.optional = {name[:-1] for name in marked if name.endswith("?")}
        self.fitted = set(self.rules).difference(self.parameters, self.optional)

    def parameter_names(self, kind: type) -> tuple[str, ...]:
        """What an estimator's constructor takes; of other classes what has a rule."""
        from sklearn.base import BaseEstimator  # no need to wait for it before

        known = default_parameters(kind) if issubclass(kind, BaseEstimator) else None
        return tuple(self.parameters if known is None else known)


Schemas: TypeAlias = Mapping[str, Schema] | None


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
        at = At(place, self)
        parameters = schema.parameter_names(kind)
        is_fitted = not parameters or any(key in state for key in schema.fitted)
        required = {*parameters, *(schema.fitted if is_fitted else ())}
        allowed = required | (schema.optional if is_fitted else set())
        if not required <= set(state) <= allowed:
            wrong = sorted((required - set(state)) | (set(state) - allowed))
            raise ModelFormatError(
                f"{place} ({name}) has other attributes than it should: "
                f"{', '.join(wrong)[:200]} missing or unknown"
            )
        for key, value in state.items():
            schema.rules.get(key, anything_plain)(value, at.attribute(key))
        own: Callable[[object], object]
        own = getattr(kind, "_check_parameters", check_declared)
        values = {key: state[key] for key in parameters}
        _check_parameters(kind, schema.check or own, values, place)
        attributes = SimpleNamespace(**state)
        for fault, holds in schema.ties.items():
            if is_fitted and not holds(attributes, at):
                raise at.fault(fault)
        self._last = (name, is_fitted, at.sizes)

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


@_rule
def such(
    value: object,
    at: At,
    expected: str,
    holds: Callable[[Any], object],
    errors: tuple[type[Exception], ...] = (),
) -> None:
    """A value for which ``holds`` is true; these errors of it say that it is not."""
    try:
        fits = holds(value)
    except errors:
        fits = False
    if not fits:
        raise at.refuse(expected, value)


none = such("None", lambda value: value is None)
flag = such("True or False", lambda value: isinstance(value, (bool, np.bool_)))
# A callable, which only the caller of ``load`` can have given.
function = such("a function", lambda f: callable(f) and not isinstance(f, type))


def anything_plain(value: object, at: At) -> None:
    """None, truth values, numbers, strings, types, and short containers of these."""
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            anything_plain(item, at)
    elif isinstance(value, dict):
        for item in value.values():
            anything_plain(item, at)
    elif not (
        value is None or isinstance(value, (bool, int, float, str, np.generic, type))
    ):
        raise at.refuse("plain data", value)


@_rule
def number(
    value: object, at: At, low: float = -inf, high: float = inf, *, above: float = -inf
) -> None:
    """A finite number in [low, high], and greater than ``above``."""
    fits = isinstance(value, (int, float, np.integer, np.floating))
    if not fits or isinstance(value, bool) or not isfinite(float(value)):  # type: ignore[arg-type]
        raise at.refuse("a finite number", value)
    if not (low <= value <= high and value > above):  # type: ignore[operator]
        raise at.refuse(f"in [{max(low, above)}, {high}]", value)


@_rule
def whole(value: object, at: At, low: int = 0, high: int = 2**53) -> None:
    """A whole number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise at.refuse("a whole number", value)
    if not low <= value <= high:
        raise at.refuse(f"in [{low}, {high}]", value)


@_rule
def size(value: object, at: At, name: str) -> None:
    """A whole number that is the size ``name``."""
    whole(0, 2**48)(value, at)
    at.bind(name, int(value))  # type: ignore[call-overload]


@_rule
def text(value: object, at: At, *choices: str) -> None:
    """A string, one of the choices if there are any."""
    if not isinstance(value, str) or (choices and value not in choices):
        expected = f"one of {', '.join(choices)}" if choices else "a string"
        raise at.refuse(expected, value)


def type_among(*types: type) -> Rule:
    """One of these types."""
    names = ", ".join(kind.__name__ for kind in types)
    return such(f"one of the types {names}", lambda v: any(v is kind for kind in types))


@_rule
def either(value: object, at: At, *rules: Rule) -> None:
    """What one of the rules allows."""
    before = dict(at.sizes)
    errors = []
    for one in rules:
        try:
            one(value, at)
        except ModelFormatError as error:
            at.sizes.clear()
            at.sizes.update(before)
            errors.append(error)
        else:
            return
    raise errors[-1]


def optional(rule: Rule) -> Rule:
    """None, or what the rule allows."""
    return either(none, rule)


LARGEST = 1e100  # so that products and sums of what a file holds stay finite


@_rule
def array(
    value: object,
    at: At,
    kinds: str,
    *shape: Size,
    low: float = -inf,
    high: float = inf,
    finite: bool = True,
    nan: bool = False,
) -> None:
    """An array of numbers of these dtype kinds and this shape, finite and in range.

    ``finite=False`` allows the infinities, ``nan=True`` whatever a float can be. What
    is finite stays below 1e100.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        raise at.refuse(f"an array of kind {kinds!r}", value)
    if value.ndim != len(shape):
        raise at.refuse(f"an array of {len(shape)} dimensions", value)
    for name, length in zip(shape, value.shape, strict=True):
        at.bind(name, length)
    if not nan:
        _check_values(value, at, low, high, finite)


def _check_values(
    value: np.ndarray[Any, Any], at: At, low: float, high: float, finite: bool
) -> None:
    if not value.size or value.dtype.kind == "b":
        return
    ends = smallest, largest = value.min(), value.max()
    if np.isnan(smallest) or (finite and np.isinf(ends).any()):
        raise at.fault(" must be finite")
    if any(LARGEST < abs(float(end)) < inf for end in ends):
        raise at.fault(f" must lie in [-{LARGEST}, {LARGEST}]")
    if (low > -inf and not smallest >= low) or (high < inf and not largest <= high):
        raise at.fault(f" must lie in [{low}, {high}], got [{smallest}, {largest}]")


@_rule
def csr(
    value: Any,
    at: At,
    kinds: str,
    rows: Size,
    columns: Size,
    *,
    low: float = -inf,
    high: float = inf,
) -> None:
    """A canonical CSR matrix: columns rise within each row, values finite, in range."""
    name = type(value).__name__
    if name not in ("csr_array", "csr_matrix") or value.dtype.kind not in kinds:
        raise at.refuse(f"a CSR matrix of kind {kinds!r}", value)
    at.bind(rows, value.shape[0])
    at.bind(columns, value.shape[1])
    falls = np.diff(value.indices) <= 0
    starts = value.indptr[1:-1]
    starts = starts[(starts > 0) & (starts < len(value.indices))]
    falls[starts - 1] = False
    if falls.any():
        raise ModelFormatError(f"the columns of {at} do not rise within a row")
    _check_values(value.data, at, low, high, True)


@_rule
def labels(value: object, at: At, name: Size) -> None:
    """A vector of labels, each once: strings, numbers or truth values."""
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise at.refuse("a vector of labels", value)
    at.bind(name, len(value))
    if value.dtype.kind in "OU":
        items = value.tolist()
        plain = all(isinstance(v, (str, bool, int, float)) for v in items)
        if not plain or len(set(items)) != len(items):
            raise at.refuse("a vector of different labels", value)
    else:
        _check_values(value, at, -inf, inf, True)
        if len(np.unique(value)) != len(value):
            raise at.refuse("a vector of different labels", value)


@_rule
def words(
    value: object, at: At, name: Size = None, *, unique: bool = False, at_least: int = 0
) -> None:
    """A list, tuple, or object or text vector of strings."""
    items = value
    if isinstance(value, np.ndarray) and value.ndim == 1:
        items = value.tolist()
    if not isinstance(items, (list, tuple)) or len(items) < at_least:
        raise at.refuse("a list of strings", value)
    if not all(isinstance(item, str) for item in items):
        raise at.refuse("a list of strings", value)
    if unique and len(set(items)) != len(items):
        raise at.refuse("a list of different strings", value)
    at.bind(name, len(items))


@_rule
def vocabulary(value: object, at: At, name: Size) -> None:
    """A dict from each term to its column, columns from 0 without a gap."""
    if not isinstance(value, dict):
        raise at.refuse("a dict from terms to columns", value)
    if not all(isinstance(term, str) for term in value):
        raise at.refuse("a dict from strings to columns", value)
    if not all(type(column) is int for column in value.values()):
        raise at.refuse("a dict from terms to whole numbers", value)
    columns = np.fromiter(
        (c if c in INT64 else -1 for c in value.values()), np.int64, len(value)
    )
    if not np.array_equal(np.sort(columns), np.arange(len(columns))):
        raise at.refuse("a dict to columns from 0 without a gap", value)
    at.bind(name, len(value))


@_rule
def sequence(
    value: object, at: At, item: Rule, name: Size = None, *, at_least: int = 0
) -> None:
    """A list whose elements the rule allows."""
    if not isinstance(value, list) or len(value) < at_least:
        raise at.refuse(f"a list of at least {at_least}", value)
    at.bind(name, len(value))
    for i, element in enumerate(value):
        item(element, at.item(i))


@_rule
def pair(value: object, at: At, *items: Rule) -> None:
    """A tuple (or a list) of as many elements, each with its rule."""
    if not isinstance(value, (tuple, list)) or len(value) != len(items):
        raise at.refuse(f"a tuple of {len(items)}", value)
    for i, (item, element) in enumerate(zip(items, value, strict=True)):
        item(element, at.item(i))


@_rule
def mapping(value: object, at: At, key: Rule, item: Rule) -> None:
    """A dict whose keys and values the rules allow."""
    if not isinstance(value, dict):
        raise at.refuse("a dict", value)
    for k, element in value.items():
        key(k, at.attribute("keys"))
        item(element, at.item(k))


@_rule
def instance(
    value: object, at: At, /, *names: str, fitted: bool | None = None, **ties: str
) -> None:
    """An object of one of these classes; ``ties`` are its sizes by their names here."""
    known = at.checker.known(value)
    if known is None or (names and known[0] not in names):
        raise at.refuse(f"a {' or '.join(names) or 'stored object'}", value)
    _, is_fitted, sizes = known
    if fitted is not None and fitted is not is_fitted:
        raise at.refuse("a fitted object" if fitted else "unfitted", value)
    for theirs, ours in ties.items():
        if theirs in sizes:
            at.bind(ours, sizes[theirs])
