"""Cost matrices: decisions by brute force, thresholds, files, and what is measured."""

import numpy as np
import pytest

from earmark.evaluation import CostMatrix, Report
from earmark.evaluation.costs import Costs
from earmark.exceptions import DataError

CLASSES = ["a", "b", "c"]


def random_costs(seed, may_leave=False):
    rng = np.random.default_rng(seed)
    answers = [*CLASSES, None] if may_leave else CLASSES
    return CostMatrix(
        {
            t: {a: 0.0 if a == t else rng.uniform(0.2, 9) for a in answers}
            for t in CLASSES
        }
    )


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("may_leave", [False, True])
def test_no_other_answer_has_a_smaller_expected_cost(seed, may_leave):
    costs = random_costs(seed, may_leave)
    proba = np.random.default_rng(seed).dirichlet([0.7] * 3, size=50)
    answers = [*CLASSES, None] if may_leave else CLASSES
    for row, decision in zip(proba, costs.decide(proba, CLASSES), strict=True):
        by_hand = {
            a: sum(p * costs.cost(t, a) for p, t in zip(row, CLASSES, strict=True))
            for a in answers
        }
        assert by_hand[decision] == pytest.approx(min(by_hand.values()))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("may_leave", [False, True])
def test_above_its_threshold_a_class_is_the_cheapest_wherever_the_rest_lies(
    seed, may_leave
):
    costs = random_costs(seed, may_leave)
    rest = np.random.default_rng(seed).dirichlet([0.3] * 2, size=300)
    rest[:2] = np.eye(2)
    for place, (name, threshold) in enumerate(costs.thresholds(CLASSES).items()):
        for share, always in ((threshold + 1e-6, True), (threshold - 1e-6, False)):
            proba = np.insert((1 - share) * rest, place, share, axis=1)
            said = costs.decide(proba, CLASSES)
            assert all(answer == name for answer in said) == always


def test_with_two_classes_the_threshold_is_the_ratio_of_the_costs():
    costs = CostMatrix({"ham": {"spam": 10}, "spam": {"ham": 1}})
    assert costs.thresholds(["ham", "spam"])["spam"] == pytest.approx(10 / 11)
    just = [[1 / 11 + 1e-9, 10 / 11 - 1e-9], [1 / 11 - 1e-9, 10 / 11 + 1e-9]]
    assert costs.decide(just, ["ham", "spam"]) == ["ham", "spam"]


def test_a_class_that_is_never_surely_the_cheapest_has_no_threshold():
    costs = CostMatrix({"a": {"a": 1, "b": 0.5}})
    assert costs.thresholds(["a", "b"])["a"] is None


def test_equal_costs_change_nothing():
    proba = np.random.default_rng(0).dirichlet([1.0] * 3, size=100)
    likeliest = [CLASSES[c] for c in proba.argmax(axis=1)]
    assert CostMatrix({}).decide(proba, CLASSES) == likeliest


def test_a_document_is_left_where_a_person_is_cheaper():
    costs = CostMatrix({t: {None: 0.3} for t in CLASSES})
    assert costs.decide([[0.6, 0.2, 0.2], [0.8, 0.1, 0.1]], CLASSES) == [None, "a"]
    assert costs.thresholds(CLASSES)["a"] == pytest.approx(0.7)


def test_what_is_measured_is_what_adding_up_gives():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet([0.8] * 3, size=400)
    truth = [CLASSES[rng.choice(3, p=row)] for row in proba]
    said = [CLASSES[c] for c in proba.argmax(axis=1)]
    costs = random_costs(3)
    figures = Costs.of(costs, truth, said, proba, CLASSES)
    cheap = costs.decide(proba, CLASSES)
    plain, least = (
        np.array([costs.cost(t, a) for t, a in zip(truth, answers, strict=True)])
        for answers in (said, cheap)
    )
    assert figures.plain == pytest.approx(plain.mean())
    assert figures.least == pytest.approx(least.mean())
    spread = 1.959964 * (least - plain).std(ddof=1) / 20
    assert figures.interval == pytest.approx(
        (figures.difference - spread, figures.difference + spread)
    )
    assert figures.n_changed == sum(a != b for a, b in zip(said, cheap, strict=True))
    # The probabilities are those that the labels were drawn from.
    assert figures.expected == pytest.approx(figures.least, abs=0.2)
    assert figures.saves
    assert sum(row[3] for row in figures.per_class) == 400


