"""The promise about errors: hand-computed cases, brute force, simulation (AB1)."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special, stats

from earmark.decision import Threshold, guaranteed_threshold
from earmark.decision.evidence import any_of_evidence
from earmark.decision.guarantee import (
    error_bounds,
    estimated_threshold,
    guaranteed_thresholds,
    several_words,
    smallest_sample,
    starting_ranks,
    words_per_label,
)
from earmark.exceptions import DataError


def allowed(n, max_error, risk):
    """The most errors with which 0, 1, ..., n documents pass, -1 for none."""
    table = stats.binom.cdf(np.arange(n + 1)[:, None], np.arange(n + 1), max_error)
    return (table <= risk).sum(axis=0) - 1


def slow_starts(n, max_error, risk, coverages):
    """Ranks and risks as the text says it, looked for one by one."""
    smallest = next(k for k in range(1, 9999) if (1 - max_error) ** k <= risk)
    if n < smallest:
        return []
    coverages = sorted(coverages) if n >= 5 * smallest else [min(coverages)]
    rest = len(coverages) - 1
    shares = [risk] if not rest else [0.8 * risk] + [0.2 * risk / rest] * rest
    starts, lost = {}, 0
    for coverage, share in zip(coverages, shares, strict=True):
        first = max(int(np.ceil(coverage * n - 1e-9)), 1)
        most = allowed(n, max_error, share)
        steps = [k for k in range(first, n + 1) if most[k] > most[k - 1]]
        steps = steps or [k for k in range(first, n + 1) if most[k] >= 0]
        if steps:
            starts[steps[0]] = starts.get(steps[0], 0) + share
        else:
            lost += share
    if not starts:
        return [(smallest, risk)]
    starts[min(starts)] += lost
    return sorted(starts.items())


def follow(sure, right, max_error, starts):
    """Test the sets one by one, as the text says it."""
    n = len(sure)
    # Inside a tie the errors come first: the worst order counts at a start.
    order = sorted(range(n), key=lambda i: (-sure[i], right[i]))
    errors = np.cumsum([not right[i] for i in order])
    p_values = stats.binom.cdf(errors, np.arange(1, n + 1), max_error)
    risk, answered, whole = 0, 0, bool(starts)
    for k in range(1, n + 1):
        p_value = p_values[k - 1]
        if k in starts and not risk and p_value > starts[k] * (1 + 1e-9):
            whole = False
            continue
        risk += starts.get(k, 0)
        if not risk or (k < n and sure[order[k - 1]] == sure[order[k]]):
            continue  # a threshold cannot cut a tie
        if p_value > risk * (1 + 1e-9):
            risk, whole = 0, False
        else:
            answered = k
    return answered, whole


def brute_force(sure, right, max_error, level, coverages):
    starts = slow_starts(len(sure), max_error, 1 - level, coverages)
    return follow(sure, right, max_error, dict(starts))[0]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=120),
    st.sampled_from([0.05, 0.2, 0.4]),
    st.sampled_from([0.5, 0.9]),
    st.sampled_from([[0.0], [0.1], [0.5], [0.1, 0.25, 0.5], [0.2, 1.0], [0.3, 0.31]]),
)
def test_threshold_agrees_with_brute_force(pairs, max_error, level, min_coverage):
    sure = [score for score, _ in pairs]
    right = [ok or score > 15 for score, ok in pairs]
    found = guaranteed_threshold(
        sure, right, max_error, level, min_coverage=min_coverage
    )
    assert found.n_answered == brute_force(sure, right, max_error, level, min_coverage)
    assert sum(score >= found.value for score in sure) == found.n_answered


@pytest.mark.parametrize("n", [3, 20, 59, 60, 130, 295, 300, 770])
@pytest.mark.parametrize("max_error", [0.05, 0.3])
@pytest.mark.parametrize("coverages", [(0.1,), (0.1, 0.25, 0.5), (0.9,), (0.0, 1.0)])
def test_starts_are_the_ranks_where_one_error_more_is_allowed(n, max_error, coverages):
    starts = starting_ranks(n, max_error, 0.05, coverages)
    slow = slow_starts(n, max_error, 0.05, coverages)
    assert [rank for rank, _ in starts] == [rank for rank, _ in slow]
    assert_allclose([risk for _, risk in starts], [risk for _, risk in slow])
    if starts:
        assert_allclose(sum(risk for _, risk in starts), 0.05)


# All calibrations of n documents from a few tied scores, and all that may come of them.
def every_calibration(n, n_scores, max_error, level, coverages):
    counts, answered = [], []
    scores = -np.arange(n_scores, dtype=float)
    for cuts in itertools.combinations(range(n + 2 * n_scores - 1), 2 * n_scores - 1):
        sizes = np.diff([-1, *cuts, n + 2 * n_scores - 1]) - 1
        sure = np.repeat(np.repeat(scores, 2), sizes)
        right = np.repeat(np.tile([True, False], n_scores), sizes)
        found = guaranteed_threshold(
            sure, right, max_error, level, min_coverage=coverages
        )
        counts.append(sizes)
        answered.append(int(np.sum(scores >= found.value)))
    return np.array(counts), np.array(answered)


@pytest.mark.parametrize(
    ("n", "n_scores", "max_error", "level", "coverages"),
    [(10, 2, 0.4, 0.6, (0.1, 0.5)), (8, 3, 0.5, 0.5, (0.1, 0.4, 0.9)),
     (12, 2, 0.3, 0.5, (0.1, 0.25, 0.5))],
)  # fmt: skip
def test_promise_is_exact_over_all_calibrations_of_tied_scores(
    rng, n, n_scores, max_error, level, coverages
):
    assert len(starting_ranks(n, max_error, 1 - level, coverages)) > 1
    counts, answered = every_calibration(n, n_scores, max_error, level, coverages)
    ways = special.gammaln(n + 1) - special.gammaln(counts + 1).sum(axis=1)
    worst = 0.0
    for _ in range(400):  # error rates of any shape about max_error
        weight = rng.dirichlet(np.full(n_scores, rng.choice([0.5, 3.0])))
        spread = rng.choice([0.02, 0.1, 0.5])
        wrong = np.clip(max_error + rng.normal(0, spread, n_scores), 1e-9, 1 - 1e-9)
        share = np.column_stack([weight * (1 - wrong), weight * wrong]).ravel()
        probability = np.exp(ways + counts @ np.log(share))
        error = np.r_[0.0, np.cumsum(weight * wrong) / np.cumsum(weight)]
        worst = max(worst, probability[error[answered] > max_error].sum())
    assert worst <= 1 - level
    assert worst >= 0.3 * (1 - level)  # the populations are hard enough to tell


def slow_groups(sure, right, group, n_groups, max_error, level, coverages):
    """Answered per group, by the words of the docstring, with a brute-force rule."""
    sizes = [int(np.sum(group == number)) for number in range(n_groups)]
    order = sorted(range(n_groups), key=lambda number: (-sizes[number], number))
    sharing = 0
    for m in range(1, n_groups + 1):
        if (1 - max_error) ** sizes[order[m - 1]] <= (1 - level) / m * (1 + 1e-9):
            sharing = m
    answered, more = [0] * n_groups, 0.0
    for number in order[:sharing]:
        share = (1 - level) / sharing
        rows = group == number
        ranks = slow_starts(sizes[number], max_error, share, coverages)
        starts = [(rank, risk * (share + more) / share) for rank, risk in ranks]
        answered[number], whole = follow(
            sure[rows], right[rows], max_error, dict(starts)
        )
        more = share + more if whole else 0.0
    return answered


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.3]), st.sampled_from([0.5, 0.9]))
def test_groups_agree_with_brute_force(seed, max_error, level):
    rng = np.random.default_rng(seed)
    group = rng.choice(4, 150, p=[0.5, 0.3, 0.15, 0.05])
    sure = rng.integers(0, 40, 150)
    right = rng.random(150) < 0.8 + sure / 100
    found = guaranteed_thresholds(sure, right, group, 5, max_error, level)
    slow = slow_groups(sure, right, group, 5, max_error, level, (0.1, 0.25, 0.5))
    assert [threshold.n_answered for threshold in found] == slow
    assert [t.n_documents for t in found] == [np.sum(group == g) for g in range(5)]


def test_a_group_without_a_failure_hands_its_risk_on():
    right = np.r_[np.ones(300, bool), np.arange(200) != 95]
    sure = -np.r_[np.arange(300.0), np.arange(200.0)]
    group = np.repeat([0, 1], [300, 200])
    easy, hard = guaranteed_thresholds(sure, right, group, 2)
    alone = guaranteed_threshold(sure[300:], right[300:])
    halved = guaranteed_threshold(sure[300:], right[300:], 0.05, 0.975)
    assert easy.n_answered == 300
    assert halved.n_answered <= hard.n_answered <= alone.n_answered
    assert hard.n_answered > halved.n_answered
    assert easy.level == hard.level == 0.95


def test_groups_too_small_to_pass_take_no_risk():
    sure = np.arange(80.0)
    group = np.r_[np.zeros(62, int), np.arange(1, 19)]
    found = guaranteed_thresholds(sure, np.ones(80, bool), group, 19)
    assert found[0].n_answered == 62  # it would need 100 with a share of a twentieth
    assert {t.n_answered for t in found[1:]} == {0}
    assert all(t.n_missing > 0 for t in found[1:])


def test_promises_of_all_groups_hold_together(rng):
    # Three groups, each with its error at the limit from the start or soon.
    broken = 0
    for _ in range(400):
        u = rng.random(600)
        group = rng.choice(3, 600, p=[0.5, 0.3, 0.2])
        floor = np.array([0.051, 0.0, 0.051])[group]
        rise = np.array([0.0, 0.2, 0.0])[group]
        right = rng.random(600) >= floor + rise * u
        found = guaranteed_thresholds(-u, right, group, 3)
        cut = [min(-t.value, 1.0) if t.n_answered else 0.0 for t in found]
        broken += cut[0] > 0 or 0.1 * cut[1] > 0.05 or cut[2] > 0
    # 5 % of 400 is 20; 33 and more would come by chance once in 300 such tests.
    assert broken <= 32


def test_an_early_error_no_longer_ends_everything():
    # 770 documents, an error at rank 40, few errors up to rank 230.
    wrong = [40, 130, 180, *range(240, 770, 6)]
    right = ~np.isin(np.arange(770), wrong)
    several = guaranteed_threshold(-np.arange(770.0), right)
    assert several.n_answered >= 230
    # Two errors early on: only a later start can pass them.
    wrong = [5, 40, *range(240, 770, 6)]
    right = ~np.isin(np.arange(770), wrong)
    single = guaranteed_threshold(-np.arange(770.0), right, min_coverage=0.1)
    assert single.n_answered == 0
    assert guaranteed_threshold(-np.arange(770.0), right).n_answered >= 230


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=200),
    st.data(),
)
def test_an_answer_more_right_never_lowers_coverage(pairs, data):
    sure = np.array([score for score, _ in pairs])
    right = np.array([ok or score > 20 for score, ok in pairs])
    better = right.copy()
    better[data.draw(st.integers(0, len(right) - 1))] = True
    kwargs = {"max_error": 0.2, "level": 0.9}
    before = guaranteed_threshold(sure, right, **kwargs).n_answered
    assert guaranteed_threshold(sure, better, **kwargs).n_answered >= before


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=150), st.data())
def test_order_of_documents_and_scale_of_scores_do_not_matter(pairs, data):
    order = data.draw(st.permutations(range(len(pairs))))
    sure = np.array([score for score, _ in pairs], dtype=float)
    right = np.array([ok or score > 10 for score, ok in pairs], dtype=bool)
    kwargs = {"max_error": 0.2, "level": 0.9}
    found = guaranteed_threshold(sure, right, **kwargs)
    other = guaranteed_threshold(np.exp(sure[order]), right[order], **kwargs)
    assert (other.n_answered, other.n_errors) == (found.n_answered, found.n_errors)


def test_59_error_free_answers_are_needed_at_5_percent():
    assert smallest_sample(0.05, 0.95) == 59
    assert 0.95**59 <= 0.05 < 0.95**58
    enough = guaranteed_threshold(np.arange(59), np.ones(59, bool))
    assert enough.n_answered == 59
    assert enough.value == -np.inf
    fewer = guaranteed_threshold(np.arange(58), np.ones(58, bool))
    assert (fewer.n_answered, fewer.n_missing, fewer.value) == (0, 1, np.inf)
    assert "at least 1 more labelled documents are needed" in fewer.words


@pytest.mark.parametrize("max_error", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_smallest_sample_is_the_first_that_can_pass(max_error, level):
    k = smallest_sample(max_error, level)
    assert stats.binom.cdf(0, k, max_error) <= 1 - level + 1e-12
    assert k == 1 or stats.binom.cdf(0, k - 1, max_error) > 1 - level


def test_missing_labels_are_those_that_let_a_surer_share_pass():
    # All 60 documents must be tested, and the least sure ones are wrong.
    wrong = [3, 6]
    found = guaranteed_threshold(np.arange(60), ~np.isin(np.arange(60), wrong))
    assert found.n_answered == 0
    assert 0 < found.n_missing <= 20
    assert f"at least {found.n_missing} more labelled documents" in found.words
    n_documents = 60 + found.n_missing
    alike = np.arange(n_documents) * 60 // n_documents
    again = guaranteed_threshold(np.arange(n_documents), ~np.isin(alike, wrong))
    assert again.n_answered > 0


def test_hopeless_classifier_is_told_apart_from_missing_labels():
    found = guaranteed_threshold(np.arange(300), np.arange(300) % 2 == 0)
    assert found.n_missing is None
    assert "a better classifier would" in found.words


def test_threshold_lies_just_above_the_first_document_left_out():
    right = np.r_[np.zeros(100, bool), np.ones(100, bool)]
    found = guaranteed_threshold(np.arange(200.0), right)
    assert found.n_errors >= 1
    first_out = 199.0 - found.n_answered
    assert first_out < found.value <= np.nextafter(first_out, np.inf)


def test_estimate_is_never_called_a_guarantee():
    found = estimated_threshold(np.arange(100), np.arange(100) >= 20)
    assert not found.guaranteed
    assert found.level is None
    assert "not a guarantee" in found.words
    assert "5 % of the answers are wrong at most (1 of 81" in found.words
    nothing = estimated_threshold(np.arange(80), np.zeros(80, bool))
    assert nothing.n_answered == 0
    assert "not reached by its most confident answers" in nothing.words
    few = estimated_threshold(np.arange(30), np.ones(30, bool))
    assert few.n_answered == 0
    assert "30 labelled documents; that takes 45 if none" in few.words


@pytest.mark.parametrize("max_error", [0.05, 0.2])
def test_an_estimate_is_the_largest_set_with_few_errors(rng, max_error):
    for _ in range(50):
        sure = rng.integers(0, 25, 160)
        right = rng.random(160) < 0.8 + sure / 100
        found = estimated_threshold(sure, right, max_error)
        best = 0
        for cut in np.unique(sure):
            said = sure >= cut
            rare = stats.binom.cdf(np.sum(said & ~right), said.sum(), max_error)
            best = max(best, said.sum() if rare <= 0.1 else 0)
        assert found.n_answered == best == np.sum(sure >= found.value)
        assert found.n_errors == np.sum(~right[sure >= found.value])


@pytest.mark.parametrize(("n_errors", "n"), [(0, 20), (6, 20), (20, 20), (3, 400)])
def test_bounds_of_an_error_are_those_of_the_exact_test(n_errors, n):
    low, high = error_bounds(n_errors, n)
    exact = stats.binomtest(n_errors, n).proportion_ci(0.95, "exact")
    assert_allclose((low, high), exact, atol=1e-12)


def a_text_recurs(rng, n):
    """Certainty, whether right, and whether a document repeats no other.

    Three in ten are one text, whose label varies: wrong in 30 % of its occurrences.
    """
    is_text = rng.random(n) < 0.3
    right = np.where(is_text, rng.random(n) < 0.7, True)
    first = np.cumsum(is_text) == 1
    return np.where(is_text, 3.0, rng.random(n)), right, ~is_text | first


def test_a_text_that_recurs_with_varying_labels_does_not_break_the_promise():
    broken, alone = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sure, right, distinct = a_text_recurs(rng, 400)
        found = guaranteed_threshold(sure, right, distinct=distinct)
        new, new_right, _ = a_text_recurs(rng, 20_000)
        said = new >= found.value
        broken += bool(said.any()) and (~new_right[said]).mean() > 0.05
        # Judged without copies only, every answer would be given.
        once = guaranteed_threshold(sure[distinct], right[distinct])
        said = new >= once.value
        alone += bool(said.any()) and (~new_right[said]).mean() > 0.05
    assert broken <= 10
    assert alone > 120  # where its first occurrence is right


def test_copies_that_a_collector_planted_do_not_break_the_promise():
    broken, careless = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sure = rng.random(150)
        right = rng.random(150) < 0.9
        # Right answers were copied again and again into the calibration documents.
        copies = rng.choice(np.flatnonzero(right), 600)
        distinct = np.arange(750) < 150
        every = np.concatenate([sure, sure[copies]])
        every_right = np.concatenate([right, right[copies]])
        both = guaranteed_threshold(every, every_right, distinct=distinct)
        broken += both.n_answered > 0
        careless += guaranteed_threshold(every, every_right).n_answered > 0
    assert broken <= 14  # true error: one in ten everywhere
    assert careless > 120


def test_both_tests_must_pass(rng):
    for _ in range(100):
        n = int(rng.integers(100, 500))
        sure = rng.integers(0, 40, n).astype(float)
        right = rng.random(n) < 0.9 + sure / 400
        distinct = rng.random(n) < 0.7
        both = guaranteed_threshold(sure, right, distinct=distinct)
        every, few = (
            guaranteed_threshold(sure, right),
            guaranteed_threshold(sure[distinct], right[distinct]),
        )
        assert both.n_answered <= every.n_answered
        assert both.distinct[1] <= few.n_answered
        said = sure >= both.value
        assert both.n_answered == said.sum()
        assert both.n_errors == (said & ~right).sum()
        assert both.distinct == (
            distinct.sum(),
            (said & distinct).sum(),
            (said & distinct & ~right).sum(),
        )


def test_several_labels_are_summed_up_in_one_sentence():
    right = np.arange(200) >= 20
    sure = np.arange(200) - 1000.0 * ~right
    one = guaranteed_threshold(sure, right, min_coverage=0.9)
    none = guaranteed_threshold(np.arange(50), np.ones(50, bool))
    share = 100 * one.n_answered / 250
    assert several_words([one, none]) == (
        f"1 of 2 labels are answered, {share:.1f} % of the decisions; at most 5 % of "
        "the answers are wrong for every label, with 95 % confidence."
    )
    assert several_words([none, none]).startswith("0 of 2 labels are answered. Abst")
    assert several_words([one]) == one.words


def test_estimates_of_several_labels_are_no_guarantee_in_words():
    few, many = (
        estimated_threshold(np.arange(100), np.arange(100) >= n, 0.2) for n in (10, 20)
    )
    n_answered = few.n_answered + many.n_answered
    wrong = few.n_errors + many.n_errors
    assert several_words([few, many]) == (
        f"2 of 2 labels are answered, {n_answered / 2:.1f} % of the decisions; "
        f"{wrong} of {n_answered} left-out answers were wrong, at most 20 % for every "
        "label, an estimate and not a guarantee."
    )


def test_no_documents_at_all_means_abstaining():
    found = guaranteed_threshold([], [])
    assert (found.n_answered, found.n_missing) == (0, 59)
    assert estimated_threshold([], []).value == np.inf


def test_threshold_survives_being_stored_as_plain_values():
    found = guaranteed_threshold(np.arange(100), np.arange(100) >= 20)
    assert Threshold(**found.to_dict()) == found


# Population: rank u in (0, 1), error probability rising with u.
def draw(rng, n, floor, rise, power):
    u = rng.random(n)
    return u, rng.random(n) >= floor + rise * u**power


def true_error(u, floor, rise, power):
    return floor + rise * u**power / (power + 1)


@pytest.mark.parametrize(
    ("n", "floor", "rise", "power"),
    [(60, 0.03, 0.0, 1), (60, 0.06, 0.0, 1), (300, 0.0, 0.3, 2), (1000, 0.02, 0.3, 3),
     (1000, 0.0, 0.6, 1), (1000, 0.0, 0.3, 2)],
)  # fmt: skip
def test_promise_is_broken_in_at_most_one_of_twenty_calibrations(
    rng, n, floor, rise, power
):
    broken = 0
    repeats = 200
    for _ in range(repeats):
        u, right = draw(rng, n, floor, rise, power)
        found = guaranteed_threshold(-u, right)
        if found.n_answered:
            answered = min(-found.value, 1.0)
            broken += true_error(answered, floor, rise, power) > 0.05
    # 5 % of 200 is 10; 20 and more would come by chance once in 300 such tests.
    assert broken <= 19


def test_coverage_is_near_the_best_possible_with_many_documents(rng):
    best = np.sqrt(0.05 * 3 / 0.3)  # where the error reaches 5 %
    coverage = []
    for _ in range(30):
        u, right = draw(rng, 5000, 0.0, 0.3, 2)
        coverage.append(min(-guaranteed_threshold(-u, right).value, 1.0))
    assert np.mean(coverage) >= 0.9 * best


def test_unusable_input_is_refused():
    with pytest.raises(ValueError, match=r"max_error must be in \(0, 1\), got 0"):
        guaranteed_threshold([1], [True], 0)
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\)"):
        guaranteed_threshold([1], [True], 0.05, 1.0)
    with pytest.raises(DataError, match="NaN in row 1"):
        guaranteed_threshold([1, np.nan], [True, True])
    with pytest.raises(DataError, match="certainty 1, correct 2"):
        estimated_threshold([1], [True, True])


def test_coverage_and_error_are_what_was_seen():
    found = guaranteed_threshold(np.arange(400), np.arange(400) >= 100)
    assert_allclose(found.coverage, found.n_answered / 400)
    assert_allclose(found.error, found.n_errors / found.n_answered)


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_confidence_of_nothing_or_everything_is_refused(level):
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\)"):
        guaranteed_threshold(np.arange(60), np.ones(60, bool), 0.05, level)


def test_one_right_answer_can_be_enough():
    assert smallest_sample(0.9, 0.5) == 1


def test_an_estimate_that_answers_nothing_names_no_number_of_labels():
    nothing = estimated_threshold(np.arange(40), np.zeros(40, bool))
    assert (nothing.n_answered, nothing.n_missing) == (0, None)
    something = estimated_threshold(np.arange(50), np.ones(50, bool))
    assert (something.n_answered, something.n_missing) == (50, 0)


def test_rare_groups_share_a_threshold_and_say_so(rng):
    sizes = [300, 40, 30, 25, 0]
    group = np.repeat(np.arange(5), sizes)
    sure, right = rng.random(len(group)), np.ones(len(group), bool)
    alone = guaranteed_thresholds(sure, right, group, 5)
    assert [t.n_answered for t in alone] == [300, 0, 0, 0, 0]
    shared = guaranteed_thresholds(sure, right, group, 5, pool_rare=True)
    assert [t.n_answered for t in shared] == sizes
    assert [t.n_documents for t in shared] == sizes
    assert [t.n_pooled for t in shared] == [1, 4, 4, 4, 4]
    assert len({t.value for t in shared[1:]}) == 1
    assert "(the 4 rarest taken together)" in several_words(shared)
    lines = words_per_label(shared, "abcde").splitlines()
    assert (
        lines[0]
        == "a: 300 of 300 answered, at most 5 % of them wrong (0 in calibration)"
    )
    assert "at most 5 % of those of 4 rare labels together wrong" in lines[1]
    # What is too little even together gets no share of the risk.
    few = guaranteed_thresholds(sure[:310], right[:310], group[:310], 5, pool_rare=True)
    assert [t.n_answered for t in few] == [300, 0, 0, 0, 0]
    assert few[0] == guaranteed_thresholds(sure[:310], right[:310], group[:310], 5)[0]


@pytest.mark.parametrize("hard", [0, 3])
def test_the_promise_holds_for_pooled_groups_together(hard, rng):
    """Errors fall with confidence, but not in one group, which is wrong too often."""
    share = np.array([0.5, 0.2, 0.1, 0.1, 0.1])
    population = rng.choice(5, 20_000, p=share)
    sure = rng.random(20_000)
    wrong = rng.random(20_000) < np.where(
        population == hard, 0.13, 0.3 * (1 - sure) ** 2
    )
    broken = 0
    for _ in range(400):
        some = rng.integers(0, 20_000, 300)
        thresholds = guaranteed_thresholds(
            sure[some], ~wrong[some], population[some], 5, 0.1, 0.95, pool_rare=True
        )
        answered = sure >= np.array([t.value for t in thresholds])[population]
        pooled = np.array([t.n_pooled > 1 for t in thresholds])
        groups = np.where(pooled[population], -1, population)
        broken += any(
            wrong[answered & (groups == g)].mean() > 0.1
            for g in np.unique(groups[answered])
        )
    assert broken <= 0.05 * 400 + 2 * np.sqrt(0.05 * 0.95 * 400)


def test_labels_of_one_document_are_never_pooled(rng):
    margins = rng.normal(3.0, 0.1, (40, 4))
    y = [("a", "b", "c", "d")] * 40
    classes = np.array(["a", "b", "c", "d"])
    evidence = any_of_evidence(margins, classes, y, classes, held_out=True)
    thresholds = evidence.thresholds(0.05, 0.95)
    assert all(t.n_pooled == 1 and not t.n_answered for t in thresholds)
