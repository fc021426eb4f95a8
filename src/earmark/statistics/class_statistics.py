"""Class statistics: exact counts per class that add, subtract and merge (CS1).

With what all class sums share: ``AdditiveStatistics``, and how a batch is checked.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Annotated, Any, Self, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.inputs.weights import checked_weights
from earmark.kernels.rows import (
    canonical_rows,
    class_sums,
    presence,
    require_counts,
    scale_rows,
)
from earmark.stored import (
    EXACT,
    counts,
    csr,
    declared_by,
    labels,
    optional,
    stored,
    words,
)
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    MatrixLike,
    SparseMatrix,
    WeightsLike,
)

_LARGEST_EXACT = float(2**53)
# int64 while everything is whole, else float64: the type checker cannot follow.
Sums: TypeAlias = Any


class AdditiveStatistics(ABC):
    """Sums over documents per class: they learn, forget and merge (CS)."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns."""

    @abstractmethod
    def _counted(self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike) -> Self:
        """The sums of one batch, on this object's classes and columns."""

    @abstractmethod
    def _combine(self, other: Self, sign: int) -> Self:
        """Add or subtract aligned sums; on an error nothing has changed."""

    def add(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike = None
    ) -> Self:
        """Learn the documents X (n_samples, n_features) with labels y."""
        return self._combine(self._counted(X, y, sample_weight), +1)

    def remove(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike = None
    ) -> Self:
        """Forget documents learned before; more than was learned is a DataError."""
        return self._combine(self._counted(X, y, sample_weight), -1)

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Add the sums of another shard."""

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = declared_by(type(self)).rules
        return all(_same(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]

    def _with(self, **parts: object) -> Self:
        """A copy with other values of some attributes."""
        other = copy.copy(self)
        for name, part in parts.items():
            setattr(other, name, part)
        return other


_Additive = TypeVar("_Additive", bound=AdditiveStatistics)


def among(statistics: _Additive, classes: Labels, *names: str) -> _Additive:
    """A copy with a row for each of more classes in the arrays of these names."""
    wider: Any = copy.copy(statistics)
    own: Labels = wider.classes
    if not np.array_equal(classes, own):
        index = {label: i for i, label in enumerate(classes.tolist())}
        try:
            rows = np.asarray([index[label] for label in own.tolist()], int)
        except KeyError as error:
            raise DataError(f"the class {error.args[0]!r} was never added") from None
        for name in names:
            setattr(wider, name, _moved(getattr(wider, name), rows, len(classes)))
        wider.classes = classes
    return wider  # type: ignore[no-any-return]


def _same(left: Sums, right: Sums) -> bool:
    """Whether two attributes are equal: arrays, sparse matrices, lists of either."""
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if sparse.issparse(left):
        names = ("shape", "indptr", "indices", "data")
        return all(np.array_equal(getattr(left, n), getattr(right, n)) for n in names)
    return bool(np.array_equal(left, right))


def _moved(sums: Sums, rows: IntVector, n_rows: int) -> Sums:
    """Put each row at its place among more rows."""
    if sparse.issparse(sums):
        entries, shape = sums.tocoo(), (n_rows, sums.shape[1])
        return sparse.csr_array((entries.data, (rows[entries.row], entries.col)), shape)
    moved = np.zeros((n_rows, *sums.shape[1:]), dtype=sums.dtype)
    moved[rows] = sums
    return moved


def union(left: Labels, right: Labels) -> Labels:
    """The classes of both, sorted if they differ."""
    return left if np.array_equal(left, right) else np.union1d(left, right)


def whole(values: Sums) -> Sums:
    """Values that are whole numbers, as int64."""
    return np.rint(values).astype(np.int64)


def whole_if_exact(rows: SparseMatrix) -> SparseMatrix:
    """Counts as int64 where every value is a whole number, else as float64."""
    data = rows.data
    if data.dtype.kind in "bui":
        return rows.astype(np.int64)
    if data.size and not np.isfinite(data).all():
        raise DataError("X must hold finite counts, got NaN or infinity.")
    if not data.size or (
        np.abs(data).max() < _LARGEST_EXACT and (np.rint(data) == data).all()
    ):
        return rows.astype(np.int64)
    return rows.astype(np.float64)


def label_positions(y: Labels, classes: Labels, n_samples: int) -> IntVector:
    """Position of each label among ``classes``; an unknown one is an error."""
    if y.shape != (n_samples,):
        raise DataError(
            f"y must hold one label for each of the {n_samples} rows of X, "
            f"got shape {y.shape}."
        )
    order = np.argsort(classes, kind="stable")
    place = np.searchsorted(classes, y, sorter=order)
    place = order[np.minimum(place, len(classes) - 1)]
    unknown = classes[place] != y
    if np.any(unknown):
        row = int(np.flatnonzero(unknown)[0])
        known = ", ".join(repr(c) for c in classes[:10].tolist())
        raise DataError(
            f"label {y[row : row + 1].tolist()[0]!r} in row "
            f"{row} is not one of the known classes ({known}); nothing was changed. "
            "Give all labels in `classes` at the first call."
        )
    return np.asarray(place, dtype=np.int64)


def require_same_classes(classes: ArrayLike | None, known: Labels) -> None:
    """Raise unless a later call names the classes of the first one, or none."""
    named = known if classes is None else np.unique(np.asarray(classes))
    if not np.array_equal(named, known):
        raise ValueError(
            f"classes must be those of the first call, {known.tolist()!r}, got "
            f"{named.tolist()!r}."
        )


def checked_batch(
    statistics: Any,
    rows: SparseMatrix,
    y: ArrayLike,
    sample_weight: WeightsLike,
) -> tuple[IntVector, Sums | None]:
    """Positions of the labels and the weights of a batch that fits the statistics."""
    n_rows, n_columns = rows.shape
    if n_columns != statistics.n_features:
        raise DataError(
            f"X must have {statistics.n_features} columns, as the documents learned "
            f"before, got {n_columns}."
        )
    y_index = label_positions(np.asarray(y), statistics.classes, n_rows)
    return y_index, checked_weights(sample_weight, n_rows)


def weighed(y_index: IntVector, weight: Sums | None, n_classes: int) -> Sums:
    """Weighted number of documents per class; int64 for whole weights."""
    docs = np.bincount(y_index, weights=weight, minlength=n_classes)
    fractional = weight is not None and weight.dtype.kind == "f"
    return docs if fractional else whole(docs)


# A sorted array of str, or what becomes one; None where columns have no names.
Terms: TypeAlias = Any

# int64 holds twice as much, which leaves room for rounding in float64.
_LARGEST = 2.0**62


@stored
class ClassStatistics(AdditiveStatistics):
    """Documents, tokens and presences per class, and nothing about smoothing.

    The statistics form a commutative group (CS1): a document is learned by
    adding it, forgotten by subtracting it, and shards merge by adding. Whole
    counts with whole weights are kept as int64 and every operation is exact;
    fractional ones are float64. Sums from 2**62 on are refused; models compute in
    float64, which tells whole numbers apart up to 2**53.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        The labels, distinct; their order is the row order of every matrix.
    n_features : int, default=0
        Number of columns; the number of ``terms`` when those are given.
    terms : sequence of str, optional
        Names of the columns, sorted. With names, statistics over different
        vocabularies can be merged; without, columns are matched by position.

    Attributes
    ----------
    docs : ndarray of shape (n_classes,)
        Weighted number of documents per class.
    tokens, presence : sparse array of shape (n_classes, n_features)
        Weighted token counts, and weighted numbers of documents with the term.

    Examples
    --------
    >>> statistics = ClassStatistics(["ham", "spam"], n_features=3)
    >>> statistics.add([[1, 0, 2], [0, 1, 1]], ["spam", "ham"]).docs
    array([1, 1])
    >>> statistics.tokens.toarray()
    array([[0, 1, 1],
           [1, 0, 2]])

    """

    classes: Annotated[Labels, labels("n_classes")]
    docs: Annotated[Sums, counts("n_classes")]
    tokens: Annotated[
        SparseMatrix, csr("if", "n_classes", "n_terms", low=0, high=EXACT)
    ]
    presence: Annotated[
        SparseMatrix, csr("if", "n_classes", "n_terms", low=0, high=EXACT)
    ]
    terms: Annotated[Terms, optional(words("n_terms", unique=True))]

    def __init__(
        self, classes: ArrayLike, n_features: int = 0, terms: Terms | None = None
    ) -> None:
        self.classes: Labels = np.asarray(classes)
        self.terms: Terms = None if terms is None else _sorted_terms(terms)
        width = n_features if self.terms is None else len(self.terms)
        self.docs: Sums = np.zeros(len(self.classes), dtype=np.int64)
        self.tokens = sparse.csr_array((len(self.classes), width), dtype=np.int64)
        self.presence = self.tokens.copy()

    # -- reading -----------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.tokens.shape[1])

    @property
    def is_exact(self) -> bool:
        """Whether all sums are whole numbers, kept without rounding."""
        return bool(self.docs.dtype == np.int64 and self.tokens.dtype == np.int64)

    def document_frequency(self) -> Sums:
        """Weighted number of documents that hold each term, over all classes."""
        return np.asarray(self.presence.sum(axis=0)).ravel()

    def dense_tokens(self) -> FloatMatrix:
        """Token counts as a dense float64 matrix (n_classes, n_features)."""
        return np.asarray(self.tokens.astype(np.float64).toarray())

    def dense_presence(self) -> FloatMatrix:
        """Documents with each term as a dense float64 matrix, as dense_tokens."""
        return np.asarray(self.presence.astype(np.float64).toarray())

    def copy(self) -> Self:
        """An independent copy; the terms are not changed and need none."""
        names = ("classes", "docs", "tokens", "presence")
        return self._with(**{name: getattr(self, name).copy() for name in names})

    # -- learning and forgetting --------------------------------------------

    def merge(self, other: ClassStatistics) -> Self:
        """Add another shard's statistics; its classes and terms may differ.

        A few documents cost a search for each of their terms, not a look at all.
        """
        if (self.terms is None) != (other.terms is None):
            raise DataError(
                "statistics keyed by term and statistics keyed by column cannot be "
                "merged; give terms to both or to neither."
            )
        if self.terms is None and self.n_features != other.n_features:
            raise DataError(
                f"statistics of {self.n_features} and {other.n_features} columns "
                "cannot be merged by position; give terms to both."
            )
        classes = union(self.classes, other.classes)
        terms, mine, theirs = self.terms, None, None
        if terms is not None and not _same_terms(terms, other.terms):
            terms, mine, theirs = _merged_places(terms, other.terms)
        left = self._placed(classes, terms, mine)
        left._combine(other._placed(classes, terms, theirs), +1)
        self.classes, self.terms, self.docs = left.classes, left.terms, left.docs
        self.tokens, self.presence = left.tokens, left.presence
        return self

    def subtract(self, other: ClassStatistics) -> Self:
        """Take another shard's statistics away; terms left without a document go."""
        try:
            aligned = other.aligned(self.classes, self.terms)
        except DataError as error:
            raise DataError(
                f"cannot forget what was not learned: {error}; nothing was changed. "
                "Forget only documents that were learned, with the same label."
            ) from None
        self._combine(aligned, -1)
        if self.terms is not None:
            left = np.zeros(self.n_features, dtype=bool)
            left[self.presence.indices] = True
            if not left.all():
                place = np.cumsum(left) - 1
                self.terms = self.terms[left]
                self.tokens = _renumbered(self.tokens, place, len(self.terms))
                self.presence = _renumbered(self.presence, place, len(self.terms))
        return self

    # -- columns and rows ----------------------------------------------------

    def aligned(self, classes: Labels, terms: Terms | None) -> ClassStatistics:
        """The same sums laid out for other classes and terms, a superset of these."""
        places = None
        if terms is not None and not _same_terms(terms, self.terms):
            terms = _as_terms(terms)
            places, is_there = _searched(self.terms, terms)
            if not is_there.all():
                lost = self.terms[~is_there][0]
                raise DataError(f"the term {lost!r} was never added")
        return self._placed(classes, terms, places)

    def _placed(
        self, classes: Labels, terms: Terms | None, places: IntVector | None
    ) -> ClassStatistics:
        """Lay these sums out for other classes and terms; ``places`` ascend."""
        tokens, presence = self.tokens, self.presence
        if places is not None and terms is not None:
            tokens = _renumbered(tokens, places, len(terms))
            presence = _renumbered(presence, places, len(terms))
        placed = self._with(terms=terms, tokens=tokens, presence=presence)
        return among(placed, classes, "docs", "tokens", "presence")

    def scaled(self, factor: FloatVector) -> ClassStatistics:
        """Each class's sums times its factor, as ``class_weight`` asks for."""
        tokens, presence = (scale_rows(m, factor) for m in (self.tokens, self.presence))
        return self._with(docs=self.docs * factor, tokens=tokens, presence=presence)

    def select(self, columns: IntVector) -> ClassStatistics:
        """The statistics of some columns only, as for a pruned vocabulary."""
        terms = None if self.terms is None else self.terms[columns]
        tokens, presence = self.tokens[:, columns], self.presence[:, columns]
        return self._with(
            terms=terms,
            tokens=canonical_rows(tokens),
            presence=canonical_rows(presence),
        )

    # -- private -------------------------------------------------------------

    @classmethod
    def from_sums(
        cls,
        classes: ArrayLike,
        docs: Sums,
        tokens: SparseMatrix,
        presence: SparseMatrix,
        terms: Terms | None = None,
    ) -> ClassStatistics:
        """Wrap sums made elsewhere, such as by a fused pass over raw text."""
        statistics = cls(classes)
        statistics.docs = np.asarray(docs)
        statistics.tokens = canonical_rows(tokens)
        statistics.presence = canonical_rows(presence)
        statistics.terms = None if terms is None else _as_terms(terms)
        return statistics

    def _counted(self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike) -> Self:
        rows = canonical_rows(X)
        y_index, weight = checked_batch(self, rows, y, sample_weight)
        rows = whole_if_exact(rows)
        require_counts(rows, "X must hold")
        self._refuse_overflow(rows, y_index, weight)
        present = presence(rows)
        if weight is not None:
            rows, present = scale_rows(rows, weight), scale_rows(present, weight)
        n_classes = len(self.classes)
        tokens, having = (class_sums(m, y_index, n_classes) for m in (rows, present))
        docs = weighed(y_index, weight, n_classes)
        return self._with(docs=docs, tokens=tokens, presence=having)

    def _refuse_overflow(
        self, rows: SparseMatrix, y_index: IntVector, weight: Sums | None
    ) -> None:
        """Refuse whole counts whose sums int64 cannot hold."""
        heaviest = 1.0 if weight is None else float(weight.max(initial=0))
        if float(rows.data.sum(dtype=np.float64)) * heaviest < _LARGEST:
            return
        weighted = rows.astype(np.float64)
        if weight is not None:
            weighted = scale_rows(weighted, weight)
        _refuse_large(class_sums(weighted, y_index, len(self.classes)), self.terms)

    def _combine(self, other: ClassStatistics, sign: int) -> Self:
        largest = [float(s.tokens.data.max(initial=0)) for s in (self, other)]
        if sign > 0 and self.is_exact and sum(largest) >= _LARGEST:
            sums = self.tokens.astype(np.float64) + other.tokens
            _refuse_large(sums, self.terms)
        docs = self.docs + sign * other.docs
        tokens = canonical_rows(self.tokens + sign * other.tokens)
        presence = canonical_rows(self.presence + sign * other.presence)
        if sign < 0:
            exact = self.is_exact and other.is_exact
            slack = 0.0 if exact else 1e-9 * max(1.0, float(self.docs.sum()))
            lowest = min(
                [docs.min(initial=0)]
                + [m.data.min(initial=0) for m in (tokens, presence)]
            )
            if lowest < -slack:
                raise DataError(
                    "cannot forget more than was learned: a count would fall to "
                    f"{lowest:g}; nothing was changed. Forget only documents that "
                    "were learned, with the same label and weight."
                )
        self.docs, self.tokens, self.presence = docs, tokens, presence
        return self


