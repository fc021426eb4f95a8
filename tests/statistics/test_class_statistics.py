"""ClassStatistics: a commutative group of exact sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from earmark.exceptions import DataError
from earmark.statistics import ClassMoments, ClassStatistics


def random_counts(rng, n_samples=30, n_features=12, n_classes=3):
    X = rng.poisson(0.6, (n_samples, n_features))
    y = rng.integers(0, n_classes, n_samples)
    return X, y


def test_sums_match_hand_calculation():
    X = np.array([[1, 0, 2], [0, 1, 1], [3, 0, 0]])
    s = ClassStatistics(["a", "b"], 3).add(X, ["b", "a", "b"])
    assert s.docs.tolist() == [1, 2]
    assert s.tokens.toarray().tolist() == [[0, 1, 1], [4, 0, 2]]
    assert s.presence.toarray().tolist() == [[0, 1, 1], [2, 0, 1]]
    assert s.document_frequency().tolist() == [2, 1, 2]
    assert s.is_exact


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_parts=st.integers(1, 6))
def test_any_order_and_batching_gives_the_same_sums(seed, n_parts):
    rng = np.random.default_rng(seed)
    X, y = random_counts(rng)
    whole = ClassStatistics([0, 1, 2], 12).add(X, y)
    parts = np.array_split(rng.permutation(len(y)), n_parts)
    grown = ClassStatistics([0, 1, 2], 12)
    merged = ClassStatistics([0, 1, 2], 12)
    for part in parts:
        grown.add(sparse.csr_matrix(X[part]), y[part])
        merged.merge(ClassStatistics([0, 1, 2], 12).add(X[part], y[part]))
    assert grown == whole
    assert merged == whole


def test_forgetting_restores_the_statistics(rng):
    X, y = random_counts(rng)
    before = ClassStatistics([0, 1, 2], 12).add(X[:20], y[:20])
    after = before.copy().add(X[20:], y[20:]).remove(X[20:], y[20:])
    assert after == before
    assert after.tokens.nnz == before.tokens.nnz


def test_forgetting_too_much_is_an_error_and_changes_nothing(rng):
    X, y = random_counts(rng)
    statistics = ClassStatistics([0, 1, 2], 12).add(X[:5], y[:5])
    before = statistics.copy()
    with pytest.raises(DataError, match="more than was learned"):
        statistics.remove(X, y)
    assert statistics == before


def test_unknown_label_names_the_row_and_changes_nothing():
    statistics = ClassStatistics(["a", "b"], 1).add([[1]], ["a"])
    before = statistics.copy()
    with pytest.raises(DataError, match=r"label 'c' in row 1 is not one of"):
        statistics.add([[1], [1]], ["a", "c"])
    assert statistics == before


def test_shards_with_different_terms_and_classes_merge_by_name():
    left = ClassStatistics(["a"], terms=["apple", "pear"]).add([[1, 2]], ["a"])
    right = ClassStatistics(["b"], terms=["fig", "pear"]).add([[5, 1]], ["b"])
    both = left.copy().merge(right)
    assert both.terms.tolist() == ["apple", "fig", "pear"]
    assert both.tokens.toarray().tolist() == [[1, 0, 2], [0, 5, 1]]
    assert both == right.copy().merge(left)


def test_subtracting_a_shard_drops_terms_that_no_document_holds():
    base = ClassStatistics(["a"], terms=["apple", "pear"]).add([[1, 2]], ["a"])
    extra = ClassStatistics(["a"], terms=["fig", "pear"]).add([[5, 1]], ["a"])
    assert base.copy().merge(extra).subtract(extra) == base


def test_counts_beyond_32_bits_stay_exact():
    big = np.int32(2**31 - 1)
    X = sparse.csr_matrix(np.array([[big], [big], [big]], dtype=np.int32))
    total = ClassStatistics([0], 1).add(X, [0, 0, 0]).tokens.toarray()[0, 0]
    assert total == 3 * (2**31 - 1)


def test_weights_equal_repeated_documents(rng):
    X, y = random_counts(rng)
    weight = rng.integers(0, 4, len(y))
    weighted = ClassStatistics([0, 1, 2], 12).add(X, y, weight)
    repeated = ClassStatistics([0, 1, 2], 12).add(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert weighted == repeated


def test_duplicate_and_zero_entries_count_once_summed():
    messy = sparse.csr_matrix(
        (np.array([1, 2, 0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2)
    )
    statistics = ClassStatistics([0], 2).add(messy, [0])
    assert statistics.tokens.toarray().tolist() == [[0, 3]]
    assert statistics.presence.toarray().tolist() == [[0, 1]]
    assert messy.nnz == 3


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        ([[-1]], [0], None, "Negative values"),
        ([[np.nan]], [0], None, "NaN"),
        ([[1, 2]], [0], None, "must have 1 columns"),
        ([[1]], [0, 0], None, "one label for each"),
        ([[1]], [0], [-1.0], ">= 0"),
        ([[1]], [0], [1.0, 2.0], "one weight for each"),
    ],
)
def test_bad_input_is_named(X, y, weight, message):
    with pytest.raises(DataError, match=message):
        ClassStatistics([0], 1).add(X, y, weight)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_moments_merge_and_forget_as_numpy_computes_them(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(1e6, 3.0, (25, 4))
    y = np.arange(25) % 2
    moments = ClassMoments([0, 1], 4)
    for part in np.array_split(rng.permutation(25), 4):
        moments.add(X[part], y[part])
    for c in (0, 1):
        np.testing.assert_allclose(moments.mean[c], X[y == c].mean(axis=0), rtol=1e-13)
        spread = moments.squares[c] / moments.docs[c]
        np.testing.assert_allclose(spread, X[y == c].var(axis=0), rtol=1e-8)
    moments.remove(X[20:], y[20:])
    rest, label = X[:20], y[:20]
    np.testing.assert_allclose(
        moments.mean[0], rest[label == 0].mean(axis=0), rtol=1e-12
    )
    _, mean, squares = moments.overall()
    np.testing.assert_allclose(mean, rest.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(squares / 20, rest.var(axis=0), rtol=1e-7)


def test_sums_that_int64_cannot_hold_are_refused():
    with pytest.raises(DataError, match="column 1 add up to"):
        ClassStatistics(["a"], 2).add([[1, 2**63 - 1], [0, 2**63 - 1]], ["a", "a"])
    most = 2**61
    statistics = ClassStatistics(["a", "b"], 2)
    with pytest.raises(DataError, match="column 1 add up to"):
        statistics.add([[1, most], [0, most]], ["a", "a"])
    statistics.add([[1, most]], ["a"]).add([[1, most]], ["b"])
    with pytest.raises(DataError, match="column 1 add up to"):
        statistics.add([[0, most]], ["a"])
    with pytest.raises(DataError, match="the term 'to' add up to"):
        ClassStatistics(["a"], terms=["be", "to"]).add([[0, 2**61]], ["a"], [2])
    assert statistics.tokens.toarray().tolist() == [[1, most], [1, most]]


def test_merged_sums_that_int64_cannot_hold_are_refused():
    counts = [[2**61, 1]]
    left, right = (ClassStatistics(["a"], 2).add(counts, ["a"]) for _ in range(2))
    with pytest.raises(DataError, match="column 0 add up to"):
        left.merge(right)
    assert left == right


words = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8).map(sorted)


@settings(max_examples=60, deadline=None)
@given(left=words, right=words, data=st.data())
def test_merging_vocabularies_by_search_equals_counting_by_name(left, right, data):
    shards = []
    for terms in (left, right):
        counts = [[data.draw(st.integers(1, 3)) for _ in terms]]
        label = data.draw(st.sampled_from(["x", "y"]))
        shards.append(
            ClassStatistics(["x", "y"], terms=terms).add(
                sparse.csr_array(np.array(counts).reshape(1, len(terms))), [label]
            )
        )
    both = shards[0].copy().merge(shards[1])
    assert both.terms.tolist() == sorted({*left, *right})
    for term, column in zip(both.terms, both.tokens.toarray().T, strict=True):
        expected = np.zeros(2, dtype=int)
        for shard in shards:
            if term in shard.terms:
                place = shard.terms.tolist().index(term)
                expected += shard.tokens.toarray()[:, place]
        assert column.tolist() == expected.tolist()
    assert both.subtract(shards[1]) == shards[0]


def test_terms_that_are_not_sorted_are_refused():
    with pytest.raises(DataError, match="sorted and distinct"):
        ClassStatistics(["a"], terms=["to", "be"])
    with pytest.raises(DataError, match="sorted and distinct"):
        ClassStatistics(["a"], terms=["be", "be"])
