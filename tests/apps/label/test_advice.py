"""Advice that can be followed: no sentence asks for more than there is."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from earmark.apps.label.advice import Facts, advice, promise_words
from earmark.pipeline.labelling.promise import fewest_checks, risk_of


@st.composite
def projects(draw):
    """Numbers as a project of any size and age may have them."""
    n = draw(st.one_of(st.integers(2, 400), st.integers(2, 20_000)))
    n_open = draw(st.integers(0, n))
    share = draw(st.sampled_from([0.0, 0.05, 0.2, 0.9]))
    all_checks = round(share * n)
    n_open_checks = draw(st.integers(0, min(all_checks, n_open)))
    n_checks = draw(st.integers(0, all_checks - n_open_checks))
    waiting = draw(st.integers(0, all_checks - n_open_checks - n_checks))
    max_error = draw(st.sampled_from([0.01, 0.05, 0.1, 0.5]))
    risk = risk_of(draw(st.integers(1, 3)), 0.95)
    to_audit = draw(st.integers(0, n_open))
    needed = fewest_checks(to_audit, max_error, risk) if to_audit else None
    if needed is None or 2 * needed > to_audit:
        to_audit, needed = 0, None
    audit = draw(st.sampled_from(["", "open", "holds"])) if n_open else ""
    audited = draw(st.integers(0, n - n_open))
    missing = draw(st.integers(1, n_open)) if audit == "open" else 0
    acceptable = draw(st.integers(0, n_open)) if audit == "holds" else 0
    return n, Facts(
        n_open=n_open,
        n_checks=n_checks,
        n_waiting=waiting,
        n_open_checks=n_open_checks,
        check_share=share,
        gain=draw(st.one_of(st.none(), st.floats(0, 0.5))),
        max_error=max_error,
        n_disputed=draw(st.integers(0, n - n_open)),
        has_model=draw(st.booleans()),
        n_to_audit=to_audit,
        n_needed=needed,
        n_needed_at_best=fewest_checks(n_open, max_error, risk),
        audit=audit,
        n_audited=audited,
        n_wrong=draw(st.integers(0, audited)),
        n_missing=missing,
        n_promised=acceptable,
        n_acceptable=acceptable,
    )


def numbers(words):
    """Counts in a sentence; shares and points of accuracy are none."""
    words = re.sub(r"[\d.]+ (%|points?)", "", words)
    return [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", words)]


@settings(max_examples=500, deadline=None)
@given(projects())
def test_every_number_in_a_sentence_is_of_documents_that_exist(project):
    n, facts = project
    for words in (advice(facts), promise_words(facts)):
        assert all(number <= n for number in numbers(words)), words
        asked = re.findall(
            r"([\d,]+) (?:more answer|more label|answer|open doc)", words
        )
        assert all(int(a.replace(",", "")) <= facts.n_open for a in asked), words
        assert words.endswith(".")


def some(**changes):
    usual = {
        "n_open": 1000,
        "n_checks": 5,
        "n_waiting": 0,
        "n_open_checks": 195,
        "check_share": 0.2,
        "gain": None,
        "max_error": 0.05,
        "n_needed_at_best": 80,
    }
    return Facts(**usual | changes)


def test_waiting_checks_count():
    assert "75 more answers" in advice(some())
    assert "15 more answers" in advice(some(n_waiting=12))


def test_a_small_set_is_told_at_once_and_what_can_be_said_instead():
    words = promise_words(some(n_open=120, n_needed_at_best=118))
    assert "too few for a promise of 5 %" in words
    assert "interval" in words


def test_where_checks_would_bring_the_promise_the_page_says_how_many():
    words = promise_words(some(n_to_audit=800, n_needed=82))
    assert words.startswith("Check now: 82 answers, if no guess is wrong")
    assert "718 other documents" in words


def test_when_all_is_done_it_says_so():
    assert "Every document has an answer" in advice(some(n_open=0))
    done = some(audit="holds", gain=0.001)
    assert "You can stop." in advice(done)
