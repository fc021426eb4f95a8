"""Files with right checksums and wrong content: refused before any harm is done."""

import json
import random
import struct
import tracemalloc

import numpy as np
import pytest

from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.persistence import canonical, load_model, read_manifest, save_model


def model(**state):
    return {"$": "object", "class": "Plain", "state": state}


def refuse(kit, path, content, message):
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path, kit.TABLE)


def vector(*values):
    return np.array(values, dtype=np.int64)


def csr(**changed):
    parts = {
        "class": "csr_array",
        "shape": [2, 2],
        "data": 0,
        "indices": 1,
        "indptr": 2,
    }
    return {"$": "sparse", **parts, **changed}


def test_the_forger_can_make_a_good_file(kit, path):
    tree = model(
        a={"$": "array", "index": 0}, s={"$": "strings", "first": 0, "count": 2}
    )
    path.write_bytes(kit.forged(tree, [np.ones(2)], ["x", "ß"]))
    loaded = load_model(path, kit.TABLE)
    assert loaded.a.tolist() == [1, 1]
    assert loaded.s == ["x", "ß"]


TREES = {
    "unknown class": (
        {"$": "object", "class": "os.system", "state": {}},
        "class 'os.system', which is not in the class table",
    ),
    "class by path": (
        model(x={"$": "object", "class": "builtins.eval", "state": {}}),
        r"Plain\.x is of the class 'builtins.eval'",
    ),
    "class is a list": (
        {"$": "object", "class": ["Plain"], "state": {}},
        "lacks a class",
    ),
    "unlisted sklearn": (
        model(x={"$": "object", "class": "sklearn.Pipeline", "state": {}}),
        "not in the class table",
    ),
    "dunder class": (model(__class__=1), "attributes of forbidden names"),
    "dunder dict": (model(__dict__={}), "attributes of forbidden names"),
    "dunder reduce": (model(__reduce__="x"), "attributes of forbidden names"),
    "dotted": (model(**{"a.b": 1}), "attributes of forbidden names"),
    "path": (model(**{"../../etc/passwd": 1}), "attributes of forbidden names"),
    "state a list": ({"$": "object", "class": "Plain", "state": []}, "lacks a class"),
    "no object": ([1, 2], "holds no object of the class table"),
    "unknown kind": (model(x={"$": "pickle", "data": "00"}), "unknown kind 'pickle'"),
    "kind a number": (model(x={"$": 3}), "unknown kind '3'"),
    "no kind": (model(x={"a": 3}), "unknown kind 'None'"),
    "extra field": (
        model(x={"$": "tuple", "items": [], "y": 1}),
        "must have the fields",
    ),
    "missing field": (model(x={"$": "tuple", "item": []}), "must have the fields"),
    "type": (model(x={"$": "type", "name": "os.system"}), "unknown type 'os.system'"),
    "dtype": (model(x={"$": "dtype", "name": "object"}), "names no numpy type"),
    "callable": (
        model(x={"$": "callable", "path": 3}),
        "a callable in the file has no place",
    ),
    "bad float": (model(x={"$": "float", "bits": "00"}), "bits of Plain.x is wrong"),
    "bad hex": (model(x={"$": "bytes", "hex": "0g"}), "hex of Plain.x is wrong"),
    "spaced hex": (model(x={"$": "bytes", "hex": "00 00 "}), "is wrong"),
    "bad int": (model(x={"$": "int", "hex": "0x1_0"}), "no whole number"),
    "hex a number": (model(x={"$": "int", "hex": 3}), "must be a string"),
    "scalar type": (model(x={"$": "scalar", "dtype": "O", "hex": ""}), "unknown type"),
    "scalar size": (
        model(x={"$": "scalar", "dtype": "F64", "hex": "00"}),
        "hex of Plain.x is wrong",
    ),
    "scalar truth": (
        model(x={"$": "scalar", "dtype": "BOOL", "hex": "02"}),
        "truth value other than 0 and 1",
    ),
    "str of list": (model(x={"$": "numpy_str", "value": []}), "must be a string"),
    "bytes of str": (model(x={"$": "numpy_bytes", "value": "a"}), "must be bytes"),
    "tuple of str": (model(x={"$": "tuple", "items": "abc"}), "must hold a list"),
    "list key": (
        model(x={"$": "dict", "keys": [[1]], "values": [1]}),
        "keys that are no strings or numbers",
    ),
    "huge key": (
        model(x={"$": "dict", "keys": [{"$": "int", "hex": "f" * 30}], "values": [1]}),
        "keys that are no strings or numbers",
    ),
    "duplicate key": (
        model(x={"$": "dict", "keys": [1, True], "values": [1, 2]}),
        "twice",
    ),
    "keys without values": (
        model(x={"$": "dict", "keys": [1], "values": []}),
        "1 keys for 0 values",
    ),
    "unsorted set": (model(x={"$": "set", "items": ["b", "a"]}), "sorted strings"),
    "set of numbers": (model(x={"$": "frozenset", "items": [1]}), "sorted strings"),
    "object array": (
        model(x={"$": "object_array", "items": [1], "shape": [2**40]}),
        "1 elements for shape",
    ),
    "object shape": (
        model(x={"$": "object_array", "items": [], "shape": [-1]}),
        "no valid shape",
    ),
    "object dims": (
        model(x={"$": "object_array", "items": [1], "shape": [1] * 99}),
        "1 elements for shape",
    ),
    "missing array": (model(x={"$": "array", "index": 0}), "array 0, which is missing"),
    "array by name": (model(x={"$": "array", "index": "0"}), "asks for array 0, next"),
    "array true": (model(x={"$": "array", "index": False}), "asks for array False"),
    "negative array": (model(x={"$": "array", "index": -1}), "asks for array -1"),
    "missing string": (
        model(x={"$": "str", "first": 0}),
        "strings 0 to 1 are asked for",
    ),
    "negative run": (
        model(x={"$": "strings", "first": 0, "count": -1}),
        "strings 0 to -1 are asked for",
    ),
    "run of text": (
        model(x={"$": "strings", "first": "0", "count": 1}),
        "names no run",
    ),
    "restore": (
        model(x={"$": "object", "class": "Slotted", "state": {"other": 1}}),
        "Plain.x cannot be restored: KeyError",
    ),
}


