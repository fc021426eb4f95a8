"""No call from Python makes a kernel read or write outside an array: it is refused."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import sparse

from earmark.features import WordCounter
from earmark.features.analysis import KnownTerms
from earmark.kernels.backend import native

pytestmark = pytest.mark.skipif(native() is None, reason="only compiled kernels can")

N_ROWS, N_COLUMNS, N_CLASSES = 5, 4, 3
I64, I32, F64 = np.int64, np.int32, np.float64


def csr():
    X = sparse.random_array((N_ROWS, N_COLUMNS), density=0.7, rng=3, format="csr")
    return {
        "indptr": X.indptr.astype(I64),
        "indices": X.indices.astype(I32),
        "data": X.data,
    }


def presence():
    return {name: csr()[name] for name in ("indptr", "indices")}


def visits():
    return {
        "order": np.arange(N_ROWS),
        "y": np.zeros(N_ROWS, I32),
        "weight": np.ones(N_ROWS),
    }


def softmax_descend():
    return (
        csr()
        | visits()
        | {
            "weights": np.zeros((N_COLUMNS, N_CLASSES)),
            "bias": np.zeros(N_CLASSES),
            "squares": np.zeros(N_COLUMNS + 1),
            "decayed": np.zeros(N_COLUMNS),
            "path": np.zeros(1),
            "first": 0.1,
            "last": 0.1,
            "bias_rate": 1.0,
            "penalty": 0.1,
            "batch_size": 2,
            "adaptive": True,
        }
    )


def softmax_ascend():
    strength = visits()
    strength["strength"] = strength.pop("weight")
    return (
        csr()
        | strength
        | {
            "square": np.ones(N_ROWS),
            "weights": np.zeros((N_COLUMNS, N_CLASSES)),
            "bias": np.zeros(N_CLASSES),
            "logs": np.zeros((N_ROWS, N_CLASSES)),
            "pull": np.zeros(N_CLASSES),
            "bias_square": 0.1,
            "fresh": False,
        }
    )


def mlp_learn():
    return (
        csr()
        | visits()
        | {
            "first": np.zeros((N_COLUMNS, 6)),
            "dense": np.zeros(6 + 7 * N_CLASSES),
            "sizes": np.array([6, N_CLASSES]),
            "first_moment": np.zeros((N_COLUMNS, 6)),
            "first_square": np.zeros(N_COLUMNS),
            "met": np.zeros(N_COLUMNS, I64),
            "dense_moment": np.zeros(6 + 7 * N_CLASSES),
            "dense_square": np.zeros(6 + 7 * N_CLASSES),
            "step": np.zeros(1, I64),
            "activation": 0,
            "rule": 1,
            "first_eta": 0.1,
            "last_eta": 0.1,
            "dense_rate": 1.0,
            "dropout": 0.0,
            "batch_size": 2,
            "seed": 1,
            "learn_bias": True,
        }
    )


def fit_offset_svm():
    return csr() | {
        "offset": np.zeros(N_COLUMNS),
        "sign": np.ones(N_ROWS),
        "cost": np.ones(N_ROWS),
        "constant": 1.0,
        "squared": True,
        "tol": 0.1,
        "max_iter": 2,
        "seed": 0,
        "weights": np.zeros(N_COLUMNS),
    }


def mixture_step():
    return csr() | {
        "weight": np.ones(N_ROWS),
        "length": np.ones(N_ROWS),
        "table": np.zeros((2, N_COLUMNS, 8)),
        "offset": np.zeros(16),
        "mixtures": 3,
        "nodes": 4,
        "anchored": False,
        "hard": False,
        "sums": np.zeros((2, N_COLUMNS, 8)),
        "docs": np.zeros(12),
        "lengths": np.zeros(12),
        "bound": np.zeros(3),
    }


def mixture_start():
    return csr() | {
        "weight": np.ones(N_ROWS),
        "length": np.ones(N_ROWS),
        "keys": np.zeros(N_ROWS, np.uint64),
        "seeds": np.zeros(3, np.uint64),
        "nodes": 4,
        "anchored": False,
        "sums": np.zeros((2, N_COLUMNS, 8)),
        "docs": np.zeros(12),
        "lengths": np.zeros(12),
    }


def mixture_evidence():
    return csr() | {
        "weight": np.ones(N_ROWS),
        "table": np.zeros((2, N_COLUMNS, 8)),
        "offset": np.zeros(16),
        "nodes": 4,
        "anchored": False,
        "out": np.zeros((N_ROWS, 3)),
    }


def class_unit_sums():
    return csr() | {
        "y": np.zeros(N_ROWS, I64),
        "whole_weight": np.ones(N_ROWS, I64),
        "real_weight": None,
        "n_classes": 2,
        "n_columns": N_COLUMNS,
    }


def shared_ends():
    everything = {f"all_{name}": array for name, array in presence().items()}
    ends = {"ends": np.zeros(N_COLUMNS), "middles": np.zeros(N_COLUMNS)}
    return presence() | everything | {"is_narrow": True} | ends


def cooccurrence_moments():
    names = ("reach", "held", "squares", "cubes", "by_reach", "by_held")
    return presence() | {name: np.zeros(N_COLUMNS) for name in names}


def walk_sums():
    names = ("norms", "by_length", "by_square")
    return (
        presence()
        | {name: np.zeros(N_COLUMNS) for name in names}
        | {
            "held": np.zeros(N_COLUMNS, I64),
            "length": np.ones(N_ROWS),
            "is_narrow": True,
            "inner": np.zeros(N_ROWS),
        }
    )


CALLS = {
    "softmax_descend": softmax_descend,
    "softmax_ascend": softmax_ascend,
    "mlp_learn": mlp_learn,
    "fit_offset_svm": fit_offset_svm,
    "mixture_step": mixture_step,
    "mixture_start": mixture_start,
    "mixture_evidence": mixture_evidence,
    "class_unit_sums": class_unit_sums,
    "shared_ends": shared_ends,
    "cooccurrence_moments": cooccurrence_moments,
    "walk_sums": walk_sums,
    "fingerprints": lambda: csr() | {"out": np.zeros(N_ROWS, np.uint64)},
    "row_norms": lambda: csr() | {"n_columns": N_COLUMNS},
    "count_pairs": lambda: (
        presence() | {"counts": np.zeros((N_COLUMNS, N_COLUMNS), np.float32)}
    ),
    "presence_times": lambda: (
        presence() | {"vector": np.ones(N_COLUMNS), "out": np.ones(N_ROWS)}
    ),
    "transposed_times": lambda: (
        presence() | {"vector": np.ones(N_ROWS), "out": np.ones(N_COLUMNS)}
    ),
    "squared_cooccurrence": lambda: (
        presence() | {"by_document": True, "out": np.zeros(N_COLUMNS, I64)}
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_right_arguments_are_taken(name):
    getattr(native(), name)(**CALLS[name]())


# Fewer visits, and fewer rows of a matrix, are right arguments too.
SHORT = [
    (name, key, change)
    for name in CALLS
    for key, value in CALLS[name]().items()
    for change in ("shorter", "empty")
    if isinstance(value, np.ndarray)
    and key != "order"
    and not (key.endswith("indptr") and change == "shorter")
]


@pytest.mark.parametrize(("name", "key", "change"), SHORT)
def test_an_array_that_is_too_short_is_refused(name, key, change):
    arguments = CALLS[name]()
    array = arguments[key]
    arguments[key] = array[:-1].copy() if change == "shorter" else array[:0].copy()
    with pytest.raises(ValueError, match="expected"):
        getattr(native(), name)(**arguments)


@pytest.mark.parametrize("name", ["softmax_descend", "softmax_ascend", "mlp_learn"])
def test_visits_to_rows_that_are_not_there_are_refused(name):
    arguments = CALLS[name]()
    arguments["order"] += 1
    with pytest.raises(ValueError, match="order: expected"):
        getattr(native(), name)(**arguments)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("bad", [-1, 2**31 - 1])
def test_a_column_out_of_range_is_refused(name, bad):
    arguments = CALLS[name]()
    if name == "fingerprints" and bad > 0:
        return  # it only reads the number
    arguments["indices"][2] = bad
    with pytest.raises(ValueError, match="indices: expected"):
        getattr(native(), name)(**arguments)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("bad", [-1, 10**9])
def test_bounds_of_rows_that_do_not_ascend_are_refused(name, bad):
    arguments = CALLS[name]()
    arguments["indptr"][1] = bad
    with pytest.raises(ValueError, match="indptr: expected"):
        getattr(native(), name)(**arguments)


@pytest.mark.parametrize("name", ["softmax_descend", "softmax_ascend", "mlp_learn"])
@pytest.mark.parametrize("bad", [-1, N_CLASSES])
def test_a_label_out_of_range_is_refused(name, bad):
    arguments = CALLS[name]()
    arguments["y"][0] = bad
    with pytest.raises(ValueError, match="y: expected"):
        getattr(native(), name)(**arguments)


def test_postings_check_rows_queries_and_answers():
    lib, rows = native(), csr()
    hot = np.array([-1, 0, -1, -1], I32)
    block = np.zeros((N_ROWS, 1), np.float32)
    index = lib.Postings(**rows, hot_position=hot, block=block)
    right = csr() | {
        "exclude": np.full(N_ROWS, -1),
        "scores": np.zeros((N_ROWS, N_ROWS), np.float32),
        "is_signed": False,
        "out_similarity": np.zeros((N_ROWS, 2)),
        "out_docs": np.zeros((N_ROWS, 2), I64),
    }
    index.top_similar(**right)
    for key, wrong in {
        "indices": np.full(len(rows["indices"]), N_COLUMNS, I32),
        "exclude": np.full(N_ROWS, N_ROWS),
        "scores": np.zeros((N_ROWS, N_ROWS - 1), np.float32),
        "out_similarity": np.zeros((N_ROWS, 1)),
        "out_docs": np.zeros((N_ROWS - 1, 2), I64),
    }.items():
        with pytest.raises(ValueError, match="expected"):
            index.top_similar(**(right | {key: wrong}))
    for wrong in ({"hot_position": hot[:-1]}, {"hot_position": hot + 1}):
        with pytest.raises(ValueError, match="expected"):
            lib.Postings(**rows, block=block, **wrong)
    with pytest.raises(ValueError, match="block: expected"):
        lib.Postings(**rows, hot_position=hot, block=block[:-1])


def test_merging_checks_offsets_terms_and_places():
    lib = native()
    data, offsets = np.frombuffer(b"abc", np.uint8), np.array([0, 1, 3])
    lib.merge_terms(data, offsets, data, offsets)
    for wrong in (offsets + 1, -offsets, offsets[::-1].copy()):
        with pytest.raises(ValueError, match="left_offset: expected"):
            lib.merge_terms(data, wrong, data, offsets)
    right = {
        "start": np.array([0, 1, 2]),
        "term": np.array([0, 1], I32),
        "tokens": np.ones(2, I64),
        "documents": np.ones(2, I64),
        "place": np.arange(2),
        "row": np.arange(2),
    }
    lib.Counts(**right)
    for key, wrong in {
        "start": np.array([0, 5, 2]),
        "term": np.array([0, 2], I32),
        "tokens": np.ones(1, I64),
        "documents": np.ones(3, I64),
        "place": np.arange(1),
        "row": np.array([0, 2]),
    }.items():
        with pytest.raises(ValueError, match="expected"):
            lib.Counts(**(right | {key: wrong}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": np.zeros((1, 2))},
        {"weights": np.zeros((2, 3))},
        {"bias": np.zeros(1)},
        {"idf": np.ones(1)},
    ],
)
def test_weights_of_another_shape_are_refused(wrong):
    known = KnownTerms(WordCounter(), ["be", "to"])
    arguments = {"weights": np.zeros((2, 2)), "bias": np.zeros(2)}
    with pytest.raises(ValueError, match="expected"):
        known.score(["to be"], **(arguments | wrong))


@pytest.mark.parametrize("ngram_range", [(0, 1), (1, 0), (2, 1), (0, 0)])
def test_ngrams_that_cannot_be_are_refused(ngram_range):
    known = KnownTerms(WordCounter(ngram_range=ngram_range), ["be", "to"])
    with pytest.raises(ValueError, match="min_n"):
        known.transform(["to be"])


def test_very_long_ngrams_and_very_many_threads_cost_nothing():
    texts = ["to be or not to be"] * 3
    for parameters in ({"ngram_range": (1, 2**31)}, {"n_jobs": 2**31}):
        counter = WordCounter(**parameters)
        assert counter.fit_transform(texts).shape[0] == 3
    chars = WordCounter(analyzer="char", ngram_range=(1, 2**40))
    assert chars.fit_transform(["abc"]).shape == (1, 6)


def test_labels_beyond_the_classes_are_refused():
    lib = native()
    texts = lib.Texts(True)
    texts.add_list(["a b", "c d"])
    scan = lib.Scan(0, 1, 1, 1)
    for y in ([0], [0, 2], [0, -1], [0, 1, 1]):
        with pytest.raises(ValueError, match="y: expected"):
            lib.ClassSums(texts, np.array(y), 2, scan, [], 1)


def test_text_beyond_ascii_waits_for_the_tables():
    script = (
        "from earmark.kernels.backend import native; lib = native();"
        "texts = lib.Texts(True); texts.add_list(['é'])\n"
        "try: lib.CountedTerms(texts, lib.Scan(0, 1, 1, 1), [], 1)\n"
        "except ValueError as error: print(error)"
    )
    command = [sys.executable, "-c", script]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Unicode tables" in answer.stdout


def test_a_list_that_changes_while_it_is_read_is_harmless():
    texts = ["to be or not to be"] * 200
    counter = WordCounter().fit(texts)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            texts.extend(["and more words to read"] * 500)
            del texts[200:]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            rows = counter.transform(texts).shape[0]
            assert rows >= 200
    finally:
        stop.set()
        thread.join()
