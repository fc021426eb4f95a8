"""The simulated person: paired draws, a fair test part, the stored result."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from earmark.documents import Documents
from reproductions.intervals import bootstrap_interval
from reproductions.labelling import derive, experiment, tables


@pytest.fixture
def documents(rng):
    topics = {"a": "apple pear plum fig", "b": "bus car train tram"}
    labels = [str(label) for label in rng.choice(list(topics), 300)]
    noise = ["one", "two", "three", "four", "five", "six", "seven"]
    texts = [
        " ".join([*rng.choice(topics[y].split(), 2), *rng.choice(noise, 4)])
        for y in labels
    ]
    return Documents(texts, labels)


@pytest.mark.parametrize("strategy", ["active", "random"])
def test_a_run_learns_and_estimates(documents, strategy):
    run = experiment.simulate(documents, strategy, 3, (20, 60))
    last = run["curve"][-1]
    assert last["accuracy"] > 0.85
    assert last["low"] <= last["estimate"] <= last["high"]
    assert 8 <= last["checks"] <= 12
    assert run == experiment.simulate(documents, strategy, 3, (20, 60))


def test_documents_of_the_test_part_are_never_asked(documents, monkeypatch):
    asked = []
    answer = experiment.LabellingLoop.answer

    def noted(self, document, labels):
        asked.append(document)
        answer(self, document, labels)

    monkeypatch.setattr(experiment.LabellingLoop, "answer", noted)
    experiment.simulate(documents, "active", 0, (60,))
    assert min(asked) >= 150
    assert len(set(asked)) == 60


def test_the_comparison_pairs_the_runs():
    def runs(*values):
        return [{"curve": [{"accuracy": value}]} for value in values]

    found = experiment.compared({"active": runs(0.9, 0.8), "random": runs(0.7, 0.7)}, 2)
    assert found["difference"]["mean"] == pytest.approx(0.15)
    assert found["not_below"]
    worse = experiment.compared({"active": runs(0.6, 0.5), "random": runs(0.7, 0.7)}, 2)
    assert not worse["not_below"]


def test_coverage_counts_intervals_that_hold_the_truth():
    points = [
        {"low": 0.5, "high": 0.9, "accuracy": truth, "estimate": 0.7, "checks": 20}
        for truth in (0.4, 0.5, 0.8, 0.95)
    ]
    runs = [{"curve": [point]} for point in points]
    found = experiment.coverage({"x": {"runs": {"active": runs}}})
    assert (found["covered"], found["runs"]) == (2, 4)
    assert found["covered_by_wilson"] == 2
    assert found["mean_width"] == pytest.approx(0.4)


def test_the_tables_name_every_corpus():
    point = {"n": 200, "low": 0.5, "high": 0.9, "estimate": 0.7, "checks": 20}
    runs = [{"curve": [{**point, "accuracy": a}]} for a in (0.6, 0.8)]
    corpora = {"r8": {"runs": {"active": runs, "random": runs}}}
    result = {"settings": {"labels": 200, "paired runs": 2}, "corpora": corpora}
    arms, estimate = tables(result | derive(result))
    assert arms.rows[0][0] == "r8"
    assert estimate.rows[0][0] == "2 of 2"


def test_the_figure_is_drawn(documents, tmp_path):
    from reproductions.labelling.figures import draw_curves

    runs = {
        s: [experiment.simulate(documents, s, seed, (20, 40)) for seed in (0, 1)]
        for s in ("active", "random")
    }
    draw_curves({"corpora": {"made": {"runs": runs}}}, tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").stat().st_size > 5000
    assert np.isfinite(runs["active"][0]["curve"][-1]["accuracy"])


def test_bootstrap_interval_is_near_the_normal_one_for_many_values():
    values = np.random.default_rng(0).normal(2.0, 1.0, 2000)
    low, high = bootstrap_interval(values)
    half = 1.96 * values.std() / np.sqrt(2000)
    assert_allclose(
        [low, high], [values.mean() - half, values.mean() + half], atol=5e-3
    )
    assert np.isnan(bootstrap_interval([])).all()
