"""TextClassifier with few labels: the guard, the choice, the explanation, the file."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import earmark
from earmark import TextClassifier
from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError
from earmark.models import SemiSupervisedClassifier

TOPICS = {
    "garden": "rose soil seed spade compost tulip prune hedge lawn bulb weed shed",
    "kitchen": "flour butter oven whisk sugar dough pan recipe bake spoon salt yeast",
    "sea": "sail anchor tide harbour mast wave keel storm buoy deck rope gull",
}
COMMON = [
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "it",
    "that",
    "was",
    "for",
    "on",
    "with",
    "as",
    "his",
    "they",
    "at",
    "be",
    "this",
    "had",
    "from",
]


def texts(n, seed, length=14):
    rng = np.random.default_rng(seed)
    labels = np.array(sorted(TOPICS))[rng.integers(0, 3, n)]
    found = []
    for label in labels:
        own = TOPICS[label].split()
        words = [
            own[rng.integers(len(own))]
            if rng.random() < 0.25
            else COMMON[rng.integers(len(COMMON))]
            for _ in range(length)
        ]
        found.append(" ".join(words))
    return found, labels


@pytest.fixture(scope="module")
def corpus():
    X, y = texts(700, 0)
    rows = np.concatenate([np.flatnonzero(y == c)[:3] for c in sorted(TOPICS)])
    rest = np.setdiff1d(np.arange(700), rows)
    X_test, y_test = texts(200, 1)
    return [X[i] for i in rows], y[rows], [X[i] for i in rest], X_test, y_test


@pytest.fixture(scope="module")
def fitted(corpus):
    X, y, pool, *_ = corpus
    return TextClassifier("auto", random_state=0).fit(X, y, unlabelled=pool)


def test_auto_uses_a_pool_above_the_guard_and_says_so(corpus, fitted):
    assert fitted.model_name_ == "semi-supervised"
    assert "691 unlabelled documents are used" in fitted.summary()
    alone = TextClassifier("auto").fit(*corpus[:2])
    assert fitted.score(*corpus[3:]) > alone.score(*corpus[3:]) + 0.02


def test_a_pool_brings_much_where_there_are_no_vectors(corpus):
    X, y, pool, *test = corpus
    alone = TextClassifier("auto", encoder=None).fit(X, y)
    pooled = TextClassifier("auto", encoder=None, random_state=0)
    pooled.fit(X, y, unlabelled=pool)
    assert pooled.score(*test) > alone.score(*test) + 0.1


@pytest.mark.parametrize("model", ["auto", "semi-supervised"])
def test_a_tiny_pool_gives_the_model_without_a_pool(corpus, model):
    X, y, pool, X_test, _ = corpus
    tiny = TextClassifier(model).fit(X, y, unlabelled=pool[:100])
    none = TextClassifier("auto").fit(X, y)
    assert tiny.model_name_ == none.model_name_
    assert_array_equal(tiny.predict_proba(X_test), none.predict_proba(X_test))
    assert "100 unlabelled documents were not used" in tiny.summary()


def test_copies_and_blanks_do_not_make_a_pool(corpus):
    X, y, pool, X_test, _ = corpus
    none = TextClassifier("auto").fit(X, y)
    many = [*pool[:100] * 9, *["", " \n"] * 300]
    copied = TextClassifier("auto").fit(X, y, unlabelled=many)
    assert_array_equal(copied.predict_proba(X_test), none.predict_proba(X_test))
    assert "1,500 unlabelled documents (100 different ones)" in copied.summary()


def test_none_in_y_is_the_same_as_a_pool_apart(corpus, fitted):
    X, y, pool, X_test, _ = corpus
    labels = [*y.tolist(), *[None] * len(pool)]
    mixed = TextClassifier("auto", random_state=0).fit([*X, *pool], labels)
    assert_array_equal(mixed.predict_proba(X_test), fitted.predict_proba(X_test))


def test_explanations_add_up_and_tell_labelled_from_unlabelled(corpus, fitted):
    X_test = corpus[3][:4]
    scores = fitted.decision_function(X_test)  # log-odds against all other classes
    for told, row in zip(fitted.explain(X_test), scores, strict=True):
        total = sum(t.contribution for t in told.terms) + sum(told.constants.values())
        assert_allclose(total, row.max(), rtol=1e-6, atol=1e-9)
        assert all(t.labelled is not None for t in told.terms)
        assert "unlabelled" in str(told)
    phrases = [t.term for told in fitted.explain(X_test) for t in told.terms]
    assert any(term.startswith("[start] ") for term in phrases)


def test_a_saved_model_answers_the_same(corpus, fitted, tmp_path):
    X_test = corpus[3]
    fitted.save(tmp_path / "m.earmark")
    again = earmark.load(tmp_path / "m.earmark")
    assert_array_equal(again.predict_proba(X_test), fitted.predict_proba(X_test))
    assert str(again.explain(X_test[:1])[0]) == str(fitted.explain(X_test[:1])[0])


def test_telling_terms_are_the_topics_words(fitted):
    told = fitted.telling_terms(3)
    for label, terms in told.items():
        assert any(term in TOPICS[label] for term, _ in terms)


def test_max_error_works_on_held_out_labels(corpus):
    X, y, pool, X_test, _ = corpus
    model = TextClassifier("semi-supervised", max_error=0.2)
    model.fit(X, y, unlabelled=pool)
    assert "left-out" in model.summary()
    assert len(model.predict(X_test)) == len(X_test)


def test_regions_are_read_together(corpus):
    X, y, pool, X_test, y_test = corpus

    def split(rows):
        return {"head": [t[:20] for t in rows], "tail": [t[20:] for t in rows]}

    model = TextClassifier("semi-supervised", random_state=0)
    model.fit(split(X), y, unlabelled=split(pool))
    assert np.mean(model.predict(split(X_test)) == y_test) > 0.6
    assert model.region_names_ == ["head", "tail"]


def topic_counts(rows):
    """An encoder that knows the topics."""
    return np.array(
        [[sum(w in TOPICS[c].split() for w in t.split()) for c in TOPICS] for t in rows]
    )


@pytest.fixture(scope="module")
def encoded(corpus):
    X, y, pool, *_ = corpus
    model = TextClassifier("semi-supervised", encoder=topic_counts)
    return model.fit(X, y, unlabelled=pool)


def test_an_encoder_is_one_more_view(corpus, encoded):
    *_, X_test, y_test = corpus
    assert "encoder" in encoded.model_.students_
    assert np.mean(encoded.predict(X_test) == y_test) > 0.75
    share = encoded.model_.encoder_share_
    assert f"the encoder has {share:.0%} of the vote" in encoded.summary()


def test_an_encoder_is_left_out_of_the_file_and_given_again(corpus, encoded, tmp_path):
    X_test, path = corpus[3], tmp_path / "m.earmark"
    with pytest.raises(NotSupportedError, match="allow_callables=True"):
        encoded.save(path)
    encoded.save(path, allow_callables=True)
    with pytest.raises(NotSupportedError, match=r"TextClassifier\.encoder"):
        earmark.load(path)
    again = earmark.load(path, encoder=topic_counts)
    assert_array_equal(again.predict_proba(X_test), encoded.predict_proba(X_test))


def test_another_function_is_not_taken_for_the_encoder(corpus, encoded, tmp_path):
    path = tmp_path / "m.earmark"
    encoded.save(path, allow_callables=True)

    def turned(rows):
        return topic_counts(rows)[:, ::-1] + 1

    def table(rows):
        return np.array([{"rose": [1.0, 2.0, 3.0]}[row] for row in rows])

    for other in (turned, table, lambda rows: np.ones((len(rows), 9))):
        with pytest.raises(NotSupportedError, match=r"not the one .*3 numbers for"):
            earmark.load(path, encoder=other)


def test_a_table_of_texts_can_be_an_encoder(corpus, tmp_path):
    """It does not know the probe sentences: its width is all that can be compared."""
    X, y, pool, X_test, _ = corpus
    everything = [*X, *pool, *X_test]
    vectors = dict(zip(everything, topic_counts(everything), strict=True))
    model = TextClassifier(
        "semi-supervised",
        encoder=lambda rows: [vectors[row] for row in rows],
        class_names=None,
    )
    model.fit(X, y, unlabelled=pool)
    model.save(tmp_path / "m.earmark", allow_callables=True)
    again = earmark.load(tmp_path / "m.earmark", encoder=model.encoder)
    assert_array_equal(again.predict_proba(X_test), model.predict_proba(X_test))
    wide = earmark.load(
        tmp_path / "m.earmark", encoder=lambda rows: np.ones((len(rows), 9))
    )
    with pytest.raises(DataError, match=r"3 numbers for each text.*got 9"):
        wide.predict(X_test)


def test_a_file_without_an_encoder_is_not_given_one(corpus, tmp_path):
    X, y, *_ = corpus
    TextClassifier(encoder=None).fit(X, y).save(tmp_path / "m.earmark")
    with pytest.raises(NotSupportedError, match="saved without an encoder"):
        earmark.load(tmp_path / "m.earmark", encoder=topic_counts)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda rows: np.zeros(3), r"a row for each of the 700 texts.*\(3,\)"),
        (lambda rows: np.zeros((len(rows), 0)), "a row for each"),
        (lambda rows: None, "a row for each"),
        (lambda rows: np.full((len(rows), 2), np.nan), "finite numbers, got NaN"),
        (lambda rows: iter(rows), "an array of numbers, got list_iterator"),
        (lambda rows: [["a"]] * len(rows), "an array of numbers, got list"),
    ],
)
def test_what_an_encoder_gives_is_checked(corpus, answer, told):
    X, y, pool, *_ = corpus
    model = TextClassifier("semi-supervised", encoder=answer)
    with pytest.raises(DataError, match=told):
        model.fit(X, y, unlabelled=pool)


def test_an_encoder_is_a_function(corpus):
    class Network:
        def __call__(self, tensors): ...
        def forward(self, tensors): ...
        def encode(self, rows): ...

    X, y, *_ = corpus
    with pytest.raises(TypeError, match="got Network; give its method"):
        TextClassifier(encoder=Network()).fit(X, y)
    with pytest.raises(TypeError, match=r"a function from a list of texts.*got int"):
        TextClassifier(encoder=5).fit(X, y)


def test_an_encoder_that_has_no_part_is_told(corpus):
    X, y, *_ = corpus
    for model in ("softmax", SemiSupervisedClassifier()):
        made = TextClassifier(model, encoder=topic_counts)
        with pytest.warns(EarmarkWarning, match="the encoder was not used"):
            made.fit(X, y)
        assert "the encoder was not used" in made.summary()
        # The one that comes with earmark is not spoken of where it has no part.
        assert "encoder" not in TextClassifier(model).fit(X, y).summary()


@pytest.mark.parametrize("model", ["auto", "linear", "semi-supervised"])
def test_an_encoder_has_a_part_without_a_pool_too(model, corpus):
    X, y, _, X_test, _ = corpus
    made = TextClassifier(model, encoder=topic_counts).fit(X, y)
    assert "the encoder has" in made.summary()
    without = TextClassifier(model, encoder=None).fit(X, y)
    assert "encoder" not in without.summary()
    assert (made.predict_proba(X_test) != without.predict_proba(X_test)).any()


def test_a_pool_too_small_for_a_given_estimator_is_told(corpus):
    X, y, pool, *_ = corpus
    small = TextClassifier(SemiSupervisedClassifier(min_pool=50))
    assert (
        "60 unlabelled documents are used"
        in small.fit(X, y, unlabelled=pool[:60]).summary()
    )
    told = small.fit(X, y, unlabelled=pool[:40]).summary()
    assert "40 unlabelled documents were not used: expected at least 50" in told


def test_asking_for_a_pool_without_one_is_told(corpus):
    X, y, *_ = corpus
    told = TextClassifier("semi-supervised").fit(X, y).summary()
    assert "no unlabelled documents were given" in told


def test_a_given_estimator_keeps_its_settings(corpus):
    X, y, pool, *_ = corpus
    model = TextClassifier(SemiSupervisedClassifier(max_iter=2, calibration_folds=0))
    model.fit(X, y, unlabelled=pool)
    assert model.model_.max_iter == 2
    assert model.model_.used_pool_


def test_learning_one_by_one_is_refused(corpus, fitted):
    X, y, *_ = corpus
    with pytest.raises(NotSupportedError, match="cannot forget"):
        fitted.forget(X, y)


def test_auto_with_many_labels_lets_them_decide():
    X, y = texts(1000, 5)
    labels = [*y[:240].tolist(), *[None] * 760]
    model = TextClassifier("auto").fit(X, labels)
    summary = model.summary()
    found = re.search(r"left out: semi-supervised ([\d.]+), linear ([\d.]+)", summary)
    semi, linear = map(float, found.groups())
    if model.model_name_ == "linear":
        assert linear > semi
        assert "so the 760 unlabelled documents are left out" in summary
    else:
        assert "760 unlabelled documents are used" in summary


def test_auto_learns_from_two_labels_a_class():
    X, y = texts(60, 6)
    rows = np.concatenate([np.flatnonzero(y == c)[:2] for c in sorted(TOPICS)])
    model = TextClassifier().fit([X[i] for i in rows], y[rows])
    assert model.model_name_ == "linear"
    assert "held out" not in model.summary()  # from so few nothing is chosen
    assert model.score(X, y) > 0.5
