"""What is saved comes back: same types, same values, same bytes when saved again."""

import functools
import tracemalloc

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from earmark.persistence import load_model, save_model
from earmark.persistence.decode import decode
from earmark.persistence.encode import encode

TEXT = st.text(st.characters(), max_size=8)  # lone surrogates included
DTYPES = st.sampled_from(
    ["?", "i1", "<i4", ">i8", "u2", "u8", "f2", "f4", "<f8", ">f8"]
)
NUMERIC = DTYPES.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0))
)
FIXED = st.sampled_from(["<U3", ">U2"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0))
)
INT64 = st.integers(-(2**63), 2**63 - 1)
KEYS = TEXT | INT64 | st.booleans() | st.none()


def object_array(items):
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


SCALARS = (
    st.none()
    | st.booleans()
    | INT64
    | st.floats()
    | TEXT
    | st.sampled_from([np.int64, np.float32, float, str])
)
NUMPY_SCALARS = st.sampled_from(["?", "i8", "u4", "f2", "f8"]).flatmap(
    lambda dtype: hnp.from_dtype(np.dtype(dtype))
    # NumPy itself drops the NULs at the end of a text.
) | TEXT.map(lambda text: np.str_(text.rstrip("\0")))
LONG = st.sampled_from([TEXT, INT64, st.floats(), NUMPY_SCALARS]).flatmap(
    lambda items: st.lists(items, min_size=14, max_size=20)
)
LEAVES = (
    SCALARS
    | NUMPY_SCALARS
    | NUMERIC
    | FIXED
    | LONG
    | st.sets(TEXT)
    | st.frozensets(TEXT)
    | st.lists(SCALARS | st.lists(TEXT), max_size=20).map(object_array)
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=TREES)
def test_any_tree_of_plain_data_comes_back(kit, tree):
    parts = encode(tree, {}, name="model")
    assert kit.same(tree, decode(parts.tree, parts.tensors, {}))


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(tree=TREES)
def test_any_tree_survives_the_file(kit, path, tree):
    model = kit.Plain(tree=tree, again=[tree])
    save_model(model, path, kit.TABLE)
    loaded = load_model(path, kit.TABLE)
    assert kit.same(model, loaded)
    first = path.read_bytes()
    save_model(loaded, path, kit.TABLE)
    assert path.read_bytes() == first


def test_every_kind_of_value_survives_the_file(kit, path):
    save_model(kit.example(), path, kit.TABLE)
    assert kit.same(kit.example(), load_model(path, kit.TABLE))


def test_equal_models_give_equal_bytes(kit, tmp_path):
    reordered = kit.Plain(**dict(reversed(vars(kit.example()).items())))
    save_model(kit.example(), tmp_path / "a", kit.TABLE)
    save_model(reordered, tmp_path / "b", kit.TABLE)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_order_of_a_set_does_not_show(kit, tmp_path):
    words = [f"w{i}" for i in range(50)]
    for name, order in (("a", words), ("b", words[::-1])):
        save_model(kit.Plain(words=set(order)), tmp_path / name, kit.TABLE)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_dict_keeps_its_order(kit, path):
    regions = {"title": 1, "body": 2, "Abstract": 3}
    save_model(kit.Plain(regions=regions), path, kit.TABLE)
    assert list(load_model(path, kit.TABLE).regions) == list(regions)


def test_transient_attributes_of_class_and_parent_stay_out(kit, path):
    model = kit.Child().fit([[1.0]], ["a"])
    model._more = print
    save_model(model, path, kit.TABLE)
    loaded = load_model(path, kit.TABLE)
    assert not hasattr(loaded, "_cache")
    assert not hasattr(loaded, "_more")
    assert kit.same(model, loaded)


@pytest.mark.parametrize("name", ["csr_array", "csr_matrix", "csc_array", "csc_matrix"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_parts_come_back_untouched(kit, path, name, index):
    parts = np.array([2.0, 0.0, 3.0]), np.array([1, 0, 0]), np.array([0, 2, 2, 3])
    matrix = getattr(sparse, name)((3, 3))
    matrix.data = parts[0]
    matrix.indices, matrix.indptr = (part.astype(index) for part in parts[1:])
    save_model(kit.Plain(matrix=matrix), path, kit.TABLE)
    loaded = load_model(path, kit.TABLE).matrix
    assert kit.same(matrix, loaded)
    assert (loaded @ np.ones(3)).tolist() == (matrix @ np.ones(3)).tolist()


def test_an_empty_sparse_matrix_comes_back(kit, path):
    matrix = sparse.csr_array((0, 7), dtype=np.int64)
    save_model(kit.Plain(matrix=matrix), path, kit.TABLE)
    assert load_model(path, kit.TABLE).matrix.shape == (0, 7)


def test_fortran_order_sliced_and_mapped_arrays_come_back_in_c_order(kit, path):
    block = np.arange(24.0).reshape(4, 6)
    mapped = np.memmap(
        path.with_suffix(".map"), dtype=np.float64, shape=(3,), mode="w+"
    )
    mapped[:] = 1.5
    model = kit.Plain(a=np.asfortranarray(block), b=block[::2, ::-3], c=mapped)
    save_model(model, path, kit.TABLE)
    loaded = load_model(path, kit.TABLE)
    for name in "abc":
        array = getattr(loaded, name)
        assert array.flags.c_contiguous
        assert type(array) is np.ndarray
        np.testing.assert_array_equal(array, getattr(model, name))


def test_loaded_arrays_are_aligned_and_writable(kit, path):
    model = kit.Plain(a=np.ones(3, np.int8), b=np.ones(3), c=np.ones(5, bool))
    save_model(model, path, kit.TABLE)
    loaded = load_model(path, kit.TABLE)
    for array in vars(loaded).values():
        assert array.flags.aligned
        array[0] = 0
    assert loaded.b.tolist() == [0.0, 1.0, 1.0]


def test_callables_are_left_out_and_given_again(kit, path):
    model = kit.Estimator(part={"region": str.split})
    place = "Estimator.part['region']"
    save_model(model, path, kit.TABLE, allow_callables=True)
    loaded = load_model(path, kit.TABLE, given={place: str.lower})
    assert loaded.part == {"region": str.lower}


def test_a_numpy_type_comes_back_as_the_type_of_that_size(kit, path):
    save_model(kit.Plain(a=np.longlong, b=np.intp, c=np.float16), path, kit.TABLE)
    loaded = load_model(path, kit.TABLE)
    assert (loaded.a, loaded.b, loaded.c) == (np.int64, np.int64, np.float16)


def test_loading_takes_about_the_memory_of_the_file(kit, path):
    model = kit.Plain(a=np.arange(2_000_000.0), b=np.zeros((1000, 1000), bool))
    save_model(model, path, kit.TABLE)
    size = path.stat().st_size
    load_model(path, kit.TABLE)
    tracemalloc.start()
    loaded = load_model(path, kit.TABLE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert loaded.a[-1] == 1_999_999
    assert peak < 2.1 * size + 2**21


def test_a_partial_is_a_callable_too(kit, path):
    model = kit.Plain(f=functools.partial(int, base=2))
    save_model(model, path, kit.TABLE, allow_callables=True)
    assert load_model(path, kit.TABLE, given={"Plain.f": abs}).f(-1) == 1
