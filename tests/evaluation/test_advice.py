"""What to do next: each step by what was planted, and nothing where nothing helps."""

import re

import numpy as np
import pytest

from earmark.evaluation import CostMatrix, Report, suspected_label_errors

CLASSES = ["arts", "law", "news", "trade"]


def answers(seed=0, n=800, rate=0.08):
    """True labels, and answers that are wrong at random."""
    rng = np.random.default_rng(seed)
    label, move = rng.integers(4, size=n), rng.integers(1, 4, size=n)
    said = np.where(rng.random(n) < rate, (label + move) % 4, label)
    names = np.array(CLASSES)
    return names[label], names[said]


def steps(*args, **parts):
    report = Report.from_predictions(*args, **parts)
    return {step.kind: step for step in report.next_steps}


def test_nothing_is_advised_where_nothing_helps():
    y, z = answers()
    source = np.random.default_rng(1).choice(["a", "b"], len(y))
    assert steps(y, y, columns={"source": source}) == {}
    assert steps(y, z, columns={"source": source}) == {}
    assert 'id="next"' not in Report.from_predictions(y, z, columns={}).to_html()


def test_a_planted_slice_is_to_be_looked_at():
    y, z = answers()
    source = np.array(["web"] * 100 + ["mail"] * 700)
    z[:60] = "none"
    step = steps(y, z, columns={"source": source})["slice"]
    wrong = int((y != z)[:100].sum())
    rest = (y != z)[100:].mean()
    assert step.sentence == (
        f"Look at the documents with source = web: {wrong} of 100 are misread "
        f"({wrong}.0 %; {100 * rest:.1f} % elsewhere). Read as well as the rest, "
        f"{step.n_wrong} more of the 800 answers would be right."
    )
    assert step.n_wrong == round(wrong - 100 * rest)


def test_more_is_to_be_labelled_of_a_class_that_is_misread():
    y, z = answers()
    rng = np.random.default_rng(2)
    hit = (y == "law") & (rng.random(800) < 0.5)
    z[hit] = rng.choice(["arts", "news", "trade"], hit.sum())
    step = steps(y, z, columns={})["class"]
    assert step.sentence.startswith("Label more documents of “law”: ")


def test_two_classes_that_are_taken_for_each_other_are_to_be_merged():
    y, z = answers()
    rng = np.random.default_rng(3)
    for one, other in (("law", "news"), ("news", "law")):
        z[(y == one) & (rng.random(800) < 0.35)] = other
    both = sum({a, b} == {"law", "news"} for a, b in zip(y, z, strict=True))
    right = (y == z).mean()
    step = steps(y, z)["merge"]
    assert step.n_wrong == both
    assert "Merge “law” and “news”, or define them better" in step.sentence
    assert step.sentence.endswith(
        f"As one class, accuracy is {100 * (right + both / 800):.1f} %, not "
        f"{100 * right:.1f} %."
    )


def test_a_class_taken_for_another_but_not_back_is_not_to_be_merged():
    y, z = answers(rate=0.02)
    z[(y == "law") & (np.random.default_rng(3).random(800) < 0.5)] = "news"
    assert "merge" not in steps(y, z)


def confident(seed=0, n=2000):
    """Answers whose confidence is what it says."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet([0.12] * 4, size=n)
    y = np.array(CLASSES)[[rng.choice(4, p=row) for row in proba]]
    return y, np.array(CLASSES)[proba.argmax(axis=1)], proba


def test_a_threshold_is_advised_with_what_counting_gives():
    y, z, proba = confident()
    parts = {"proba": proba, "classes": CLASSES}
    step = steps(y, z, **parts)["threshold"]
    threshold = Report.from_predictions(y, z, **parts).coverage.threshold_at(0.9)
    answered = proba.max(axis=1) >= threshold
    right = (y == z)[answered].mean()
    assert f"{100 * answered.mean():.1f} % of the documents would" in step.sentence
    assert f"{100 * right:.1f} % of them rightly" in step.sentence
    assert f"{(~answered).sum()} documents left to a person" in step.sentence
    assert step.sentence.startswith("Answer only from a confidence of ")


def test_a_threshold_that_is_not_surely_better_is_not_advised():
    y, z = answers()
    sure = np.random.default_rng(4).random(800)
    proba = np.full((800, 4), 0.0)
    place = [CLASSES.index(answer) for answer in z]
    proba[np.arange(800), place] = 0.4 + 0.6 * sure
    proba += (1 - proba.sum(axis=1, keepdims=True)) / 4
    assert "threshold" not in steps(y, z, proba=proba, classes=CLASSES)


def test_flipped_labels_are_to_be_checked():
    y, z, proba = confident(n=1500)
    planted = np.flatnonzero(proba.max(axis=1) > 0.995)[:25]
    for row in planted:
        y[row] = CLASSES[(CLASSES.index(z[row]) + 1) % 4]
    log_p = np.log(np.maximum(proba, 1e-12))
    errors = suspected_label_errors(y, log_p, CLASSES)
    step = steps(y, z, label_errors=errors)["labels"]
    assert len(errors) >= 20
    assert step.sentence.startswith(f"Check {len(errors)} doubtful labels: ")
    assert step.n_wrong <= len(errors)


def test_answers_of_least_cost_are_advised_where_they_surely_save():
    y, z, proba = confident()
    dear = CostMatrix({"law": {"arts": 50, "news": 50, "trade": 50}})
    parts = {"proba": proba, "classes": CLASSES}
    report = Report.from_predictions(y, z, **parts, costs=dear)
    step = {step.kind: step for step in report.next_steps}["costs"]
    low, high = (-end for end in reversed(report.costs.interval))
    assert f"save {-report.costs.difference:.3g} per document" in step.sentence
    assert f"(95 % interval {low:.3g} to {high:.3g})" in step.sentence
    assert "costs" not in steps(y, z, **parts, costs=CostMatrix({}))


@pytest.mark.parametrize("seed", range(25))
def test_no_number_in_a_step_is_larger_than_what_there_is(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 400))
    proba = rng.dirichlet([rng.uniform(0.1, 2)] * 4, size=n)
    y = np.array(CLASSES)[[rng.choice(4, p=row) for row in proba]]
    z = np.array(CLASSES)[proba.argmax(axis=1)]
    group = rng.integers(3, size=n)
    z[group == 0] = rng.choice(CLASSES, (group == 0).sum())
    errors = suspected_label_errors(y, np.log(np.maximum(proba, 1e-9)), CLASSES)
    report = Report.from_predictions(
        y, z, proba=proba, classes=CLASSES, label_errors=errors,
        texts=[f"word{g} text" for g in group], columns={"group": group},
    )  # fmt: skip
    found = report.next_steps
    assert len(found) <= 5
    n_wrong = int((y != z).sum())
    ranked = [step.n_wrong for step in found]
    assert ranked == sorted(ranked, reverse=True)
    assert all(0 <= step.n_wrong <= n_wrong for step in found)
    for step in found:
        words = step.sentence.replace(",", "")
        for number, unit in re.findall(r"(?<![\w.])(\d+(?:\.\d+)?)( %)?", words):
            assert float(number) <= (100 if unit else n), step.sentence
