"""Sentences that compare results: each has a claim, and every claim holds."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import Voronoi

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs/_ext"))

import claims  # noqa: E402

PAGES = {str(page.relative_to(ROOT)): page for page in claims.checked_pages()}


@pytest.mark.parametrize("name", PAGES)
def test_every_claim_of_a_page_holds(name):
    assert claims.failures(PAGES[name].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_sentence_that_compares_has_a_claim_or_says_why_not(name):
    assert claims.uncovered(PAGES[name].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", PAGES)
def test_an_excuse_is_for_a_sentence_that_compares_and_states_no_accuracy(name):
    for sentence in claims.sentences(PAGES[name].read_text(encoding="utf-8")):
        if sentence.excuses:
            assert sentence.compares, sentence.text
            assert not re.search(r"\b0?\.\d{3}\b|\bpoints\b", sentence.text)


@pytest.mark.parametrize(
    "claim",
    [
        # 1. "The answers to single documents were not stored: the largest p."
        'count(marked("≤", "hierarchical/table-1", "MaxEnt on counts")) == 1',
        # 2. "MaxEnt and the SVM on counts use the first draw only."
        'stored("hierarchical>table_2>R8>MaxEnt on counts>n") == 1',
        # 3. "The stored run is older than the test over documents."
        'count(marked("†", "higher-order/tests", "HONB − NB")) == 0',
        # 4. "More starts are worth the time": 100 of 6 iterations against 50 of 4.
        'cell("hierarchical/table-1", "hierarchical Bayes", "accuracy") '
        '> cell("hierarchical/table-1", "hierarchical Bayes, H = 2", "accuracy")',
    ],
)
def test_what_pages_once_said_against_the_results_fails(claim):
    with pytest.raises(claims.ClaimError, match="does not hold"):
        claims.check(claim)


def test_a_comparison_without_a_stored_figure_is_found():
    # 5. What a page once said, with no result behind it.
    page = "It helps. The [semi-supervised model](few-labels.md) is better still."
    assert len(claims.uncovered(page)) == 2


def test_single_points_in_passes_are_not_single_points_at_random():
    # 6. "For B = 1 and B = N both rules agree": 40 steps over 40 documents.
    rng = np.random.default_rng(0)
    drawn = [len(set(rng.integers(0, 40, 40))) for _ in range(200)]
    assert len(set(rng.permutation(40))) == 40
    assert max(drawn) < 40
    page = (ROOT / "docs/maths/gradients.md").read_text(encoding="utf-8")
    assert "For $B = 1$ and" not in page


def test_points_have_as_many_voronoi_cells_as_they_are():
    # 7. "Up to N^ceil(M/2) cells": those are faces.
    points = np.random.default_rng(0).normal(size=(60, 4))
    diagram = Voronoi(points)
    assert len(set(diagram.point_region.tolist())) == 60
    assert len(diagram.ridge_points) > 60
    page = (ROOT / "docs/maths/exercises.md").read_text(encoding="utf-8")
    assert r"$N^{\lceil M/2 \rceil}$ cells" not in " ".join(page.split())


def test_a_claim_that_fails_shows_both_sides():
    ours, theirs = 'row("hybrid/means", "hybrid R=2")', 'cell("hybrid/means", '
    claim = f'{theirs}"naive Bayes", "50") < {ours}'
    with pytest.raises(claims.ClaimError, match=r"0\.189 < \[0\.153 0\.092"):
        claims.check(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "1 < 2",
        'cell("hybrid/means", "naive Bayes", "50")',
        'cell("hybrid/means", "naive Bayes", "50").real < 1',
        '[cell("hybrid/means", "naive Bayes", "50") for x in (1,)] < 1',
        'open(cell("hybrid/means", "naive Bayes", "50")) > 1',
        'cell("hybrid/means", "naive Bayes", "no such column") < 1',
        'cell("hybrid/means", "no such row", "50") < 1',
        'cell("no such table", "naive Bayes", "50") < 1',
        'cell("hybrid/means", "naive Bayes", "50") < 1 or 1 < 2',
    ],
)
def test_only_comparisons_of_stored_results_are_claims(claim):
    with pytest.raises(claims.ClaimError):
        claims.check(claim)


def test_a_note_belongs_to_the_sentence_before_it():
    page = (
        "A is better. <!-- claim:\n1 > 2 --> It is Raina et al. (2003).\n\n"
        "- B is worse. <!-- no result: a definition -->\n- C rises."
    )
    every = list(claims.sentences(page))
    assert [s.text for s in every] == [
        "A is better.",
        "It is Raina et al. (2003).",
        "- B is worse.",
        "- C rises.",
    ]
    assert every[0].claims == ("1 > 2",)
    assert every[2].excuses == ("a definition",)
    assert claims.uncovered(page) == ["- C rises."]
    assert "claim" not in claims.without_notes(page)


def test_a_claim_that_would_end_its_paragraph_is_an_error():
    assert len(claims.failures("A is better.\n<!-- no result: why -->")) == 1
    claim = 'cell("naive Bayes", "50")\n> .1'
    page = f"A is better. <!-- claim on hybrid/means:\n{claim} -->"
    assert len(claims.failures(page)) == 1
    assert claims.failures(page.replace("\n>", " >\n")) == []


def test_a_claim_names_its_table_once():
    shorter = (
        'row("naive Bayes") > row("hybrid R=2") and cell("hybrid/ece", "{}", "50")'
    )
    claims.check(f"on hybrid/means: {shorter.format('naive Bayes')} > .1")
    with pytest.raises(claims.ClaimError, match="no row with nobody"):
        claims.check(f"on hybrid/means: {shorter.format('nobody')} > .1")
    claims.check('on hybrid/means: row("naive Bayes") < .2')
    claims.check('on higher-order/tests: marked("†", "HONB − NB") == 1')
