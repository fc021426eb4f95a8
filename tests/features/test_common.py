"""Every vectorizer passes the text checks, and the checks catch faults."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from earmark.features import HashedCounter, WordCounter
from tests.text_checks import (
    check_text_vectorizer,
    parametrize_with_text_checks,
    text_checks,
)

VECTORIZERS = [
    WordCounter(),
    WordCounter(ngram_range=(1, 2), stop_words=["the"], min_df=1, max_features=20),
    WordCounter(analyzer="char_wb", ngram_range=(2, 3), strip_accents="unicode"),
    WordCounter(token_pattern=r"[a-z]+|\w"),
    HashedCounter(n_features=2**10),
]


@parametrize_with_checks([WordCounter(), HashedCounter()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@parametrize_with_text_checks(VECTORIZERS)
def test_text_contract(vectorizer, check):
    check(vectorizer)


def test_there_are_many_checks_each_with_its_own_name():
    names = check_text_vectorizer(WordCounter())
    assert len(names) == len(set(names)) >= 25
    assert len(list(text_checks(WordCounter()))) == len(names)


class Forgetful(WordCounter):
    """Counts in place of the rows that were asked for."""

    def transform(self, raw_documents):
        return super().transform(list(raw_documents)[::-1])


def test_a_faulty_vectorizer_fails_with_the_names_of_the_checks():
    with pytest.raises(AssertionError, match="check_rows_do_not_depend_on_each_other"):
        check_text_vectorizer(Forgetful())


def test_scikit_learn_s_own_vectorizer_fails_only_where_errors_name_no_row():
    with pytest.raises(AssertionError) as caught:
        check_text_vectorizer(CountVectorizer(dtype=np.float64))
    failed = {line.split(":")[0].strip() for line in str(caught.value).split("\n")[1:]}
    assert "check_none_is_an_error" in failed
    assert "check_fit_transform_equals_fit_then_transform" not in failed
