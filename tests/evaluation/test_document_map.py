"""Documents in the plane: like ones together, the same map each time, named islands."""

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.manifold import trustworthiness
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from earmark.documents import docstring_corpus
from earmark.evaluation.document_map import (
    islands,
    lay_out,
    make_map,
    typical_words,
)
from earmark.folds import rows_by_lot
from earmark.pipeline.labelling.learners import Collection


@pytest.fixture(scope="module")
def corpus():
    documents = docstring_corpus()
    rows = rows_by_lot(len(documents), 1200)
    texts = documents.joined()
    labels = np.asarray([documents.labels[row] for row in rows])
    return Collection([texts[row] for row in rows]), labels


@pytest.fixture(scope="module")
def places(corpus):
    return lay_out(corpus[0].vectors)


def test_the_same_vectors_give_the_same_map(corpus, places):
    np.testing.assert_array_equal(lay_out(corpus[0].vectors.copy()), places)


def test_neighbors_stay_neighbors_better_than_by_two_axes_or_by_chance(corpus, places):
    vectors = corpus[0].vectors
    centered = vectors - vectors.mean(axis=0)
    left, values, _ = np.linalg.svd(centered, full_matrices=False)
    axes = left[:, :2] * values[:2]
    chance = np.random.default_rng(0).random((len(vectors), 2))
    own, plain, none = (
        trustworthiness(vectors, one, n_neighbors=10) for one in (places, axes, chance)
    )
    assert own > 0.9
    assert own > plain + 0.1
    assert plain > none + 0.1


def test_documents_of_one_label_lie_together(corpus, places):
    labels = corpus[1]
    near = cross_val_predict(KNeighborsClassifier(10), places, labels)
    most_frequent = np.unique(labels, return_counts=True)[1].max() / len(labels)
    assert np.mean(near == labels) > 2.5 * most_frequent


def test_the_map_is_in_the_unit_square(places):
    assert places.min() >= 0
    assert places.max() <= 1
    np.testing.assert_allclose(np.ptp(places, axis=0).max(), 1)


@pytest.mark.parametrize("n", [1, 2, 3, 15, 21])
def test_a_few_documents_have_a_map_too(rng, n):
    places = lay_out(rng.random((n, 30)))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(places, axis=0)) == n


def test_vectors_without_differences_have_a_map_too():
    assert np.isfinite(lay_out(np.ones((40, 5)))).all()
    assert np.isfinite(lay_out(np.zeros((40, 1)))).all()


def test_what_is_not_laid_out_lies_among_its_nearest(monkeypatch, rng):
    monkeypatch.setattr("earmark.evaluation.document_map._MOST_LAID_OUT", 300)
    middles = 10 * np.eye(4)
    kind = rng.integers(0, 4, 1000)
    vectors = middles[kind] + rng.normal(size=(1000, 4))
    places = lay_out(vectors)
    centers = np.stack([places[kind == k].mean(axis=0) for k in range(4)])
    nearest = ((places[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(nearest == kind) > 0.99


def test_islands_are_groups_of_points_and_the_largest_comes_first(rng):
    middles = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.8]])
    kind = np.repeat([0, 1, 2], [300, 200, 100])
    points = middles[kind] + 0.02 * rng.normal(size=(600, 2))
    alone = np.array([[0.02, 0.98]])
    of = islands(np.vstack([points, alone]), 3.0)
    np.testing.assert_array_equal(of[:600], kind)
    assert of[600] == -1  # too small for an island


def test_typical_words_set_an_island_apart():
    rows = [
        *[("the", "cat", "mat")] * 6,
        *[("the", "cats", "cat", "12")] * 6,
        *[("the", "car", "road")] * 8,
    ]
    words = ["the", "cat", "cats", "mat", "car", "road", "12"]
    dense = [[word in row for word in words] for row in rows]
    of = np.repeat([0, 1, -1], [12, 6, 2])
    names = typical_words(of, sparse.csr_array(np.asarray(dense, float)), words)
    assert names[0][0] == "cat"
    assert set(names[1]) == {"car", "road"}
    assert "the" not in names[0] + names[1]
    assert "12" not in names[0]
    assert "cats" not in names[0]  # another form of cat


def test_more_islands_have_names_the_nearer_one_looks(corpus):
    collection, _ = corpus
    made = make_map(collection.vectors, collection.counts, collection.words)
    counts = [len(level.names) for level in made.levels]
    assert counts == sorted(counts)
    assert counts[0] >= 3
    assert counts[-1] > 2 * counts[0]
    for level in made.levels:
        assert level.of.max() + 1 == len(level.names)
        assert np.mean([bool(name) for name in level.names]) > 0.9


@pytest.mark.slow
def test_15_000_documents_take_less_than_30_seconds_of_one_core(rng):
    vectors = rng.normal(size=(15_000, 256)).astype(np.float32)
    began = time.process_time()
    lay_out(vectors)
    assert time.process_time() - began < 30


def test_words_that_many_islands_have_name_none():
    def of_kind(word, i):
        more = ("it",) if i % 4 else ()
        return (word, "on", *more, f"{word}{i % 2}")

    kinds = ["parcel", "refund", "login", "invoice"]
    rows = [of_kind(kind, i) for kind in kinds for i in range(12)]
    rows[:12] = [(*row, "it") for row in rows[:12]]  # more often than elsewhere
    words = sorted({word for row in rows for word in row})
    dense = [[word in row for word in words] for row in rows]
    of = np.repeat(np.arange(4), 12)
    names = typical_words(of, sparse.csr_array(np.asarray(dense, float)), words)
    assert [name[0] for name in names] == kinds
    assert not {"it", "on"} & {word for name in names for word in name}
