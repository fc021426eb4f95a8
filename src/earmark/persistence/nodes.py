"""What encoder and decoder share: the class table, places, nodes, packed strings.

The class table is closed: that of the caller comes first, beside it stand the linear
scikit-learn models, imported only when one of them is saved or named by a file. A name
from a file is only ever looked up there.

None, truth values, whole and finite numbers, short strings and short lists stand for
themselves in the JSON tree. Everything else is a node: a JSON object whose key ``$``
names the kind and whose other keys are exactly the fields that ``decode`` lists.
Numbers and strings of a node lie in tensors that are named by its place.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import ModelFormatError
from earmark.kernels.term_merge import unpack_terms
from earmark.stored import INT64 as INT64
from earmark.stored import Place as Place

Array = NDArray[np.generic]
Table: TypeAlias = Mapping[str, type]  # name in a file -> class
# By place, the callables that a file leaves out.
Given: TypeAlias = Mapping[str, Callable[..., object]] | None

MAX_NESTING = 40  # objects within objects; a node adds at most 3 JSON levels
MAX_STRING = 4096  # a string in the manifest; longer ones become a tensor
PACK_FROM = 16  # a list of so many numbers or strings becomes a tensor
SPARSE = ("csc_array", "csc_matrix", "csr_array", "csr_matrix")

_NUMPY = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)
# Types that may be a parameter's value, such as dtype=np.float64.
TYPES: dict[str, type] = {
    "bool": bool,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    **{f"numpy.{name}": np.dtype(name).type for name in _NUMPY.split()},
}


def unpack_strings(blob: Array, offsets: Array, place: Place) -> list[str]:
    """The strings of ``pack_terms``; whatever it does not write is refused."""
    if blob.dtype != np.uint8 or blob.ndim != 1:
        raise ModelFormatError(f"the strings of {place} must be a vector of uint8")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise ModelFormatError(f"the offsets of {place} must be a vector of int64")
    places = offsets.astype(np.int64, copy=False)
    if places[0] != 0 or places[-1] != len(blob) or np.any(places[1:] < places[:-1]):
        raise ModelFormatError(
            f"the offsets of {place} must rise from 0 to {len(blob)}, "
            "the length of the strings"
        )
    try:
        return unpack_terms((blob.astype(np.uint8, copy=False), places))
    except UnicodeDecodeError as error:
        raise ModelFormatError(
            f"the strings of {place} are not valid UTF-8, or one of them begins within "
            f"a character: {error.reason}"
        ) from error


# -- the class table ----------------------------------------------------------------

# Parameters of the machine, not of the model: stored as None and read as None, so a
# file neither starts threads nor tells on how many it was made.
NOT_OBEYED = frozenset({"n_jobs"})


@cache
def sklearn_linear() -> Table:
    """Name in the file -> scikit-learn class; imported at the first call."""
    from earmark.models.shared.sklearn_linear import CLASSES

    return {f"sklearn.{kind.__name__}": kind for kind in CLASSES}


def find_class(name: str, table: Table) -> type | None:
    """The class a file means by ``name``; None if the name is not in the table."""
    if name in table:
        return table[name]
    return sklearn_linear().get(name) if name.startswith("sklearn.") else None


def class_name(kind: type, table: Table) -> str | None:
    """The name of a class in the file; None if the class is not in the table."""
    if kind.__name__ in table and table[kind.__name__] is kind:
        return kind.__name__
    name = f"sklearn.{kind.__name__}"
    if kind.__module__.startswith("sklearn.") and find_class(name, {}) is kind:
        return name
    return None


def is_attribute(name: object) -> bool:
    """Whether a file may set an attribute of this name."""
    return (
        isinstance(name, str)
        and name.isidentifier()
        and not keyword.iskeyword(name)
        and not name.startswith("__")
    )
