"""Tuning an encoder: what is refused before a package is asked for, and its batches."""

import numpy as np
import pytest

from earmark.encoders import tune_encoder
from earmark.encoders.tuning import _batches
from earmark.exceptions import DataError

NAME = "sentence-transformers:nobody/nothing"


@pytest.mark.parametrize(
    ("name", "labels", "message"),
    [
        ("static", ["a", "b"], "cannot be tuned: expected a network in torch"),
        (NAME, ["a"], "got 2 texts and 1 labels"),
        (NAME, ["a", "a"], "labels have one class"),
    ],
)
def test_what_cannot_be_tuned_is_said_first(name, labels, message, tmp_path):
    with pytest.raises(DataError, match=message):
        tune_encoder(name, ["one", "two"], labels, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("n_classes", [2, 6, 40])
def test_every_batch_has_pairs_of_one_class_and_of_two(n_classes):
    y_index = np.repeat(np.arange(n_classes), 3)
    for rows in _batches(y_index, 5, np.random.default_rng(0)):
        sizes = np.bincount(y_index[rows])
        assert len(rows) == 32
        assert (sizes > 1).sum() > 1
        assert (sizes[sizes > 0] > 1).all()
