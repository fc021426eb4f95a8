"""WordCounter beyond equality: growing, given vocabularies, messages, files."""

import io
import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError
from earmark.features import WordCounter

TEXTS = ["to be or not to be", "that is the question", "to die: to sleep", "no more"]


def fitted_by(counter, sizes):
    start = 0
    for size in sizes:
        counter.partial_fit(TEXTS[start : start + size])
        start += size
    return counter


# -- growing the vocabulary ----------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"ngram_range": (1, 2), "stop_words": ["to"]},
        {"min_df": 2},
        {"max_df": 0.5, "binary": True},
        {"max_features": 3},
        {"max_features": 4, "dtype": np.float32},
        {"token_pattern": r"[a-z]+"},
    ],
)
@pytest.mark.parametrize("sizes", [(4,), (1, 3), (1, 1, 1, 1)])
def test_growing_in_parts_equals_fitting_at_once(parameters, sizes):
    at_once = WordCounter(**parameters).fit(TEXTS)
    in_parts = fitted_by(WordCounter(**parameters), sizes)
    assert in_parts.vocabulary_ == at_once.vocabulary_
    left, right = in_parts.transform(TEXTS), at_once.transform(TEXTS)
    assert (left != right).nnz == 0


def test_fit_forgets_what_partial_fit_learned():
    counter = fitted_by(WordCounter(min_df=1, max_features=50), (2, 2))
    assert counter.fit(["other words"]).vocabulary_ == {"other": 0, "words": 1}
    assert not hasattr(counter, "seen_terms_")


def test_pruning_may_leave_nothing_at_first():
    counter = WordCounter(min_df=2).partial_fit(TEXTS[:1])
    with pytest.raises(DataError, match="give more documents to partial_fit"):
        counter.transform(TEXTS)
    assert counter.partial_fit(TEXTS[1:]).vocabulary_ == {"to": 0}


def test_growing_after_a_plain_fit_adds_terms():
    counter = WordCounter().fit(TEXTS[:2]).partial_fit(TEXTS[2:])
    assert counter.vocabulary_ == WordCounter().fit(TEXTS).vocabulary_


def test_growing_after_a_pruned_fit_is_refused():
    counter = WordCounter(min_df=2).fit(TEXTS)
    with pytest.raises(NotSupportedError, match="use partial_fit from the first"):
        counter.partial_fit(TEXTS)


# -- given vocabularies --------------------------------------------------------


@pytest.mark.parametrize(
    "vocabulary",
    [
        ["to", "be", "sleep"],
        {"be", "to", "to sleep"},
        {"sleep": 0, "be": 2, "to be": 1},
        ("to", "", "a  b", "to be or", "not to"),
    ],
)
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 3)])
def test_given_vocabulary_counts_as_scikit_learn(vocabulary, ngram_range):
    parameters = {"vocabulary": vocabulary, "ngram_range": ngram_range}
    theirs, ours = CountVectorizer(**parameters), WordCounter(**parameters)
    expected = theirs.fit_transform(TEXTS)
    for counts in (ours.transform(TEXTS), ours.fit_transform(TEXTS)):
        assert_array_equal(counts.indices, expected.indices)
        assert_array_equal(counts.toarray(), expected.toarray())
    assert ours.fixed_vocabulary_
    assert ours.vocabulary_ == theirs.vocabulary_


