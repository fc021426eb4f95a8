"""check_documents: each finding on data that has it, and none on clean data."""

import numpy as np
import pytest

from earmark.evaluation import Report, check_documents

CLEAN = [f"text number {n} about {w}" for n, w in enumerate(["sport", "trade"] * 20)]
LABELS = ["a", "b"] * 20


def kinds(*arguments, **options):
    return [found.kind for found in check_documents(*arguments, **options)]


def test_clean_documents_give_no_finding():
    assert check_documents(CLEAN, LABELS) == []
    assert check_documents(CLEAN) == []


@pytest.mark.parametrize(
    ("texts", "labels", "kind", "rows"),
    [
        ([*CLEAN, " "], [*LABELS, "a"], "empty", (40,)),
        ([*CLEAN, CLEAN[0]], [*LABELS, "a"], "duplicates", (40,)),
        ([*CLEAN, CLEAN[0]], [*LABELS, "b"], "conflict", (40,)),
        ([*CLEAN, "x"], [*LABELS, None], "missing_labels", (40,)),
    ],
)
def test_fault_is_named_with_its_row(texts, labels, kind, rows):
    found = {f.kind: f for f in check_documents(texts, labels)}
    assert found[kind].rows == rows
    assert f"(row {rows[0] + 1})" in found[kind].message
    assert found[kind].to_dict()["rows"] == list(rows)


def test_near_duplicates_are_told_from_exact_ones():
    long = "one two three four five six seven eight nine ten eleven twelve"
    texts = [*CLEAN, long, f"{long} thirteen"]
    assert kinds(texts, [*LABELS, "a", "b"]) == ["near_duplicates"]
    assert kinds(texts, [*LABELS, "a", "b"], near_duplicates=False) == []


def test_documents_sorted_by_label_are_noticed(rng):
    assert kinds(CLEAN, sorted(LABELS)) == ["sorted_by_label"]
    assert kinds(CLEAN, rng.permutation(LABELS)) == []


def test_uneven_tiny_and_single_classes_are_noticed():
    texts = [f"document {n}" for n in range(200)]
    labels = np.array(["big"] * 195 + ["small"] * 5)[np.arange(200) * 77 % 200]
    assert kinds(texts, labels, near_duplicates=False) == ["tiny_classes", "imbalance"]
    assert kinds(texts, ["one"] * 200, near_duplicates=False) == ["one_class"]
    message = check_documents(texts, labels, near_duplicates=False)[0].message
    assert "'small' (5)" in message


def test_label_lists_are_understood():
    found = kinds(CLEAN, [["a"], ["a", "b"]] * 20)
    assert found == []
    assert kinds(CLEAN, [["a"]] * 39 + [["a", "rare"]]) == ["tiny_classes", "imbalance"]
    assert kinds(CLEAN, [[]] * 40) == ["no_labels"]


def test_leaks_and_unseen_labels_of_the_test_part_are_found():
    test = (["new words here", CLEAN[3].upper()], ["c", "b"])
    found = {f.kind: f for f in check_documents(CLEAN, LABELS, test=test)}
    assert found["leak"].rows == (1,)
    assert "'c'" in found["unseen_labels"].message
    exact = check_documents(
        CLEAN, LABELS, test=([CLEAN[0]], None), near_duplicates=False
    )
    assert [f.kind for f in exact] == ["leak"]


def test_nothing_at_all_is_a_finding():
    assert kinds([]) == ["no_documents"]


def test_report_shows_the_findings():
    findings = check_documents([*CLEAN, ""], [*LABELS, "a"])
    report = Report.from_predictions(["a"], ["a"], findings=findings)
    assert findings[0].message in str(report).replace("\n  ", " ")
    assert 'id="checks"' in report.to_html()


def test_what_is_only_judged_is_not_said_to_be_learned_from():
    texts = [f"text number {word}" for word in "abcdefghijklmnopqrst"] * 2
    labels = ["one"] * 20 + ["two"] * 19 + [None]
    for y in (labels, ["one"] * 40, ["one"] * 38 + ["two"] * 2):
        findings = check_documents(texts, y, to_learn=False)
        said = " ".join(map(str, findings))
        for word in ("learn", "fitting", "only one class", "shuffle", "unlabelled"):
            assert word not in said
    assert "rough" in said
    assert "too few to learn from" in " ".join(map(str, check_documents(texts, y)))
