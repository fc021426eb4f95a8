"""Small models to save, deep comparison, and a forger that signs what it changes."""

import hashlib
import json
import struct
import types
from typing import Annotated

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from earmark.kernels.term_merge import pack_terms
from earmark.persistence import tensor_file
from earmark.stored import DERIVED

OPENING = b'{"__metadata__":{"earmark":"'


class Plain:
    """Any attributes."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Estimator(BaseEstimator):
    """A scikit-learn estimator with a derived cache."""

    _cache: Annotated[object, DERIVED]

    def __init__(self, alpha=1.0, part=None, dtype=np.int64, stop_words=None):
        self.alpha = alpha
        self.part = part
        self.dtype = dtype
        self.stop_words = stop_words

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.coef_ = np.asarray(X, dtype=float) * self.alpha
        self._cache = object()
        return self


class Child(Estimator):
    """Has a cache of its own beside its parent's."""

    _more: Annotated[object, DERIVED]


class Slotted:
    """Gives its own account of its state."""

    __slots__ = ("counts",)

    def __init__(self, counts):
        self.counts = counts

    def __getstate__(self):
        return {"pairs": sorted(self.counts.items())}

    def __setstate__(self, state):
        self.counts = dict(state["pairs"])


TABLE = {
    "Plain": Plain,
    "Estimator": Estimator,
    "Child": Child,
    "Slotted": Slotted,
}


def same(a, b):
    """Deep equality of type and value; nan equals nan of the same bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype.newbyteorder("<") != b.dtype or a.shape != b.shape:
            return False
        if a.dtype == object:
            return all(map(same, a.ravel().tolist(), b.ravel().tolist()))
        return a.astype(b.dtype).tobytes() == b.tobytes()
    if sparse.issparse(a):
        parts = ("data", "indices", "indptr")
        return a.shape == b.shape and all(
            same(getattr(a, part), getattr(b, part)) for part in parts
        )
    if isinstance(a, np.generic):
        return a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return all(map(same, [len(a), *a], [len(b), *b])) and all(
            map(same, a.values(), b.values())
        )
    if type(a) in (Plain, Estimator, Child):
        hidden = ("_cache", "_more")
        state = {k: v for k, v in sorted(vars(a).items()) if k not in hidden}
        return same(state, dict(sorted(vars(b).items())))
    if type(a) is Slotted:
        return same(a.counts, b.counts)
    return a == b


def example():
    """A small model with a value of every kind."""
    part = Estimator(alpha=0.5, stop_words=frozenset({"the", "a"}))
    part.fit([[1, 0], [0, 2]], ["ham", "spam"])
    return Plain(
        part=part,
        vocabulary={f"term {i}": i for i in range(20)},
        words=["Ünïcode", "lone \ud800", "", "nul \0"] * 5,
        long="x" * 5000,
        pair=(1, None, True, float("nan"), -0.0),
        counts=sparse.csr_matrix(np.eye(3, dtype=np.int64)),
        labels=np.array(["x", None, 3], dtype=object),
        names=np.array([["a", "bcd"]]),
        flags=np.array([True, False]),
        scalar=np.float32(0.1),
        key=np.str_("ham"),
        slotted=Slotted({"a": 2, "b": 1}),
        weights={"ham": 0.25, 1: 2.0},
    )


def parts_of(raw):
    """Header (as a dict), manifest (as text) and tensor bytes of a file."""
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    return header, header["__metadata__"]["earmark"].split(" ", 2)[2], raw[end:]


def signed(text, header, body, version=3):
    """A file with this manifest text, array table and bytes, the checksum right."""
    opening = f"{version} {'0' * 64} "
    metadata = {"__metadata__": {"earmark": opening + text}}
    if isinstance(header, dict):
        rest = {k: v for k, v in header.items() if k != "__metadata__"}
        # safetensors escapes no non-ASCII characters, nor does it use spaces.
        head = json.dumps({**metadata, **rest}, separators=(",", ":")).encode()
    else:
        head = json.dumps(metadata, separators=(",", ":")).encode()[:-1] + header
    head += b" " * (-len(head) % 8)
    return checksummed(struct.pack("<Q", len(head)) + head + body)


def checksummed(raw):
    """The bytes with the digits of the checksum put right."""
    place = raw.index(b" ", 8 + len(OPENING)) + 1
    zeroed = raw[:place] + b"0" * 64 + raw[place + 64 :]
    digest = hashlib.sha256(zeroed).hexdigest().encode()
    return raw[:place] + digest + raw[place + 64 :]


def forged(tree, tensors=None, **fields):
    """A file with this tree and these tensors by place, the checksum right.

    A list of strings is packed; the tree need not say the class's name again.
    """
    arrays = {}
    for name, value in (tensors or {}).items():
        place = f"Plain.{name}"
        if isinstance(value, list):
            arrays[place], arrays[f"{place}.offsets"] = pack_terms(value)
        else:
            arrays[place] = np.ascontiguousarray(value).reshape(np.shape(value))
    manifest = {
        "earmark_version": "0",
        "metadata": {},
        "models": [],
        "tree": tree,
        **fields,
    }
    return b"".join(tensor_file.build(manifest, arrays))


def resigned(raw, edit):
    """The file with ``edit(manifest)`` applied and the checksum put right."""
    header, text, body = parts_of(raw)
    manifest = json.loads(text)
    edited = edit(manifest)
    manifest = manifest if edited is None else edited
    if not isinstance(manifest, bytes):
        manifest = tensor_file.dump_json(manifest)
    return signed(manifest.decode("latin-1"), header, body)


def retabled(raw, edit):
    """The file with ``edit(array table)`` applied and the checksum put right."""
    header, text, body = parts_of(raw)
    del header["__metadata__"]
    edited = edit(header)
    return signed(text, edited if isinstance(edited, bytes) else header, body)


@pytest.fixture(scope="session")
def kit():
    """Everything above under one name."""
    return types.SimpleNamespace(
        Plain=Plain,
        Estimator=Estimator,
        Child=Child,
        Slotted=Slotted,
        TABLE=TABLE,
        same=same,
        example=example,
        parts_of=parts_of,
        signed=signed,
        checksummed=checksummed,
        forged=forged,
        resigned=resigned,
        retabled=retabled,
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.earmark"
