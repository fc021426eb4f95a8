"""The hierarchical reproduction: its parts on small data, and the page's example."""

import doctest
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats

from reproductions.hierarchical.corpora import summary
from reproductions.hierarchical.methods import (
    hierarchical,
    naive_bayes,
    text_baselines,
)
from reproductions.hierarchical.plane import shapes, xor
from reproductions.hierarchical.shapes import SHAPES, draw
from reproductions.hierarchical.tasks import (
    Corpus,
    halved,
    held_back,
    ordered,
)
from reproductions.study import (
    documents_p_value,
)

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "hierarchical.md"


def quiet(message):
    """A progress function that says nothing."""


def toy(rng, n_samples=300, n_terms=30):
    """Three classes of two topics each; the first 200 documents are for training."""
    phi = rng.dirichlet(np.full(n_terms, 0.2), size=(3, 2))
    y = np.arange(n_samples) % 3
    topic = rng.integers(0, 2, n_samples)
    rows = [rng.multinomial(30, phi[c, t]) for c, t in zip(y, topic, strict=True)]
    return Corpus("toy", y, sparse.csr_array(np.array(rows)), 200)


# -- parts ---------------------------------------------------------------------------


def test_parts_of_a_task_share_no_document(rng):
    corpus = toy(rng)
    tasks = [
        *halved(corpus, 40, 2),
        *held_back(corpus, 0.1, 2),
        ordered(corpus, 100, 50, 60, 0),
    ]
    for task in tasks:
        parts = (task.train, task.validation, task.test)
        together = np.concatenate(parts)
        assert len(np.unique(together)) == len(together)
        for part in parts:
            shares = np.bincount(corpus.labels[part], minlength=3) / len(part)
            assert shares == pytest.approx([1 / 3] * 3, abs=0.05)
    assert [len(part) for part in parts] == [100, 50, 60]


def test_terms_are_those_of_the_training_part(rng):
    corpus = toy(rng)
    task = ordered(corpus, 5, 50, 60, 0)
    train, validation, test = task.counts
    assert train.shape[1] == validation.shape[1] == test.shape[1] < 30
    assert np.asarray(train.sum(axis=0)).min() > 0


def test_all_methods_learn_a_toy_corpus(rng):
    tasks = [ordered(toy(rng), 100, 50, 100, seed) for seed in range(2)]
    rows = {
        "naive Bayes": [naive_bayes(task) for task in tasks],
        "hierarchical Bayes": [hierarchical(t, 0, n_restarts=5)[0] for t in tasks],
        **text_baselines(tasks, counts=True),
    }
    table = summary(rows, tasks, {"naive Bayes": 0.5})
    assert "linear SVM on counts" in table
    assert min(row["mean"] for row in table.values()) > 0.6
    assert all(row["n"] == 2 for row in table.values())
    assert table["naive Bayes"]["paper"] == 0.5
    assert "p against naive Bayes" in table["hierarchical Bayes"]


def test_documents_are_the_unit_of_the_test(rng):
    # Ten draws of the same test documents are no more evidence than one.
    right = rng.uniform(size=500) < 0.8
    other = rng.uniform(size=500) < 0.75
    once = documents_p_value([right], [other], [np.arange(500)])
    often = documents_p_value([right] * 10, [other] * 10, [np.arange(500)] * 10)
    assert once == pytest.approx(often)
    gap = right.astype(float) - other
    assert once == pytest.approx(stats.ttest_1samp(gap, 0.0).pvalue)
    assert documents_p_value([right], [right], [np.arange(500)]) == 1.0


def test_naive_bayes_is_indifferent_on_the_four_points():
    # The counts of both words have the same total in both classes: figure 2a is blank.
    assert xor(1)["P(1) of naive Bayes at the four points"] == pytest.approx([0.5] * 4)


def test_shapes_are_neither_empty_nor_full():
    for shape in SHAPES:
        X, y = draw(shape, 2250, 0)
        assert 0 <= X.min() < X.max() <= 500
        assert 0.15 < y.mean() < 0.85


def test_nodes_learn_the_shapes_and_naive_bayes_does_not():
    least = {"ring": 0.94, "dots": 0.90, "XOR": 0.97, "S": 0.95, "S in arcs": 0.93}
    for shape, rows in shapes(1, quiet).items():
        assert rows["hierarchical Bayes"]["mean"] >= least[shape], shape
        assert rows["naive Bayes"]["mean"] < 0.8


def test_xor_is_learned_by_nodes_alone():
    right = xor(2)["all four points right"]
    assert right == {
        "naive Bayes": 0,
        "multinomial hierarchical Bayes": 2,
        "Gaussian hierarchical Bayes": 2,
        "product of sums": 0,
    }


def test_the_example_on_the_page_runs():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 5
    assert failed == 0