@pytest.mark.parametrize("case", TREES)
def test_a_hostile_tree_is_refused(kit, path, case):
    tree, message = TREES[case]
    refuse(kit, path, kit.forged(tree), message)


ARRAYS = {
    "array twice": (
        model(x={"$": "array", "index": 0}, y={"$": "array", "index": 0}),
        [np.ones(9)],
        "asks for array 0, next is array 1",
    ),
    "unused array": (model(), [np.ones(3)], "1 arrays belong to nothing"),
    "no characters": (
        model(x={"$": "text_array", "index": 0}),
        [np.array([[0x110000]], dtype=np.uint32)],
        "numbers that are no characters",
    ),
    "text of floats": (
        model(x={"$": "text_array", "index": 0}),
        [np.ones((2, 2))],
        "needs characters as uint32",
    ),
    "empty text": (
        model(x={"$": "text_array", "index": 0}),
        [np.ones((2**20, 0), np.uint32)],
        "needs characters as uint32",
    ),
    "bytes of text": (
        model(x={"$": "bytes_array", "index": 0}),
        [np.array(3, dtype=np.uint8)],
        "needs characters as uint8",
    ),
    "matrix of numbers": (
        model(x={"$": "numbers", "index": 0, "numpy": False}),
        [np.eye(2)],
        "needs a vector of numbers",
    ),
    "numpy or not": (
        model(x={"$": "numbers", "index": 0, "numpy": 1}),
        [np.ones(2)],
        "whether its numbers are numpy's",
    ),
    "rows": (
        model(x={"$": "rows", "first": 0, "count": 0, "lengths": 0}),
        [vector(1, -1)],
        "do not add up",
    ),
    "sparse class": (
        model(x=csr(**{"class": "os"})),
        [vector(), vector(), vector(0)],
        "no sparse matrix that is read: 'os'",
    ),
    "sparse shape": (
        model(x=csr(shape=[2**40, 1])),
        [np.ones(1), vector(0), vector(0, 1)],
        "row pointers of Plain.x do not fit",
    ),
    "sparse dims": (
        model(x=csr(shape=[1])),
        [np.ones(1), vector(0), vector(0, 1)],
        "no sparse matrix",
    ),
    "column outside": (
        model(x=csr()),
        [np.ones(2), vector(0, 2), vector(0, 1, 2)],
        "indices of Plain.x do not fit",
    ),
    "negative column": (
        model(x=csr()),
        [np.ones(2), vector(0, -1), vector(0, 1, 2)],
        "indices of Plain.x do not fit",
    ),
    "falling pointers": (
        model(x=csr(shape=[3, 2])),
        [np.ones(1), vector(0), vector(0, 5, 0, 1)],
        "not one after the other",
    ),
    "pointers past the end": (
        model(x=csr()),
        [np.ones(2), vector(0, 1), vector(0, 1, 9)],
        "row pointers of Plain.x do not fit",
    ),
    "data too short": (
        model(x=csr()),
        [np.ones(1), vector(0, 1), vector(0, 1, 2)],
        "not one after the other",
    ),
    "float indices": (
        model(x=csr()),
        [np.ones(2), np.zeros(2), vector(0, 1, 2)],
        "must be int32 or int64",
    ),
    "matrix data": (
        model(x=csr()),
        [np.ones((2, 1)), vector(0, 1), vector(0, 1, 2)],
        "parts of Plain.x must be vectors",
    ),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_hostile_arrays_are_refused(kit, path, case):
    tree, arrays, message = ARRAYS[case]
    refuse(kit, path, kit.forged(tree, arrays), message)


def test_a_callable_of_another_place_is_not_handed_out(kit, path):
    tree = model(x={"$": "callable", "path": "Plain.y"})
    path.write_bytes(kit.forged(tree))
    with pytest.raises(ModelFormatError, match="a callable of another place"):
        load_model(path, kit.TABLE, given={"Plain.y": print})
    with pytest.raises(NotSupportedError, match=r"these places: Plain\.y"):
        load_model(path, kit.TABLE)


def test_a_transient_attribute_in_the_file_is_dropped(kit, path):
    state = {"_cache": "planted", "_sklearn_version": "1.0", "alpha": 2.0}
    path.write_bytes(kit.forged({"$": "object", "class": "Estimator", "state": state}))
    assert vars(load_model(path, kit.TABLE)) == {"alpha": 2.0}


@pytest.fixture
def raw(kit, path):
    save_model(kit.example(), path, kit.TABLE)
    return path.read_bytes()


def set_member(number, **values):
    return lambda manifest: manifest["members"][number].update(values)


MANIFESTS = {
    "path trick": (set_member(0, name="../../etc/passwd"), "expected member 'arrays"),
    "absolute": (set_member(1, name="/etc/passwd"), "expected member 'strings"),
    "twice": (set_member(1, name="arrays.safetensors"), "expected member 'strings"),
    "overlap": (set_member(1, offset=0), "expected member 'strings.utf8' at"),
    "negative offset": (set_member(0, offset=-64), "got 'arrays.safetensors' at -64"),
    "huge offset": (set_member(1, offset=2**62), "at 4611686018427387904"),
    "negative length": (set_member(0, length=-1), "a member has the length -1"),
    "huge length": (set_member(1, length=2**62), "the file has"),
    "float length": (set_member(0, length=1.5), "length of a member is '1.5'"),
    "text length": (set_member(0, length="9"), "length of a member is '9'"),
    "bool offset": (set_member(0, offset=False), "offset of a member is 'False'"),
    "hash a number": (set_member(0, sha256=3), "sha256 of a member is '3'"),
    "wrong hash": (set_member(1, sha256="0" * 64), "checksum of member strings.utf8"),
    "extra in member": (set_member(0, mode="x"), "a member must be described by"),
    "no members": (lambda m: m.update(members=[]), "must list the members"),
    "members text": (lambda m: m.update(members="ab"), "must list the members"),
    "one more": (
        lambda m: m["members"].append(m["members"][0]),
        "must list the members",
    ),
    "payload": (lambda m: m.update(payload_length=1), "the manifest declares 1"),
    "payload true": (lambda m: m.update(payload_length=True), "declares True"),
    "extra field": (lambda m: m.update(hook="x"), "must have the fields"),
    "version a list": (lambda m: m.update(earmark_version=[]), "must be a string"),
    "metadata a list": (lambda m: m.update(metadata=[]), "must be an object"),
    "a list": (lambda m: [m], "must list the members"),
    "spaces": (lambda m: json.dumps(m).encode(), "not spelled canonically"),
    "duplicate": (lambda m: b'{"a":1,"a":2}', "key 'a' occurs twice"),
    "deep": (lambda m: b"[" * 10**6 + b"]" * 10**6, "nested 1000000 levels deep"),
    "deep objects": (lambda m: b'{"a":' * 129 + b"1" + b"}" * 129, "nested 129 levels"),
    "brackets in strings": (
        lambda m: canonical.dump("[" * 999),
        "must list the members",
    ),
    "unclosed": (lambda m: b'{"members":', "not valid JSON"),
    "nan": (lambda m: b'{"payload_length":NaN}', "NaN is not a number in JSON"),
    "overflow": (lambda m: b'{"payload_length":1e999}', "not valid JSON|canonically"),
    "long number": (lambda m: b"[" + b"9" * 10**5 + b"]", "number of 100000 digits"),
    "not ascii": (lambda m: b'"\xff"', "not valid JSON"),
    "empty": (lambda m: b"", "not valid JSON"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_hostile_manifest_is_refused(kit, path, raw, case):
    edit, message = MANIFESTS[case]
    refuse(kit, path, kit.resigned(raw, edit), message)


def test_a_manifest_beyond_the_limit_is_refused(kit, path, raw):
    text, payload = kit.parts_of(raw)
    refuse(kit, path, kit.signed(text + b" " * 2**24, payload), "manifest declares")


def set_array(number, **values):
    return lambda table: table[f"{number:06d}"].update(values)


TABLES = {
    "huge shape": (set_array(0, shape=[2**40, 2**40]), "is too large"),
    "many items": (set_array(0, shape=[2**40]), "lies at"),
    "negative shape": (set_array(0, shape=[-2, -2]), "has shape"),
    "shape of floats": (set_array(0, shape=[2.0]), "has shape"),
    "shape of truth": (set_array(0, shape=[True]), "has shape"),
    "shape text": (set_array(0, shape="22"), "no valid shape"),
    "many dimensions": (set_array(0, shape=[1] * 65), "no valid shape"),
    "object type": (set_array(0, dtype="O"), "has type 'O'; read are BOOL"),
    "unhashable type": (set_array(0, dtype=[]), "has type"),
    "complex type": (set_array(0, dtype="C64"), "has type 'C64'"),
    "other type": (set_array(0, dtype="F32"), "lies at"),
    "overlap": (set_array(1, data_offsets=[0, 8]), "lies at"),
    "negative": (set_array(0, data_offsets=[-8, 0]), "lies at"),
    "far": (set_array(0, data_offsets=[2**60, 2**60 + 8]), "lies at"),
    "nan": (set_array(0, data_offsets=None), "lies at"),
    "extra": (set_array(0, hook=1), "must have dtype, shape and data_offsets"),
    "metadata": (
        lambda t: t.update(__metadata__={"format": "pt"}),
        "not numbered from 0",
    ),
    "gap": (lambda t: t.pop("000001") and None, "not numbered from 0"),
    "one less": (lambda t: t.popitem() and None, "not numbered from 0|bytes are|place"),
    "a list": (lambda t: b"[]", "must be an object"),
    "no table": (lambda t: b"", "not valid JSON"),
    "an empty table": (lambda t: b"{}", "the arrays need 0 bytes"),
    "deep": (lambda t: b"[" * 10**5, "nested 100000 levels"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_hostile_array_table_is_refused(kit, path, raw, case):
    edit, message = TABLES[case]
    refuse(kit, path, kit.retabled(raw, edit), message)


def test_string_offsets_are_checked(kit, path, monkeypatch):
    tree = model(s={"$": "strings", "first": 0, "count": 2})
    good = np.cumsum
    offsets = {
        "rise from 0": [[0, 5, 3], [1, 2, 3], [0, 1, 9], [-1, 0, 3]],
        "begins within a character": [[0, 1, 3]],
    }
    for message, cases in offsets.items():
        for case in cases:
            monkeypatch.setattr(np, "cumsum", lambda *_, case=case, **__: vector(*case))
            content = kit.forged(tree, (), ["é", "x"])
            monkeypatch.setattr(np, "cumsum", good)
            refuse(kit, path, content, message)


def test_strings_must_be_utf8_and_all_used(kit, path, raw):
    refuse(kit, path, kit.forged(model(), (), ["x"]), "1 strings belong to nothing")
    tree = model(a={"$": "str", "first": 0}, b={"$": "str", "first": 0})
    refuse(kit, path, kit.forged(tree, (), ["x"]), "strings 0 to 1 are asked for, next")


def test_truth_values_other_than_0_and_1_are_refused(kit, path):
    bad = np.array([2], dtype=np.uint8).view(bool)
    tree = model(x={"$": "array", "index": 0})
    refuse(kit, path, kit.forged(tree, [bad]), "truth values other than 0 and 1")


def test_a_declared_size_is_not_allocated(kit, path, raw):
    text, payload = kit.parts_of(raw)
    header = bytearray(kit.signed(text, payload)[:64])
    contents = [
        kit.resigned(raw, set_member(1, length=2**62)),
        kit.retabled(raw, set_array(0, shape=[2**45])),
        kit.forged(model(x={"$": "object_array", "items": [], "shape": [2**45]})),
        bytes(header[:16]) + struct.pack("<Q", 2**62) + bytes(header[24:]) + payload,
    ]
    for content in contents:
        path.write_bytes(content)
        tracemalloc.start()
        with pytest.raises(ModelFormatError, match=r"model\.earmark: "):
            load_model(path, kit.TABLE)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**20


JUNK = [None, True, -1, 0, 1, 2**63, 0.5, "", "a", "Plain", "\ud800", [], {}, [[]]]
JUNK += [{"$": kind} for kind in ("dict", "array", "object", "str", "sparse", 1)]
JUNK += [
    {"$": "array", "index": 0},
    {"$": "str", "first": 0},
    {"$": "tuple", "items": [1]},
    {"$": "dict", "keys": ["a"], "values": [1]},
    {"$": "object", "class": "Slotted", "state": {"pairs": 1}},
    {"$": "int", "hex": "ff"},
    {"$": "type", "name": "object"},
    {"$": "object", "class": "Plain", "state": {}},
]


def spots(node, found):
    """All (container, key) of a JSON tree."""
    if isinstance(node, (dict, list)):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            spots(node[key], found)
    return found


def mutate(chooser, node):
    """Change one to three places of a JSON tree at random."""
    for _ in range(chooser.randint(1, 3)):
        places = spots(node, [])
        if not places:
            return
        holder, key = chooser.choice(places)
        action = chooser.random()
        if action < 0.2 and isinstance(holder, dict):
            holder[chooser.choice(["$", "x", "items", "__dict__"])] = holder.pop(key)
        elif action < 0.4:
            other, other_key = chooser.choice(places)
            holder[key] = json.loads(json.dumps(other[other_key]))
        elif action < 0.5:
            del holder[key]
        else:
            holder[key] = json.loads(json.dumps(chooser.choice(JUNK)))


def fuzz(kit, path, raw, count, seed):
    """Load files changed at random and signed again: a model or ModelFormatError."""
    chooser = random.Random(seed)
    refused = 0
    for _ in range(count):
        if chooser.random() < 0.3:
            content = kit.retabled(raw, lambda table: mutate(chooser, table))
        else:
            content = kit.resigned(raw, lambda manifest: mutate(chooser, manifest))
        path.write_bytes(content)
        for read in (lambda: load_model(path, kit.TABLE), lambda: read_manifest(path)):
            try:
                read()
            except ModelFormatError:
                refused += 1
    return refused


def test_random_signed_changes_give_a_model_or_a_format_error(kit, path, raw):
    assert fuzz(kit, path, raw, count=500, seed=5) > 300


@pytest.mark.slow
def test_many_random_signed_changes_give_a_model_or_a_format_error(kit, path, raw):
    assert fuzz(kit, path, raw, count=10_000, seed=6) > 6_000
