"""What labels say in words, and which of them say anything."""

import numpy as np
import pytest

from earmark.exceptions import DataError
from earmark.inputs.class_names import ClassNames, label_words, require_named


def knows(*words):
    return lambda texts: np.array([bool({*t.split()} & {*words}) for t in texts])


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("rec.sport.hockey", "rec sport hockey"),
        ("card_payment_fee_charged", "card payment fee charged"),
        ("creditCard", "credit card"),
        ("HTMLPage", "html page"),
        ("money-fx", "money fx"),
        ("Sci/Tech", "sci tech"),
        ("question2", "question"),
        ("other", ""),
        ("C01", ""),
        ("ICD10", ""),
        ("12B", ""),
        ("17", ""),
        (17, ""),
        ("ENTY", "enty"),
    ],
)
def test_words_of_labels(label, words):
    assert label_words(label) == words.split()


def test_own_words_count_if_they_occur_and_codes_are_left_alone():
    names = ClassNames.read("auto")
    labels = ["ENTY", "C01", "rec.autos", "sci.med"]
    telling = names.telling(labels, knows("autos", "sci"), False)
    assert telling == {"rec.autos": ["autos"], "sci.med": ["sci"]}
    assert names.telling(["spam", "x9"], knows("spam"), False) == {}
    assert (
        names.telling(["a", "b", "c", "oil", "tin"], knows("oil", "tin"), False) == {}
    )


def test_an_encoder_knows_what_looks_like_a_word_and_no_abbreviations():
    telling = ClassNames.read("auto").telling(
        ["ENTY", "hockey", "acq", "chess"], knows(), True
    )
    assert telling == {"chess": ["chess"], "hockey": ["hockey"]}


def test_descriptions_need_a_word_that_occurs_or_an_encoder():
    texts = {"a": ["wheat corn", "tonnes"], "b": ["qqq"], "c": ["tin"]}
    names = ClassNames.read(texts)
    assert names.telling((), knows("corn", "tin"), False) == {
        "a": ["wheat corn"],
        "c": ["tin"],
    }
    assert names.telling((), knows(), True) == texts


def test_labels_without_a_description_speak_for_themselves():
    names = ClassNames.read({"a": "corn"}, ["a", "wheat"])
    assert names.labels == ["a", "wheat"]
    assert names.telling((), knows("corn", "wheat"), False) == {
        "a": ["corn"],
        "wheat": ["wheat"],
    }


def test_none_is_silent_and_the_order_is_that_of_the_labels():
    assert ClassNames.read(None, ["corn"]).telling(["oil"], knows("oil"), True) == {}
    known = knows("corn", "oil")
    one = ClassNames.read({"b": "corn", "a": "oil"}).telling((), known, False)
    assert list(one) == ["a", "b"]


@pytest.mark.parametrize("wrong", ["yes", 3, {"a": 4}, {"a": " "}, {"a": []}])
def test_what_is_no_name_is_refused(wrong):
    with pytest.raises((TypeError, DataError), match="class_names"):
        ClassNames.read(wrong)


def test_a_class_without_label_and_name_is_refused():
    require_named(["a", "b"], ["a"], ["b"])
    with pytest.raises(
        DataError, match=r"no labelled document for 'c', .*earmark label"
    ):
        require_named(["a", "c"], ["a"], ["b"])
