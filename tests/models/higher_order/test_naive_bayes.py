"""HigherOrderNaiveBayes: hand calculation, enumeration, Bernoulli NB as limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import LinearSVC

from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError
from earmark.models import (
    BernoulliNaiveBayes,
    HigherOrderClassifier,
    HigherOrderNaiveBayes,
)
from earmark.stored import derived_names
from tests.oracles.paths import enumerate_paths

# Class a: documents {0, 1} and {1, 2}, one path 0 - 1 - 2. Class b: {0, 3}, {0, 1, 3},
# the paths 3 - 0 - 1 and 0 - 3 - 1.
X = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 1]])
Y = np.array(["a", "a", "b", "b"])


def corpus(rng, n_samples=40, n_features=12, n_classes=3):
    rate = rng.beta(1, 3, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return (rng.random((n_samples, n_features)) < rate[y]).astype(float), y


def test_probabilities_match_hand_calculation():
    model = HigherOrderNaiveBayes().fit(X, Y)
    assert_array_equal(model.path_total_, [1, 2])
    assert_array_equal(model.path_count_.toarray(), [[1, 1, 1, 0], [2, 2, 0, 2]])
    present = np.array([[2 / 3, 2 / 3, 2 / 3, 1 / 3], [3 / 4, 3 / 4, 1 / 4, 3 / 4]])
    assert_allclose(np.exp(model.feature_log_prob_), present)  # HO1
    assert_allclose(np.exp(model.class_log_prior_), [1 / 3, 2 / 3])
    joint = np.log([1 / 3, 2 / 3]) + np.log(
        [[2 / 3 * 1 / 3 * 1 / 3 * 1 / 3, 3 / 4 * 1 / 4 * 3 / 4 * 3 / 4]]
    )
    assert_allclose(model.predict_joint_log_proba([[1, 0, 0, 1]]), joint)


@pytest.mark.filterwarnings("ignore:.*have no (second|third)-order path")
@pytest.mark.parametrize(
    ("order", "pure"), [(2, False), (3, False), (2, True)], ids=["2", "3", "pure"]
)
def test_every_class_is_counted_like_the_enumeration(order, pure, rng):
    X, y = corpus(rng, n_samples=18, n_features=6)
    model = HigherOrderNaiveBayes(order=order, pure=pure).fit(X, y)
    for c in range(3):
        expected = enumerate_paths(X[y == c], order, X if pure else None)
        if expected[1] > 0:
            assert_array_equal(model.path_count_.toarray()[c], expected[0])
            assert model.path_total_[c] == expected[1]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_order_one_is_bernoulli_naive_bayes(alpha, rng):
    X, y = corpus(rng)
    X[:, 3] = 0  # never seen in training
    test = corpus(rng)[0]
    ours = HigherOrderNaiveBayes(order=1, alpha=alpha).fit(X, y)
    theirs = BernoulliNaiveBayes(alpha=alpha).fit(X, y)
    if alpha == 0:
        with pytest.warns(EarmarkWarning, match="impossible under every class"):
            expected = theirs.predict_log_proba(test)
        with pytest.warns(EarmarkWarning, match="impossible under every class"):
            got = ours.predict_log_proba(test)
    else:
        got, expected = ours.predict_log_proba(test), theirs.predict_log_proba(test)
    assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        HigherOrderNaiveBayes,
        lambda: HigherOrderNaiveBayes(order=3),
        lambda: HigherOrderNaiveBayes(pure=True),
        lambda: HigherOrderClassifier(LinearSVC(tol=1e-10, max_iter=10**5), C=0.1),
    ],
    ids=["2", "3", "pure", "svm"],
)
@pytest.mark.filterwarnings("ignore:.*have no (second|third)-order path")
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_renumbering_documents_terms_and_classes_changes_nothing(make, seed):
    rng = np.random.default_rng(seed)
    X, y = corpus(rng)
    test = corpus(rng)[0]
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    names = np.array(["c", "a", "b"])  # in another order than 0, 1, 2
    one = make().fit(X, y)
    other = make().fit(X[rows][:, columns], names[y[rows]])
    if isinstance(one, HigherOrderNaiveBayes):
        ours, theirs = one.predict_log_proba(test), other.predict_log_proba
    else:
        ours, theirs = one.decision_function(test), other.decision_function
    place = np.searchsorted(other.classes_, names)
    assert_allclose(theirs(test[:, columns])[:, place], ours, rtol=1e-7, atol=1e-7)


def test_priors_follow_paths_documents_or_nothing(rng):
    X, y = corpus(rng)
    y = np.minimum(y, 1)  # classes of one and two thirds
    by_paths, by_documents, uniform = (
        HigherOrderNaiveBayes(prior=prior).fit(X, y)
        for prior in ("paths", "documents", "uniform")
    )
    total = by_paths.path_total_
    assert_allclose(np.exp(by_paths.class_log_prior_), total / total.sum())
    share = np.bincount(y) / len(y)
    assert_allclose(np.exp(by_documents.class_log_prior_), share)
    assert_allclose(np.exp(uniform.class_log_prior_), [0.5, 0.5])


def test_terms_unseen_in_training_say_nothing(rng):
    X, y = corpus(rng)
    wide = np.hstack([X, np.zeros((len(X), 2))])
    model = HigherOrderNaiveBayes().fit(wide, y)
    narrow = HigherOrderNaiveBayes().fit(X, y)
    test = np.hstack([X, np.ones((len(X), 2))])
    expected = narrow.predict_log_proba(X)
    assert_allclose(model.predict_log_proba(test), expected, atol=1e-12)


def test_a_class_without_paths_is_estimated_from_its_documents():
    data = np.vstack([X, [[0, 0, 1, 1]]])
    with pytest.warns(EarmarkWarning, match=r"1 class\(es\) have no second-order path"):
        model = HigherOrderNaiveBayes().fit(data, [*Y, "c"])
    assert_array_equal(model.is_first_order_, [False, False, True])
    # (1 + presence) / (2 + 1 document), and one document of five as its prior.
    assert_allclose(np.exp(model.feature_log_prob_[2]), [1 / 3, 1 / 3, 2 / 3, 2 / 3])
    assert_allclose(np.exp(model.class_log_prior_), [0.8 * 1 / 3, 0.8 * 2 / 3, 0.2])
    assert np.isfinite(model.predict_joint_log_proba(data)).all()


def test_the_three_containers_agree(rng):
    X, y = corpus(rng)
    dense = HigherOrderNaiveBayes().fit(X, y).predict_log_proba(X)
    for container in (sparse.csr_matrix, sparse.csc_array):
        model = HigherOrderNaiveBayes().fit(container(X), y)
        assert_array_equal(model.predict_log_proba(container(X * 7)), dense)


@pytest.mark.filterwarnings("ignore:.*have no (second|third)-order path")
def test_paths_through_unlabelled_documents_are_those_with_a_labelled_one(rng):
    X, y = corpus(rng, n_samples=9, n_features=6)
    pool = np.ones((3, 6))
    ignored = HigherOrderNaiveBayes().fit(X, y, unlabelled=pool)
    plain = HigherOrderNaiveBayes().fit(X, y)
    assert_array_equal(ignored.path_total_, plain.path_total_)
    nobody = HigherOrderNaiveBayes(unlabelled_weight=0.5)
    nobody.fit(X, y, unlabelled=pool[:0])
    assert_array_equal(nobody.path_total_, plain.path_total_)
    model = HigherOrderNaiveBayes(unlabelled_weight=0.5).fit(X, y, unlabelled=pool)
    for c in range(3):
        own = enumerate_paths(X[y == c], 2)
        alone = enumerate_paths(pool, 2)
        both = enumerate_paths(np.vstack([X[y == c], pool]), 2)
        expected = own[0] + 0.5 * (both[0] - alone[0] - own[0])
        assert expected.any()
        assert_allclose(model.path_count_.toarray()[c], expected)


def test_score_parts_add_up_to_the_scores(rng):
    X, y = corpus(rng)
    model = HigherOrderNaiveBayes().fit(X, y)
    scores = model.predict_joint_log_proba(X)
    for part, score in zip(model.score_parts(X), scores, strict=True):
        total = part.terms.sum(axis=0) + sum(part.constants.values())
        assert_allclose(total, score, rtol=1e-12)


def test_state_without_derived_arrays_restores_the_model(rng):
    X, y = corpus(rng)
    model = HigherOrderNaiveBayes().fit(X, y)
    state = model.__getstate__()
    assert not derived_names(type(model)) & set(state)
    twin = HigherOrderNaiveBayes()
    twin.__setstate__(state)
    assert_array_equal(twin.predict_log_proba(X), model.predict_log_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 4}, r"order must be in \[1, 3\], got 4"),
        ({"prior": "words"}, "prior must be one of 'paths', 'documents', 'uniform'"),
        ({"alpha": -1}, r"alpha must be in \[0.0, inf\), got -1"),
        ({"pure": True, "order": 3}, "pure needs order=2, got order=3"),
        ({"unlabelled_weight": 2}, r"unlabelled_weight must be in \[0.0, 1.0\]"),
    ],
)
def test_senseless_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        HigherOrderNaiveBayes(**parameters).fit(X, Y)


# -- the strongest paths --------------------------------------------------------


def all_paths_from(first, documents, ratio):
    """Every second-order path that starts at a term, by enumeration."""
    held = [set(np.flatnonzero(row)) for row in documents]
    for left, right in np.ndindex(len(held), len(held)):
        if left == right or first not in held[left]:
            continue
        for k in (held[left] & held[right]) - {first}:
            for j in held[right] - {first, k}:
                yield (first, k, j), (left, right), ratio[[first, k, j]].sum()


def test_strongest_paths_equal_enumeration(rng):
    X, y = corpus(rng, n_samples=24, n_features=9)
    model = HigherOrderNaiveBayes(keep_documents=True).fit(X, y)
    log_present = model.feature_log_prob_
    scores = model.predict_joint_log_proba(X[:8])
    for row, score, found in zip(
        X[:8], scores, model.strongest_paths(X[:8], top=3), strict=True
    ):
        label, runner_up = np.argsort(-score)[:2]
        ratio = log_present[label] - log_present[runner_up]
        mine = np.flatnonzero(y == label)
        best = {}
        for term in np.flatnonzero(row):
            for terms, ends, strength in all_paths_from(term, X[mine], ratio):
                entry = (strength, terms, tuple(mine[list(ends)]))
                best[term] = max(best.get(term, entry), entry, key=lambda e: e[0])
        expected = sorted((e[0] for e in best.values()), reverse=True)[:3]
        assert_allclose([path.strength for path in found], expected)
        for path in found:
            i, k, j = path.terms
            left, right = path.documents
            assert row[i]
            assert len({i, k, j}) == 3
            assert left != right
            assert X[left, [i, k]].all()
            assert X[right, [k, j]].all()
            assert y[left] == y[right] == label


def test_the_paths_of_a_named_class_can_be_asked_for():
    model = HigherOrderNaiveBayes(keep_documents=True).fit(X, Y)
    (paths,) = model.strongest_paths([[1, 0, 0, 0]], label=["a"])
    assert [(path.terms, path.documents) for path in paths] == [((0, 1, 2), (0, 1))]
    ratio = np.log([8 / 9, 8 / 9, 8 / 3])
    assert_allclose(paths[0].strength, ratio.sum())


def test_paths_need_the_documents_and_a_known_class():
    with pytest.raises(NotSupportedError, match="fit with keep_documents=True"):
        HigherOrderNaiveBayes().fit(X, Y).strongest_paths(X)
    model = HigherOrderNaiveBayes(keep_documents=True).fit(X, Y)
    with pytest.raises(ValueError, match="top must be at least 1, got 0"):
        model.strongest_paths(X, top=0)
    with pytest.raises(DataError, match=r"label must hold one of \['a', 'b'\]"):
        model.strongest_paths(X[:1], label=["z"])
