"""RocchioClassifier: the book's example, brute force, refits and exact sums."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from earmark.exceptions import DataError
from earmark.models import RocchioClassifier
from earmark.models import rocchio as tuning
from earmark.models.rocchio import best_threshold


def test_classes_that_are_all_alike_share_the_probability():
    model = RocchioClassifier().fit([[1, 1]] * 6, [0, 1] * 3)
    assert_allclose(model.predict_proba([[1, 1], [2, 1]]), 0.5)


# Table 14.1 of Manning, Raghavan and Schütze (2008): Chinese, Japan, Tokyo, Macao,
# Beijing, Shanghai; d1-d3 are about China, d4 is not, d5 is the test document.
HALF = np.sqrt(0.5)
BOOK = np.array(
    [
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 1, 0, 0],
        [0, HALF, HALF, 0, 0, 0],
    ]
)
BOOK_LABELS = np.array(["china", "china", "china", "other"])
BOOK_TEST = BOOK[3:]
VARIANTS = [
    {"metric": metric, "rest_weight": rest}
    for metric in ("euclidean", "cosine")
    for rest in (0.0, 0.25)
]


def vectors(rng, n_samples=60, n_features=30, n_classes=3):
    centre = rng.gamma(0.3, 1.0, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    X = rng.poisson(3 * centre[y]) * rng.uniform(0.5, 2, (n_samples, n_features))
    return X, np.array(["a", "b", "c"])[y]


def unit(X):
    norm = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norm > 0, norm, 1)


def brute_prototypes(X, y, rest_weight):
    classes, V = np.unique(y), unit(X)
    return np.stack(
        [V[y == c].mean(axis=0) - rest_weight * V[y != c].mean(axis=0) for c in classes]
    )


# -- the book ------------------------------------------------------------------


def test_distances_of_example_14_1():
    distance = RocchioClassifier().fit(BOOK, BOOK_LABELS).distances(BOOK_TEST)
    assert distance.round(2).tolist() == [[1.15, 0.0]]


def test_centroids_of_table_14_1():
    centroids = RocchioClassifier().fit(BOOK, BOOK_LABELS).prototypes_
    expected = [[0, 0, 0, 0.33, 0.33, 0.33], [0, 0.71, 0.71, 0, 0, 0]]
    assert centroids.round(2).tolist() == expected


def test_hyperplane_of_example_14_1():
    # The book writes w for China against the rest: the negative of ours.
    model = RocchioClassifier().fit(BOOK, BOOK_LABELS)
    w, b = -model.coef_[0], model.intercept_[0]
    assert w.round(2).tolist() == [0, -0.71, -0.71, 0.33, 0.33, 0.33]
    assert_allclose(b, -1 / 3, rtol=1e-12)
    assert_allclose(BOOK @ w, [1 / 3, 1 / 3, 1 / 3, -1], rtol=1e-12)
    assert_array_equal(BOOK @ w > b, [True, True, True, False])
    assert model.predict(BOOK_TEST).tolist() == ["other"]


def test_a_training_document_may_get_another_label():
    # Exercise 14.2: a far member of a wide class lies nearer to the other centroid.
    X = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [1, 2]])
    y = ["wide", "wide", "wide", "wide", "narrow"]
    assert RocchioClassifier().fit(X, y).predict(X[3:4]).tolist() == ["narrow"]


# -- oracles -------------------------------------------------------------------


@pytest.mark.parametrize("rest_weight", [0.0, 0.3])
def test_nearest_mean_by_brute_force(rest_weight, rng):
    X, y = vectors(rng)
    test = vectors(rng)[0]
    model = RocchioClassifier(rest_weight=rest_weight).fit(sparse.csr_matrix(X), y)
    mean = brute_prototypes(X, y, rest_weight)
    assert_allclose(model.prototypes_, mean, atol=1e-12)
    distance = np.linalg.norm(unit(test)[:, None] - mean, axis=2)
    assert_allclose(model.distances(test), distance, atol=1e-11)
    expected = np.array(["a", "b", "c"])[distance.argmin(axis=1)]
    assert_array_equal(model.predict(test), expected)


@pytest.mark.parametrize("rest_weight", [0.0, 0.3])
def test_largest_cosine_by_brute_force(rest_weight, rng):
    X, y = vectors(rng)
    test = vectors(rng)[0]
    model = RocchioClassifier(metric="cosine", rest_weight=rest_weight).fit(X, y)
    cosine = unit(test) @ unit(brute_prototypes(X, y, rest_weight)).T
    assert_allclose(model.decision_function(test), cosine, atol=1e-11)
    assert_allclose(model.distances(test), np.sqrt(2 - 2 * cosine), atol=1e-11)


@pytest.mark.parametrize("variant", VARIANTS)
def test_leave_one_out_equals_refitting_without_the_document(variant, rng):
    X, y = vectors(rng, n_samples=40)
    X[0] = 0.0
    X[y == "c"] *= -1.0
    model = RocchioClassifier(**variant, temperature=0.1).fit(X, y)
    left_out = model.leave_one_out(sparse.csr_matrix(X), y)
    for d in range(len(y)):
        rest = np.arange(len(y)) != d
        refit = clone(model).fit(X[rest], y[rest])
        assert_allclose(
            left_out[d], refit.predict_log_proba(X[[d]])[0], rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("variant", VARIANTS)
def test_leave_one_out_with_weights_equals_refitting(variant, rng):
    X, y = vectors(rng, n_samples=30)
    weight = rng.choice([0.5, 1.0, 3.0], len(y))
    model = RocchioClassifier(**variant, temperature=0.1).fit(X, y, weight)
    left_out = model.leave_one_out(X, y, weight)
    for d in range(len(y)):
        rest = np.arange(len(y)) != d
        refit = clone(model).fit(X[rest], y[rest], weight[rest])
        assert_allclose(
            left_out[d], refit.predict_log_proba(X[[d]])[0], rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("rule", ["offset", "radius"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_tuned_threshold_is_the_best_on_left_out_documents(rule, metric, rng):
    X, y = vectors(rng, n_samples=50)
    y = np.where(y == "a", "yes", "no")
    model = RocchioClassifier(metric=metric, rule=rule, tune_for="accuracy").fit(X, y)
    right = (model.leave_one_out(X, y).argmax(axis=1) == (y == "yes")).mean()
    value = []
    for d in range(len(y)):
        rest = np.arange(len(y)) != d
        plain = RocchioClassifier(metric=metric).fit(X[rest], y[rest])
        no, yes = plain.distances(X[[d]])[0]
        value.append(no - yes if rule == "offset" else -yes)
    value = np.array(value)
    best = max(
        ((value > cut) == (y == "yes")).mean() for cut in [-np.inf, *value.tolist()]
    )
    assert right == best
    sign = 1 if rule == "offset" else -1
    decided = value > sign * model.threshold_
    assert_array_equal(decided, model.leave_one_out(X, y).argmax(axis=1) == 1)


def quality(threshold, value, is_member, weight, objective):
    said = value > threshold
    if objective == "accuracy":
        return weight[said == is_member].sum() / weight.sum()
    hits = weight[said & is_member].sum()
    return 2 * hits / (weight[said].sum() + weight[is_member].sum())


@pytest.mark.parametrize("objective", ["f1", "accuracy"])
def test_threshold_is_the_highest_of_the_best_by_brute_force(objective, rng):
    for _ in range(60):
        value = rng.integers(0, 6, 9).astype(float)
        is_member = rng.permutation(np.arange(9) < rng.integers(1, 9))
        weight = rng.integers(1, 4, 9).astype(float)
        cuts = np.arange(-0.5, 6)
        made = [quality(c, value, is_member, weight, objective) for c in cuts]
        found = best_threshold(value, is_member, weight, objective)
        assert quality(found, value, is_member, weight, objective) == max(made)
        best = cuts[np.flatnonzero(np.equal(made, max(made)))[-1]]
        assert_array_equal(value > found, value > best)


def test_threshold_lies_half_way_between_values():
    value, is_member = np.array([1.0, 2.0, 5.0, 6.0]), np.array([0, 0, 1, 1], bool)
    assert best_threshold(value, is_member, np.ones(4), "f1") == 3.5


def test_accuracy_and_f1_want_different_thresholds():
    # Yes to all: F1 4/7, accuracy 2/5; to nobody: F1 0, accuracy 3/5.
    value = np.arange(5.0)
    is_member = np.array([1, 1, 0, 0, 0], dtype=bool)
    assert best_threshold(value, is_member, np.ones(5), "f1") < 0
    assert best_threshold(value, is_member, np.ones(5), "accuracy") > 4


def test_thresholds_are_not_drawn_from_unknown_values_or_weightless_documents():
    value = np.array([-np.inf, 9.0, 1.0, 2.0])
    is_member = np.array([True, True, False, True])
    assert best_threshold(value, is_member, np.array([1.0, 0, 1, 1]), "f1") == 1.5


def test_two_class_rules_follow_page_272(rng):
    X, y = vectors(rng)
    y = np.where(y == "a", "yes", "no")
    distance = RocchioClassifier().fit(X, y).distances(X)
    offset = RocchioClassifier(rule="offset", threshold=0.05).fit(X, y)
    expected = distance[:, 1] < distance[:, 0] - 0.05
    assert_array_equal(offset.predict(X) == "yes", expected)
    radius = RocchioClassifier(rule="radius", threshold=0.9).fit(X, y)
    assert_array_equal(radius.predict(X) == "yes", distance[:, 1] < 0.9)
    assert_allclose(radius.decision_function(X), 0.9 - distance[:, 1], atol=1e-12)


def test_a_radius_rejects_what_a_scattered_rest_would_give_away(rng):
    # The class is a small region; the rest points everywhere, so that its centroid is
    # short and the plain rule claims much of it for the class.
    centre = np.zeros(20)
    centre[:3] = 2.0
    inside = centre + rng.normal(0, 1.0, (60, 20))
    rest = rng.normal(0, 1.0, (600, 20))
    X, y = np.vstack([inside, rest]), np.repeat(["yes", "no"], [60, 600])
    plain = RocchioClassifier().fit(X, y).predict(X)
    tuned = RocchioClassifier(rule="radius").fit(X, y).predict(X)
    alarms = [(p[y == "no"] == "yes").mean() for p in (plain, tuned)]
    assert alarms[0] > 0.05
    assert alarms[1] < alarms[0] / 2


# -- exact sums ----------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_batches=st.integers(1, 20))
def test_batches_and_shards_in_any_order_give_the_same_bytes(seed, n_batches):
    rng = np.random.default_rng(seed)
    X, y = vectors(rng)
    rows = sparse.csr_matrix(X)
    whole = RocchioClassifier(metric="cosine").fit(rows, y)
    grown, merged = RocchioClassifier(metric="cosine"), None
    for part in np.array_split(rng.permutation(len(y)), n_batches):
        if len(part):
            grown.partial_fit(rows[part], y[part], classes=["a", "b", "c"])
            shard = RocchioClassifier().accumulate(rows[part], y[part])
            merged = shard if merged is None else merged.merge(shard)
    joined = RocchioClassifier(metric="cosine").finalise(merged)
    for model in (grown, joined):
        assert model.statistics_ == whole.statistics_
        assert model.prototypes_.tobytes() == whole.prototypes_.tobytes()
        assert model.tune(rows, y).tuned_ == whole.tuned_
        assert_array_equal(model.predict_proba(rows), whole.predict_proba(rows))


def test_forgetting_gives_the_model_without_the_documents(rng):
    X, y = vectors(rng)
    weight = rng.choice([0.3, 1.0, 2.5], len(y))
    for given_weight in (None, weight):
        keep = None if given_weight is None else weight[:40]
        drop = None if given_weight is None else weight[40:]
        kept = RocchioClassifier().fit(X[:40], y[:40], keep)
        model = RocchioClassifier().fit(X, y, given_weight)
        model.forget(X[40:], y[40:], drop).tune(X[:40], y[:40], keep)
        assert_array_equal(
            model.statistics_.sums.toarray(), kept.statistics_.sums.toarray()
        )
        assert_allclose(model.predict_proba(X), kept.predict_proba(X), rtol=1e-12)


def test_two_class_rules_refuse_until_tuned_again(rng):
    X, y = vectors(rng)
    y = np.where(y == "a", "yes", "no")
    model = RocchioClassifier(rule="offset").fit(X, y).forget(X[:1], y[:1])
    with pytest.raises(NotFittedError, match="Call tune"):
        model.predict(X)
    assert_array_equal(
        model.tune(X[1:], y[1:]).predict(X),
        RocchioClassifier(rule="offset").fit(X[1:], y[1:]).predict(X),
    )


def test_unseen_label_and_unknown_documents_change_nothing(rng):
    X, y = vectors(rng)
    model = RocchioClassifier().fit(X, y)
    before = model.statistics_.copy()
    with pytest.raises(DataError, match="'z' in row 0"):
        model.partial_fit(X[:1], ["z"])
    with pytest.raises(DataError, match="cannot forget more than was learned"):
        model.forget(np.vstack([X, X]), np.concatenate([y, y]))
    with pytest.raises(DataError, match="documents that were learned"):
        model.leave_one_out(np.vstack([X, X]), np.concatenate([y, y]))
    assert model.statistics_ == before


# -- edges ---------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_document_without_known_terms_gets_the_class_shares(variant):
    X = sparse.csr_matrix([[1.0, 2], [1, 0], [0, 1]])
    model = RocchioClassifier(**variant).fit(X, [1, 1, 0])
    empty = sparse.csr_matrix((1, 2))
    assert model.predict(empty).tolist() == [1]
    assert_allclose(model.predict_proba(empty), [[1 / 3, 2 / 3]], rtol=1e-12)
    parts = model.score_parts(empty)[0]
    assert "class shares" in parts.note
    total = parts.terms.sum(axis=0) + sum(parts.constants.values())
    assert_allclose(total[1] - total[0], model.decision_function(empty)[0])


@pytest.mark.parametrize("rule", ["offset", "radius"])
def test_two_class_rules_do_not_claim_an_empty_document(rule):
    X = np.array([[3.0, 1, 0], [2, 1, 0], [0, 1, 3], [0, 0, 1], [0, 2, 1]])
    model = RocchioClassifier(rule=rule).fit(X, [1, 1, 0, 0, 0])
    assert model.predict([[0, 0, 0]]).tolist() == [0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_zero_rows_and_classes_of_one_document_are_learned(variant):
    X = np.array([[0.0, 0, 0], [2, 1, 0], [0, 1, 3], [3, 1, 0]])
    y = ["void", "a", "b", "a"]
    model = RocchioClassifier(**variant).fit(X, y)
    assert model.predict(X[1:]).tolist() == ["a", "b", "a"]
    assert np.isfinite(model.predict_proba(X)).all()
    left_out = model.leave_one_out(X, y)
    assert not np.isnan(left_out).any()
    assert left_out[2, 1] == -np.inf
    assert left_out[0, 2] == -np.inf


def test_a_class_that_has_no_documents_is_never_chosen(rng):
    X, y = vectors(rng)
    model = RocchioClassifier().partial_fit(X, y, classes=["a", "b", "c", "void"])
    assert "void" not in model.predict(X)
    assert_array_equal(model.predict_proba(X)[:, 3], 0.0)


def test_one_class_answers_with_certainty():
    model = RocchioClassifier().fit([[1.0, 2], [0, 1]], ["only", "only"])
    assert model.predict([[5.0, 5]]).tolist() == ["only"]
    assert_allclose(model.predict_proba([[5.0, 5]]), [[1.0]])


def test_rules_for_two_classes_refuse_three(rng):
    X, y = vectors(rng)
    with pytest.raises(ValueError, match="decides between two classes, got 3"):
        RocchioClassifier(rule="radius").fit(X, y)


def test_a_tuned_rule_needs_two_documents_of_each_class():
    with pytest.raises(DataError, match="at least two documents of each class"):
        RocchioClassifier(rule="offset").fit([[1.0, 0], [0, 1]], [0, 1])


@pytest.mark.parametrize("rule", ["offset", "radius"])
def test_rules_that_are_not_linear_have_no_coefficients(rule, rng):
    X, y = vectors(rng)
    model = RocchioClassifier(rule=rule).fit(X, y == "a")
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")


@pytest.mark.parametrize("variant", VARIANTS)
def test_linear_form_gives_the_scores(variant, rng):
    X, y = vectors(rng)
    model = RocchioClassifier(**variant).fit(X, y)
    linear = unit(X) @ model.coef_.T + model.intercept_
    assert_allclose(linear, model.decision_function(X), atol=1e-12)
    model.fit(X, y == "a")
    linear = (unit(X) @ model.coef_.T + model.intercept_).ravel()
    assert_allclose(linear, model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize(
    "variant",
    [
        *VARIANTS,
        {"rule": "offset"},
        {"rule": "radius"},
        {"rule": "offset", "metric": "cosine"},
        {"rule": "radius", "metric": "cosine"},
    ],
)
def test_score_parts_add_up_to_the_scores(variant, rng):
    X, y = vectors(rng)
    y = np.where(y == "a", "yes", "no") if "rule" in variant else y
    model = RocchioClassifier(**variant).fit(X, y)
    scores = model.class_scores(X)
    assert any(parts.terms.any() for parts in model.score_parts(X))
    for row, parts in zip(scores, model.score_parts(X), strict=True):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, atol=1e-12)


def test_temperature_gives_honest_probabilities(rng):
    # One coordinate pair per class and plenty of noise: right about 3 times in 4.
    centre = np.eye(3)
    y = np.arange(3000) % 3
    X = np.abs(centre[y] + rng.normal(0, 0.8, (3000, 3)))
    model = RocchioClassifier().fit(X[:1500], y[:1500])
    proba = model.predict_proba(X[1500:])
    right = (proba.argmax(axis=1) == y[1500:]).mean()
    assert abs(proba.max(axis=1).mean() - right) < 0.05


def test_temperature_before_tuning_goes_by_the_typical_length_of_prototypes():
    # Squared lengths 1/2, of two documents, and 1, of one.
    X, y = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]), ["a", "a", "b"]
    model = RocchioClassifier(metric="euclidean").partial_fit(X, y)
    assert_allclose(model.temperature_, 0.02 * np.sqrt((2 * 0.5 + 1) / 3))
    model = RocchioClassifier(metric="cosine").partial_fit(X, y)
    assert model.temperature_ == 0.02


def test_temperature_is_learned_from_enough_documents_of_all_parts(rng, monkeypatch):
    X, y = vectors(rng)
    seen = []

    def recorded(scores, own, weight):
        seen.append(own)
        return 0.5

    monkeypatch.setattr(tuning, "fitted_temperature", recorded)
    monkeypatch.setattr(tuning, "_ENOUGH_DOCUMENTS", 25)
    assert RocchioClassifier().fit(X, y).temperature_ == 0.5
    assert_array_equal(seen[0], np.searchsorted(["a", "b", "c"], y[::3]))


def test_tuning_wants_the_columns_that_were_learned(rng):
    X, y = vectors(rng)
    model = RocchioClassifier().fit(X, y)
    with pytest.raises(ValueError, match="expecting 30 features"):
        model.tune(X[:, 1:], y)


def test_duplicate_entries_and_stored_zeros_count_as_their_sum():
    tangled = sparse.csr_matrix(
        ([1.0, 2, 4, 0, 5], [1, 1, 0, 2, 2], [0, 4, 5]), shape=(2, 3)
    )
    plain = sparse.csr_matrix(tangled.toarray())
    for metric in ("euclidean", "cosine"):
        models = [
            RocchioClassifier(metric=metric).fit(X, [0, 1]) for X in (tangled, plain)
        ]
        assert models[0].statistics_ == models[1].statistics_
        assert_allclose(
            models[0].decision_function(tangled), models[1].decision_function(plain)
        )


def test_memory_stays_at_classes_times_terms(rng):
    columns = rng.integers(0, 20000, 80_000)
    X = sparse.csr_matrix((rng.uniform(size=80_000), columns, range(0, 80_001, 40)))
    X.sum_duplicates()
    y = np.arange(2000) % 4
    model = RocchioClassifier()
    model.fit(X, y).predict(X)
    tracemalloc.start()
    model.fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = X.data.nbytes + X.indices.nbytes
    assert peak < 4 * (X.shape[1] * 4 * 8) + 8 * size  # dense would be 320 MB


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "manhattan"}, "metric must be one of 'euclidean', 'cosine'"),
        ({"rest_weight": -1}, r"rest_weight must be in \[0.0, inf\), got -1"),
        ({"rule": "far"}, "rule must be one of"),
        ({"tune_for": "luck"}, "tune_for must be one of"),
        ({"temperature": 0}, r"temperature must be in \(0.0, inf\), got 0"),
        ({"threshold": "x"}, "threshold must be a number, got 'x'; or 'auto'"),
    ],
)
def test_bad_parameters_say_what_is_wanted(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        RocchioClassifier(**parameters).fit([[1.0, 0], [0, 1]], [0, 1])


# -- vectors of any length -----------------------------------------------------------


@pytest.mark.parametrize("rest_weight", [0.0, 0.3])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "dot"])
def test_raw_vectors_by_brute_force(metric, rest_weight, rng):
    X, y = rng.normal(size=(60, 7)) * 5 + 1, np.array(list("abc"))[np.arange(60) % 3]
    test = rng.normal(size=(25, 7)) * 5
    model = RocchioClassifier(metric=metric, normalize=False, rest_weight=rest_weight)
    model.fit(X, y)
    mu = np.stack(
        [
            X[y == c].mean(axis=0) - rest_weight * X[y != c].mean(axis=0)
            for c in model.classes_
        ]
    )
    assert_allclose(model.prototypes_, mu, atol=1e-9)
    length = np.linalg.norm(mu, axis=1)
    score = {
        "euclidean": -np.linalg.norm(test[:, None] - mu, axis=2),
        "cosine": test @ mu.T / length,
        "dot": test @ mu.T,
    }[metric]
    assert model.predict(test).tolist() == model.classes_[score.argmax(axis=1)].tolist()
    if metric == "euclidean":
        assert_allclose(model.distances(test), -score, rtol=1e-9)
    scores = model.class_scores(test)
    for row, parts in zip(scores, model.score_parts(test), strict=True):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "dot"])
def test_leave_one_out_of_raw_vectors_equals_refitting(metric, rng):
    X, y = rng.normal(size=(30, 4)) * 3, np.arange(30) % 2
    options = {"metric": metric, "normalize": False, "temperature": 1.0}
    left_out = RocchioClassifier(**options).fit(X, y).leave_one_out(X, y)
    for d in range(0, 30, 5):
        rest = np.arange(30) != d
        refit = RocchioClassifier(**options).fit(X[rest], y[rest])
        assert_allclose(left_out[d], refit.predict_log_proba(X[[d]])[0], atol=1e-8)


def test_raw_vectors_are_added_forgotten_and_merged(rng):
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    whole = RocchioClassifier(normalize=False).fit(X, y)
    grown = RocchioClassifier(normalize=False).partial_fit(X[:7], y[:7])
    grown.partial_fit(X[7:], y[7:]).partial_fit(X[:3], y[:3]).forget(X[:3], y[:3])
    assert grown.statistics_ == whole.statistics_


def test_distances_are_no_matter_of_products(rng):
    X, y = rng.normal(size=(6, 3)), np.arange(6) % 2
    with pytest.raises(ValueError, match="compares distances, which metric='dot'"):
        RocchioClassifier(metric="dot", rule="radius").fit(X, y)
    with pytest.raises(AttributeError, match="compares products"):
        RocchioClassifier(metric="dot").fit(X, y).distances(X)
