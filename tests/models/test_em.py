"""The EM loop, on a problem whose every number is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from earmark.models.shared.em import EMSettings, run_em


class Halving:
    """Parameters halve at each iteration; the bound is minus their size."""

    def __init__(self):
        self.blocks = []

    def step(self, params):
        self.blocks.append(len(params))
        return params, -np.abs(params)

    def maximize(self, statistics):
        return statistics / 2

    def take(self, params, restarts):
        return params[restarts]


def run(params, **settings):
    problem, params = Halving(), np.asarray(params, dtype=float)
    runs = list(
        run_em(
            params,
            problem.step,
            problem.maximize,
            EMSettings(**settings),
            n_restarts=len(params),
            take=problem.take,
        )
    )
    return problem, runs


def test_every_restart_ends_once_with_its_own_trace():
    _, runs = run([8.0, 1.0, 4.0], max_iter=5, tol=0.3)
    assert_array_equal(np.sort(np.concatenate([r.restarts for r in runs])), [0, 1, 2])
    for group in runs:
        for number, bounds in zip(group.restarts, group.bounds, strict=True):
            first = [8.0, 1.0, 4.0][number]
            assert_allclose(bounds, -first / 2.0 ** np.arange(group.n_iter))


def test_a_restart_converges_when_its_bound_stands_still():
    # |change| <= 0.3 * max(|bound|, 1): the change is |bound| itself, so it takes
    # a bound of 0.3 or less.
    _, runs = run([8.0, 1.0], max_iter=50, tol=0.3)
    assert [group.ending for group in runs] == ["converged", "converged"]
    assert {tuple(g.restarts): g.n_iter for g in runs} == {(0,): 6, (1,): 3}


def test_zero_tolerance_runs_all_iterations():
    problem, (group,) = run([8.0, 1.0], max_iter=7, tol=0.0)
    assert group.ending == "max_iter"
    assert group.n_iter == 7
    assert problem.blocks == [2] * 7


def test_poor_restarts_are_dropped_when_asked():
    problem, runs = run(
        [8.0, 1.0, 4.0, 2.0], max_iter=6, tol=0.0, drop_after=2, keep=0.5
    )
    dropped, kept = runs
    assert (dropped.ending, kept.ending) == ("dropped", "max_iter")
    assert_array_equal(dropped.restarts, [0, 2])
    assert_array_equal(kept.restarts, [1, 3])
    assert problem.blocks == [4, 4, 2, 2, 2, 2]


def test_a_restart_is_the_same_alone_and_in_company():
    _, together = run([8.0, 1.0, 4.0], max_iter=9, tol=0.2)
    _, (alone,) = run([4.0], max_iter=9, tol=0.2)
    (group,) = [g for g in together if 2 in g.restarts]
    place = group.restarts.tolist().index(2)
    assert_array_equal(group.params[place : place + 1], alone.params)
    assert_array_equal(group.bounds[place : place + 1], alone.bounds)


def test_several_restarts_need_a_way_to_take_some():
    problem, once = Halving(), EMSettings(max_iter=1, tol=0.0)
    with pytest.raises(ValueError, match="needs `take` to run 2 restarts"):
        next(run_em(np.ones(2), problem.step, problem.maximize, once, n_restarts=2))


def test_the_step_may_be_computed_in_shards():
    # What the loop asks for is step(params) -> (statistics, bound): here the weighted
    # mean of data held in two places.
    data = [np.array([1.0, 2.0]), np.array([6.0])]

    def step(params):
        shards = [(part.sum(), len(part)) for part in data]
        total, n = (sum(values) for values in zip(*shards, strict=True))
        return (total, n), np.array([-((total / n - params[0]) ** 2)])

    settings = EMSettings(max_iter=9, tol=1e-5)
    (group,) = run_em(np.zeros(1), step, lambda s: np.array([s[0] / s[1]]), settings)
    assert_allclose(group.params, [3.0])
    assert group.ending == "converged"
