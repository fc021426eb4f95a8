"""Hidden nodes shown to a person; explanations; files; progress."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer

import earmark
from earmark import TextClassifier
from earmark.exceptions import NotSupportedError
from earmark.models import HierarchicalBayes
from earmark.models.hierarchical import telling_features, telling_terms
from earmark.models.shared.fit_progress import fit_progress

TEXTS = [
    "the striker scored a goal in the final match",
    "a late goal decided the match for the striker",
    "goal and match and striker and keeper",
    "the keeper saved the penalty in the match",
    "the bowler took a wicket before lunch",
    "wicket after wicket for the bowler",
    "a century and a wicket on the first day",
    "the bowler and the batsman met at lunch",
    "shares fell as the bank raised its rates",
    "the bank cut rates and shares rose",
    "rates shares bank profit",
    "profit at the bank beat all estimates",
    "the farmer sold wheat at the market",
    "wheat and maize prices rose at harvest",
    "the harvest of maize was poor",
    "farmer harvest wheat maize",
]
LABELS = np.repeat(["sport", "trade"], 8)


@pytest.fixture(scope="module")
def fitted():
    vectorizer = CountVectorizer(stop_words="english")
    X = vectorizer.fit_transform(TEXTS)
    model = HierarchicalBayes(alpha=0.1, random_state=0)
    model.fit(X, LABELS, validation=(X, LABELS))
    return model, X, vectorizer.get_feature_names_out()


def test_describe_prints_the_sub_topics(fitted):
    model, _, names = fitted
    nodes = model.describe(names, top=4)
    text = str(nodes)
    assert text.splitlines()[0] == "sport"
    assert len(text.splitlines()) == 6
    words = [set(node.terms) for node in nodes.nodes]
    assert any({"match", "striker"} <= w for w in words[:2])
    assert any({"wicket", "bowler"} <= w for w in words[:2])
    assert any({"bank", "shares"} <= w for w in words[2:])
    assert_allclose(sum(node.weight for node in nodes.nodes[:2]), 1)


def test_describe_names_columns_or_numbers_them(fitted):
    model, _, _ = fitted
    assert all(term.startswith("x") for term in model.describe().nodes[0].terms)
    with pytest.raises(ValueError, match=r"feature_names must hold \d+ names"):
        model.describe(["too", "few"])


def test_describe_needs_room_for_a_word(fitted):
    with pytest.raises(ValueError, match="top must be a whole number >= 1, got 0"):
        fitted[0].describe(top=0)


def test_nodes_can_be_plotted(fitted):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    model, _, names = fitted
    figure = model.describe(names, top=5).plot()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0].startswith("sport, node 1 (")
    assert len(titles) == 4
    pyplot.close(figure)


def test_gaussian_nodes_are_described_by_distant_features(rng):
    X = np.concatenate((rng.normal(0, 1, (40, 3)), rng.normal([9, 0, 0], 1, (40, 3))))
    model = HierarchicalBayes(event_model="gaussian", n_restarts=5, random_state=0)
    nodes = model.fit(X, np.zeros(80)).describe(top=1).nodes
    assert [node.terms for node in nodes] == [("x0",), ("x0",)]


def test_features_tell_by_their_distance_in_overall_deviations():
    # Weights 1/4 and 3/4, means -3 and 1: centre 0, variance 2 + (9 + 3 * 1) / 4.
    mean, var = np.array([[-3.0], [1.0]]), np.full((2, 1), 2.0)
    told = telling_features(mean, var, np.log([1.0, 3.0]))
    assert_allclose(told, [[3 / np.sqrt(5)], [1 / np.sqrt(5)]])


def test_terms_tell_by_their_share_in_the_divergence_from_all_nodes():
    probability = np.array([[0.9, 0.1, 0.0], [0.3, 0.3, 0.4]])
    with np.errstate(divide="ignore"):
        told = telling_terms(np.log(probability), np.log([1.0, 2.0]))
    # Over all nodes: 0.5, 7/30 and 4/15.
    expected = [0.9 * np.log(9 / 5), 0.1 * np.log(3 / 7), 0.0]
    assert_allclose(told[0], expected, atol=1e-15)
    expected = [0.3 * np.log(3 / 5), 0.3 * np.log(9 / 7), 0.4 * np.log(3 / 2)]
    assert_allclose(told[1], expected)


@pytest.mark.parametrize("posterior", ["sum_of_products", "product_of_sums"])
def test_score_parts_add_up_to_the_scores(fitted, posterior):
    _, X, _ = fitted
    model = HierarchicalBayes(alpha=0.1, posterior=posterior, random_state=0)
    model.fit(X, LABELS)
    scores = model.predict_joint_log_proba(X)
    for part, row in zip(model.score_parts(X), scores, strict=True):
        total = part.terms.sum(axis=0) + sum(part.constants.values())
        assert_allclose(total, row, rtol=1e-12)


def test_gaussian_score_parts_add_up_to_the_scores(rng):
    X = rng.normal(size=(30, 4))
    model = HierarchicalBayes(event_model="gaussian", n_restarts=3, random_state=0)
    scores = model.fit(X, np.arange(30) % 3).predict_joint_log_proba(X)
    for part, row in zip(model.score_parts(X), scores, strict=True):
        total = part.terms.sum(axis=0) + sum(part.constants.values())
        assert_allclose(total, row, rtol=1e-9)


def test_the_note_names_the_node_that_answered(fitted):
    model, X, _ = fitted
    part = model.score_parts(X)[5]
    node = int(model.responsibilities_[5].argmax()) + 1
    assert part.note.startswith(f"answered by hidden node {node} of 2 of class sport")


def test_text_classifier_explains_by_the_node(tmp_path):
    model = TextClassifier("hierarchical", random_state=0).fit(TEXTS, LABELS)
    (explanation,) = model.explain(["wicket for the bowler"])
    assert explanation.label == "sport"
    assert "answered by hidden node" in str(explanation)
    path = tmp_path / "m.earmark"
    model.save(path)
    again = earmark.load(path)
    assert_array_equal(again.predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert str(again.describe()) == str(model.describe())


def test_text_classifier_describes_its_nodes_by_words_and_regions():
    model = TextClassifier("hierarchical", random_state=0).fit(TEXTS, LABELS)
    nodes = model.describe(top=3).nodes
    assert [node.label for node in nodes] == ["sport", "sport", "trade", "trade"]
    words = set(" ".join(TEXTS).split())
    assert all(set(node.terms) <= words for node in nodes)
    regions = {"subject": TEXTS, "body": TEXTS[::-1]}
    parts = TextClassifier("hierarchical", random_state=0).fit(regions, LABELS)
    shown = [term for node in parts.describe().nodes for term in node.terms]
    assert {term.partition(": ")[0] for term in shown} == {"subject", "body"}


def test_text_classifier_without_nodes_says_which_model_has_them():
    model = TextClassifier("multinomial").fit(TEXTS, LABELS)
    with pytest.raises(NotSupportedError, match="only model='hierarchical' with one"):
        model.describe()


def test_a_bar_is_shown_on_a_terminal_only(monkeypatch, fitted):
    _, X, _ = fitted

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        HierarchicalBayes(verbose=1, n_restarts=2).fit(X, LABELS)
        assert ("HierarchicalBayes" in stream.getvalue()) == shown


def test_scikit_learn_callbacks_see_the_fit_and_its_tasks(fitted):
    _, X, _ = fitted
    seen = []

    class Recorder:
        def setup(self, estimator, context):
            seen.append("setup")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            seen.append(context.task_name)

        def teardown(self, estimator, context):
            seen.append("teardown")

    model = HierarchicalBayes(alpha=(0.1, 1.0), n_restarts=2)
    has_callbacks = hasattr(model, "set_callbacks")  # scikit-learn >= 1.9
    if has_callbacks:
        model.set_callbacks(Recorder())
    model.fit(X, LABELS)
    expected = ["setup", *["EM"] * 4, "fit", "teardown"]
    assert seen == (expected if has_callbacks else [])


def test_without_callbacks_progress_is_silent():
    with fit_progress(object(), 2, "work") as task_done:
        task_done()
        task_done()
