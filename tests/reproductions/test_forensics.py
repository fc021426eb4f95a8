"""How figures of two papers come about: the parts, and what is stored."""

import json
from pathlib import Path

import numpy as np
import pytest

from earmark.features import WordCounter
from reproductions.forensics import derive, tables
from reproductions.forensics.smoothing import PAPER, counts_of, distances
from reproductions.higher_order.data import DataSet, sampled

ROOT = Path(__file__).parents[2]
TEXTS = ["a cat sat with cats", "cats sitting in a cathedral", "b sits i sat"]


@pytest.fixture(scope="module")
def result():
    file = ROOT / "reproductions" / "results" / "forensics.json"
    stored = json.loads(file.read_text())
    assert not stored["quick"]
    return stored["result"]


@pytest.mark.parametrize("tokens", ["letters", "two letters or more", "stems"])
def test_merged_columns_are_what_counting_such_tokens_gives(tokens):
    stemmer = pytest.importorskip("Stemmer").Stemmer("porter")

    def analyze(text):
        words = [w for w in text.split() if len(w) > 1 or tokens == "letters"]
        return stemmer.stemWords(words) if tokens == "stems" else words

    letters = WordCounter(token_pattern="[a-z]+")
    counts = letters.fit_transform(TEXTS)
    X, names = counts_of(counts, letters.get_feature_names_out().tolist(), tokens)
    expected = WordCounter(analyzer=analyze).fit_transform(TEXTS).toarray()
    assert len(names) == X.shape[1]
    # The same columns, in any order.
    assert sorted(X.toarray().T.tolist()) == sorted(expected.T.tolist())


def test_the_distance_is_to_all_printed_figures():
    row = {name: PAPER[name]["naive Bayes"] + 0.01 for name in PAPER}
    row["R8"] += 0.02
    assert distances(row)["mean distance"] == pytest.approx(0.015)
    assert distances(row)["largest distance"] == pytest.approx(0.03)


def test_every_seed_samples_other_documents_of_each_class(rng):
    y = np.repeat(["a", "b"], [700, 400])
    data = DataSet(
        "toy", WordCounter().fit_transform([f"w{i}" for i in range(1100)]), y
    )
    first, again, other = sampled(data, 0), sampled(data, 0), sampled(data, 1)
    assert [int((first.y == c).sum()) for c in "ab"] == [500, 400]
    assert (first.counts != again.counts).nnz == 0
    assert (first.counts != other.counts).nnz > 0


def test_one_setting_is_near_all_four_figures_and_none_with_alpha_1_is(result):
    assert len(result["smoothing"]) == 60
    assert result["nearest"]["mean distance"] <= 0.005
    assert result["nearest by alpha"]["1"]["mean distance"] >= 0.015
    assert derive(result)["nearest"] == result["nearest"]


def test_the_gain_on_reviews_at_equal_alpha_is_below_the_paper_s(result):
    printed = PAPER["reviews"]["hierarchical Bayes"] - PAPER["reviews"]["naive Bayes"]
    for row in result["equal_smoothing"]["reviews"].values():
        assert 0.015 < row["gain"]["mean"] < printed - 0.01


def test_every_trial_has_its_own_sample_and_the_paper_s_gain_is_within_its_error(
    result,
):
    gain = result["samples"]["mean gain"]
    assert gain["n"] >= 20
    assert abs(gain["mean"] - gain["paper"]) < 2 * gain["sd"] / np.sqrt(8)
    nb = result["samples"]["sets"]["POLITICS"]["NB"]
    assert nb["least"] < nb["paper"] < nb["most"]


def test_every_table_is_on_the_page(result):
    page = (ROOT / "docs/research/forensics.md").read_text(encoding="utf-8")
    for table in tables(result):
        assert f"<!-- table: forensics/{table.name} -->" in page