def test_stop_words_break_no_ngram_of_a_given_vocabulary():
    parameters = {
        "vocabulary": ["be not", "to", "be"],
        "stop_words": ["or", "to"],
        "ngram_range": (1, 2),
    }
    expected = CountVectorizer(**parameters).transform(TEXTS).toarray()
    assert_array_equal(WordCounter(**parameters).transform(TEXTS).toarray(), expected)


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        (["a", "b", "a"], "Duplicate term in vocabulary: 'a'"),
        ({"a": 0, "b": 0}, "repeated indices"),
        ({"a": 0, "b": 2}, "size 2 doesn't contain index 1"),
        ([], "empty vocabulary"),
        ("abc", "single string"),
        ([1, 2], "terms must be str"),
    ],
)
def test_bad_vocabularies_are_refused(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        WordCounter(vocabulary=vocabulary).fit(TEXTS)


def test_upper_case_in_a_given_vocabulary_is_told():
    with pytest.warns(EarmarkWarning, match="Upper case characters"):
        WordCounter(vocabulary=["To", "be"]).fit(TEXTS)


def test_vocabulary_and_parameters_set_later_are_used():
    counter = WordCounter().fit(TEXTS)
    counter.transform(TEXTS)
    counter.vocabulary_ = {"be": 0}
    assert counter.transform(TEXTS).toarray().tolist() == [[2], [0], [0], [0]]
    counter.set_params(lowercase=False)
    assert counter.transform(["BE be"]).toarray().tolist() == [[1]]


# -- results -------------------------------------------------------------------


def test_terms_of_each_document_come_back():
    counter = WordCounter()
    X = counter.fit_transform(TEXTS)
    for rows in (X, sparse.csr_array(X), X.toarray()):
        terms = counter.inverse_transform(rows)
        assert [sorted(t) for t in terms] == [
            sorted(set(counter.build_analyzer()(text))) for text in TEXTS
        ]


def test_names_are_in_the_order_of_the_columns():
    counter = WordCounter(vocabulary={"b": 1, "a": 2, "c": 0})
    assert counter.get_feature_names_out().tolist() == ["c", "b", "a"]
    assert counter.get_feature_names_out().dtype == object


@pytest.mark.skipif(
    "sparse_interface" not in sklearn.get_config(), reason="scikit-learn < 1.9"
)
def test_sparse_arrays_are_returned_when_configured():
    with sklearn.config_context(sparse_interface="sparray"):
        assert isinstance(WordCounter().fit_transform(TEXTS), sparse.csr_array)
    assert isinstance(WordCounter().fit_transform(TEXTS), sparse.csr_matrix)


def test_look_up_table_is_not_pickled():
    counter = WordCounter().fit(TEXTS)
    counter.transform(TEXTS)
    assert "_table" in vars(counter)
    assert "_table" not in vars(pickle.loads(pickle.dumps(counter)))


@pytest.mark.parametrize("limit", range(1, 12))
def test_ties_at_max_features_fall_as_scikit_learn_s(limit):
    texts = ["b c a d", "d e f g h", "h i j k a", "l m n o p q r s t u v w x y z"]
    parameters = {"max_features": limit, "token_pattern": r"(?u)\b\w+\b"}
    theirs = CountVectorizer(**parameters).fit(texts)
    assert WordCounter(**parameters).fit(texts).vocabulary_ == theirs.vocabulary_


# -- own callables -------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"analyzer": lambda document: document.split("o")},
        {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2)},
        {"preprocessor": lambda document: document[::-1]},
        {"strip_accents": lambda document: document.replace("e", "")},
        {"token_pattern": r"(\w)\w*", "stop_words": ["t"]},
    ],
)
def test_own_steps_give_what_scikit_learn_gives(parameters):
    theirs, ours = CountVectorizer(**parameters), WordCounter(**parameters)
    expected = theirs.fit_transform(TEXTS)
    got = ours.fit_transform(TEXTS)
    assert_array_equal(got.toarray(), expected.toarray())
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.build_analyzer()(TEXTS[0]) == theirs.build_analyzer()(TEXTS[0])


def test_documents_that_are_token_lists_need_an_analyzer():
    lists = [["a", "b", "a"], ["c"]]
    counter = WordCounter(analyzer=lambda tokens: tokens)
    assert counter.fit_transform(lists).toarray().tolist() == [[2, 1, 0], [0, 0, 1]]
    with pytest.raises(DataError, match=r"document 0: expected a str, got list"):
        WordCounter().fit(lists)


# -- files ---------------------------------------------------------------------


