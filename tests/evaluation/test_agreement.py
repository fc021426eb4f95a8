"""Kappa and alpha against their definitions, pair by pair, and scikit-learn."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from earmark.evaluation import krippendorff_alpha
from earmark.evaluation.significance import cohen_kappa
from earmark.exceptions import DataError


def random_table(seed, gaps):
    rng = np.random.default_rng(seed)
    n, people, n_labels = rng.integers(4, 40), rng.integers(2, 6), rng.integers(2, 6)
    truth = rng.integers(0, n_labels, n)
    noise = rng.integers(0, n_labels, (n, people))
    table = np.where(rng.random((n, people)) < rng.random(), truth[:, None], noise)
    rows = [[f"label {value}" for value in row] for row in table]
    if gaps:
        rows = [[v if rng.random() < 0.7 else None for v in row] for row in rows]
    return rows


def alpha_by_pairs(rows):
    """One less than observed over expected disagreement, pair by pair."""
    rows = [[value for value in row if value is not None] for row in rows]
    rows = [row for row in rows if len(row) > 1]
    flat = [value for row in rows for value in row]
    observed = sum(
        sum(a != b for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows
    )
    expected = sum(a != b for a, b in permutations(flat, 2)) / (len(flat) - 1)
    return 1 - observed / expected if expected else np.nan


@pytest.mark.parametrize("seed", range(200))
def test_coefficients_equal_their_definitions_and_scikit_learn(seed):
    rows = random_table(seed, gaps=False)
    first, second = [row[0] for row in rows], [row[1] for row in rows]
    expected = cohen_kappa_score(first, second)
    assert cohen_kappa(first, second).value == pytest.approx(expected, nan_ok=True)
    holes = random_table(seed, gaps=True)
    alpha = krippendorff_alpha(holes).value
    assert alpha == pytest.approx(alpha_by_pairs(holes), nan_ok=True)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    held = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 150)
        people = [
            np.where(rng.random(150) < 0.8, truth, rng.integers(0, 3, 150))
            for _ in range(2)
        ]
        found = cohen_kappa(*[person.tolist() for person in people])
        # Both right or by chance: they agree beyond chance in 0.8 x 0.8 of the cases.
        held.append(found.low <= 0.64 <= found.high)
    assert 0.9 <= np.mean(held) <= 0.99


def test_what_cannot_be_said_is_nan_or_refused():
    same = cohen_kappa(["a", "a"], ["a", "a"])
    assert np.isnan(same.value)
    assert same.observed == 1
    assert krippendorff_alpha([["a", None]]).n_documents == 0
    with pytest.raises(DataError):
        cohen_kappa(["a"], ["a", "b"])


def test_the_same_seed_gives_the_same_interval():
    rows = random_table(3, gaps=True)
    assert krippendorff_alpha(rows) == krippendorff_alpha(rows)
    assert krippendorff_alpha(rows).to_dict()["name"] == "Krippendorff's alpha"
