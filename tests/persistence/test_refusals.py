"""What a file cannot hold is refused at save: place, reason, what to do."""

import collections
import enum
import math

import numpy as np
import pytest
from scipy import sparse

from earmark.exceptions import NotSupportedError
from earmark.persistence import load_model, read_manifest, save_model


class Color(enum.Enum):
    RED = 1


class Stranger:
    pass


CASES = {
    "function": (
        lambda text: text,
        r"Plain\.part\.x is a function .*holds no code.*give it again to load",
    ),
    "class": (Stranger, r"Plain\.part\.x is a class \(Stranger\)"),
    "builtin": (len, r"Plain\.part\.x is a function \(len\)"),
    "module": (math, "Plain.part.x is of type builtins.module; .*no code"),
    "stranger": (Stranger(), "Plain.part.x is of type .*Stranger"),
    "enum": (Color.RED, "Color"),
    "generator": (np.random.default_rng(0), "store the seed"),
    "random state": (np.random.RandomState(0), "store the seed"),
    "counter": (collections.Counter("a"), "convert it to a plain dict"),
    "complex": (np.ones(2, complex), "array of type complex128"),
    "long double": (np.longdouble(1), "Plain.part.x is of type numpy.longdouble"),
    "date": (np.array(["2020-01-01"], "M8[D]"), "array of type datetime64"),
    "masked": (np.ma.masked_array([1.0]), "numpy.asarray"),
    "coo": (sparse.coo_array(np.eye(2)), r"coo_array of 2 dimensions; .*tocsr"),
    "tuple key": ({(1, 2): 3}, r"dict with the key \(1, 2\) of type tuple"),
    "huge key": ({2**64: 3}, "keys must be strings or small numbers"),
    "mixed set": ({1, "a"}, "set that holds more than strings"),
    "bytes": (b"x", "convert it to a string"),
    "array of bytes": (np.array([b"x"]), "array of type .S1"),
    "huge number": (2**70, "Plain.part.x is a whole number beyond 64 bits"),
    "abstract type": (np.floating, r"Plain\.part\.x is a class \(floating\)"),
    "iterator": (iter([]), "list_iterator"),
    "dtype": (np.dtype("M8[D]"), "Plain.part.x is of type numpy.dtype"),
    "in a list": ([0, [Stranger()]], r"Plain\.part\.x\[1\]\[0\] is of type"),
    "in a dict": ({"k": Stranger()}, r"Plain\.part\.x\['k'\] is of type"),
    "in an array": (np.array([Stranger()]), r"Plain\.part\.x\[0\] is of type"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused_with_place_and_advice(kit, path, case):
    value, message = CASES[case]
    with pytest.raises(NotSupportedError, match=message):
        save_model(kit.Plain(part=kit.Plain(x=value)), path, kit.TABLE)
    assert list(path.parent.iterdir()) == []


def test_an_object_that_refers_to_itself_is_refused(kit, path):
    model = kit.Plain()
    model.me = model
    with pytest.raises(NotSupportedError, match="refer to itself"):
        save_model(model, path, kit.TABLE)


def test_the_deepest_tree_that_is_saved_can_be_loaded(kit, path):
    for depth in (39, 40):
        value = 1
        for _ in range(depth):
            value = {"k": value} if depth % 2 else (value,)
        model = kit.Plain(x=value)
        if depth == 39:
            save_model(model, path, kit.TABLE)
            assert kit.same(model, load_model(path, kit.TABLE))
        else:
            with pytest.raises(NotSupportedError, match="40 levels"):
                save_model(model, path, kit.TABLE)


def test_forbidden_attribute_names_are_refused(kit, path):
    for name in ("__class__", "not a name", "class"):
        model = kit.Plain()
        vars(model)[name] = 1
        with pytest.raises(NotSupportedError, match="names must be identifiers"):
            save_model(model, path, kit.TABLE)


def test_the_saved_object_must_be_in_the_table(path):
    with pytest.raises(NotSupportedError, match="a Stranger cannot be saved"):
        save_model(Stranger(), path, {})


def test_a_subclass_does_not_pass_for_its_parent(kit, path):
    class Sub(kit.Plain):
        pass

    with pytest.raises(NotSupportedError, match="a Sub cannot be saved"):
        save_model(Sub(), path, kit.TABLE)


def test_a_class_without_dict_must_give_its_state(path):
    class Bare:
        __slots__ = ()

    with pytest.raises(NotSupportedError, match="define __getstate__"):
        save_model(Bare(), path, {"Bare": Bare})


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1}}, {"a": math.nan}, {"a": (1,)}])
def test_metadata_must_be_plain_json(kit, path, value):
    with pytest.raises(NotSupportedError, match="metadata must be plain JSON"):
        save_model(kit.Plain(), path, kit.TABLE, metadata=value)


def test_metadata_as_deep_as_is_saved_can_be_read(kit, path):
    value = []
    for _ in range(125):
        value = [value]
    save_model(kit.Plain(), path, kit.TABLE, metadata={"a": value})
    assert read_manifest(path).metadata == {"a": value}
    with pytest.raises(NotSupportedError, match="nested 129 levels"):
        save_model(kit.Plain(), path, kit.TABLE, metadata={"a": [value]})


def test_too_many_small_values_are_refused(kit, path, monkeypatch):
    monkeypatch.setattr("earmark.persistence.tensor_file.MAX_MANIFEST", 1000)
    with pytest.raises(NotSupportedError, match="keep large fitted state in arrays"):
        save_model(kit.Plain(x=[[i] for i in range(1000)]), path, kit.TABLE)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "callable for each of these places: Plain.f; given: none"),
        ({"Plain.g": len}, "given: Plain.g"),
        ({"Plain.f": len, "Plain.g": len}, "given: Plain.f, Plain.g"),
        ({"Plain.f": "len"}, r"given\['Plain.f'\] must be a callable, got str"),
    ],
)
def test_load_must_be_given_exactly_what_was_left_out(kit, path, given, message):
    save_model(kit.Plain(f=len), path, kit.TABLE, allow_callables=True)
    with pytest.raises(NotSupportedError, match=message):
        load_model(path, kit.TABLE, given=given)
