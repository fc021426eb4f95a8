"""Files with right checksums and wrong content: refused before any harm is done."""

import json
import random
import tracemalloc

import numpy as np
import pytest

from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.persistence import load_model, read_manifest, save_model, tensor_file


def model(**state):
    return {"$": "object", "class": "Plain", "state": state}


def refuse(kit, path, content, message):
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path, kit.TABLE)


def vector(*values):
    return np.array(values, dtype=np.int64)


def csr(**changed):
    return {"$": "sparse", "class": "csr_array", "shape": [2, 2], **changed}


def test_the_forger_can_make_a_good_file(kit, path):
    tree = model(a={"$": "array"}, s={"$": "strings"})
    path.write_bytes(kit.forged(tree, {"a": np.ones(2), "s": ["x", "ß"]}))
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
    "callable": (
        model(x={"$": "callable", "path": 3}),
        "a callable in the file has no place",
    ),
    "bad float": (model(x={"$": "float", "bits": "00"}), "bits of Plain.x is wrong"),
    "bits a number": (model(x={"$": "float", "bits": 3}), "must be a string"),
    "spaced bits": (
        model(x={"$": "float", "bits": "7f f0000000000000"}),
        "bits of Plain.x is wrong",
    ),
    "scalar of list": (model(x={"$": "scalar", "value": []}), "numpy number or string"),
    "tuple of str": (model(x={"$": "tuple", "items": "abc"}), "must hold a list"),
    "list key": (
        model(x={"$": "dict", "keys": [[1]], "values": [1]}),
        "keys that are no strings or numbers",
    ),
    "huge key": (
        model(x={"$": "dict", "keys": [10**19], "values": [1]}),
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
    "missing array": (model(x={"$": "array"}), r"Plain\.x has no tensor of that name"),
    "missing string": (model(x={"$": "str"}), r"Plain\.x has no tensor"),
    "missing strings": (model(x={"$": "strings"}), r"Plain\.x has no tensor"),
    "array by number": (model(x={"$": "array", "index": 0}), "must have the fields"),
    "restore": (
        model(x={"$": "object", "class": "Slotted", "state": {"other": 1}}),
        "Plain.x cannot be restored: KeyError",
    ),
}


@pytest.mark.parametrize("case", TREES)
def test_a_hostile_tree_is_refused(kit, path, case):
    tree, message = TREES[case]
    refuse(kit, path, kit.forged(tree), message)


def sparse_parts(data, indices, indptr):
    return {"x.data": data, "x.indices": indices, "x.indptr": indptr}


