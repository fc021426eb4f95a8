"""What a model file may hold of a class: read from the annotations of the class.

``@stored`` takes a class into the table of those that a model file may name; for
estimators ``earmark.parameters.estimator`` does so. A fitted attribute, and every field
of a class that is no estimator, is annotated with what it may be: as a type says
(``n_iter_: int``), or by a rule of this module beside the type
(``Annotated[FloatMatrix, floats("n_classes", "n_features")]``). Sizes of one name are
one size. What must hold between attributes says a method ``_faults``; an attribute
marked ``DERIVED`` follows from others and is neither stored nor pickled.

A rule is a function of a value and where it stands; it raises ModelFormatError or does
nothing. A file is checked before an object is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, wraps
from inspect import get_annotations, isabstract
from math import inf, isfinite
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Concatenate,
    Final,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import numpy as np

from earmark.exceptions import ModelFormatError

_P = ParamSpec("_P")
_T = TypeVar("_T")
Size: TypeAlias = int | str | None
INT64 = range(-(2**63), 2**63)

# Name in a file -> class that may be stored; filled as modules are imported.
STORED: dict[str, type] = {}


class Place:
    """A place in the object tree, spelled out only when a message needs it."""

    __slots__ = ("depth", "is_attribute", "key", "parent")

    def __init__(
        self, key: object, parent: Place | None = None, is_attribute: bool = False
    ) -> None:
        self.key = key
        self.parent = parent
        self.is_attribute = is_attribute
        self.depth: int = 0 if parent is None else parent.depth + 1

    def attribute(self, name: str) -> Place:
        """The attribute ``name`` of the object here."""
        return Place(name, self, is_attribute=True)

    def part(self, name: str) -> Place:
        """Part of the value here, such as the keys of a dict: no deeper."""
        part = self.attribute(name)
        part.depth = self.depth
        return part

    def item(self, key: object) -> Place:
        """The element at ``key`` of the container here."""
        return Place(key, self)

    def __str__(self) -> str:
        if self.parent is None:
            return str(self.key)
        if self.is_attribute:
            return f"{self.parent}.{self.key}"
        return f"{self.parent}[{self.key!r}]"


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


class Rule:
    """What a value of a file may be; a marker beside a type in an annotation."""

    def __init__(self, check: Callable[[Any, At], object]) -> None:
        self._check = check

    def __call__(self, value: object, at: At) -> None:
        """Raise ModelFormatError unless the value fits."""
        self._check(value, at)


@dataclass(frozen=True, eq=False)
class InFile:
    """Marks a parameter of which a file may hold less than a caller may give."""

    rule: Rule


@dataclass(frozen=True)
class _Derived:
    """Marks what follows from other attributes: neither stored nor pickled."""


DERIVED: Final = _Derived()


@dataclass(frozen=True)
class _Optional:
    """Marks what a fitted object may lack, without a default."""


OPTIONAL: Final = _Optional()


def in_file(rule: Rule) -> InFile:
    """The rule for a parameter as a file may hold it."""
    return InFile(rule)


def _rule(check: Callable[Concatenate[Any, At, _P], None]) -> Callable[_P, Rule]:
    """Turn a check of a value at a place into a function that makes rules."""

    @wraps(check)
    def make(*args: _P.args, **kwargs: _P.kwargs) -> Rule:
        return Rule(lambda value, at: check(value, at, *args, **kwargs))

    return make


# -- what a class declares -----------------------------------------------------------


@dataclass
class Declared:
    """What the annotations of a class say of its state."""

    rules: dict[str, Rule] = field(default_factory=dict)
    """For fitted attributes, for fields, and for parameters that a file restricts."""
    required: set[str] = field(default_factory=set)
    """What every fitted object has."""
    derived: set[str] = field(default_factory=set)
    """What is not stored."""
    faults: Callable[[Any, Mapping[str, int]], Iterator[str]] | None = None
    """What does not hold between the attributes of an object with these sizes."""


_DECLARED: dict[type, Declared] = {}


def stored(kind: type[_T]) -> type[_T]:
    """Let model files hold objects of this class; read its annotations, at once."""
    declared = declared_by(kind)
    if not isabstract(kind):  # of which there is no object
        STORED[kind.__name__] = kind
    own = [base for base in kind.__mro__ if not _is_foreign(base)]
    if declared.derived and not any("__getstate__" in vars(base) for base in own):
        kind.__getstate__ = stored_state  # type: ignore[method-assign,assignment]
    return kind


def is_declared(kind: type) -> bool:
    """Whether it is known what objects of a class hold."""
    return STORED.get(kind.__name__) is kind or (
        _is_foreign(kind) and kind in _DECLARED
    )


def describe(
    kind: type,
    hints: Mapping[str, Any],
    faults: Callable[[Any, Mapping[str, int]], Iterator[str]] | None = None,
) -> None:
    """Say of somebody else's class what its annotations do not."""
    declared = Declared(faults=faults)
    optional_names = {
        name for name, hint in hints.items() if OPTIONAL in get_args(hint)
    }
    for name, hint in hints.items():
        _declare(declared, kind, name, hint, True)
    declared.required = set(declared.rules) - optional_names
    _DECLARED[kind] = declared


