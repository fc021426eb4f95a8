"""Labels to check: suspected ones first, then copies that contradict each other."""

from earmark.evaluation import group_near_duplicates
from earmark.evaluation.doubtful import doubtful_labels
from earmark.evaluation.label_errors import SuspectedLabelError

TEXTS = [
    "the printer of the third floor is out of paper",
    "prices rose in march, as they did in april",
    "the printer of the third floor is out of paper!",
    "The printer of the third floor is out of paper",
    "a match of two good teams was played on sunday",
    "prices rose in march, as they did in April",
]
LABELS = ["office", "money", "office", "sport", "sport", "money"]


def suspect(index, probability):
    label = LABELS[index]
    return SuspectedLabelError(index, label, "office", probability, 1.0)


def test_suspected_labels_come_first_and_the_most_probable_of_them_before():
    listed = doubtful_labels(LABELS, [suspect(1, 0.6), suspect(4, 0.9)])
    assert [one.index for one in listed] == [4, 1]
    assert listed[0].reason == "90 % probably wrong"


def test_all_copies_with_several_labels_are_listed_and_others_are_not():
    copies = group_near_duplicates(TEXTS)
    listed = doubtful_labels(LABELS, (), copies)
    assert [one.index for one in listed] == [0, 2, 3]
    assert {one.reason for one in listed} == {"one of 3 copies with 2 labels"}
    assert [one.suggested for one in listed] == ["office"] * 3


def test_a_document_that_is_both_is_listed_once():
    copies = group_near_duplicates(TEXTS)
    listed = doubtful_labels(LABELS, [suspect(3, 0.8)], copies)
    assert [one.index for one in listed] == [3, 0, 2]