def test_files_are_read_and_decoded(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_bytes("naïve café".encode("latin-1"))
    paths[1].write_bytes(b"plain")
    expected = ["café", "naïve", "plain"]
    by_name = WordCounter(input="filename", encoding="latin-1").fit(map(str, paths))
    assert by_name.get_feature_names_out().tolist() == expected
    opened = [io.BytesIO(path.read_bytes()) for path in paths]
    by_file = WordCounter(input="file", encoding="latin-1").fit(opened)
    assert by_file.get_feature_names_out().tolist() == expected


def test_bytes_in_another_encoding_name_the_row(tmp_path):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("fine words")
    bad.write_bytes(b"caf\xe9 words")
    with pytest.raises(DataError, match=r"document 1: .*utf-8.* set encoding"):
        WordCounter(input="filename").fit([good, bad])
    counter = WordCounter(input="filename", decode_error="replace").fit([good, bad])
    assert "caf" in counter.vocabulary_


def test_missing_file_names_the_row(tmp_path):
    with pytest.raises(DataError, match=r"document 0: .*No such file"):
        WordCounter(input="filename").fit([tmp_path / "absent"])


# -- messages ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"analyzer": "syllable"}, "analyzer must be one of 'word', 'char', 'char_wb'"),
        ({"input": "url"}, "input must be one of"),
        ({"decode_error": "guess"}, "decode_error must be one of"),
        ({"ngram_range": (2, 1)}, "ngram_range must be .least, most."),
        ({"ngram_range": (0, 1)}, "ngram_range must be .least, most."),
        ({"strip_accents": "all"}, "strip_accents must be 'ascii', 'unicode'"),
        ({"stop_words": "klingon"}, "stop_words must be 'english', a list"),
        ({"min_df": 0}, "min_df must be >= 1"),
        ({"max_df": 1.5}, r"max_df must be in \[0.0, 1.0\]"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"max_features": 0}, "max_features must be >= 1"),
        ({"max_df": 1, "min_df": 3}, "max_df must allow at least as many documents"),
        ({"token_pattern": r"(\w)(\w)"}, "at most 1 capturing group, got 2"),
        ({"token_pattern": None}, "token_pattern must be a pattern"),
        ({"min_df": 4}, "After pruning, no terms remain"),
        ({"stop_words": ["the"], "token_pattern": "the"}, "empty vocabulary"),
    ],
)
def test_messages_name_the_parameter(parameters, message):
    with pytest.raises(ValueError, match=message):
        WordCounter(**parameters).fit(TEXTS)


@pytest.mark.parametrize(
    ("parameters", "unused"),
    [
        ({"tokenizer": str.split}, "token_pattern"),
        ({"analyzer": "char", "stop_words": ["a"]}, "stop_words"),
        ({"analyzer": "char_wb", "token_pattern": "x"}, "token_pattern"),
        ({"analyzer": str.split, "ngram_range": (1, 2)}, "ngram_range"),
        ({"analyzer": str.split, "preprocessor": str.lower}, "preprocessor"),
    ],
)
def test_parameters_without_effect_are_told(parameters, unused):
    with pytest.warns(EarmarkWarning, match=f"WordCounter.{unused} has no effect"):
        WordCounter(**parameters).fit(TEXTS)


def test_stop_words_that_the_analysis_takes_apart_are_told():
    with pytest.warns(EarmarkWarning, match=r"gives \['don'\], which are not"):
        WordCounter(stop_words=["don't"]).fit(TEXTS)


def test_text_without_spaces_is_told():
    texts = ["自然言語処理は楽しいです。" * 3] * 20
    with pytest.warns(EarmarkWarning, match=r"analyzer='char'"):
        WordCounter().fit(texts)
    WordCounter(analyzer="char").fit(texts)


def test_transform_before_fit_is_an_error():
    with pytest.raises(NotFittedError, match="call fit first"):
        WordCounter().transform(TEXTS)
    with pytest.raises(NotFittedError, match="call fit first"):
        WordCounter().get_feature_names_out()