def declared_by(kind: type) -> Declared:
    """What a class and its bases declare."""
    if kind not in _DECLARED:
        _DECLARED[kind] = _read(kind)
    return _DECLARED[kind]


def _read(kind: type) -> Declared:
    declared = Declared()
    of_estimator = is_estimator(kind)
    hints: dict[str, Any] = {}
    for base in _own_bases(kind):
        hints |= _annotations(base)  # a class says more than its bases
    may_lack = set()
    for name, hint in hints.items():
        _declare(declared, kind, name, hint, of_estimator)
        if OPTIONAL in get_args(hint) or _has_default(kind, name):
            may_lack.add(name)
    declared.derived |= derived_names(kind)
    declared.faults = getattr(kind, "_faults", None)
    declared.required = {
        name
        for name in declared.rules.keys() - may_lack
        if is_fitted_name(name) or not of_estimator
    }
    return declared


def _is_foreign(base: type) -> bool:
    return base.__module__.partition(".")[0] in ("abc", "builtins", "sklearn", "typing")


def _own_bases(kind: type) -> list[type]:
    """A class and its bases, the first ones first, without other packages'."""
    return [base for base in reversed(kind.__mro__) if not _is_foreign(base)]


def _annotations(base: type) -> dict[str, Any]:
    known = OWN_ANNOTATIONS.get(base)
    return get_annotations(base, locals={}, eval_str=True) if known is None else known


@cache
def derived_names(kind: type) -> frozenset[str]:
    """Attributes of a class that follow from others."""
    derived: set[str] = set()
    for base in _own_bases(kind):
        for name, hint in _annotations(base).items():
            if get_origin(hint) is Annotated and DERIVED in get_args(hint)[1:]:
                derived.add(name)
            else:
                derived.discard(name)
        derived |= {n for n, v in vars(base).items() if isinstance(v, cached_property)}
    return frozenset(derived)


def _declare(
    declared: Declared, kind: type, name: str, hint: object, of_estimator: bool
) -> None:
    if get_origin(hint) is ClassVar or hint is ClassVar:
        return
    metas = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if DERIVED in metas:
        declared.derived.add(name)
        declared.rules.pop(name, None)
        return
    declared.derived.discard(name)
    restricted = [meta.rule for meta in metas if isinstance(meta, InFile)]
    if restricted:
        declared.rules[name] = restricted[-1]
    elif not of_estimator or is_fitted_name(name):
        try:
            declared.rules[name] = rule_of(hint)
        except TypeError as error:
            where = f"{kind.__module__}.{kind.__qualname__}.{name}"
            raise TypeError(f"{where}: {error}") from None


def _has_default(kind: type, name: str) -> bool:
    """Whether a class gives an estimator's attribute a value before it is fitted."""
    return is_estimator(kind) and hasattr(kind, name)


