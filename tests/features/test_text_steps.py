"""Normalisation, analyzers, stop words, regions, scripts."""

import pytest
from sklearn.feature_extraction import text as sklearn_text

from earmark.features.tokens import (
    make_preprocessor,
    stop_word_set,
    unspaced_share,
    words_of_least_length,
)
from earmark.inputs.regions import split_reply, split_title


@pytest.mark.parametrize("text", ["", "plain", "Café №5 ﬁ ½", "e\u0301", "Σ\ud800"])
def test_accents_go_as_in_scikit_learn(text):
    for name in ("unicode", "ascii"):
        strip = getattr(sklearn_text, f"strip_accents_{name}")
        assert make_preprocessor(lowercase=False, strip_accents=name)(text) == strip(
            text
        )
        assert make_preprocessor(lowercase=True, strip_accents=name)("É") == "e"


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        (r"(?u)\b\w\w+\b", 2),
        (r"\b\w\w\w+\b", 3),
        (r"\w+", 1),
        (r"(?u)\w\w+", 2),
        (r"\b\w+", 1),
        (r"\w", None),
        (r"\w+|x", None),
        (r"\S+", None),
        (r"(\w+)", None),
        (r"\W\w+", None),
    ],
)
def test_patterns_that_mean_runs_of_letters_are_recognised(pattern, least):
    assert words_of_least_length(pattern) == least


def test_stop_words_by_name_or_by_list():
    assert stop_word_set("english") == sklearn_text.ENGLISH_STOP_WORDS
    assert stop_word_set(None) is None
    assert stop_word_set(("a", "b")) == {"a", "b"}
    with pytest.raises(ValueError, match="got 'deutsch'; give the words themselves"):
        stop_word_set("deutsch")


@pytest.mark.parametrize(
    ("body", "own", "quoted", "signature"),
    [
        ("only mine", "only mine", "", ""),
        ("> a\n> b\nmine", "mine", "> a\n> b", ""),
        ("In <1@x> ann@x.org writes:\n|a\nJB> b\nno", "no", None, ""),
        ("mine\n--\nBob\nPhone", "mine", "", "Bob\nPhone"),
        ("", "", "", ""),
    ],
)
def test_replies_are_split(body, own, quoted, signature):
    regions = split_reply(body)
    assert regions["own"] == own
    assert regions["signature"] == signature
    if quoted is None:
        quoted = body.rsplit("\n", 1)[0]
    assert regions["quoted"] == quoted


def test_first_line_is_the_title():
    assert split_title(" A \n\n b\nc ") == {"title": "A", "body": "b\nc"}
    assert split_title("") == {"title": "", "body": ""}


@pytest.mark.parametrize(
    ("text", "is_unspaced"),
    [
        ("plain English words", False),
        ("naïve café Größe привет мир ελληνικά", False),
        ("한국어는 띄어쓰기를 합니다", False),
        ("ภาษาไทยเขียนติดกัน", True),
        ("中文没有空格", True),
        ("日本語のテキストは空白なしで書きます with English", True),
        ("long English sentence with 東京 in it", False),
    ],
)
def test_scripts_without_spaces_are_recognised(text, is_unspaced):
    assert (unspaced_share([text] * 60) >= 0.5) == is_unspaced
    assert unspaced_share([text]) == 0.0  # too little to tell
