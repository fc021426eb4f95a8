"""Text in scripts without spaces, as a newcomer gives it: without any setting."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.svm import LinearSVC

import earmark
from earmark import TextClassifier

GOOD = [
    "\u8fd9\u4e2a\u4ea7\u54c1\u975e\u5e38\u597d",
    "\u8d28\u91cf\u4e0d\u9519\u63a8\u8350\u8d2d\u4e70",
]
BAD = [
    "\u8fd9\u4e2a\u592a\u5dee\u4e86\u9000\u8d27",
    "\u8d28\u91cf\u5f88\u5dee\u5931\u671b",
]
TEXTS, LABELS = (GOOD + BAD) * 6, ["good", "good", "bad", "bad"] * 6


@pytest.mark.parametrize("model", ["multinomial", LinearSVC(random_state=0), "auto"])
def test_chinese_is_learned_by_characters_without_a_setting(model, tmp_path):
    classifier = TextClassifier(model).fit(TEXTS, LABELS)
    assert "characters and pairs" in classifier.summary()
    phrase = "\u4ea7\u54c1\u63a8\u8350"  # no training text holds it whole
    terms = {term.term for term in classifier.explain([phrase])[0].terms}
    assert terms >= {"\u63a8", "\u63a8\u8350"}
    assert classifier.predict([phrase]).tolist() == ["good"]
    classifier.save(tmp_path / "m.earmark")
    twin = earmark.load(tmp_path / "m.earmark")
    assert_array_equal(twin.predict_proba(TEXTS), classifier.predict_proba(TEXTS))


def test_what_the_user_sets_is_kept():
    with pytest.warns(earmark.exceptions.EarmarkWarning, match="without spaces"):
        model = TextClassifier(LinearSVC(random_state=0), features={}).fit(
            TEXTS, LABELS
        )
    assert "characters" not in model.summary()


def test_documents_one_by_one_are_counted_by_characters_too():
    model = TextClassifier("multinomial").partial_fit(TEXTS, LABELS)
    whole = TextClassifier("multinomial").fit(TEXTS, LABELS)
    assert_array_equal(model.predict_proba(GOOD), whole.predict_proba(GOOD))