def is_fitted_name(name: str) -> bool:
    """Whether an attribute of an estimator is fitted: an underscore at an end."""
    return name.strip("_") != name


def is_estimator(kind: type) -> bool:
    """Whether a class is one of scikit-learn's kind, with parameters."""
    return hasattr(kind, "get_params")


# Annotations of classes whose decorator has taken some away.
OWN_ANNOTATIONS: dict[type, dict[str, Any]] = {}


def stored_state(value: Any) -> dict[str, Any]:
    """The attributes of an object that are not derived from others."""
    kind: type = type(value)
    derived = derived_names(kind)
    return {name: v for name, v in vars(value).items() if name not in derived}


# -- from a type to a rule -----------------------------------------------------------


def rule_of(hint: Any) -> Rule:
    """What a type allows; TypeError where it does not say enough."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(args[0], args[1:])
    if origin in (Union, UnionType):
        return either(*map(rule_of, args))
    if origin is Literal:
        values = args
        return such(f"one of {values}", lambda v: any(_same(v, one) for one in values))
    if origin in (list, Sequence):
        return sequence(rule_of(args[0]))
    if origin is tuple:
        return pair(*map(rule_of, args))
    if origin in (dict, Mapping):
        return mapping(rule_of(args[0]), rule_of(args[1]))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and hint.__module__.startswith("earmark"):
        return instance(hint)
    raise TypeError(
        f"{hint} does not say what a model file may hold: for an array give its axes, "
        "Annotated[..., floats('n_classes')], else a rule of earmark.stored"
    )


def _annotated(base: Any, metas: tuple[Any, ...]) -> Rule:
    for meta in metas:
        if isinstance(meta, Rule):
            return meta
        if isinstance(meta, _Sizes):
            return instance(base, fitted=None, **meta.ties)
        if hasattr(meta, "open_low"):  # Limits of a parameter, of a fitted number too
            if base is int:
                return whole(int(max(meta.low, -(2**53))), int(min(meta.high, 2**53)))
            above = meta.low if meta.open_low else -inf
            return number(meta.low, meta.high, above=above)
    return rule_of(base)


def _same(value: object, one: object) -> bool:
    return type(value) is type(one) and value == one


@dataclass(frozen=True, eq=False)
class _Sizes:
    ties: dict[str, str]


def sizes(**ties: str) -> Any:
    """Marks a stored object some of whose sizes are sizes here: theirs=ours."""
    return _Sizes(ties)


# -- checking ----------------------------------------------------------------------


class Checker:
    """Checks objects from the leaves up; knows the sizes of those it has checked."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, bool, dict[str, int]]] = {}
        self._last: tuple[bool, dict[str, int]] = (False, {})

    def check_state(self, kind: type, state: Mapping[str, Any], place: Place) -> None:
        """Raise unless ``state`` is one that an object of this class can have."""
        declared, at = declared_by(kind), At(place, self)
        parameters = parameter_names(kind)
        is_fitted = not parameters or any(key in state for key in declared.required)
        required = {*parameters, *(declared.required if is_fitted else ())}
        allowed = required | (set(declared.rules) if is_fitted else set())
        if not required <= set(state) <= allowed:
            wrong = sorted((required - set(state)) | (set(state) - allowed))
            raise ModelFormatError(
                f"{place} ({kind.__name__}) has other attributes than it should: "
                f"{', '.join(wrong)[:200]} missing or unknown"
            )
        for key, value in state.items():
            declared.rules.get(key, anything_plain)(value, at.attribute(key))
        probe: Any = kind.__new__(kind)  # type: ignore[call-overload]
        vars(probe).update({key: state[key] for key in parameters})
        _check_parameters(probe, place)
        if is_fitted:
            vars(probe).update(state)
            _check_faults(probe, at)
        self._last = (is_fitted, at.sizes)

    def remember(self, value: object) -> None:
        """Keep what was learned of the state of ``value``, which was checked last."""
        self._known[id(value)] = (value, *self._last)

    def known(self, value: object) -> tuple[bool, dict[str, int]] | None:
        """Whether a checked object is fitted, and its sizes."""
        entry = self._known.get(id(value))
        return None if entry is None or entry[0] is not value else entry[1:]


