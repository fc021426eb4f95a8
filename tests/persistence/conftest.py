"""Small models to save, deep comparison, and a forger that signs what it changes."""

import hashlib
import json
import math
import struct
import types
import zlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from earmark.persistence import canonical, container, tensors

HEADER = struct.Struct("<8sIIQQ32s")


class Plain:
    """Any attributes."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Estimator(BaseEstimator):
    """A scikit-learn estimator with a derived cache."""

    _transient = ("_cache",)

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

    _transient = ("_more",)


class Slotted:
    """Gives its own account of its state."""

    __slots__ = ("counts",)

    def __init__(self, counts):
        self.counts = counts

    def __earmark_state__(self):
        return {"pairs": sorted(self.counts.items())}

    def __earmark_restore__(self, state):
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
        rows=[["a", "b"], []] * 10,
        pair=(1, None, True, 2**70, float("nan"), -0.0),
        counts=sparse.csr_matrix(np.eye(3, dtype=np.int64)),
        labels=np.array(["x", None, 3], dtype=object),
        names=np.array([["a", "bcd"]]),
        flags=np.array([True, False]),
        scalar=np.float32(0.1),
        raw=b"\x00\xff",
        slotted=Slotted({"a": 2, "b": 1}),
        weights={"ham": 0.25, 1: 2.0},
    )


def parts_of(raw):
    """Manifest (as text) and payload of a file."""
    length = HEADER.unpack(raw[: HEADER.size])[3]
    start = HEADER.size + length
    start += -start % 64
    return raw[HEADER.size : HEADER.size + length], raw[start:]


def signed(text, payload, version=1):
    """A file with this manifest text and payload, all checksums right."""
    padding = bytes(-(HEADER.size + len(text)) % 64)
    total = HEADER.size + len(text) + len(padding) + len(payload)
    rest = (len(text), total, hashlib.sha256(text).digest())
    crc = zlib.crc32(HEADER.pack(container.MAGIC, version, 0, *rest))
    header = HEADER.pack(container.MAGIC, version, crc, *rest)
    return header + text + padding + payload


def forged(tree, arrays=(), strings=(), **fields):
    """A file with this tree, these arrays and strings, all checksums right."""
    encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    manifest = {"earmark_version": "0", "metadata": {}, "tree": tree, **fields}
    members = {
        "arrays.safetensors": tensors.write([*arrays, offsets]),
        "strings.utf8": [b"".join(encoded)],
    }
    return b"".join(container.build(manifest, members))


def resigned(raw, edit):
    """The file with ``edit(manifest)`` applied and the checksums put right."""
    text, payload = parts_of(raw)
    manifest = json.loads(text)
    edited = edit(manifest)
    manifest = manifest if edited is None else edited
    if isinstance(manifest, bytes):
        return signed(manifest, payload)
    return signed(canonical.dump(manifest), payload)


def retabled(raw, edit):
    """The file with ``edit(array table)`` applied and every checksum put right."""
    text, payload = parts_of(raw)
    manifest = json.loads(text)
    first, second = manifest["members"]
    member = payload[: first["length"]]
    (length,) = struct.unpack("<Q", member[:8])
    table = json.loads(member[8 : 8 + length])
    edited = edit(table)
    header = edited if isinstance(edited, bytes) else canonical.dump(table)
    header += b" " * (-(8 + len(header)) % 64)
    member = struct.pack("<Q", len(header)) + header + member[8 + length :]
    blob = payload[second["offset"] :]
    payload = member + bytes(-len(member) % 64) + blob
    first.update(length=len(member), sha256=hashlib.sha256(member).hexdigest())
    second["offset"] = math.ceil(len(member) / 64) * 64
    manifest["payload_length"] = len(payload)
    return signed(canonical.dump(manifest), payload)


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
        forged=forged,
        resigned=resigned,
        retabled=retabled,
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.earmark"
