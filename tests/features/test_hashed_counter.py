"""HashedCounter = HashingVectorizer, compiled and plain."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import HashingVectorizer

from earmark.exceptions import DataError
from earmark.features import HashedCounter
from earmark.features.word_counter import terms_by_column

TEXTS = [
    "to be or not to be, that is the question",
    "",
    "naïve Straße ΟΔΟΣ İx \U0001d4d0\U0001d4d1 东京",
    "or or or not",
    "w" * 50,
]
PARAMETER_SETS = [
    {},
    {"n_features": 7, "norm": None},
    {"n_features": 64, "alternate_sign": False, "norm": "l1", "dtype": np.float32},
    {"n_features": 2**31 - 1, "ngram_range": (1, 3), "stop_words": ["to", "or"]},
    {"n_features": 50, "analyzer": "char_wb", "ngram_range": (1, 3), "binary": True},
    {"n_features": 1000, "token_pattern": r"\S+", "strip_accents": "unicode"},
]


@pytest.mark.parametrize("parameters", PARAMETER_SETS)
@pytest.mark.parametrize("switch", ["", "1"])
def test_equals_scikit_learn_bit_for_bit(parameters, switch, monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", switch)
    expected = HashingVectorizer(**parameters).transform(TEXTS)
    got = HashedCounter(n_jobs=2, **parameters).transform(TEXTS)
    for part in ("indptr", "indices", "data"):
        left, right = getattr(got, part), getattr(expected, part)
        assert left.dtype == right.dtype
        assert_array_equal(left, right)


def test_terms_that_cancel_leave_a_stored_zero_as_in_scikit_learn():
    texts = [" ".join(f"word{k}" for k in range(300))]
    parameters = {"n_features": 3, "norm": None}
    expected = HashingVectorizer(**parameters).transform(texts)
    got = HashedCounter(**parameters).transform(texts)
    assert_array_equal(got.data, expected.data)


def test_nothing_to_fit_and_nothing_to_forget():
    counter = HashedCounter()
    assert counter.partial_fit(TEXTS) is counter.fit() is counter
    assert [name for name in vars(counter) if name.endswith("_")] == []


def test_messages_name_parameters_and_data():
    with pytest.raises(ValueError, match="n_features must be in"):
        HashedCounter(n_features=0).fit()
    with pytest.raises(ValueError, match="norm must be one of"):
        HashedCounter(norm="max").fit()
    with pytest.raises(DataError, match="no documents"):
        HashedCounter().transform([])


def test_columns_name_the_terms_they_hold():
    names = terms_by_column(HashedCounter(), ["to be or not"])
    assert sorted(names.values()) == ["be", "not", "or", "to"]
    (shared,) = terms_by_column(HashedCounter(n_features=1), ["to be"]).values()
    assert shared == "be | to"