def parameter_defaults(kind: type) -> Mapping[str, object]:
    """The parameters of an estimator as its constructor leaves them; else none."""
    if not is_estimator(kind):
        return {}
    from earmark.parameters import default_parameters  # it uses this module

    return default_parameters(kind)


def parameter_names(kind: type) -> tuple[str, ...]:
    """What an estimator's constructor takes; of other classes nothing."""
    return tuple(parameter_defaults(kind))


def _check_parameters(probe: Any, place: Place) -> None:
    """Run the check that ``fit`` would run on these parameters."""
    from earmark.parameters import check_declared  # it uses this module

    try:
        kind = type(probe)
        name = "_validate_params" if _is_foreign(kind) else "_check_parameters"
        getattr(kind, name, check_declared)(probe)
    except Exception as error:
        raise ModelFormatError(f"{place} is not legal: {error}") from error


def _check_faults(probe: Any, at: At) -> None:
    """Raise for the first thing that does not hold between attributes."""
    faults = declared_by(type(probe)).faults
    if faults is None:
        return
    try:
        fault = next(iter(faults(probe, at.sizes)), None)
    except Exception as error:
        raise at.fault(f" is inconsistent: {type(error).__name__}") from error
    if fault is not None:
        raise at.fault(fault)


# -- rules -------------------------------------------------------------------------


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
any_float = such(
    "a number", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)
)
# A callable, which only the caller of ``load`` can have given.
function = such("a function", lambda f: callable(f) and not isinstance(f, type))


def _anything_plain(value: object, at: At) -> None:
    """None, truth values, numbers, strings, types, and short containers of these."""
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            _anything_plain(item, at)
    elif isinstance(value, dict):
        for item in value.values():
            _anything_plain(item, at)
    elif not (
        value is None or isinstance(value, (bool, int, float, str, np.generic, type))
    ):
        raise at.refuse("plain data", value)


anything_plain = Rule(_anything_plain)


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
    value: object, at: At, /, *kinds: type, fitted: bool | None = None, **ties: str
) -> None:
    """An object of one of these classes; ``ties`` are its sizes by their names here."""
    known = at.checker.known(value)
    if known is None or (kinds and not isinstance(value, kinds)):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise at.refuse(f"a {names or 'stored object'}", value)
    is_fitted, sizes_there = known
    if fitted is not None and fitted is not is_fitted:
        raise at.refuse("a fitted object" if fitted else "unfitted", value)
    for theirs, ours in ties.items():
        if theirs in sizes_there:
            at.bind(ours, sizes_there[theirs])


@_rule
def classifier(value: object, at: At, /, *, fitted: bool, **ties: str) -> None:
    """A classifier that files may hold; ``ties`` are its sizes by their names here."""
    if not hasattr(value, "predict"):
        raise at.refuse("a classifier", value)
    instance(fitted=fitted, **ties)(value, at)


@_rule
def length(value: Any, at: At, rule: Rule, name: Size) -> None:
    """What the rule allows, and of this length."""
    rule(value, at)
    at.bind(name, len(value))


# Sums beyond this are not exact in float64.
EXACT = 2.0**53


def floats(*axes: Size, low: float = -inf, high: float = inf, **how: bool) -> Rule:
    """An array of real numbers with these axes, finite unless ``finite=False``."""
    return array("f", *axes, low=low, high=high, **how)


def integers(*axes: Size, low: float = 0, high: float = inf) -> Rule:
    """An array of whole numbers with these axes, not negative."""
    return array("i", *axes, low=low, high=high)


def truths(*axes: Size) -> Rule:
    """An array of truth values with these axes."""
    return array("b", *axes)


def counts(*axes: Size) -> Rule:
    """An array of counts, whole or weighted, with these axes."""
    return array("if", *axes, low=0, high=EXACT)


_PLAIN: dict[Any, Rule] = {
    bool: flag,
    int: whole(),
    float: number(),
    str: text(),
    None: none,
    NoneType: none,
}
