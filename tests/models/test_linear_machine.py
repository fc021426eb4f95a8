"""The default model: ratios by hand, LinearSVC as a limit, and what it chooses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import LinearSVC

from earmark.features import TfidfWeighting
from earmark.features.columns import Rows
from earmark.kernels.rows import canonical_rows
from earmark.models import LinearMachine
from earmark.models.shared.machines import Settings, Task, as_views


def rows_of(y, rng, n_columns=40, n_dense=4, signal=(1.0, 1.0, 1.0)):
    """Words, pieces and vectors, each telling so much of the class."""
    n, n_classes = len(y), int(y.max()) + 1
    blocks = []
    for told in signal[:2]:
        rate = 0.3 + told * rng.gamma(0.3, 1.0, (n_classes, n_columns))
        counts = rng.poisson(rate[y]).astype(float)
        length = np.linalg.norm(counts, axis=1, keepdims=True)
        blocks.append(sparse.csr_array(counts / np.maximum(length, 1e-9)))
    centers = rng.normal(size=(n_classes, n_dense))
    vectors = signal[2] * centers[y] + rng.normal(size=(n, n_dense))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Rows((*blocks, vectors), ("word", "piece", "vector"))


def labels(rng, n=200, n_classes=3):
    return rng.permutation(np.arange(n) % n_classes)


def task_of(matrix, y):
    views = as_views(sparse.csr_array(np.asarray(matrix, dtype=float)))
    truth = sparse.csr_array(np.eye(int(max(y)) + 1, dtype=np.float32)[np.array(y)])
    return Task(views, truth, np.ones(len(y)), views.prints, np.ones((2, max(y) + 1)))


def test_ratios_are_the_hand_calculation():
    # Two documents of class 0 and one of class 1, of five entries in all (LM3).
    task = task_of([[1, 1, 0], [1, 0, 0], [0, 1, 1]], [0, 0, 1])
    share = np.array([3 / 5, 2 / 5])
    own = np.array([[2, 0], [1, 1], [0, 1]])
    rest = own[:, ::-1]
    expected = np.log(own / share + 2) - np.log(rest / (1 - share) + 2)
    assert_allclose(task.log_ratios, np.abs(expected), rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_prior_it_is_linear_svc_on_scaled_views(rng, n_classes):
    y = labels(rng, n_classes=n_classes)
    X = rows_of(y, rng)
    settings = {"C": 0.5, "prior": False, "word_weight": 1.6, "vector_weight": 0.7}
    model = LinearMachine(**settings, max_iter=3000, tol=1e-7).fit(X, y)
    words, pieces, vectors = X.blocks
    size = np.sqrt(np.mean(np.sum(vectors**2, axis=1)))
    scaled = np.hstack([1.6 * words.toarray(), pieces.toarray(), 0.7 / size * vectors])
    bias = 0.1 * (1.6**2 + 1.0 + 0.7**2)
    peer = LinearSVC(
        C=0.5, tol=1e-9, max_iter=10**6, intercept_scaling=np.sqrt(bias)
    ).fit(scaled, y)
    # Stored weights are numbers of half precision.
    theirs = peer.decision_function(scaled)
    if n_classes == 2:
        theirs = np.stack([-theirs, theirs], axis=1)
    ours = model.linear_rule().weights
    scores = (sparse.hstack(X.blocks[:2]) @ ours[:-4] + vectors @ ours[-4:]) + (
        model.linear_rule().offset
    )
    assert_allclose(scores / model.scale_, theirs, atol=4e-3)
    assert_array_equal(model.predict(X), peer.predict(scaled))


def test_probabilities_are_the_softmax_of_scaled_scores(rng):
    y = labels(rng)
    X = rows_of(y, rng)
    model = LinearMachine().fit(X, y)
    rule = model.linear_rule()
    own = (
        sparse.hstack(X.blocks[:2]) @ rule.weights[:-4]
        + X.blocks[2] @ (rule.weights[-4:])
    )
    joint = np.exp(own + rule.offset)
    expected = joint / joint.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), expected, atol=1e-5)


def test_the_order_of_documents_does_not_matter(rng):
    y = labels(rng)
    X = rows_of(y, rng)
    order = rng.permutation(len(y))
    first, second = LinearMachine().fit(X, y), LinearMachine().fit(X[order], y[order])
    assert first.settings_ == second.settings_
    assert_allclose(first.weights_, second.weights_, atol=5e-3)


def test_a_document_of_weight_two_is_the_document_twice(rng):
    y = labels(rng, 60)
    X = rows_of(y, rng)
    twice = np.concatenate([np.arange(60), np.arange(20)])
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    weighed = LinearMachine(C=1.0).fit(X, y, sample_weight=weight)
    repeated = LinearMachine(C=1.0).fit(X[twice], y[twice])
    assert weighed.settings_ == repeated.settings_
    assert_array_equal(weighed.weights_, repeated.weights_)


def test_vectors_that_tell_nothing_weigh_nothing(rng):
    y = labels(rng, 400)
    useful = LinearMachine().fit(rows_of(y, rng, signal=(0.1, 0.1, 3.0)), y)
    noise = rows_of(y, rng, n_dense=100, signal=(3.0, 3.0, 0.0))
    useless = LinearMachine().fit(noise, y)
    assert useful.encoder_share_ > 0.3
    assert useful.settings_["vector_weight"] > 0
    assert useless.settings_["vector_weight"] == 0.0
    assert useless.encoder_share_ == 0.0


def test_what_a_user_sets_is_not_chosen(rng):
    y = labels(rng)
    X = rows_of(y, rng)
    asked = {"C": 0.2, "prior": True, "word_weight": 1.3, "vector_weight": 1.7}
    assert LinearMachine(**asked).fit(X, y).settings_ == asked
    some = LinearMachine(vector_weight=0.0).fit(X, y)
    assert some.settings_["vector_weight"] == 0.0
    assert some.n_held_out_ > 0


def test_of_few_documents_nothing_is_chosen(rng):
    y = labels(rng, 18)
    model = LinearMachine().fit(rows_of(y, rng), y)
    assert model.n_held_out_ == 0
    expected = Settings()
    assert model.settings_["C"] == expected.C
    assert model.settings_["prior"] == expected.prior


def test_probabilities_are_about_right_on_new_documents():
    gaps = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = labels(rng, 1200)
        X = rows_of(y, rng, signal=(0.15, 0.15, 0.3))
        model = LinearMachine().fit(X[:600], y[:600])
        proba = model.predict_proba(X[600:])
        right = (proba.argmax(axis=1) == y[600:]).mean()
        assert 0.5 < right < 0.9
        gaps.append(proba.max(axis=1).mean() - right)
    assert abs(np.mean(gaps)) < 0.03


def test_several_labels_have_a_machine_each(rng):
    y = labels(rng)
    X = rows_of(y, rng)
    has = np.stack([y == 0, y != 2], axis=1)
    fixed = {"C": 0.5, "prior": False, "word_weight": 1.0, "vector_weight": 1.0}
    machine = LinearMachine(**fixed, max_iter=2000, tol=1e-7)
    together = machine.fit_labels(X, has, factor=np.ones((2, 2)))
    for k, one in enumerate(together):
        alone = LinearMachine(**fixed, max_iter=2000, tol=1e-7).fit(X, has[:, k])
        ours = one.weights_ / one.scale_
        assert_allclose(ours, alone.weights_ / alone.scale_, atol=5e-3)


def test_unknown_terms_make_a_document_shorter(rng):
    counts = canonical_rows(sparse.csr_array(rng.poisson(0.5, (30, 12)).astype(float)))
    weighting = TfidfWeighting(tf="sublinear", norm="whole").fit(counts)
    n_unknown = rng.integers(0, 6, 30)
    rows = weighting.transform(counts, n_unknown).toarray()
    df = np.bincount(counts.indices, minlength=12)
    tf = np.where(counts.toarray() > 0, 1 + np.log(np.maximum(counts.toarray(), 1)), 0)
    weights = tf * (np.log(31 / (1 + df)) + 1)
    unknown = np.log(31 / 2) + 1
    length = np.sqrt((weights**2).sum(axis=1) + n_unknown * unknown**2)  # (LM1)
    assert_allclose(rows, weights / np.where(length > 0, length, 1)[:, None])
