"""Labels as people give them: what is understood, and what is refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.decision import AnyOfClassifier
from earmark.evaluation import multi_label_scores
from earmark.exceptions import DataError, EarmarkWarning
from earmark.inputs.labels import is_multi_label, label_sets
from earmark.inputs.training import as_target

TEXTS = ["good film", "good day", "bad film", "bad day"] * 3
LABELS = ["pos", "pos", "neg", "neg"] * 3
INDICATORS = np.array([[1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "y", [INDICATORS, INDICATORS.astype(bool), sparse.csr_array(INDICATORS)]
)
def test_a_matrix_of_indicators_names_its_columns(y):
    for multi_label in ("auto", True):
        target = as_target(y, 2, multi_label)
        assert target.labels.tolist() == [(0, 2), (1,)]
        assert target.n_columns == 3
    frame = pd.DataFrame(INDICATORS, columns=list("abc"))
    assert as_target(frame, 2).labels.tolist() == [(0, 2), (1,)]
    with pytest.raises(DataError, match="expected one label"):
        as_target(y.toarray() if sparse.issparse(y) else y, 2, False)


@pytest.mark.parametrize(
    "y", [np.array([["a"], ["b"]]), pd.DataFrame({"label": ["a", "b"]})]
)
def test_a_single_column_is_one_label_each(y):
    found = as_target(y, 2)
    assert not found.multi_label
    assert found.labels.tolist() == ["a", "b"]


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize(
    "container",
    [
        np.asarray,
        np.ndarray.tolist,
        pd.DataFrame,
        sparse.csr_array,
        lambda y: pd.Series(y.tolist()),
        lambda y: pa.array(y.tolist()),
        lambda y: 2 * y,
        lambda y: sparse.csr_array(2 * y),
        lambda y: np.where(y, "a", "b"),
    ],
)
def test_fitting_and_evaluation_read_the_same_labels(container, width):
    y = container(np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])[:, :width])
    assert is_multi_label(y)
    target = as_target(y, 3)
    assert target.multi_label
    assert label_sets(y) == [frozenset(labels) for labels in target.labels]


def test_labels_in_a_frame_are_scored_as_they_were_learned():
    frame = pd.DataFrame({"film": [1, 0, 1, 0] * 3, "good": [1, 1, 0, 0] * 3})
    model = TextClassifier(LinearSVC(random_state=0), random_state=0).fit(TEXTS, frame)
    scores = multi_label_scores(frame, model.predict(TEXTS))
    assert scores.subset_accuracy == model.score(TEXTS, frame) == 1.0


def test_what_is_undecided_is_not_a_label_that_is_given():
    answers = np.array([[1, np.nan, 0], [np.nan] * 3, [0, 0, 1]])
    assert label_sets(answers) == [{0}, None, {2}]
    for learn in (as_target, lambda y, _: AnyOfClassifier(GaussianNB()).fit(y, y)):
        with pytest.raises(DataError, match="y, row 0: expected 0 or 1"):
            learn(answers, 3)


def test_rows_of_labels_in_an_array_are_lists():
    found = as_target(np.array([["a", "b"], ["c", "a"]]), 2)
    assert found.labels.tolist() == [("a", "b"), ("a", "c")]


@pytest.mark.parametrize("kind", ["string", "Int64", "boolean", "datetime"])
def test_what_pandas_calls_missing_is_missing(kind):
    values = {"string": ["a", None, "b"], "Int64": [1, None, 2]}
    if kind == "datetime":
        y = pd.Series(["a", pd.NaT, "b"], dtype=object)
    else:
        y = pd.Series(values.get(kind, [True, None, False]), dtype=kind)
    assert as_target(y, 3).labelled.tolist() == [0, 2]


@pytest.mark.parametrize("what", ["X", "y"])
def test_a_set_has_no_order(what):
    X, y = list(TEXTS), list(LABELS)
    given = (set(X), y) if what == "X" else (X, set(y))
    with pytest.raises(DataError, match="must have an order, got a set; make a list"):
        TextClassifier("complement").fit(*given)


def test_a_score_counts_sets_of_labels_and_abstentions():
    model = TextClassifier("complement").fit(TEXTS, LABELS)
    truth = [*LABELS[:-1], "pos"]
    assert model.score(TEXTS, truth) == 11 / 12
    assert model.score(TEXTS, [*LABELS[:-1], None]) == 1.0
    weight = np.r_[np.ones(11), 11.0]
    assert model.score(TEXTS, truth, weight) == 0.5
    several = [("a", "b") if label == "pos" else ("b",) for label in LABELS]
    model = TextClassifier(multi_label=True, random_state=0).fit(TEXTS, several)
    assert model.score(TEXTS, [list(s)[::-1] for s in several]) == 1.0
    assert model.score(TEXTS, [("b",)] * 12) == 0.5


def test_labels_that_were_not_learned_are_pointed_out():
    model = TextClassifier("complement").fit(TEXTS, LABELS)
    with pytest.warns(EarmarkWarning, match=r"y: .*not learned the label\(s\) neutral"):
        model.report(TEXTS, [*LABELS[:-1], "neutral"])
    with pytest.warns(EarmarkWarning, match="calibration: .*neutral"):
        TextClassifier("complement", max_error=0.2).fit(
            TEXTS,
            LABELS,
            calibration=(["so so film", "fine film"], ["neutral", LABELS[0]]),
        )


@pytest.mark.filterwarnings("ignore:what max_")
def test_a_summary_after_more_documents_says_what_is_not_known():
    model = TextClassifier("multinomial", max_error=0.2).fit(TEXTS, LABELS)
    model.partial_fit(["good"], ["pos"])
    assert "not known from where on it holds" in model.summary()


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ("bug\0", r"y, row 3: expected labels without NUL characters.*'bug\\x00'"),
        (
            bytearray(b"a"),
            "y, row 3: expected labels that are texts, numbers or booleans",
        ),
        (" ", r"y, row 3: expected labels that are not blank \(None: no label\)"),
    ],
)
def test_labels_that_would_be_lost_are_refused(odd, message):
    y = ["bug", "ham", "bug", odd] * 3
    with pytest.raises(DataError, match=message):
        TextClassifier("multinomial").fit(TEXTS, y)
    with pytest.raises(DataError, match=message):
        TextClassifier("multinomial").fit(TEXTS, [[label] for label in y])


def test_labels_that_are_no_names_or_not_finite_are_refused():
    with pytest.raises(DataError, match="row 1: expected labels that are not blank"):
        TextClassifier("multinomial").fit(TEXTS, np.array(["ham", "", "bug"] * 4))
    with pytest.raises(DataError, match="row 0: expected labels that are texts"):
        TextClassifier("multinomial").fit(TEXTS, [bytearray(b"a")] * 12)
    for y in ([1.0, 2.0, np.inf] * 4, np.array([1.0, 2.0, np.inf] * 4)):
        with pytest.raises(DataError, match="row 2: expected labels that are finite"):
            TextClassifier("multinomial").fit(TEXTS, y)


@pytest.mark.parametrize("y", [[1, 2, True], [0.5, 1.0, np.True_], [[1], [2], [True]]])
def test_true_is_not_the_number_one(y):
    with pytest.raises(DataError, match=r"True.* is of another type than"):
        as_target(y, 3)


def test_labels_of_another_length_are_named_where_they_were_given():
    texts = [f"{text} {number}" for number, text in enumerate(TEXTS)]
    for where in ("calibration", "validation"):
        pair = {where: (texts, LABELS[:3])}
        with pytest.raises(DataError, match=rf"^{where}\[1\] must hold one label for"):
            TextClassifier("softmax").fit(texts, LABELS, **pair)
        pair = {where: (texts, [*LABELS[:-1], ""])}
        with pytest.raises(DataError, match=rf"^{where}\[1\], row 11: .* not blank"):
            TextClassifier("softmax").fit(texts, LABELS, **pair)


def test_one_document_is_counted_in_the_singular():
    model = TextClassifier("multinomial", max_error=0.3)
    model.fit(TEXTS, LABELS, calibration=(["one more, not seen"], LABELS[:1]))
    assert "of 1 held-out document right: between" in model.summary()
