"""What the stored result of the few-labels reproduction must say."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "reproductions" / "results" / "few-labels.json"
SUPERVISED = (
    *("logistic regression", "linear SVM", "complement NB, tf-idf"),
    *("complement NB, counts", "multinomial NB, tf-idf", "multinomial NB, counts"),
)
LINEAR = ("logistic regression", "linear SVM")


@pytest.fixture(scope="module")
def result():
    stored = json.loads(RESULT.read_text())
    assert not stored["quick"]
    assert stored["command"] == "earmark reproduce few-labels"
    return stored["result"]


@pytest.mark.parametrize(("size", "least"), [("5", 0.125), ("20", 0.055)])
def test_the_recipe_is_above_logistic_regression(result, size, least):
    found = result["means"][size]
    assert found["gain"] >= least
    assert found["gain_se"] < 0.01


def test_no_supervised_model_is_above_it_on_any_corpus(result):
    assert len(result["development"]) == 14
    for name, cell in result["development"].items():
        means = {m: row["accuracy"]["mean"] for m, row in cell["methods"].items()}
        assert means["earmark"] >= max(means[m] for m in SUPERVISED) - 0.003, name


def test_rare_classes_are_not_swallowed(result):
    for size in (5, 20):
        methods = result["development"][f"r52-{size}"]["methods"]
        ours = methods["earmark"]["macro_f1"]["mean"]
        assert ours >= methods["logistic regression"]["macro_f1"]["mean"]


@pytest.mark.parametrize(("size", "least"), [("5", 0.035), ("20", 0.02)])
def test_short_texts_gain_from_their_own_settings(result, size, least):
    assert result["short_means"][size]["gain"] >= least


def test_corpora_that_played_no_part_show_the_same_sign(result):
    for name, cell in result["untouched"].items():
        assert cell["paired"]["logistic regression"]["mean"] > 0, name


def test_classes_that_nobody_labelled_do_no_harm(result):
    assert len(result["unlabelled_classes"]) == 8
    for name, cell in result["unlabelled_classes"].items():
        assert cell["paired"]["logistic regression"]["mean"] >= 0, name


def test_with_many_labels_the_choice_costs_little(result):
    assert len(result["many_labels"]) == 21
    for name, row in result["many_labels"].items():
        assert row["auto"] >= max(row[method] for method in LINEAR) - 0.005, name


def test_confidence_can_be_believed(result):
    assert result["means"]["20"]["ece"] <= 0.06
    assert result["means"]["20"]["ece"] < result["means"]["20"]["ece_raw"]
