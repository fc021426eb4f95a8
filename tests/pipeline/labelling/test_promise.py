"""The promise of the label page: rarely broken, though tested at every answer."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earmark.pipeline.labelling.promise import (
    Audit,
    fewest_checks,
    log_evidence,
    risk_of,
)

LIMIT = 0.05


def an_audit(n, max_error=LIMIT, risk=0.05):
    return Audit(np.arange(n), (("yes",),) * n, 10, max_error, risk)


def ends_at(wrong, max_error=LIMIT, risk=0.05):
    """Checks and wrong guesses at the first time the promise holds; None: never."""
    n, t = len(wrong), np.arange(1, len(wrong))
    s = np.cumsum(wrong)[:-1]
    evidence = log_evidence(np.full(n - 1, n), t, s, max_error)
    enough = np.flatnonzero(evidence >= -np.log(risk))
    return (int(t[enough[0]]), int(s[enough[0]])) if len(enough) else None


@pytest.mark.parametrize("n", [60, 200, 1000, 5000])
@pytest.mark.parametrize("max_error", [0.05, 0.1])
def test_a_promise_is_broken_in_at_most_5_percent(n, max_error):
    rng = np.random.default_rng(n)
    for rate in (0.8, 1.0, 1.2, 1.6):
        n_wrong, broken = int(np.floor(rate * max_error * n)) + 1, 0
        for _ in range(300):
            wrong = np.zeros(n, dtype=int)
            wrong[rng.choice(n, n_wrong, replace=False)] = 1
            end = ends_at(wrong, max_error)
            if end is not None:
                broken += (n_wrong - end[1]) > max_error * (n - end[0])
        assert broken / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize(("rate", "most"), [(0.0, 86), (0.01, 140), (0.02, 260)])
def test_a_good_model_needs_few_checks(rate, most):
    rng, needed = np.random.default_rng(1), []
    for _ in range(200):
        wrong = np.zeros(5000, dtype=int)
        wrong[rng.choice(5000, int(rate * 5000), replace=False)] = 1
        end = ends_at(wrong)
        needed.append(5000 if end is None else end[0])
    assert np.median(needed) <= most


def exact_evidence(n, t, s, max_error):
    """By fractions and brute force over every number of wrong guesses."""
    a, b = 1, round(5 / max_error)
    mixture = Fraction(1)
    for i in range(t):
        bad, good = a + min(i, s), b + max(i - s, 0)
        mixture *= Fraction(bad if i < s else good, a + b + i)
    ratios = []
    for wrong in range(s, n - (t - s) + 1):
        if wrong - s > max_error * (n - t):
            chance = Fraction(comb(n - t, wrong - s), comb(n, wrong))
            ratios.append(mixture / chance)
    return min(ratios, default=None)


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 60), st.data())
def test_the_evidence_is_the_least_over_all_numbers_that_break_the_promise(n, data):
    t = data.draw(st.integers(1, n - 1))
    s = data.draw(st.integers(0, t))
    max_error = data.draw(st.sampled_from([0.05, 0.1, 0.25]))
    value = float(log_evidence(np.array(n), np.array(t), np.array(s), max_error))
    exact = exact_evidence(n, t, s, max_error)
    if exact is None:
        assert value == np.inf
    elif value == -np.inf:  # no evidence at all
        assert exact < 5
    else:
        assert value == pytest.approx(float(np.log(float(exact))), abs=1e-8)


def test_one_mistake_does_not_end_it():
    wrong = np.zeros(2000, dtype=int)
    wrong[10] = 1
    without, (t, s) = ends_at(np.zeros(2000, dtype=int)), ends_at(wrong)
    assert s == 1
    assert without[0] < t < 2 * without[0]


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 400), st.integers(0, 30), st.data())
def test_what_is_missing_is_never_more_than_what_is_left(n, n_answers, data):
    audit = an_audit(n)
    right = data.draw(st.lists(st.booleans(), min_size=min(n, n_answers), max_size=n))
    answers = {d: ("yes",) if r else ("no",) for d, r in enumerate(right)}
    standing = audit.standing(answers)
    assert (
        standing.n_checked + (standing.n_missing or 0) < n or standing.n_missing is None
    )
    if standing.holds:
        assert len(audit.grant(answers).documents) == n - standing.n_checked > 0
    else:
        assert audit.grant(answers) is None
    if standing.n_missing:  # and when so many right ones come, it holds
        more = range(len(right), len(right) + standing.n_missing)
        assert audit.standing(answers | dict.fromkeys(more, ("yes",))).holds


def test_an_audit_that_finds_too_many_wrong_guesses_is_given_up():
    audit, n_checked = an_audit(5000), 0
    answers = {}
    while (standing := audit.standing(answers)).n_missing is not None:
        answers[n_checked] = ("no",) if n_checked % 20 == 0 else ("yes",)
        n_checked += 1
    assert not standing.holds
    assert n_checked < 3.5 * fewest_checks(5000, LIMIT, 0.05)


def test_only_the_answered_beginning_counts_and_skipped_documents_are_left_out():
    audit = an_audit(500)
    standing = audit.standing({0: ("yes",), 1: ("no",), 3: ("no",)})
    assert (standing.n_checked, standing.n_wrong) == (2, 1)
    standing = audit.standing({0: ("yes",), 1: ("no",), 3: ("no",)}, {2})
    counted = standing.n_documents, standing.n_checked, standing.n_wrong
    assert counted == (499, 3, 2)


def test_the_promise_stays_and_undoing_its_checks_takes_it_back():
    audit = an_audit(500)
    answers = {d: ("yes",) for d in range(fewest_checks(500, LIMIT, 0.05))}
    grant = audit.grant(answers)
    assert len(grant.documents) == 500 - len(answers)
    later = answers | {len(answers): ("no",)}
    assert len(audit.grant(later).documents) == len(grant.documents)
    answers[3] = ("no",)
    assert audit.grant(answers) is None


def test_small_sets_can_have_no_promise():
    assert fewest_checks(40, LIMIT, 0.04) in (None, 39)
    assert fewest_checks(2, LIMIT, 0.04) is None
    assert fewest_checks(150, LIMIT, 0.04) > 75
    assert fewest_checks(400, LIMIT, 0.04) < 100


def test_all_audits_together_spend_no_more_than_the_risk():
    assert sum(risk_of(number, 0.95) for number in range(1, 50)) <= 0.05 + 1e-12


def test_an_audit_is_kept_and_renamed():
    audit = an_audit(5)
    again = Audit.from_dict(audit.to_dict())
    assert again.to_dict() == audit.to_dict()
    assert audit.renamed(["yes"], "good").guesses[0] == ("good",)
