"""Suspected label errors: ranking by margin, limits, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from earmark.evaluation import suspected_label_errors
from earmark.exceptions import DataError

LOG_P = np.log([[0.9, 0.1], [0.2, 0.8], [0.99, 0.01], [0.6, 0.4]])


def test_contradicted_labels_are_ranked_by_margin():
    found = suspected_label_errors("abbb", LOG_P, "ab", texts=["p", "q", "r", "s"])
    assert [e.index for e in found] == [2, 3]
    assert (found[0].given, found[0].suggested, found[0].text) == ("b", "a", "r")
    assert_allclose(found[0].margin, np.log(99))
    assert "text" not in found[0].to_dict()


def test_number_and_margin_can_be_limited():
    assert len(suspected_label_errors("abbb", LOG_P, "ab", top=1)) == 1
    assert len(suspected_label_errors("abbb", LOG_P, "ab", min_margin=1.0)) == 1


def test_impossible_documents_are_no_evidence():
    nothing = np.array([[-np.inf, -np.inf], [0.0, -np.inf]])
    found = suspected_label_errors("ab", nothing, "ab")
    assert [e.index for e in found] == [1]
    assert found[0].margin == np.inf


def test_unknown_label_is_named_by_row():
    with pytest.raises(DataError, match="'z' in row 1"):
        suspected_label_errors("az", LOG_P[:2], "ab")
    with pytest.raises(DataError, match=r"one column per class, got shape \(4, 2\)"):
        suspected_label_errors("abbb", LOG_P, "abc")
