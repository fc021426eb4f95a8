"""TextPreparation: named steps before words are counted."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from earmark.features import WordCounter, preparation
from earmark.features.analysis import Analysis
from earmark.features.preparation import TextPreparation
from earmark.kernels.backend import native

TEXTS = ["The number of runners: 12", "Running late, mail bob@x.org by 10:30", "was it"]


def test_tokens_stand_apart_from_the_words_they_look_like():
    counter = WordCounter(
        preprocessor=TextPreparation(substitutions=("number", "address")),
        lowercase=False,
    ).fit(TEXTS)
    names = set(counter.get_feature_names_out())
    assert {"NUMBER", "number", "EMAILADDR"} <= names
    assert not {"12", "bob", "10", "30"} & names


def test_stems_are_those_of_the_stemmer_and_tokens_stay():
    step = TextPreparation(substitutions="number", stemmer="english")
    assert step("Running 12 runners") == "run NUMBER runner"


def test_stop_words_are_not_stemmed_so_that_they_are_still_known():
    step = TextPreparation(stemmer="porter", stop_words="english")
    assert step("was because running") == "was because run"
    assert TextPreparation(stemmer="porter")("was because") == "wa becaus"


def test_kernel_and_plain_path_count_alike():
    step = TextPreparation(
        substitutions=("number",), stemmer="english", strip_accents="unicode"
    )
    fast = WordCounter(preprocessor=step, lowercase=False)
    plain = WordCounter(preprocessor=lambda t: step(t), lowercase=False)
    assert (Analysis(fast).scan is None) == (native() is None)
    assert Analysis(plain).scan is None
    assert_array_equal(
        fast.fit_transform(TEXTS).toarray(), plain.fit_transform(TEXTS).toarray()
    )
    assert_array_equal(fast.get_feature_names_out(), plain.get_feature_names_out())


def test_copies_and_pickles_do_the_same():
    step = TextPreparation(stemmer="english")
    expected = step(TEXTS[0])
    for twin in (clone(step), pickle.loads(pickle.dumps(step))):
        assert twin(TEXTS[0]) == expected
    assert step.set_params(stemmer=None)("Running") == "running"


def test_threads_share_a_step_and_get_the_same_stems():
    step = TextPreparation(stemmer="english")
    texts = [f"running{i} dogs barked loudly {i}" for i in range(300)]
    expected = [TextPreparation(stemmer="english")(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(step, texts)) == expected


def test_remembered_stems_are_bounded_and_change_nothing(monkeypatch):
    monkeypatch.setattr(preparation, "_MOST_KNOWN", 2)
    step = TextPreparation(stemmer="english")
    assert step("running dogs barked") == "run dog bark"
    assert step("barked running dogs") == "bark run dog"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"substitutions": ("date",)}, "substitutions must be among address, number"),
        ({"stemmer": "klingon"}, "stemmer must be one of .*'klingon'"),
    ],
)
def test_unknown_names_are_listed(options, message):
    with pytest.raises(ValueError, match=message):
        TextPreparation(**options)("text")
