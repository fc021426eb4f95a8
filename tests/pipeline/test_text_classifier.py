"""TextClassifier: raw text in, decisions, explanations and files out."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import earmark
from earmark import TextClassifier
from earmark.documents import support_corpus
from earmark.exceptions import (
    DataError,
    EarmarkError,
    EarmarkWarning,
    NotSupportedError,
)
from earmark.features import HashedCounter
from earmark.models import (
    HybridBayes,
    MultilayerPerceptron,
    MultinomialNaiveBayes,
    SoftmaxRegression,
)
from earmark.models.base.classifier import class_scores
from earmark.models.base.declaration import MODELS
from earmark.pipeline.files import class_table

WORDS = {
    "sport": [
        "goal",
        "match",
        "team",
        "score",
        "win",
        "player",
        "league",
        "ball",
        "season",
        "coach",
    ],
    "trade": [
        "price",
        "stock",
        "market",
        "share",
        "bank",
        "profit",
        "tax",
        "export",
        "oil",
        "deal",
    ],
    "music": [
        "song",
        "album",
        "band",
        "guitar",
        "chorus",
        "piano",
        "opera",
        "tune",
        "concert",
        "drum",
    ],
}
COMMON = ["the", "a", "of", "and", "to", "in", "is", "was", "for", "with"]


def corpus(rng, n_documents=90, length=12):
    labels = rng.permutation(np.arange(n_documents) % 3)
    names = np.array(sorted(WORDS))[labels]
    texts = []
    for name in names:
        words = rng.choice([*WORDS[name], *COMMON, *COMMON], length)
        texts.append(" ".join(words))
    return texts, names


COUNT_MODELS = {
    "multinomial": MultinomialNB(),
    "bernoulli": BernoulliNB(),
    "complement": ComplementNB(alpha=0.3),
}


@pytest.mark.parametrize("name", COUNT_MODELS)
def test_probabilities_equal_the_scikit_learn_pipeline(name, rng):
    texts, y = corpus(rng)
    test, _ = corpus(rng)
    peer = make_pipeline(CountVectorizer(), COUNT_MODELS[name]).fit(texts, y)
    ours = TextClassifier(name).fit(texts, y)
    assert_allclose(
        ours.predict_log_proba(test), peer.predict_log_proba(test), atol=1e-10
    )
    assert_array_equal(ours.predict(test), peer.predict(test))


@pytest.mark.parametrize("name", MODELS.names())
def test_every_model_learns_explains_and_round_trips(name, rng, tmp_path):
    texts, y = corpus(rng)
    test, truth = corpus(rng)
    model = TextClassifier(name, random_state=0).fit(texts, y)
    assert np.mean(model.predict(test) == truth) > 0.9
    assert_allclose(model.predict_proba(test).sum(axis=1), 1.0)
    path = tmp_path / "model.earmark"
    model.save(path)
    twin = earmark.load(path)
    assert_array_equal(twin.predict_proba(test), model.predict_proba(test))
    twin.save(tmp_path / "again.earmark")
    assert (tmp_path / "again.earmark").read_bytes() == path.read_bytes()
    assert name in model.summary()


@pytest.mark.parametrize(
    "name",
    ["multinomial", "bernoulli", "complement", LinearSVC(random_state=0), "hybrid"],
)
def test_contributions_add_up_to_the_score(name, rng):
    texts, y = corpus(rng)
    model = TextClassifier(name).fit(texts, y)
    scores = model.decision_function(texts[:5])
    for row, found in zip(scores, model.explain(texts[:5]), strict=True):
        total = sum(t.contribution for t in found.terms) + sum(found.constants.values())
        second, best = np.sort(row)[-2:]
        # The gap of margins, or log-odds against all other classes.
        expected = best - second if name != str(name) else best
        assert_allclose(found.score, expected, atol=1e-9)
        assert_allclose(total, found.score, atol=1e-9)
        assert found.label in str(found)


def test_explanation_names_the_words_that_decided(rng):
    texts, y = corpus(rng)
    (found,) = TextClassifier("multinomial").fit(texts, y).explain(["goal goal the"])
    assert found.label == "sport"
    assert found.terms[0].term == "goal"


@pytest.mark.parametrize("name", COUNT_MODELS)
def test_updating_equals_fitting_on_all_and_forgetting_undoes_it(name, rng, tmp_path):
    texts, y = corpus(rng)
    classes = ["music", "sport", "trade"]
    part = TextClassifier(name).partial_fit(texts[:50], y[:50], classes=classes)
    part.save(tmp_path / "before")
    part.partial_fit([*texts[50:], "entirely new words"], [*y[50:], "music"])
    part.forget(["entirely new words"], ["music"])
    part.save(tmp_path / "all")
    whole = TextClassifier(name).partial_fit(texts, y)
    whole.save(tmp_path / "whole")
    assert (tmp_path / "all").read_bytes() == (tmp_path / "whole").read_bytes()
    part.forget(texts[50:], y[50:])
    part.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


def test_forgetting_too_much_changes_nothing(rng):
    texts, y = corpus(rng)
    model = TextClassifier("multinomial").fit(texts, y)
    before = model.predict_proba(texts)
    with pytest.raises(
        DataError, match=r"more than was learned|what was not learned: .*never added"
    ):
        model.forget(["never seen words"], ["music"])
    assert_array_equal(model.predict_proba(texts), before)


@pytest.mark.parametrize("name", ["multinomial", "bernoulli", "complement"])
def test_forgetting_everything_is_refused_and_changes_nothing(name):
    texts, labels = ["cheap pills", "noon lunch", "cheap offer"], ["a", "b", "a"]
    model = TextClassifier(name).fit(texts, labels)
    before = model.predict_log_proba(texts)
    with pytest.raises(DataError, match="nothing was changed"):
        model.forget(texts, labels)
    assert_array_equal(model.predict_log_proba(texts), before)


def test_a_promise_that_a_change_outdates_is_warned_of():
    texts, labels = ["cheap pills", "noon lunch"] * 30, ["a", "b"] * 30
    model = TextClassifier("multinomial", max_error=0.2, max_novelty=0.05)
    model.fit(texts, labels)
    with pytest.warns(EarmarkWarning, match="max_") as said:
        model.partial_fit(["more cheap pills"], ["a"])
    assert len(said) == 2


def test_models_that_cannot_forget_say_so_by_name(rng):
    texts, y = corpus(rng)
    model = TextClassifier(LinearSVC(random_state=0)).fit(texts, y)
    with pytest.raises(NotSupportedError, match="LinearSVC cannot forget"):
        model.forget(texts[:1], y[:1])
    with pytest.raises(NotSupportedError, match="LinearSVC cannot learn documents one"):
        model.partial_fit(texts[:1], y[:1])


def test_a_wrong_parameter_of_a_model_is_refused_before_the_first_batch(rng):
    texts, y = corpus(rng)
    for learn in ("fit", "partial_fit"):
        with pytest.raises(EarmarkError, match=r"NaiveBayes\.alpha must be in"):
            getattr(TextClassifier(MultinomialNaiveBayes(alpha=-1)), learn)(texts, y)


@pytest.mark.parametrize("name", COUNT_MODELS)
def test_leave_one_out_equals_refitting_on_the_same_columns(name, rng):
    texts, y = corpus(rng, n_documents=30)
    left_out = TextClassifier(name).fit(texts, y).leave_one_out(texts, y)
    vocabulary = CountVectorizer().fit(texts).vocabulary_
    for d in range(len(texts)):
        rest = [i for i in range(len(texts)) if i != d]
        peer = make_pipeline(
            CountVectorizer(vocabulary=vocabulary), COUNT_MODELS[name]
        ).fit([texts[i] for i in rest], y[rest])
        assert_allclose(left_out[d], peer.predict_log_proba([texts[d]])[0], atol=1e-10)


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_never_change_the_file(n_jobs, rng, tmp_path):
    texts, y = corpus(rng)
    for name in ("multinomial", LinearSVC(random_state=0)):
        models = [
            TextClassifier(name, random_state=0, n_jobs=n).fit(texts, y)
            for n in (None, n_jobs)
        ]
        first, second = (m.predict_proba(texts) for m in models)
        assert_array_equal(first, second)


def test_min_df_prunes_but_remembers(rng):
    features = {"min_df": 2}
    model = TextClassifier("multinomial", features=features)
    model.partial_fit(["rare goal goal", "goal price"], ["sport", "trade"])
    assert {t.term for t in model.explain(["rare goal"])[0].terms} == {"goal"}
    model.partial_fit(["rare"], ["sport"])
    assert {t.term for t in model.explain(["rare goal"])[0].terms} == {"goal", "rare"}


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series, pa.array])
def test_containers_of_text_give_the_same_answer(wrap, rng):
    texts, y = corpus(rng)
    expected = TextClassifier("multinomial").fit(texts, y).predict_proba(texts)
    model = TextClassifier("multinomial").fit(wrap(texts), wrap(y.tolist()))
    assert_array_equal(model.predict_proba(wrap(texts)), expected)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("name", ["multinomial", LinearSVC(random_state=0), "hybrid"])
def test_regions_have_words_of_their_own(frame, name, rng):
    texts, y = corpus(rng)
    title = [label if i % 2 else "" for i, label in enumerate(y)]
    data = frame({"title": title, "body": texts})
    model = TextClassifier(name).fit(data, y)
    assert model.region_names_ == ["title", "body"]
    found = model.explain(frame({"title": ["sport"], "body": ["ball"]}))[0]
    assert {(t.region, t.term) for t in found.terms} == {
        ("title", "sport"),
        ("body", "ball"),
    }
    with pytest.warns(EarmarkWarning, match="lacks the column"):
        assert model.predict({"body": ["piano piano"]}).tolist() == ["music"]


def test_mail_and_function_regions_split_the_text(rng):
    mails = [f"Subject: {w}\n\nhello there {w}" for w in ("goal", "price") * 5]
    model = TextClassifier("multinomial", regions="email").fit(
        mails, ["sport", "trade"] * 5
    )
    assert set(model.region_names_) == {"subject", "body"}

    def halves(text):
        return {"first": text[:10], "rest": text[10:]}

    model = TextClassifier("multinomial", regions=halves).fit(
        mails, ["sport", "trade"] * 5
    )
    assert model.region_names_ == ["first", "rest"]


def test_functions_are_refused_at_save_with_their_place(rng, tmp_path):
    texts, y = corpus(rng)
    model = TextClassifier("multinomial", regions=lambda t: {"all": t}).fit(texts, y)
    with pytest.raises(NotSupportedError, match="regions"):
        model.save(tmp_path / "m.earmark")
    assert not (tmp_path / "m.earmark").exists()


def test_any_scikit_learn_classifier_serves(rng, tmp_path):
    texts, y = corpus(rng)
    model = TextClassifier(LogisticRegression()).fit(texts, y)
    assert model.predict(["goal ball"]).tolist() == ["sport"]
    model.save(tmp_path / "m.earmark")
    twin = earmark.load(tmp_path / "m.earmark")
    assert_array_equal(twin.predict_proba(texts), model.predict_proba(texts))


def test_an_earmark_estimator_serves_as_model(rng):
    texts, y = corpus(rng)
    model = TextClassifier(HybridBayes(alpha=[0.1, 1.0])).fit(texts, y)
    assert model.model_name_ == "HybridBayes"
    assert model.predict(["goal ball"]).tolist() == ["sport"]


def test_unlabelled_rows_are_not_learned_as_a_class(rng):
    texts, y = corpus(rng)
    labels = [label if i % 3 else None for i, label in enumerate(y)]
    model = TextClassifier("multinomial").fit(texts, labels)
    assert model.classes_.tolist() == ["music", "sport", "trade"]
    assert "30 unlabelled documents were not used" in model.summary()


def test_auto_says_what_it_chose_and_on_what(rng):
    texts, y = corpus(rng)
    model = TextClassifier(random_state=0).fit(texts, y)
    assert "model: linear" in model.summary()
    assert re.search(r"chosen on \d+ documents held out in turn", model.summary())


def test_class_weight_equals_repeated_documents(rng):
    texts, y = corpus(rng, n_documents=30)
    extra = [t for t, label in zip(texts, y, strict=True) if label == "music"]
    for name in ("multinomial", "bernoulli"):
        weighted = TextClassifier(name, class_weight={"music": 3}).fit(texts, y)
        repeated = TextClassifier(name).fit(
            texts + extra * 2, [*y, *["music"] * (2 * len(extra))]
        )
        assert_allclose(
            weighted.predict_proba(texts), repeated.predict_proba(texts), rtol=1e-9
        )


def test_balanced_class_weight_equals_weights_of_the_documents(rng):
    texts, y = corpus(rng, n_documents=30)
    texts, y = texts + texts[:7], [*y, *y[:7]]
    n_classes = len(set(y))
    weight = [len(y) / (n_classes * y.count(label)) for label in y]
    for name in ("multinomial", "bernoulli", "complement"):
        balanced = TextClassifier(name, class_weight="balanced").fit(texts, y)
        weighted = TextClassifier(name).fit(texts, y, sample_weight=weight)
        assert_allclose(
            balanced.predict_proba(texts), weighted.predict_proba(texts), rtol=1e-9
        )


def test_class_weights_that_make_no_sense_are_named(rng):
    texts, y = corpus(rng, n_documents=12)
    with pytest.raises(ValueError, match="must be None, 'balanced' or a dict"):
        TextClassifier("multinomial", class_weight="fair").fit(texts, y)


@pytest.mark.parametrize("model", ["auto", *MODELS.names()])
def test_class_weights_of_unknown_labels_are_refused_by_every_model(rng, model):
    texts, y = corpus(rng, n_documents=24)
    weights = {**dict.fromkeys(y, 1), "weather": 2}
    with pytest.raises(DataError, match=r"names the labels \['weather'\], which are"):
        TextClassifier(model, class_weight=weights).fit(texts, y)


@pytest.mark.parametrize("model", ["multinomial", "rocchio"])
def test_a_fold_may_lack_a_class_that_has_a_weight(rng, model):
    texts, y = corpus(rng, n_documents=36)
    texts, y = [*texts, *["alpha beta gamma delta"] * 6], [*y, *["copies"] * 6]
    weights = {**dict.fromkeys(y, 1), "copies": 2}
    fitted = TextClassifier(model, class_weight=weights, max_error=0.5).fit(texts, y)
    assert fitted.evidence_.n_copies >= 5


@pytest.mark.parametrize("model", ["auto", *MODELS.names()])
def test_class_weights_must_be_finite_numbers_for_every_model(rng, model):
    texts, y = corpus(rng, n_documents=24)
    for weight in (-1, float("nan"), float("inf"), "2", None, True):
        expected = re.escape("class_weight['music'] must be a finite number >= 0, ")
        with pytest.raises(DataError, match=f"{expected}got {weight!r}"):
            TextClassifier(model, class_weight={"music": weight}).fit(texts, y)


def test_an_estimator_checks_class_weights_of_its_own(rng):
    texts, y = corpus(rng, n_documents=24)
    X = CountVectorizer().fit_transform(texts)
    for kind in (SoftmaxRegression, MultilayerPerceptron):
        with pytest.raises(DataError, match=r"class_weight\['music'\] .* got -1"):
            kind(class_weight={"music": -1}).fit(X, y)
        with pytest.raises(ValueError, match="class_weight must be None, 'balanced'"):
            kind(class_weight=[1, 2, 3]).fit(X, y)


@pytest.mark.parametrize(
    "model",
    ["auto", "hierarchical", "higher-order-svm", LinearSVC(random_state=0)],
)
def test_a_class_without_weight_is_named_by_models_that_need_one(rng, model, capfd):
    texts, y = corpus(rng, n_documents=36)
    weight = [0 if label == "music" else 1 for label in y]
    with pytest.raises(DataError, match="class 'music' has no weight: "):
        TextClassifier(model).fit(texts, y, sample_weight=weight)
    with pytest.raises(DataError, match="class 'music' has no weight: "):
        TextClassifier(model, class_weight={"music": 0}).fit(texts, y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("model", ["multinomial", "complement", "hybrid", "rocchio"])
def test_models_of_sums_take_a_class_without_weight(rng, model):
    texts, y = corpus(rng, n_documents=36)
    fitted = TextClassifier(model, class_weight={"music": 0}).fit(texts, y)
    assert_allclose(fitted.predict_proba(texts).sum(axis=1), 1.0)


@pytest.mark.parametrize("model", ["linear", LinearSVC(random_state=0)])
def test_a_class_with_one_document_of_weight_is_calibrated(rng, model, capfd):
    texts, y = corpus(rng, n_documents=36)
    weight = [float(label != "music") for label in y]
    only = list(y).index("music")
    weight[only] = 1.0
    fitted = TextClassifier(model).fit(texts, y, sample_weight=weight)
    assert fitted.predict([texts[only]]) == ["music"]
    fitted.measure_confidence(texts, y, weight)
    assert fitted.evidence_ is not None
    assert capfd.readouterr() == ("", "")


def test_texts_without_a_word_are_named_as_such():
    texts, y = ["😀", "🎉🎉", "😀 😀", "🎉"] * 6, ["a", "b"] * 12
    expected = r"no document holds a word \(two letters or digits .*analyzer='char'"
    assert TextClassifier().fit(texts, y).predict(["😀"]) == ["a"]
    for model in ("multinomial", "softmax", "hybrid"):
        with pytest.raises(DataError, match=expected):
            TextClassifier(model).fit(texts, y)
        by_character = TextClassifier(model, features={"analyzer": "char"})
        assert by_character.fit(texts, y).predict(["😀"]) == ["a"]
    stopped = TextClassifier("multinomial", features={"stop_words": "english"})
    with pytest.raises(DataError, match=r"at least.* besides stop words; analyzer="):
        stopped.fit(["the", "and"] * 6, ["a", "b"] * 6)


def test_weights_of_documents_must_be_numbers(rng):
    texts, y = corpus(rng, n_documents=12)
    for weight in (["a"] * 12, [None] * 12):
        with pytest.raises(DataError, match="sample_weight must hold numbers, got "):
            TextClassifier("multinomial").fit(texts, y, sample_weight=weight)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_jobs": "a"}, "n_jobs must be a whole number, got 'a'; -1 takes all cores"),
        ({"n_jobs": 1.5}, "n_jobs must be a whole number, got 1.5"),
        ({"n_jobs": 0}, "n_jobs must not be 0, got 0; -1 takes all cores"),
        ({"verbose": "x"}, "verbose must be a whole number, got 'x'"),
        ({"min_coverage": 5}, "min_coverage must be a share of the documents"),
    ],
)
def test_settings_that_make_no_sense_are_named(rng, wrong, message):
    texts, y = corpus(rng, n_documents=12)
    with pytest.raises((TypeError, ValueError), match=rf"^TextClassifier\.{message}"):
        TextClassifier("multinomial", **wrong).fit(texts, y)
    TextClassifier("multinomial", n_jobs=-1, verbose=True).fit(texts, y)


def test_classes_of_a_later_batch_must_be_those_of_the_first(rng):
    texts, y = corpus(rng, n_documents=12)
    model = TextClassifier("multinomial")
    model.partial_fit(texts, y, classes=sorted(set(y)))
    with pytest.raises(ValueError, match="must be those of the first call"):
        model.partial_fit(texts, y, classes=["weather", *sorted(set(y))])


def test_ranking_puts_the_likeliest_documents_first(rng):
    texts, y = corpus(rng)
    model = TextClassifier("multinomial").fit(texts, y)
    order = model.rank(["piano song", "oil price", "ball"], "trade")
    assert order[0] == 1
    with pytest.raises(DataError, match="label must be one of"):
        model.rank(["x"], "weather")


def test_report_counts_and_names_the_classes(rng):
    texts, y = corpus(rng)
    report = TextClassifier("multinomial").fit(texts, y).report(texts, y)
    assert report.n_documents == 90
    assert "sport" in str(report)
    assert set(report.top_terms) == {"music", "sport", "trade"}


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["a b", None], ["x", "y"], "document 1: expected a str, got a missing value"),
        (["a b", 3], ["x", "y"], "document 1: expected a str, got int"),
        ("one text", ["x"], "a single string"),
        (["a b"], ["x", "y"], "one label for each of the 1 documents, got 2"),
        (["a b", "c d"], [None, None], "no label at all"),
        (["a b", "c d"], ["x", 3], "label 3 is of another type than 'x'"),
        ([], [], "no document"),
        ({}, [], "empty"),
        ({"t": ["a b"], "u": []}, ["x"], "differ in length"),
        (["", " "], ["x", "y"], "no term is left"),
    ],
)
def test_bad_data_names_the_place(X, y, message):
    with pytest.raises(DataError, match=message):
        TextClassifier("multinomial").fit(X, y)


def test_unknown_model_lists_the_names():
    with pytest.raises(ValueError, match="one of auto, bernoulli"):
        TextClassifier("nonsense").fit(["a b", "c d"], [0, 1])


def test_labels_of_every_type_come_back(rng):
    for labels in ([0, 1], [-1, 7], [True, False], ["é", "z"]):
        model = TextClassifier("multinomial").fit(["goal ball", "price tax"], labels)
        assert model.predict(["goal", "tax"]).tolist() == labels


def test_missing_column_is_named(rng):
    model = TextClassifier("multinomial", regions=["title", "body"])
    with pytest.raises(DataError, match=r"lacks the column\(s\) \['body'\]"):
        model.fit({"title": ["a b"]}, [0])


def test_several_labels_a_document(rng, tmp_path):
    texts, y = corpus(rng)
    other, z = corpus(rng)
    both = [f"{a} {b}" for a, b in zip(texts, other, strict=True)]
    labels = [sorted({a, b}) for a, b in zip(y, z, strict=True)]
    for name in ("multinomial", LinearSVC(random_state=0), "auto"):
        model = TextClassifier(name, random_state=0).fit(both, labels)
        assert model.is_multi_label_
        right = [
            p == tuple(t) for p, t in zip(model.predict(both), labels, strict=True)
        ]
        assert np.mean(right) > 0.8
    found = model.explain(both[:3])
    for one in found:
        total = sum(t.contribution for t in one.terms) + sum(one.constants.values())
        assert_allclose(total, one.score, atol=1e-9)
    assert "sport" in str(model.report(both, labels))
    model.save(tmp_path / "m.earmark")
    twin = earmark.load(tmp_path / "m.earmark")
    assert twin.predict(both).tolist() == model.predict(both).tolist()


def test_labels_and_lists_of_labels_do_not_mix():
    with pytest.raises(DataError, match="row 1: expected a list of labels"):
        TextClassifier(LinearSVC(random_state=0)).fit(["a b", "c d"], [["x"], "y"])
    with pytest.raises(DataError, match="row 1: expected one label, got the list"):
        TextClassifier(LinearSVC(random_state=0), multi_label=False).fit(
            ["a b", "c d"], ["x", ["y"]]
        )


def noisy(rng, n_documents):
    texts, y = corpus(rng, n_documents, length=3)
    return texts, y


def test_max_error_abstains_with_an_estimate_and_says_so(rng):
    texts, y = noisy(rng, 300)
    model = TextClassifier("multinomial", max_error=0.05).fit(texts, y)
    test, truth = noisy(rng, 600)
    decision = model.decide(test)
    answered = ~decision.abstained
    assert 0.1 < answered.mean() < 1.0
    assert np.mean(decision.labels[answered] == truth[answered]) > 0.9
    assert model.predict(test)[decision.abstained].tolist() == [None] * int(
        decision.abstained.sum()
    )
    assert "estimate" in model.summary()


def test_calibration_documents_make_it_a_guarantee(rng):
    texts, y = noisy(rng, 300)
    model = TextClassifier("multinomial", max_error=0.1)
    model.fit(texts, y, calibration=corpus(rng, 600, length=8))
    assert model.guaranteed_error_ == 0.1
    assert model.estimated_error_ is None
    assert model.coverage_ == np.mean(
        model.evidence_.certainty >= model.thresholds_[0].value
    )
    assert "95 % confidence" in model.summary()


def tagged(rng, n):
    """Documents with one or two of three labels, a tenth of them wrong."""
    words = {"a": "apple", "b": "bread", "c": "cheese"}
    texts, labels = [], []
    for _ in range(n):
        true = sorted(rng.choice(list(words), rng.integers(1, 3), replace=False))
        shown = true if rng.random() < 0.9 else [rng.choice(list(words))]
        fill = rng.choice([f"w{i}" for i in range(30)], 5)
        texts.append(" ".join([*(words[t] for t in shown), *fill]))
        labels.append(true)
    return texts, labels


def test_with_several_labels_each_label_has_its_own_guarantee(rng):
    model = TextClassifier("multinomial", max_error=0.15)
    model.fit(*tagged(rng, 300), calibration=tagged(rng, 800))
    assert len(model.thresholds_) == 3 == len(model.min_confidence_)
    assert model.guaranteed_error_ == 0.15
    assert "for every label, with 95 % confidence" in model.summary()
    for label in model.classes_:
        assert f"\n{label}: " in model.summary()
    texts, truth = tagged(rng, 500)
    decision = model.decide(texts)
    wrong = [
        (c in true) != (c in (given or ()))
        for true, given, gone in zip(
            truth, decision.labels, decision.abstained, strict=True
        )
        for c, skipped in zip("abc", gone, strict=True)
        if not skipped
    ]
    assert np.mean(wrong) <= 0.15


def test_with_several_labels_an_estimate_needs_no_calibration_documents(rng):
    model = TextClassifier("multinomial", max_error=0.15).fit(*tagged(rng, 300))
    assert model.guaranteed_error_ is None
    assert model.estimated_error_ <= 0.15
    assert "estimate" in model.summary()


def test_thresholds_of_several_labels_are_saved(rng, tmp_path):
    model = TextClassifier("multinomial", max_error=0.15)
    model.fit(*tagged(rng, 300), calibration=tagged(rng, 800))
    model.save(tmp_path / "tagged.earmark")
    texts, _ = tagged(rng, 50)
    again = earmark.load(tmp_path / "tagged.earmark")
    np.testing.assert_array_equal(again.min_confidence_, model.min_confidence_)
    assert again.predict(texts).tolist() == model.predict(texts).tolist()


def test_too_few_calibration_documents_abstain_on_everything(rng):
    texts, y = noisy(rng, 300)
    model = TextClassifier("multinomial", max_error=0.05)
    model.fit(texts, y, calibration=corpus(rng, 20))
    assert model.decide(texts).abstained.all()
    assert "more labelled documents are needed" in model.summary()


def test_max_error_without_evidence_says_what_to_do(rng):
    texts, y = noisy(rng, 60)
    model = TextClassifier("multinomial").fit(texts, y)
    model.set_params(max_error=0.05)
    with pytest.raises(DataError, match="measure_confidence"):
        model.predict(texts)
    model.measure_confidence(texts, y)
    assert len(model.predict(texts)) == 60


def test_evidence_travels_with_the_file(rng, tmp_path):
    texts, y = noisy(rng, 300)
    TextClassifier(LinearSVC(random_state=0), max_error=0.1).fit(texts, y).save(
        tmp_path / "m.earmark"
    )
    twin = earmark.load(tmp_path / "m.earmark")
    strict = twin.decide(texts).abstained.mean()
    twin.set_params(max_error=0.3)
    assert twin.decide(texts).abstained.mean() < strict


@pytest.mark.parametrize(
    "name", [LinearSVC(random_state=0), "hybrid", "multinomial", "bernoulli"]
)
def test_fused_and_matrix_paths_agree(name, rng):
    texts, y = corpus(rng)
    data = {"title": [t[:20] for t in texts], "body": texts}
    for X in (texts, data):
        model = TextClassifier(name, random_state=0).fit(X, y)
        fitted, raw = model.text_model_, model._texts(X)
        slow = class_scores(fitted.model, fitted.columns.rows(raw).matrix)
        assert_allclose(fitted.scores(raw), slow, rtol=1e-12, atol=1e-12)


def test_hashed_words_are_explained_by_the_words_of_the_document():
    texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"]
    model = TextClassifier(LinearSVC(random_state=0), features=HashedCounter()).fit(
        {"subject": texts, "body": texts}, ["spam", "ham"] * 2
    )
    (found,) = model.explain({"subject": texts[:1], "body": texts[1:2]})
    named = {(term.region, term.term) for term in found.terms}
    assert named == {
        *(("subject", word) for word in texts[0].split()),
        *(("body", word) for word in texts[1].split()),
    }
    assert model.telling_terms()["spam"][0][0].startswith(("subject: column", "body:"))


def test_documents_that_wait_are_in_every_answer_and_in_the_pickle(rng):
    texts, y = corpus(rng)
    model = TextClassifier("multinomial").fit(texts[:-3], y[:-3])
    for text, label in zip(texts[-3:], y[-3:], strict=True):
        model.partial_fit([text], [label])
    stored = pickle.loads(pickle.dumps(model))  # before anybody has asked
    whole = TextClassifier("multinomial").fit(texts, y)
    for other in (model, stored):
        assert_array_equal(other.predict_proba(texts), whole.predict_proba(texts))
    with pytest.raises(DataError, match=r"not learned|more than"):
        model.partial_fit(["one goal more"], ["sport"]).forget(["unseen"], ["sport"])
    assert_array_equal(
        model.forget(["one goal more"], ["sport"]).predict_proba(texts),
        whole.predict_proba(texts),
    )


def test_every_class_that_a_model_file_may_name_is_where_the_table_says():
    table = class_table()
    assert [kind.__name__ for kind in table.values()] == list(table)


@pytest.mark.parametrize(
    ("parameters", "labels", "said"),
    [
        ({}, [[["x"]], ["y"]], r"y, row 0: expected labels"),
        ({"multi_label": "x"}, ["x", "y"], r"multi_label must be"),
        ({"random_state": -1}, ["x", "y"], r"random_state must be from 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(parameters, labels, said):
    with pytest.raises(ValueError, match=said):
        TextClassifier("complement", **parameters).fit(["a", "b"], labels)


def test_features_that_the_counter_has_not_got_are_named():
    model = TextClassifier("multinomial", features={"ngram": 2})
    with pytest.raises(TypeError, match=r"ngram_range.* or substitutions, got 'ngram'"):
        model.fit(["a cat", "a dog"], ["x", "y"])


def test_a_settled_classifier_takes_the_settings_that_were_chosen():
    corpus = support_corpus()
    first = TextClassifier(encoder=None).fit(corpus.texts, corpus.labels)
    again = first.settled().fit(corpus.texts, corpus.labels)
    assert again.model_.settings_ == first.model_.settings_
    assert first.model_.settings_["C"] == again.model_.C
    assert_array_equal(again.predict(corpus.texts), first.predict(corpus.texts))
    counted = TextClassifier("multinomial", features={"min_df": 2})
    assert counted.fit(corpus.texts, corpus.labels).settled().get_params() == (
        counted.get_params()
    )


@pytest.mark.parametrize(
    ("n", "encoder", "offered"),
    [(30, "static", True), (6, "static", False), (30, None, False)],
)
def test_a_tuned_encoder_is_offered_where_labels_do_not_suffice(
    n, encoder, offered, rng
):
    words = np.array(["parcel", "refund", "money", "password", "late", "box"])
    texts = [" ".join(rng.choice(words, 5)) for _ in range(2 * n)]
    labels = np.repeat(["a", "b"], n)  # a coin
    model = TextClassifier(encoder=encoder).fit(texts, labels)
    model.measure_confidence(texts, labels)
    assert ("tune_encoder" in model.summary()) is offered
