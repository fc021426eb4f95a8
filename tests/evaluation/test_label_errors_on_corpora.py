"""Flipped labels of real corpora are found (needs EARMARK_DATA)."""

import numpy as np
import pytest

from earmark.documents import load_corpus
from earmark.evaluation import suspected_label_errors
from earmark.features import WordCounter
from earmark.models import HybridBayes


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("corpus", "precision"), [("20newsgroups", 0.8), ("imdb", 0.5)]
)
def test_most_of_the_first_200_suspects_are_flipped_labels(corpus, precision):
    rng = np.random.default_rng(0)
    train = load_corpus(corpus, "train")
    order = rng.permutation(len(train.texts))
    X = WordCounter(min_df=2).fit_transform([train.texts[row] for row in order])
    y = np.array([train.labels[row] for row in order])
    classes = np.unique(y)
    flipped = rng.permutation(len(y))[: len(y) // 20]
    for row in flipped:
        y[row] = rng.choice(classes[classes != y[row]])
    log_proba = HybridBayes().fit(X, y).leave_one_out(X, y)
    errors = suspected_label_errors(y, log_proba, classes, top=200)
    hits = np.isin([error.index for error in errors], flipped)
    assert hits.mean() >= precision