def test_a_file_of_costs_is_read_with_its_empty_cells(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,ham,spam,no answer\nham,,10,0.5\nspam,2,,0.5\n")
    costs = CostMatrix.from_csv(path)
    assert costs.costs == {
        "ham": {"spam": 10.0, None: 0.5},
        "spam": {"ham": 2.0, None: 0.5},
    }
    assert costs.cost("ham", "ham") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("true,a,b\na,0,much\n", "row 1, 'b': expected a cost"),
        ("true,a,b\na,0,-1\n", "expected a cost, a number of at least 0; got '-1'"),
        ("true,a,b\na,0,1\na,0,1\n", "row 2: the label 'a' comes twice"),
        ("true,a,b\na,0,1,3\n", "no more cells than the header"),
        ("true\na\n", "a column per answer"),
        ("", "a column per answer"),
    ],
)
def test_a_file_that_is_no_cost_matrix_is_refused_by_place(tmp_path, text, message):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        CostMatrix.from_csv(path)


def test_labels_that_the_model_does_not_know_are_refused():
    with pytest.raises(DataError, match="the costs name x, which the model does not"):
        CostMatrix({"x": {"a": 2}}).decide([[0.5, 0.5]], ["a", "b"])
    with pytest.raises(DataError, match="a number of at least 0"):
        CostMatrix({"a": {"b": -2}})


def test_no_answer_without_a_cost_is_refused():
    with pytest.raises(DataError, match="add a column 'no answer'"):
        Costs.of(CostMatrix({}), ["a", "b"], ["a", None], [[0.5, 0.5]] * 2, ["a", "b"])


def test_costs_of_a_report_need_probabilities_of_one_label_per_document():
    with pytest.raises(DataError, match="costs need the probabilities"):
        Report.from_predictions(["a"], ["a"], costs=CostMatrix({}))
    with pytest.raises(DataError, match="one label per document"):
        Report.from_predictions([["a"]], [["a"]], costs=CostMatrix({}))


def test_of_answers_that_cost_the_same_the_most_probable_is_taken():
    proba = np.random.default_rng(0).dirichlet([1.0] * 3, size=200)
    likeliest = [CLASSES[c] for c in proba.argmax(axis=1)]
    same = CostMatrix({t: dict.fromkeys([*CLASSES, None], 0.3) for t in CLASSES})
    assert same.decide(proba, CLASSES) == likeliest
    assert Costs.of(same, likeliest, likeliest, proba, CLASSES).n_changed == 0


def test_semicolons_and_no_answer_in_any_case_are_read(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true;ham;spam;No Answer\nham;;10;0,5\nspam;2;;0.5\n")
    costs = CostMatrix.from_csv(path)
    assert costs.costs == {
        "ham": {"spam": 10.0, None: 0.5},
        "spam": {"ham": 2.0, None: 0.5},
    }


@pytest.mark.parametrize("twice", ["ham", "no answer"])
def test_a_column_that_comes_twice_is_refused(tmp_path, twice):
    path = tmp_path / "costs.csv"
    path.write_text(f"true,{twice},{twice}\nham,1,2\n")
    with pytest.raises(DataError, match=f"the column '{twice}' comes twice"):
        CostMatrix.from_csv(path)


def test_one_document_has_no_interval_and_json_has_no_infinity():
    costs = CostMatrix({"a": {"b": 3}})
    report = Report.from_predictions(
        ["a"], ["a"], proba=[[0.6, 0.4]], classes=["a", "b"], costs=costs,
        threshold=np.inf,
    )  # fmt: skip
    assert report.costs.interval is None
    assert not report.costs.saves
    assert "interval" not in report.costs.sentence
    assert "Infinity" not in report.to_json()
    assert "NaN" not in report.to_json()
