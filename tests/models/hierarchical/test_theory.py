"""What is proved about hierarchical Bayes: equivalence, monotone bound, XOR."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from sklearn.mixture import GaussianMixture

from earmark.models import (
    GaussianNaiveBayes,
    HierarchicalBayes,
    MultinomialNaiveBayes,
)

XOR = np.array([[1.0, 1.0], [5.0, 5.0], [1.0, 5.0], [5.0, 1.0]])
XOR_LABELS = np.array([0, 0, 1, 1])


def random_counts(seed, n_documents=24, n_terms=12, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.8, (n_documents, n_terms)).astype(float)
    X[:n_classes, 0] += 1
    y = np.concatenate(
        (np.arange(n_classes), rng.integers(0, n_classes, n_documents - n_classes))
    )
    return X, y


@given(
    seed=st.integers(0, 2**32 - 1),
    n_hidden=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 0.01, 0.5, 1.0, 7.0]),
    em=st.sampled_from(["soft", "hard"]),
    max_iter=st.integers(1, 6),
)
@settings(max_examples=30, deadline=None)
def test_product_of_sums_is_naive_bayes_with_smoothing_h_alpha(
    seed, n_hidden, alpha, em, max_iter
):
    # HB6: whatever the responsibilities are, in any iteration.
    X, y = random_counts(seed)
    model = HierarchicalBayes(
        n_hidden=n_hidden,
        alpha=alpha,
        em=em,
        posterior="product_of_sums",
        n_restarts=3,
        max_iter=max_iter,
        tol=0.0,
        random_state=seed,
    ).fit(X, y, validation=(X, y))
    naive = MultinomialNaiveBayes(alpha=n_hidden * alpha).fit(X, y)
    assert_allclose(
        model.predict_joint_log_proba(X),
        naive.predict_joint_log_proba(X),
        rtol=1e-9,
        atol=1e-9,
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    n_hidden=st.integers(1, 4),
    alpha=st.sampled_from([0.01, 0.5, 3.0]),
    weighted=st.booleans(),
)
@settings(max_examples=15, deadline=None)
def test_penalised_likelihood_never_falls_with_document_mass(
    seed, n_hidden, alpha, weighted
):
    # HB8: log-likelihood + alpha Σ log φ + Σ log P(h|c).
    X, y = random_counts(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 3, len(y)) if weighted else None
    model = HierarchicalBayes(
        n_hidden=n_hidden,
        alpha=alpha,
        hidden_prior="documents",
        n_restarts=4,
        max_iter=12,
        tol=0.0,
        random_state=seed,
    ).fit(X, y, sample_weight=weight)
    change = np.diff(model.bounds_, axis=2)
    assert np.nanmin(change) >= -1e-9 * np.nanmax(np.abs(model.bounds_))


@given(seed=st.integers(0, 2**32 - 1), em=st.sampled_from(["soft", "hard"]))
@settings(max_examples=8, deadline=None)
def test_likelihood_of_gaussian_nodes_never_falls(seed, em):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)) + rng.integers(0, 3, (40, 1)), np.arange(40) % 2
    model = HierarchicalBayes(
        event_model="gaussian",
        em=em,
        n_hidden=3,
        n_restarts=3,
        max_iter=12,
        tol=0.0,
        random_state=seed,
    ).fit(X, y)
    change = np.diff(model.bounds_, axis=2)
    assert np.nanmin(change) >= -1e-9 * np.nanmax(np.abs(model.bounds_))


@pytest.mark.parametrize("n_unseen", [0, 3])
def test_the_bound_is_the_penalised_likelihood_by_hand(n_unseen):
    X, y = random_counts(5, n_classes=1)
    X[:, X.shape[1] - n_unseen :] = 0
    model = HierarchicalBayes(
        n_hidden=2,
        alpha=0.7,
        hidden_prior="documents",
        n_restarts=1,
        max_iter=400,
        tol=0.0,
        random_state=0,
    ).fit(X, y)
    joint = X @ model.feature_log_prob_.T + model.node_log_weight_
    bound = logsumexp(joint, axis=1).sum()
    bound += 0.7 * model.feature_log_prob_.sum() + model.node_log_weight_.sum()
    # At the fixed point the last M-step changes nothing.
    last = model.bounds_[0, 0, model.n_iter_ - 1]
    assert_allclose(last, bound, rtol=1e-9)


@pytest.mark.parametrize("hidden_prior", ["tokens", "documents"])
def test_nodes_solve_the_em_equations_written_out(hidden_prior):
    # HB3-HB5 in plain loops, from the model's own responsibilities.
    X, y = random_counts(8, n_classes=1)
    alpha, (n, V) = 0.3, X.shape
    model = HierarchicalBayes(
        n_hidden=3,
        alpha=alpha,
        hidden_prior=hidden_prior,
        n_restarts=1,
        max_iter=500,
        tol=0.0,
        random_state=1,
    ).fit(X, y)
    m, length = model.responsibilities_, X.sum(axis=1)
    phi = (alpha + m.T @ X) / (alpha * V + m.T @ length)[:, None]
    if hidden_prior == "tokens":
        weight = (alpha * V + m.T @ length) / (3 * alpha * V + length.sum())
    else:
        weight = (1 + m.sum(axis=0)) / (3 + n)
    assert_allclose(np.exp(model.feature_log_prob_), phi, rtol=1e-6)
    assert_allclose(np.exp(model.node_log_weight_), weight, rtol=1e-6)
    joint = np.log(weight) + X @ np.log(phi).T
    assert_allclose(m, np.exp(joint - logsumexp(joint, axis=1)[:, None]), atol=1e-6)


@pytest.mark.parametrize("event_model", ["multinomial", "gaussian"])
@pytest.mark.parametrize("em", ["soft", "hard"])
def test_two_nodes_learn_xor(event_model, em):
    right = 0
    for seed in range(10):
        model = HierarchicalBayes(
            event_model=event_model, em=em, n_restarts=10, random_state=seed
        )
        right += (model.fit(XOR, XOR_LABELS).predict(XOR) == XOR_LABELS).all()
    assert right >= 9


@pytest.mark.parametrize("alpha", [0.01, 1.0, 10.0])
def test_neither_naive_bayes_nor_the_product_of_sums_learns_xor(alpha):
    naive = MultinomialNaiveBayes(alpha=alpha).fit(XOR, XOR_LABELS)
    assert (naive.predict(XOR) != XOR_LABELS).any()
    for seed in range(10):
        model = HierarchicalBayes(
            alpha=alpha, posterior="product_of_sums", n_restarts=5, random_state=seed
        ).fit(XOR, XOR_LABELS)
        assert (model.predict(XOR) != XOR_LABELS).any()


def test_one_node_is_naive_bayes(rng):
    X, y = random_counts(3)
    model = HierarchicalBayes(n_hidden=1, alpha=0.5).fit(X, y)
    naive = MultinomialNaiveBayes(alpha=0.5).fit(X, y)
    assert_allclose(model.predict_proba(X), naive.predict_proba(X), rtol=1e-9)
    Z = rng.normal(size=(30, 4)) * [1, 10, 0.1, 3] + [0, 1000, 5, -2]
    z = np.arange(30) % 2
    model = HierarchicalBayes(event_model="gaussian", n_hidden=1, var_floor=1e-9)
    naive = GaussianNaiveBayes(var_smoothing=0).fit(Z, z)
    assert_allclose(
        model.fit(Z, z).predict_joint_log_proba(Z),
        naive.predict_joint_log_proba(Z),
        rtol=1e-7,
    )


def test_gaussian_nodes_are_a_gaussian_mixture(rng):
    # scikit-learn's mixture with these parameters gives the same density, and its own
    # EM finds nothing to improve.
    X = np.concatenate((rng.normal(0, 1, (60, 2)), rng.normal(6, 0.5, (40, 2))))
    model = HierarchicalBayes(
        event_model="gaussian", n_restarts=5, max_iter=200, tol=0.0, random_state=0
    ).fit(X, np.zeros(100), validation=(X, np.zeros(100)))
    weight = np.exp(model.node_log_weight_)
    mixture = GaussianMixture(
        2,
        covariance_type="diag",
        reg_covar=0.0,
        weights_init=weight / weight.sum(),
        means_init=model.theta_,
        precisions_init=1 / model.var_,
        max_iter=100,
        tol=1e-9,
    ).fit(X)
    assert_allclose(mixture.means_, model.theta_, atol=0.01)
    assert_allclose(mixture.covariances_, model.var_, rtol=0.02)
    ours = model.predict_joint_log_proba(X)[:, 0]
    assert_allclose(ours.mean(), mixture.score(X), rtol=1e-3)
