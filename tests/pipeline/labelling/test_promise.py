"""The promise of the label page: steady, and kept although somebody watches."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from earmark.pipeline.labelling.learners import Fitted
from earmark.pipeline.labelling.loop import View

N_DOCUMENTS = 2000


def a_model(rng, truth, skill):
    """Log probabilities of a model that is right more often the more skilled it is."""
    margin = rng.normal(skill, 1.5, len(truth))
    sign = np.where(truth == 1, 1.0, -1.0)
    logits = np.column_stack([np.zeros(len(truth)), sign * margin])
    log_proba = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    nothing = sparse.csr_array((len(truth), 1))
    return Fitted(["a", "b"], log_proba, np.zeros((1, 2)), np.zeros(2), nothing)


def states(seed, max_error=0.05, n_steps=30, last_skill=3.0):
    """The views of one project while checks come in and the model gets better."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, N_DOCUMENTS)
    view = View.empty(N_DOCUMENTS, any_of=False)
    for step in range(1, n_steps + 1):
        fitted = a_model(rng, truth, last_skill * step / n_steps)
        n_checks = 10 * step  # the documents are in random order already
        checks = {d: ("ab"[truth[d]],) for d in range(n_checks)}
        view = view.after(fitted, step, checks, max_error, 0.95)
        yield view, truth


def wrong_share(view, truth):
    rows, guesses = view.granted.documents, view.granted.guesses
    return np.mean(
        [guess != ("ab"[truth[d]],) for d, guess in zip(rows, guesses, strict=True)]
    )


def test_coverage_never_falls_once_it_is_granted():
    n_granted = 0
    for seed in range(20):
        covered = [view.guaranteed().mean() for view, _ in states(seed)]
        assert covered == sorted(covered)
        n_granted += covered[-1] > 0
    assert n_granted > 10


def test_looks_are_rare_and_spend_the_risk():
    views = [view for view, _ in states(1)]
    assert views[-1].n_looks < 10
    assert all(b.n_looks - a.n_looks in (0, 1) for a, b in itertools.pairwise(views))
    assert views[-1].next_look > 300


@pytest.mark.slow
def test_the_promise_is_kept_at_every_moment_of_500_projects():
    broken, covered = 0, []
    for seed in range(500):
        worst = 0.0
        for view, truth in states(seed, last_skill=2.5):
            if view.guaranteed().any():
                worst = max(worst, wrong_share(view, truth))
        broken += worst > 0.05
        covered.append(view.guaranteed().mean())
    assert broken / 500 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 500)
    assert np.mean(covered) > 0.2
