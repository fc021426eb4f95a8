"""NeighborsClassifier: the book's example, brute force and hand-made votes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from earmark.exceptions import DataError
from earmark.models import NeighborsClassifier
from earmark.models.knn import Neighbor, chosen_classes

HALF = np.sqrt(0.5)
# Table 14.1 of Manning, Raghavan and Schütze (2008): d1-d3 China, d4 not.
BOOK = np.array(
    [
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 1, 0, 0],
        [0, HALF, HALF, 0, 0, 0],
    ]
)
BOOK_LABELS = np.array(["china", "china", "china", "other"])


def vectors(rng, n_samples=80, n_features=30, n_classes=3):
    centre = rng.gamma(0.3, 1.0, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    X = rng.poisson(2 * centre[y]) * rng.uniform(0.5, 2, (n_samples, n_features))
    return X + 1e-3, np.array(["a", "b", "c"])[y]


def test_example_14_2():
    model = NeighborsClassifier(n_neighbors=1).fit(BOOK, BOOK_LABELS)
    distance, position = model.kneighbors(BOOK[3:])
    assert position.tolist() == [[3]]
    assert_allclose(np.sqrt(2 * distance.clip(0)), [[0.0]], atol=1e-7)
    distance = np.linalg.norm(BOOK - BOOK[3], axis=1)
    assert distance.round(2).tolist() == [1.41, 1.41, 1.41, 0.0]
    assert model.predict(BOOK[3:]).tolist() == ["other"]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_probabilities_equal_scikit_learn_on_dense_data(k, rng):
    X, y = vectors(rng)
    test = vectors(rng)[0]
    theirs = KNeighborsClassifier(k, metric="cosine", algorithm="brute").fit(X, y)
    ours = NeighborsClassifier(k, vote="majority").fit(sparse.csr_matrix(X), y)
    assert_allclose(ours.predict_proba(test), theirs.predict_proba(test))
    weighted = KNeighborsClassifier(
        k, metric="cosine", algorithm="brute", weights=lambda d: 1 - d
    ).fit(X, y)
    ours = NeighborsClassifier(k).fit(X, y)
    assert_allclose(ours.predict_proba(test), weighted.predict_proba(test))


@pytest.mark.parametrize("n_features", [1, 2, 5, 30])
def test_distances_of_vectors_of_any_length_equal_scikit_learn(n_features, rng):
    X, test = rng.normal(size=(80, n_features)), rng.normal(size=(40, n_features))
    y = rng.integers(0, 3, 80)
    theirs = KNeighborsClassifier(7, algorithm="brute").fit(X, y)
    ours = NeighborsClassifier(7, metric="euclidean", vote="majority").fit(X, y)
    distance, places = theirs.kneighbors(test)
    own_distance, positions = ours.kneighbors(test)
    assert_array_equal(positions, places)
    assert_allclose(own_distance, distance, atol=1e-9)
    assert_allclose(ours.most_similar(test)[0], 1 / (1 + distance), atol=1e-9)
    assert_allclose(ours.predict_proba(test), theirs.predict_proba(test))
    few = ours.kneighbors(sparse.csr_matrix(test), n_neighbors=3)[1]
    assert_array_equal(few, places[:, :3])


def test_nearest_on_a_line_and_equal_distances_by_position():
    line = NeighborsClassifier(1, metric="euclidean").fit([[1.0], [10.0]], ["a", "b"])
    assert line.predict([[5.4], [5.6], [-3.0], [99.0]]).tolist() == list("abab")
    corners = np.array([[0.0, 0], [0, 2], [2, 0], [2, 2]])
    square = NeighborsClassifier(2, metric="euclidean").fit(corners, [0, 1, 0, 1])
    assert square.kneighbors([[1.0, 1.0]], n_neighbors=3)[1].tolist() == [[0, 1, 2]]


def test_exercise_14_6_three_measures_give_three_neighbours():
    points, x = [[0.5, 1.5], [4, 4], [8, 6]], [[2.0, 2.0]]
    nearest = {
        metric: str(
            NeighborsClassifier(1, metric=metric).fit(points, list("abc")).predict(x)[0]
        )
        for metric in ("dot", "cosine", "euclidean")
    }
    assert nearest == {"dot": "c", "cosine": "b", "euclidean": "a"}


def test_products_of_any_sign_are_ranked(rng):
    X, test = rng.normal(size=(60, 4)), rng.normal(size=(20, 4))
    model = NeighborsClassifier(5, metric="dot").fit(X, np.arange(60) % 2)
    order = np.argsort(-(test @ X.T), axis=1, kind="stable")[:, :5]
    similarity, positions = model.most_similar(test)
    assert_array_equal(positions, order)
    assert_allclose(similarity, np.take_along_axis(test @ X.T, order, axis=1))
    assert_allclose(model.kneighbors(test)[0], -similarity)


def test_cosine_distances_equal_scikit_learn_and_nobody_is_infinitely_far(rng):
    X, y = vectors(rng)
    theirs = KNeighborsClassifier(5, metric="cosine", algorithm="brute").fit(X, y)
    ours = NeighborsClassifier(5).fit(X, y)
    distance, places = ours.kneighbors(X[:20])
    assert_allclose(distance, theirs.kneighbors(X[:20])[0], atol=1e-12)
    apart = NeighborsClassifier(2).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    distance, places = apart.kneighbors([[2.0, 0.0]])
    assert (distance.tolist(), places.tolist()) == ([[0.0, np.inf]], [[0, -1]])


def test_the_book_counts_over_k_neighbours_similar_or_not():
    # Directions 0, 100 and 110 degrees, a query at 5: two of the three are of b.
    angle = np.radians([0.0, 100.0, 110.0])
    X, y = np.column_stack([np.cos(angle), np.sin(angle)]), ["a", "b", "b"]
    query = [[np.cos(np.radians(5.0)), np.sin(np.radians(5.0))]]
    book = NeighborsClassifier(3, vote="majority", only_similar=False).fit(X, y)
    assert_allclose(book.predict_proba(query), [[1 / 3, 2 / 3]])
    ours = NeighborsClassifier(3, vote="majority").fit(X, y)
    assert_allclose(ours.predict_proba(query), [[1.0, 0.0]])


def test_figure_14_6_one_neighbour_and_three_disagree():
    # The star's nearest document is a circle, the next two are crosses.
    X = np.array([[1.0, 0.0], [0.0, 1.3], [-1.2, -0.8], [5.0, 5.0]])
    y = ["circle", "x", "x", "circle"]
    star = [[0.0, 0.0]]
    one = NeighborsClassifier(1, metric="euclidean").fit(X, y)
    three = NeighborsClassifier(3, metric="euclidean", vote="majority").fit(X, y)
    assert one.predict(star).tolist() == ["circle"]
    assert_allclose(three.predict_proba(star), [[1 / 3, 2 / 3]])


def test_sketches_miss_few_neighbours_and_get_no_similarity_wrong(rng):
    X, y = vectors(rng, n_samples=900, n_features=60)
    X = X * (rng.uniform(size=X.shape) < 0.3)
    exact = NeighborsClassifier(5, random_state=0).fit(X, y)
    rough = NeighborsClassifier(5, algorithm="approximate", random_state=0).fit(X, y)
    similarity, positions = rough.most_similar(X[:150])
    true = exact.kneighbors(X[:150])
    recall = np.mean(
        [len(set(a) & set(b)) / 5 for a, b in zip(positions, true[1], strict=True)]
    )
    assert recall > 0.95
    assert abs(recall - rough.recall_) < 0.05
    assert exact.recall_ == 1.0
    cosine = exact.vectors_.toarray() @ exact.vectors_.toarray()[:150].T
    rows = np.arange(150)[:, None]
    assert_allclose(similarity, cosine.T[rows, positions], atol=1e-12)
    again = NeighborsClassifier(5, algorithm="approximate", random_state=0).fit(X, y)
    assert_array_equal(positions, again.kneighbors(X[:150])[1])


def test_sketches_agree_in_the_share_of_the_angle(rng):
    from earmark.models.shared.neighbor_search import SketchSearch

    X = sparse.csr_array(rng.normal(size=(40, 50)))
    signs = SketchSearch(X, 3)._signs(X).astype(float)
    dense = X.toarray() / np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    share = 1 - np.arccos(np.clip(dense @ dense.T, -1, 1)) / np.pi
    agreement = (signs @ signs.T / signs.shape[1] + 1) / 2
    assert np.abs(agreement - share).mean() < 0.03


def test_one_search_gives_labels_probabilities_and_neighbours(rng):
    X, y = vectors(rng)
    model = NeighborsClassifier(5, random_state=0).fit(X, y)
    answer = model.answer(X[:9])
    assert_array_equal(answer.labels, model.predict(X[:9]))
    assert_array_equal(answer.probabilities, model.predict_proba(X[:9]))
    assert_array_equal(answer.positions, model.kneighbors(X[:9])[1])
    named = model.neighbors(X[:9])
    assert named[0][0] == Neighbor(0, y[0], pytest.approx(1.0))
    assert [[n.position for n in each] for each in named] == answer.positions.tolist()


@pytest.mark.parametrize(
    "options", [{}, {"metric": "euclidean"}, {"metric": "dot"}, {"only_similar": False}]
)
@pytest.mark.parametrize("vote", ["majority", "similarity"])
def test_leave_one_out_equals_refitting_without_the_document(vote, options, rng):
    X, y = vectors(rng, n_samples=40)
    X[3] = X[7]  # a duplicate with another label, and an empty document
    X[5] = 0.0
    model = NeighborsClassifier(4, vote=vote, **options).fit(X, y)
    left_out = model.leave_one_out(X, y)
    for d in range(len(y)):
        rest = np.arange(len(y)) != d
        refit = NeighborsClassifier(4, vote=vote, **options).fit(X[rest], y[rest])
        assert_allclose(np.exp(left_out[d]), refit.predict_proba(X[[d]])[0], atol=1e-12)


@pytest.mark.parametrize("vote", ["majority", "similarity"])
def test_k_chosen_in_one_pass_is_the_best_of_many_leave_one_outs(vote, rng):
    X, y = vectors(rng, n_samples=60)
    auto = NeighborsClassifier("auto", vote=vote, max_neighbors=15, random_state=0)
    chosen = auto.fit(X, y).n_neighbors_
    right = []
    for k in range(1, 16):
        model = NeighborsClassifier(k, vote=vote).fit(X, y)
        proba = np.exp(model.leave_one_out(X, y))
        top = np.isclose(proba, proba.max(axis=1, keepdims=True), rtol=1e-12)
        own = np.searchsorted(model.classes_, y)
        right.append((top[np.arange(60), own] / top.sum(axis=1)).sum())
    assert chosen == np.isclose(right, max(right)).argmax() + 1
    assert auto.n_neighbors_ <= 15


def test_appending_and_forgetting_equal_one_fit(rng):
    X, y = vectors(rng)
    whole = NeighborsClassifier("auto", random_state=0).fit(X, y)
    grown = NeighborsClassifier("auto", random_state=0)
    for part in (slice(0, 30), slice(30, 31), slice(31, 80)):
        grown.partial_fit(X[part], y[part], classes=["a", "b", "c"])
    for model in (grown, grown.partial_fit(X[:9], y[:9]).forget(X[:9], y[:9])):
        assert model.n_neighbors_ == whole.n_neighbors_
        assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    few = NeighborsClassifier("auto").fit(X[5:], y[5:])
    whole.forget(X[:5], y[:5])
    assert_array_equal(whole.vectors_.toarray(), few.vectors_.toarray())
    assert whole.n_neighbors_ == few.n_neighbors_


def test_forgetting_everything_leaves_an_even_guess(rng):
    X, y = vectors(rng, n_samples=6)
    model = NeighborsClassifier(3).fit(X, y).forget(X, y)
    assert_allclose(model.predict_proba(X[:1]), [[1 / 3, 1 / 3, 1 / 3]])


def test_what_was_not_learned_is_an_error_and_changes_nothing(rng):
    X, y = vectors(rng, n_samples=6)
    model = NeighborsClassifier(3).fit(X, y)
    with pytest.raises(DataError, match="row 1 was not learned"):
        model.forget(np.vstack([X[0], X[0] + 1]), [y[0], y[0]])
    with pytest.raises(DataError, match="row 1 was not learned"):
        model.forget(X[[0, 0]], y[[0, 0]])
    with pytest.raises(DataError, match="row 0 was not learned"):
        model.leave_one_out(X + 1, y)
    with pytest.raises(DataError, match="'z' in row 0"):
        model.partial_fit(X[:1], ["z"])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X[:1], y[:1], classes=["a"])
    assert model.vectors_.shape[0] == 6


def test_more_neighbours_than_documents_means_all_documents():
    X, y = np.array([[1.0, 1], [2, 1], [1, 3]]), ["a", "b", "b"]
    model = NeighborsClassifier(1000, vote="majority").fit(X, y)
    assert model.n_neighbors_ == 3
    assert_allclose(model.predict_proba([[1.0, 0]]), [[1 / 3, 2 / 3]])
    assert model.kneighbors([[1.0, 0]], n_neighbors=50)[1].shape == (1, 3)


def test_document_without_known_terms_gets_the_class_shares():
    X = sparse.csr_matrix([[1.0, 2, 0], [1, 0, 0], [0, 1, 0]])
    model = NeighborsClassifier(2).fit(X, [1, 1, 0])
    for nothing in ([[0.0, 0, 0]], [[0.0, 0, 5]]):
        assert_allclose(model.predict_proba(nothing), [[1 / 3, 2 / 3]])
        assert model.predict(nothing).tolist() == [1]
        assert model.neighbors(nothing) == [[]]
        assert "class shares" in model.score_parts(nothing)[0].note


def test_only_similar_documents_vote():
    # Three documents share no term with the query: they are no neighbours of it.
    X = np.array([[0.0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]])
    model = NeighborsClassifier(5, vote="majority").fit(X, list("aaabc"))
    assert_allclose(model.predict_proba([[1.0, 0, 0]]), [[0, 1, 0]])


def test_a_class_of_one_document_is_impossible_without_it(rng):
    X, y = vectors(rng, n_samples=9)
    y[:] = "a"
    y[0] = "b"
    left_out = NeighborsClassifier(3).fit(X, y).leave_one_out(X, y)
    assert left_out[0].tolist() == [0.0, -np.inf]


def test_equal_votes_are_decided_by_a_seeded_lot():
    rng = np.random.default_rng(5)
    X = np.abs(rng.normal(size=(300, 6)))
    y = np.tile([0, 1], 150)
    first = NeighborsClassifier(2, vote="majority", random_state=0).fit(X, y)
    again = NeighborsClassifier(2, vote="majority", random_state=0).fit(X, y)
    other = NeighborsClassifier(2, vote="majority", random_state=1).fit(X, y)
    test = np.abs(rng.normal(size=(400, 6)))
    labels = first.predict(test)
    assert_array_equal(labels, again.predict(test))
    assert_array_equal(labels[7:9], first.predict(test[7:9]))
    tied = first.predict_proba(test)[:, 0] == 0.5
    assert 0.3 < labels[tied].mean() < 0.7
    assert (labels != other.predict(test))[tied].any()
    assert_array_equal(labels[~tied], other.predict(test)[~tied])


def test_lots_fall_evenly_on_all_tied_classes():
    votes = np.tile([1.0, 2, 2, 2], (3000, 1))
    chosen = chosen_classes(votes, np.arange(3000), 12)
    share = np.bincount(chosen, minlength=4) / 3000
    assert share[0] == 0
    assert_allclose(share[1:], 1 / 3, atol=0.04)


@pytest.mark.parametrize("metric", ["euclidean", "dot", "cosine"])
@pytest.mark.parametrize("vote", ["majority", "similarity"])
def test_score_parts_add_up_to_the_votes(vote, metric, rng):
    X, y = vectors(rng)
    model = NeighborsClassifier(7, vote=vote, metric=metric).fit(X, y)
    test = np.vstack([X[:5], np.zeros((1, 30))])
    for row, parts in zip(
        model.class_scores(test), model.score_parts(test), strict=True
    ):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, atol=1e-12)
    note = model.score_parts(X[:1])[0].note
    assert note.startswith("Because of the training documents ")
    if metric != "dot":
        assert f"documents no. 1 ({y[0]}, 1.00)" in note
    assert note.endswith("and 2 more.")


def test_threads_and_index_cache_do_not_show(rng):
    X, y = vectors(rng, n_samples=300)
    one = NeighborsClassifier(5, random_state=0).fit(X, y)
    two = NeighborsClassifier(5, random_state=0, n_jobs=2).fit(X, y)
    del two._index  # as after loading from a file
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be >= 1, got 0; or 'auto'"),
        ({"n_neighbors": "many"}, "n_neighbors must be a whole number"),
        ({"vote": "loud"}, "vote must be one of 'similarity', 'majority'"),
        ({"max_neighbors": 0}, "max_neighbors must be >= 1"),
        ({"metric": "l1"}, "metric must be one of 'cosine', 'euclidean', 'dot'"),
        (
            {"metric": "dot", "algorithm": "approximate"},
            "algorithm='approximate' finds similar documents by their cosine",
        ),
    ],
)
def test_bad_parameters_say_what_is_wanted(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        NeighborsClassifier(**parameters).fit([[1.0, 0], [0, 1]], [0, 1])


@pytest.mark.parametrize("k", [0, -3, True, 2.5, "x"])
def test_a_number_of_neighbours_that_is_none_is_refused(k):
    X = np.eye(4)
    model = NeighborsClassifier(1).fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="n_neighbors must be a whole number >= 1"):
        model.kneighbors(X, k)


def test_the_number_of_neighbors_is_chosen_on_some_documents_of_many(monkeypatch):
    from earmark.models import knn

    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.5, (400, 12)).astype(float))
    y = rng.integers(0, 3, 400)
    searched = []
    search = knn.NeighborsClassifier._search

    def counted(self, rows, k, exclude=None):
        searched.append(rows.shape[0])
        return search(self, rows, k, exclude)

    monkeypatch.setattr(knn.NeighborsClassifier, "_search", counted)
    whole = knn.NeighborsClassifier("auto").fit(X, y)
    whole.predict(X[:1])
    monkeypatch.setattr(knn, "_MOST_CHOOSING", 100)
    some = knn.NeighborsClassifier("auto").fit(X, y)
    some.predict(X[:1])
    assert searched == [400, 1, 100, 1]
    assert 1 <= some.chosen_ <= 50
