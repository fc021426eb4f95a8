"""TextClassifier with regions and the hybrid: columns, mail, functions, options."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.svm import LinearSVC

import earmark
from earmark import TextClassifier
from earmark.exceptions import DataError, EarmarkWarning
from earmark.features.columns import make_counter
from earmark.models import HybridBayes

WORDS = {"sport": "goal ball team match", "trade": "price stock market shares"}


def mails(rng, n=60):
    """Raw mails whose subject is telling and whose body is less so."""
    labels = rng.permutation(list(WORDS) * (n // 2))
    texts = []
    for label in labels:
        other = "trade" if label == "sport" else "sport"
        subject = rng.choice(WORDS[label].split())
        body = rng.choice(WORDS[label].split(), 6).tolist()
        body += rng.choice(WORDS[other].split(), 5).tolist()
        texts.append(f"From: a@b.org\nSubject: {subject}\n\n{' '.join(body)} 42")
    return texts, labels


def columns(texts):
    parts = [text.split("\n\n") for text in texts]
    subject = [head.split("Subject: ")[1] for head, _ in parts]
    return {"subject": subject, "body": [body for _, body in parts]}


def halves(text):
    head, body = text.split("\n\n")
    return {"subject": head.split("Subject: ")[1], "body": body}


def test_columns_mail_and_function_give_the_same_hybrid(rng):
    texts, y = mails(rng)
    by_mail = TextClassifier("hybrid", regions="email").fit(texts, y)
    by_function = TextClassifier("hybrid", regions=halves).fit(texts, y)
    frame = pd.DataFrame(columns(texts))
    by_column = TextClassifier("hybrid", regions=["subject", "body"]).fit(frame, y)
    expected = by_mail.predict_proba(texts)
    np.testing.assert_allclose(by_function.predict_proba(texts), expected, rtol=1e-12)
    np.testing.assert_allclose(by_column.predict_proba(frame), expected, rtol=1e-12)


@pytest.mark.parametrize("vocabulary", ["per_region", "shared"])
def test_evidence_by_word_and_region_adds_up(vocabulary, rng):
    texts, y = mails(rng)
    model = HybridBayes(vocabulary=vocabulary)
    classifier = TextClassifier(model, regions="email").fit(texts, y)
    margin = np.abs(classifier.decision_function(texts))
    for text, gap, found in zip(texts, margin, classifier.explain(texts), strict=True):
        total = sum(t.contribution for t in found.terms) + sum(found.constants.values())
        assert total == pytest.approx(found.score, rel=1e-9)
        assert found.score == pytest.approx(gap, rel=1e-9)
        said = {(t.region, t.term) for t in found.terms}
        assert ("subject", halves(text)["subject"]) in said
        assert ("body", "42") in said


def test_hybrid_estimators_are_fed_counts(rng):
    texts, y = mails(rng)
    named = TextClassifier("hybrid", regions="email").fit(texts, y)
    given = TextClassifier(HybridBayes(), regions="email").fit(texts, y)
    assert_array_equal(given.predict_proba(texts), named.predict_proba(texts))


def test_summary_says_what_a_word_of_each_region_counts(rng):
    texts, y = mails(rng)
    summary = TextClassifier("hybrid", regions="email").fit(texts, y).summary()
    assert "a word in subject counts" in summary


def test_missing_cells_and_regions_are_scored_on_what_is_there(rng):
    texts, y = mails(rng)
    data = columns(texts)
    data["subject"][::3] = [None] * len(data["subject"][::3])
    classifier = TextClassifier("hybrid").fit(data, y)
    assert classifier.predict({"subject": ["goal"], "body": [None]})[0] == "sport"
    with pytest.warns(EarmarkWarning, match=r"X lacks the column\(s\) \['subject'\]"):
        assert classifier.predict({"body": ["stock price price"]})[0] == "trade"


def test_a_region_without_any_text_is_left_out(rng):
    texts, y = mails(rng)
    data = columns(texts)
    data["notes"] = [""] * len(y)
    classifier = TextClassifier("hybrid").fit(data, y)
    without = TextClassifier("hybrid").fit(columns(texts), y)
    found = classifier.predict_proba(data)
    assert_array_equal(found, without.predict_proba(columns(texts)))
    assert "a word in subject counts" in classifier.summary()


@pytest.mark.parametrize("name", ["hybrid", "multinomial"])
def test_text_options_are_saved_by_name(name, rng, tmp_path):
    texts, y = mails(rng)
    features = {"substitutions": ("number", "address"), "stemmer": "english"}
    model = TextClassifier(name, regions="email", features=features).fit(texts, y)
    terms = {t.term for t in model.explain(texts[:1])[0].terms}
    assert "NUMBER" in terms
    assert "42" not in terms
    assert "shares" not in terms
    model.save(tmp_path / "m.earmark")
    twin = earmark.load(tmp_path / "m.earmark")
    assert_array_equal(twin.predict_proba(texts), model.predict_proba(texts))
    model.save(tmp_path / "again.earmark")
    assert (tmp_path / "again.earmark").read_bytes() == (
        tmp_path / "m.earmark"
    ).read_bytes()


def test_a_preprocessor_and_named_steps_exclude_each_other():
    with pytest.raises(ValueError, match="both a preprocessor and"):
        make_counter({"stemmer": "english", "preprocessor": str.lower}, None)


@pytest.mark.parametrize("name", ["multinomial", "hybrid", LinearSVC(random_state=0)])
def test_documents_in_other_columns_than_in_fitting_are_refused(name, rng):
    texts, y = mails(rng)
    regional = TextClassifier(name).fit(columns(texts), y)
    with pytest.raises(DataError, match=r"expected the columns .* got plain texts"):
        regional.predict(texts)
    with pytest.raises(DataError, match=r"got \['titel'\]; .* '' where"):
        regional.explain({"titel": texts})
    with pytest.raises(DataError, match=r"expected plain texts .* the column that"):
        TextClassifier(name).fit(texts, y).predict({"a": texts, "b": texts})


def test_plain_texts_and_one_column_are_the_same(rng):
    texts, y = mails(rng)
    plain = TextClassifier("multinomial").fit(texts, y)
    framed = TextClassifier("multinomial").fit(pd.DataFrame({"text": texts}), y)
    named = TextClassifier("multinomial").fit({"body": texts}, y)
    expected = plain.predict_proba(texts)
    assert_array_equal(plain.predict_proba({"text": texts}), expected)
    assert_array_equal(framed.predict_proba(texts), expected)
    assert_array_equal(named.predict_proba(texts), expected)


@pytest.mark.parametrize("where", ["unlabelled", "calibration", "validation"])
def test_further_documents_must_have_the_columns_of_the_first(where, rng):
    texts, y = mails(rng)
    more = texts if where == "unlabelled" else (texts, y)
    with pytest.raises(DataError, match=f"{where}.*: expected the columns"):
        TextClassifier("multinomial").fit(columns(texts), y, **{where: more})


def test_a_pool_without_one_of_the_columns_is_used_with_the_others(rng):
    texts, y = mails(rng)
    data = columns(texts)
    pool = {"body": data["body"]}
    with pytest.warns(EarmarkWarning, match="unlabelled lacks the column"):
        model = TextClassifier("multinomial").fit(data, y, unlabelled=pool)
    assert f"{len(texts)} unlabelled documents" in model.summary()


def test_a_model_that_is_none_is_refused_by_name():
    with pytest.raises(TypeError, match="a model name or a scikit-learn classifier"):
        TextClassifier(3).fit(["a cat", "a car"], ["x", "y"])


@pytest.mark.parametrize("wrong", [{"max_error": 1}, {"max_error": 0}, {"level": 1}])
def test_an_error_rate_that_promises_nothing_is_refused_in_fitting(wrong):
    with pytest.raises(ValueError, match="must be in"):
        TextClassifier("multinomial", **wrong).fit(["a cat", "a car"], ["x", "y"])


@pytest.mark.parametrize("model", ["auto", "softmax", "knn", "rocchio", "complement"])
def test_a_region_without_a_word_does_no_harm(model):
    y = ["a", "b"] * 6
    bodies = ["good film", "bad day"] * 6
    fitted = TextClassifier(model, random_state=0).fit(
        {"subject": [""] * 12, "body": bodies}, y
    )
    assert fitted.predict({"subject": ["hm"], "body": ["bad"]}).tolist() == ["b"]
