"""The simulated person: paired draws, a fair test part, the stored result."""

import numpy as np
import pytest

from earmark.documents import Documents
from earmark.reproductions.labelling import _run


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
    run = _run.simulate(documents, strategy, 3, (20, 60))
    last = run["curve"][-1]
    assert last["accuracy"] > 0.85
    assert last["low"] <= last["estimate"] <= last["high"]
    assert 8 <= last["checks"] <= 12
    assert run == _run.simulate(documents, strategy, 3, (20, 60))


def test_documents_of_the_test_part_are_never_asked(documents, monkeypatch):
    asked = []
    answer = _run.LabellingLoop.answer

    def noted(self, document, labels):
        asked.append(document)
        answer(self, document, labels)

    monkeypatch.setattr(_run.LabellingLoop, "answer", noted)
    _run.simulate(documents, "active", 0, (60,))
    assert min(asked) >= 150
    assert len(set(asked)) == 60


def test_the_comparison_pairs_the_runs():
    def runs(*values):
        return [{"curve": [{"accuracy": value}]} for value in values]

    found = _run._compared({"active": runs(0.9, 0.8), "random": runs(0.7, 0.7)}, 2)
    assert found["difference"]["mean"] == pytest.approx(0.15)
    assert found["not_below"]
    worse = _run._compared({"active": runs(0.6, 0.5), "random": runs(0.7, 0.7)}, 2)
    assert not worse["not_below"]


def test_coverage_counts_intervals_that_hold_the_truth():
    points = [
        {"low": 0.5, "high": 0.9, "accuracy": truth, "estimate": 0.7, "checks": 20}
        for truth in (0.4, 0.5, 0.8, 0.95)
    ]
    runs = [{"curve": [point]} for point in points]
    found = _run._coverage({"x": {"runs": {"active": runs}}})
    assert (found["covered"], found["runs"]) == (2, 4)
    assert found["covered_by_wilson"] == 2
    assert found["mean_width"] == pytest.approx(0.4)


def test_the_table_names_every_corpus():
    corpus = {
        "comparison": {
            "active": {"mean": 0.9},
            "random": {"mean": 0.8},
            "difference": {"mean": 0.1},
            "difference_interval": [0.05, 0.15],
        }
    }
    coverage = {"covered": 48, "runs": 50, "mean_width": 0.2}
    shown = _run.show(
        {"settings": {"labels": 200}, "corpora": {"r8": corpus}, "coverage": coverage}
    )
    assert "r8" in shown
    assert "48 of 50" in shown


def test_the_figure_is_drawn(documents, tmp_path):
    from earmark.reproductions.labelling._figure import draw_curves

    runs = {
        s: [_run.simulate(documents, s, seed, (20, 40)) for seed in (0, 1)]
        for s in ("active", "random")
    }
    draw_curves({"corpora": {"made": {"runs": runs}}}, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 5000
    assert np.isfinite(runs["active"][0]["curve"][-1]["accuracy"])
