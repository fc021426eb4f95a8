"""Labels as numbers: sorted names, none of no document, back again."""

import numpy as np

from earmark.documents.parts import CodedLabels


def test_values_come_back_and_names_are_sorted():
    values = ["b", None, "a", "b", None]
    coded = CodedLabels.of_values(values)
    assert coded.names == ["a", "b"]
    assert coded.codes.tolist() == [1, -1, 0, 1, -1]
    assert coded.values() == values
    assert (len(coded), coded.n_unlabelled) == (5, 2)
    assert CodedLabels.of_values(None) is None


def test_names_that_repeat_or_belong_to_nobody_are_put_right():
    codes = np.array([0, 2, -1, 3], dtype=np.int32)
    coded = CodedLabels.of_codes(codes, ["b", "never", "b", None])
    assert coded.names == ["b"]
    assert coded.codes.tolist() == [0, 0, -1, -1]


def test_no_documents_have_no_names():
    coded = CodedLabels.of_values([])
    assert coded.names == []
    assert coded.values() == []
