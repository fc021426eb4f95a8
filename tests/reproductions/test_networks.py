"""The networks' reproduction: the parts that run anywhere."""

from reproductions.networks.curves import METHODS, crossing
from reproductions.networks.descent import compare_batches
from reproductions.networks.worked_example import worked_example


def test_worked_example_has_the_printed_digits():
    gaps = {row["equation"]: row["gap"] for row in worked_example()["rows"]}
    # The sheet took the logarithm of a rounded probability (43) and cut the
    # product off after three digits (52); 56 and 59 carry rounded weights on.
    rounded = {"43: loss": 2e-3, "52: dE/dw5": 1e-3, "56: W1 x": 1e-3}
    for equation, gap in gaps.items():
        assert gap < rounded.get(equation, 6e-4), equation


def test_larger_batches_go_downhill_more_often():
    found = compare_batches(n_steps=25, n_seeds=3)
    share = [row["steps_that_lower_the_error"] for row in found["rows"]]
    assert share == sorted(share)
    assert share[-1] == 1.0
    error = [row["error_after"] for row in found["rows"]]
    assert min(error) >= found["optimal_error"]


def test_crossing_is_the_size_from_which_on_a_method_stays_above():
    rows = [
        {"corpus": "c", "size": size, "methods": {n: {"mean": m} for n in METHODS}}
        for size, m in ((10, 0.5), (100, 0.5), (1000, 0.5))
    ]
    rows[1]["methods"]["softmax regression on tf-idf"] = {"mean": 0.6}
    rows[2]["methods"]["softmax regression on tf-idf"] = {"mean": 0.7}
    found = {
        row["method"]: row["from_size"]
        for row in crossing(rows)
        if row["above"] == "Bernoulli naive Bayes"
    }
    assert found["softmax regression on tf-idf"] == 100
    assert found["softmax regression on indicators"] is None