ARRAYS = {
    "array twice": (
        model(x={"$": "array"}, y={"$": "array"}),
        {"x": np.ones(9)},
        r"Plain\.y has no tensor",
    ),
    "array of another": (
        model(x={"$": "array"}),
        {"y": np.ones(9)},
        r"Plain\.x has no tensor",
    ),
    "scalar of a vector": (
        model(x={"$": "scalar", "value": {"$": "array"}}),
        {"x": np.ones(2)},
        "numpy number or string",
    ),
    "strings without offsets": (
        model(x={"$": "strings"}),
        {"x": np.zeros(2, np.uint8)},
        r"Plain\.x\.offsets has no tensor",
    ),
    "strings of floats": (
        model(x={"$": "str"}),
        {"x": np.ones(2)},
        "vector of uint8",
    ),
    "string of bad bytes": (
        model(x={"$": "str"}),
        {"x": np.array([255, 254], np.uint8)},
        "not valid UTF-8",
    ),
    "unused array": (model(), {"x": np.ones(3)}, "1 tensors belong to nothing"),
    "no characters": (
        model(x={"$": "text_array"}),
        {"x": np.array([[0x110000]], dtype=np.uint32)},
        "numbers that are no characters",
    ),
    "text of floats": (
        model(x={"$": "text_array"}),
        {"x": np.ones((2, 2))},
        "needs characters as uint32",
    ),
    "empty text": (
        model(x={"$": "text_array"}),
        {"x": np.ones((2**20, 0), np.uint32)},
        "needs characters as uint32",
    ),
    "matrix of numbers": (
        model(x={"$": "numbers", "numpy": False}),
        {"x": np.eye(2)},
        "needs a vector of numbers",
    ),
    "numpy or not": (
        model(x={"$": "numbers", "numpy": 1}),
        {"x": np.ones(2)},
        "whether its numbers are numpy's",
    ),
    "sparse class": (
        model(x=csr(**{"class": "os"})),
        sparse_parts(vector(), vector(), vector(0)),
        "no sparse matrix that is read: 'os'",
    ),
    "sparse shape": (
        model(x=csr(shape=[2**40, 1])),
        sparse_parts(np.ones(1), vector(0), vector(0, 1)),
        "row pointers of Plain.x do not fit",
    ),
    "sparse dims": (
        model(x=csr(shape=[1])),
        sparse_parts(np.ones(1), vector(0), vector(0, 1)),
        "no sparse matrix",
    ),
    "column outside": (
        model(x=csr()),
        sparse_parts(np.ones(2), vector(0, 2), vector(0, 1, 2)),
        "indices of Plain.x do not fit",
    ),
    "negative column": (
        model(x=csr()),
        sparse_parts(np.ones(2), vector(0, -1), vector(0, 1, 2)),
        "indices of Plain.x do not fit",
    ),
    "falling pointers": (
        model(x=csr(shape=[3, 2])),
        sparse_parts(np.ones(1), vector(0), vector(0, 5, 0, 1)),
        "not one after the other",
    ),
    "pointers past the end": (
        model(x=csr()),
        sparse_parts(np.ones(2), vector(0, 1), vector(0, 1, 9)),
        "row pointers of Plain.x do not fit",
    ),
    "data too short": (
        model(x=csr()),
        sparse_parts(np.ones(1), vector(0, 1), vector(0, 1, 2)),
        "not one after the other",
    ),
    "float indices": (
        model(x=csr()),
        sparse_parts(np.ones(2), np.zeros(2), vector(0, 1, 2)),
        "must be int32 or int64",
    ),
    "matrix data": (
        model(x=csr()),
        sparse_parts(np.ones((2, 1)), vector(0, 1), vector(0, 1, 2)),
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


@pytest.fixture
def raw(kit, path):
    save_model(kit.example(), path, kit.TABLE)
    return path.read_bytes()


MANIFESTS = {
    "extra field": (lambda m: m.update(hook="x"), "must have the fields"),
    "version a list": (lambda m: m.update(earmark_version=[]), "must be a string"),
    "metadata a list": (lambda m: m.update(metadata=[]), "must be an object"),
    "a list": (lambda m: [m], "must be a JSON object"),
    "spaces": (lambda m: json.dumps(m).encode(), "not spelled canonically"),
    "duplicate": (lambda m: b'{"a":1,"a":2}', "key 'a' occurs twice"),
    "deep": (lambda m: b"[" * 10**6 + b"]" * 10**6, "nested 1000000 levels deep"),
    "deep objects": (lambda m: b'{"a":' * 129 + b"1" + b"}" * 129, "nested 129 levels"),
    "brackets in strings": (
        lambda m: tensor_file.dump_json("[" * 999),
        "must be a JSON object",
    ),
    "unclosed": (lambda m: b'{"members":', "not valid JSON"),
    "nan": (lambda m: b'{"payload_length":NaN}', "NaN is not a number in JSON"),
    "overflow": (lambda m: b'{"payload_length":1e999}', "not valid JSON|canonically"),
    "long number": (lambda m: b"[" + b"9" * 10**5 + b"]", "number of 100000 digits"),
    "not ascii": (lambda m: b'"\xff"', "of ASCII"),
    "empty": (lambda m: b"", "not valid JSON"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_hostile_manifest_is_refused(kit, path, raw, case):
    edit, message = MANIFESTS[case]
    refuse(kit, path, kit.resigned(raw, edit), message)


def test_a_manifest_beyond_the_limit_is_refused(kit, path, raw):
    header, text, body = kit.parts_of(raw)
    content = kit.signed(text + " " * 2**24, header, body)
    refuse(kit, path, content, "at most 16777216")
    content = kit.signed(text + " " * 2**26, header, body)
    refuse(kit, path, content, "the header declares")


def test_a_second_metadata_entry_is_refused(kit, path, raw):
    text = raw.index(b"earmark_version")
    assert raw[text - 2 : text] == b'\\"'
    changed = raw.replace(b'"},"', b'","pt":"x"},"', 1)
    length = int.from_bytes(raw[:8], "little") + len(changed) - len(raw)
    changed = kit.checksummed(length.to_bytes(8, "little") + changed[8:])
    refuse(kit, path, changed, "one metadata entry")


def set_array(**values):
    return lambda table: table["Plain.counts.data"].update(values)


UNREADABLE = "the tensors cannot be read|not valid JSON"
TABLES = {
    "huge shape": (set_array(shape=[2**40, 2**40]), UNREADABLE),
    "many items": (set_array(shape=[2**40]), UNREADABLE),
    "negative shape": (set_array(shape=[-2, -2]), UNREADABLE),
    "shape of floats": (set_array(shape=[2.0]), UNREADABLE),
    "shape of truth": (set_array(shape=[True]), UNREADABLE),
    "shape text": (set_array(shape="22"), UNREADABLE),
    "many dimensions": (set_array(shape=[3] + [1] * 65), UNREADABLE),
    "object type": (set_array(dtype="O"), UNREADABLE),
    "unhashable type": (set_array(dtype=[]), UNREADABLE),
    "complex type": (set_array(dtype="C64"), UNREADABLE + "|has type complex64"),
    "brain float": (set_array(dtype="BF16"), UNREADABLE),
    "other type": (set_array(dtype="F32"), UNREADABLE),
    "overlap": (set_array(data_offsets=[24, 48]), UNREADABLE),
    "negative": (set_array(data_offsets=[-8, 0]), UNREADABLE),
    "far": (set_array(data_offsets=[2**60, 2**60 + 24]), UNREADABLE),
    "nan": (set_array(data_offsets=None), UNREADABLE),
    "gap": (lambda t: t.pop("Plain.counts.data") and None, UNREADABLE),
    "a list": (lambda t: b",[]}", UNREADABLE),
    "an empty table": (lambda t: b"}", UNREADABLE),
    "deep": (lambda t: b',"a":' + b"[" * 10**5, "nested 10000. levels"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_hostile_array_table_is_refused(kit, path, raw, case):
    edit, message = TABLES[case]
    refuse(kit, path, kit.retabled(raw, edit), message)


@pytest.mark.parametrize(
    ("message", "offsets"),
    [
        ("rise from 0 to 3", vector(0, 5, 3)),
        ("rise from 0 to 3", vector(1, 2, 3)),
        ("rise from 0 to 3", vector(0, 1, 9)),
        ("rise from 0 to 3", vector(-1, 0, 3)),
        ("rise from 0 to 3", vector(0, 2)),
        ("begins within a character", vector(0, 1, 3)),
        ("vector of int64", vector(0, 2, 3).astype(np.int32)),
        ("vector of int64", vector(0, 2, 3).reshape(1, 3)),
        ("vector of int64", vector()),
    ],
)
def test_string_offsets_are_checked(kit, path, message, offsets):
    blob = np.frombuffer("éx".encode(), np.uint8)
    content = kit.forged(model(s={"$": "strings"}), {"s": blob, "s.offsets": offsets})
    refuse(kit, path, content, message)


def test_truth_values_other_than_0_and_1_are_refused(kit, path):
    bad = np.array([2], dtype=np.uint8).view(bool)
    content = kit.forged(model(x={"$": "array"}), {"x": bad})
    refuse(kit, path, content, "truth values other than 0 and 1")


def test_a_declared_size_is_not_allocated(kit, path, raw):
    contents = [
        kit.retabled(raw, set_array(shape=[2**45])),
        kit.retabled(raw, set_array(data_offsets=[0, 2**45])),
        kit.forged(model(x={"$": "object_array", "items": [], "shape": [2**45]})),
        kit.checksummed((2**62).to_bytes(8, "little") + raw[8:]),
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
JUNK += [{"$": kind} for kind in ("dict", "object", "str", "sparse", 1)]
JUNK += [
    {"$": "array"},
    {"$": "strings"},
    {"$": "tuple", "items": [1]},
    {"$": "dict", "keys": ["a"], "values": [1]},
    {"$": "object", "class": "Slotted", "state": {"pairs": 1}},
    {"$": "scalar", "value": {"$": "array"}},
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
