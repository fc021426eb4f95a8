import json
from pathlib import Path

import numpy as np
import pytest

from reproductions.few_labels import tables
from reproductions.few_labels.draws import Finished
from reproductions.few_labels.encoder import ALONE, BOTH, OURS, SETFIT
from reproductions.few_labels.experiments import means, summary

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "reproductions" / "results" / "few-labels.json"


def draw(ours, linear):
    row = {"accuracy": ours, "macro_f1": ours, "ece": 0.02, "ece_raw": 0.2}
    other = {"accuracy": linear, "macro_f1": linear}
    return {"logistic regression": other, "linear SVM": other, "earmark": row}


def table():
    return {
        "a-5": summary([draw(0.7, 0.5), draw(0.6, 0.5), draw(0.4, 0.5)]),
        "b-5": summary([draw(0.9, 0.8), draw(0.9, 0.8), draw(0.9, 0.8)]),
        "a-20": summary([draw(0.8, 0.7)] * 2),
        "b-20": summary([draw(0.9, 0.9)] * 2),
    }


def test_gaps_are_paired_by_draw():
    paired = table()["a-5"]["paired"]["logistic regression"]
    assert paired["mean"] == pytest.approx(0.2 / 3)
    assert paired["worst"] == pytest.approx(-0.1)
    assert paired["lost"] == 1


def test_means_are_over_corpora_and_errors_combine():
    found = means(table())
    assert found["5"]["gain"] == pytest.approx((0.2 / 3 + 0.1) / 2)
    error = table()["a-5"]["paired"]["logistic regression"]["se"]
    assert found["5"]["gain_se"] == pytest.approx(error / 2)
    assert found["20"]["methods"]["earmark"] == pytest.approx(0.85)
    assert found["20"]["ece"] == pytest.approx(0.02)


def test_a_single_draw_has_no_error_and_says_so():
    alone = {"a-5": summary([draw(0.7, 0.5)]), "a-20": summary([draw(0.7, 0.5)])}
    found = means(alone)["5"]
    assert found["gain"] == pytest.approx(0.2)
    assert found["gain_se"] is None


def test_every_table_is_shown():
    stored = json.loads(RESULT.read_text())
    assert not stored["quick"]
    shown = {table.name: table.text() for table in tables(stored["result"])}
    assert len(shown) == 13
    assert "draws lost" in shown["development-5"]


def test_the_stored_result_keeps_the_promises():
    stored = json.loads(RESULT.read_text())
    result = stored["result"]
    means, short = result["means"], result["short_means"]
    assert means["5"]["gain"] >= 0.125
    assert means["20"]["gain"] >= 0.055
    assert means["20"]["ece"] <= 0.06
    assert short["5"]["gain"] >= 0.035
    assert short["20"]["gain"] >= 0.02
    for name in ("untouched", "unlabelled_classes"):
        for cell in result[name].values():
            assert cell["paired"]["logistic regression"]["mean"] >= 0.0


def test_an_encoder_as_a_view_beats_recipe_and_encoder_alone():
    rows = json.loads(RESULT.read_text())["result"]["encoder"]
    for n in (5, 20):
        mean = {
            row["method"]: np.mean([cell["mean"] for cell in row["accuracy"].values()])
            for row in rows
            if row["labels"] == n
        }
        assert mean[BOTH] >= max(mean[OURS], mean[ALONE]) + 0.015
        assert mean[BOTH] >= np.mean(SETFIT[n]) + 0.02


def test_a_finished_draw_is_read_and_not_made_again(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr("reproductions.few_labels.draws.Draw", lambda *a: a)

    def method(draw, branch="auto"):
        made.append((draw, branch))
        return {"accuracy": 0.5}

    for _ in range(2):
        done = Finished(tmp_path)
        for _ in range(2):
            assert done.get(method, "a", 5, 0) == {"accuracy": 0.5}
        done.get(method, "a", 5, 0, branch="long")
    assert made == [(("a", 5, 0), "auto"), (("a", 5, 0), "long")]