def _refuse_large(sums: SparseMatrix, terms: Terms | None) -> None:
    """DataError for a sum, known in float64, that int64 cannot hold."""
    entries = sums.tocoo()
    too_large = np.flatnonzero(entries.data >= _LARGEST)
    if len(too_large):
        column = int(entries.col[too_large[0]])
        name = f"column {column}" if terms is None else f"the term {terms[column]!r}"
        raise DataError(
            f"the counts of {name} add up to {entries.data[too_large[0]]:g} in one "
            "class, more than the 2**62 that are counted exactly; nothing was changed. "
            "Give smaller counts or weights."
        )


def _as_terms(terms: Terms) -> Terms:
    """Terms as an array of str; they must ascend, since they are searched for."""
    if isinstance(terms, np.ndarray) and terms.dtype == object:
        return terms
    array = np.empty(len(terms), dtype=object)
    array[:] = terms
    return array


def _sorted_terms(terms: Terms) -> Terms:
    array = _as_terms(terms)
    if not (array[:-1] < array[1:]).all():
        raise DataError("terms must be sorted and distinct.")
    return array


def _same_terms(left: Terms, right: Terms) -> bool:
    return left is right or (
        len(left) == len(right) and bool(np.array_equal(left, right))
    )


def _searched(terms: Terms, among: Terms) -> tuple[IntVector, BoolVector]:
    """Where each of ``terms`` stands or would stand, and whether it does."""
    places: IntVector = np.asarray(np.searchsorted(among, terms), dtype=np.int64)
    is_there = np.zeros(len(terms), dtype=bool)
    inside = places < len(among)
    is_there[inside] = among[places[inside]] == terms[inside]
    return places, is_there


def _merged_places(
    left: Terms, right: Terms
) -> tuple[Terms, IntVector | None, IntVector]:
    """The union of two sorted lists, and the place of each one's terms in it.

    None for the places of the left ones where none is new.
    """
    places, is_there = _searched(right, left)
    if is_there.all():
        return left, None, places
    before = places[~is_there]  # each new term goes before this one of the left
    union = np.insert(left, before, right[~is_there])
    at = np.arange(len(left))
    shift = np.searchsorted(before, at, side="right")
    theirs = places + np.searchsorted(before, places, side="right")
    theirs[~is_there] = before + np.arange(len(before))
    return union, at + shift, theirs


def _renumbered(matrix: SparseMatrix, places: IntVector, width: int) -> SparseMatrix:
    """The same entries in other columns; ``places`` ascend, so rows stay sorted."""
    parts, shape = (matrix.data, places[matrix.indices], matrix.indptr), matrix.shape
    moved = sparse.csr_array(parts, shape=(shape[0], width))
    moved.has_canonical_format = True
    return moved
