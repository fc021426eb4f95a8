"""Choosing among starts and settings, sameness of results, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from earmark.exceptions import DataError
from earmark.kernels.keys import fingerprints
from earmark.models import HierarchicalBayes, MultinomialNaiveBayes
from earmark.models.shared import mixture_search as fitting
from earmark.models.shared.mixture_search import hold_out


def topics(rng, n_documents=240, n_terms=40, n_topics=2, length=40):
    """Two classes of n_topics topics each; class and topic are known."""
    phi = rng.dirichlet(np.full(n_terms, 0.15), size=(2, n_topics))
    y = np.arange(n_documents) % 2
    topic = rng.integers(0, n_topics, n_documents)
    rows = [rng.multinomial(length, phi[c, t]) for c, t in zip(y, topic, strict=True)]
    return sparse.csr_array(np.array(rows, dtype=float)), y, topic


def parameters(model):
    return {k: v for k, v in vars(model).items() if isinstance(v, np.ndarray)}


@parametrize_with_checks([HierarchicalBayes(event_model="gaussian", n_restarts=5)])
def test_gaussian_nodes_keep_the_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("event_model", ["multinomial", "gaussian"])
def test_same_seed_same_bytes_whatever_n_jobs(rng, event_model):
    X, y, _ = topics(rng)
    y = y + 2 * (np.arange(len(y)) % 3)
    fits = [
        HierarchicalBayes(event_model=event_model, n_jobs=n, random_state=3).fit(X, y)
        for n in (None, 1, 2, 5)
    ]
    for other in fits[1:]:
        for name, value in parameters(fits[0]).items():
            assert_array_equal(value.tobytes(), getattr(other, name).tobytes(), name)


def test_the_division_into_blocks_changes_no_byte(rng, monkeypatch):
    X, y, _ = topics(rng)
    whole = HierarchicalBayes(n_restarts=7, random_state=0).fit(X, y)
    monkeypatch.setattr(fitting, "_BLOCK_BYTES", 1)
    parts = HierarchicalBayes(n_restarts=7, random_state=0).fit(X, y)
    for name, value in parameters(whole).items():
        assert_array_equal(value.tobytes(), getattr(parts, name).tobytes(), name)


def test_another_seed_gives_other_starts(rng):
    X, y, _ = topics(rng)
    one, two = (HierarchicalBayes(random_state=s).fit(X, y) for s in (0, 1))
    assert not np.array_equal(one.bounds_, two.bounds_)


def test_hidden_nodes_are_the_topics_that_made_the_documents(rng):
    X, y, topic = topics(rng)
    model = HierarchicalBayes(random_state=0).fit(X, y)
    for c in (0, 1):
        found = model.responsibilities_[y == c].argmax(axis=1)
        agreement = np.mean(found == topic[y == c])
        assert max(agreement, 1 - agreement) > 0.95


def test_responsibilities_are_shares_of_the_own_class(rng):
    X, y, _ = topics(rng)
    model = HierarchicalBayes(random_state=0).fit(X, y)
    assert model.responsibilities_.shape == (len(y), 2)
    assert_allclose(model.responsibilities_.sum(axis=1), 1)


def test_the_kept_start_is_the_best_on_the_given_validation_data(rng):
    X, y, _ = topics(rng, n_topics=3, length=8)
    model = HierarchicalBayes(
        alpha=(0.1, 1.0), n_hidden=[2, 3], n_restarts=6, random_state=0
    ).fit(X[:100], y[:100], validation=(X[100:], y[100:]))
    assert len(model.trials_) == 4
    assert model.restart_scores_.shape == (4, 6)
    assert model.validation_score_ == model.restart_scores_.max()
    # The nodes kept are those of that start, to the last bit of its score.
    assert model.score(X[100:], y[100:]) == model.validation_score_
    chosen = {
        "alpha": model.alpha_,
        "n_hidden": model.n_hidden_[0],
        "score": model.validation_score_,
    }
    assert chosen in model.trials_


def test_log_loss_chooses_the_least_log_loss(rng):
    X, y, _ = topics(rng, n_topics=3, length=8)
    model = HierarchicalBayes(select="log_loss", n_restarts=6, random_state=0)
    model.fit(X[:100], y[:100], validation=(X[100:], y[100:]))
    log_proba = model.predict_log_proba(X[100:])
    assert_allclose(
        log_proba[np.arange(len(y) - 100), y[100:]].mean(), model.validation_score_
    )


def test_given_validation_data_are_never_learned(rng):
    X, y, _ = topics(rng)
    X = X.toarray()
    X[:, 0] = 0
    held = X[200:].copy()
    held[:, 0] = 5
    model = HierarchicalBayes(alpha=0.1, random_state=0)
    model.fit(X[:200], y[:200], validation=(held, y[200:]))
    assert np.exp(model.feature_log_prob_[:, 0]).max() < 1e-4


def test_refit_learns_what_was_held_out(rng):
    X, y, _ = topics(rng)
    with_all, without = (
        HierarchicalBayes(
            alpha=1.0, validation_fraction=0.5, refit=refit, random_state=0
        ).fit(X, y)
        for refit in (True, False)
    )
    assert_array_equal(with_all.best_restart_, without.best_restart_)
    naive = MultinomialNaiveBayes(alpha=2.0).fit(X, y)

    def distance(model):
        shares = np.exp(model.node_log_weight_)[:, None]
        phi = shares * np.exp(model.feature_log_prob_)
        mixed = np.stack([phi[:2].sum(axis=0), phi[2:].sum(axis=0)])
        return np.abs(mixed - np.exp(naive.feature_log_prob_)).max()

    # Token mass: the nodes together are naive Bayes of what was learned (HB6).
    assert distance(with_all) < 1e-12 < 1e-4 < distance(without)


def test_nothing_is_held_out_when_there_is_nothing_to_choose(rng):
    X, y, _ = topics(rng)
    model = HierarchicalBayes(n_restarts=1, alpha=1.0, refit=False, random_state=0)
    shares = np.exp(model.fit(X, y).node_log_weight_)[:, None]
    phi = (shares * np.exp(model.feature_log_prob_))[:2].sum(axis=0)
    naive = MultinomialNaiveBayes(alpha=2.0).fit(X, y)
    assert_allclose(phi, np.exp(naive.feature_log_prob_[0]), rtol=1e-9)


def test_dropping_poor_starts_keeps_the_likeliest(rng):
    X, y, _ = topics(rng)
    model = HierarchicalBayes(
        n_restarts=10, alpha=1.0, drop_after=2, keep=0.3, tol=0.0, random_state=0
    ).fit(X, y)
    assert model.restart_scores_.shape == (1, 3)
    ran_on = ~np.isnan(model.bounds_[:, :, 2])
    assert_array_equal(ran_on.sum(axis=1), [3, 3])
    assert model.bounds_[0, ~ran_on[0], 1].max() <= model.bounds_[0, ran_on[0], 1].min()
    assert ran_on[[0, 1], model.best_restart_].all()


def test_nothing_is_dropped_after_the_last_iteration(rng):
    X, y, _ = topics(rng)
    model = HierarchicalBayes(n_restarts=6, alpha=1.0, drop_after=3, max_iter=3)
    assert model.fit(X, y).restart_scores_.shape == (1, 6)


def test_float32_drifts_little_from_float64(rng):
    # The bound of the drift that the option may bring: probabilities of documents to
    # 1e-3, their labels all but always.
    X, y, _ = topics(rng, n_documents=400, n_terms=300, n_topics=3, length=150)
    models = [
        HierarchicalBayes(dtype=dtype, alpha=0.1, n_restarts=1, random_state=0)
        for dtype in ("float64", "float32")
    ]
    exact, short = (m.fit(X, y) for m in models)
    assert_allclose(short.feature_log_prob_, exact.feature_log_prob_, atol=1e-3)
    assert_allclose(short.predict_proba(X), exact.predict_proba(X), atol=1e-3)
    assert_array_equal(short.predict(X), exact.predict(X))
    assert_allclose(short.bounds_, exact.bounds_, rtol=1e-5)


def test_sparse_and_dense_agree(rng):
    X, y, _ = topics(rng)
    stored, full = (
        HierarchicalBayes(random_state=0).fit(data, y) for data in (X, X.toarray())
    )
    assert_array_equal(stored.feature_log_prob_, full.feature_log_prob_)


# -- bad or meagre input -------------------------------------------------------------


def test_a_class_has_no_more_nodes_than_different_documents():
    X = np.array([[3, 0, 1], [0, 2, 2], [1, 1, 4], [0, 0, 5], [4, 0, 0], [0, 4, 0.0]])
    y = np.array(["few", "few", "many", "many", "many", "many"])
    model = HierarchicalBayes(n_hidden=3, random_state=0).fit(X, y, validation=(X, y))
    assert_array_equal(model.n_hidden_, [2, 3])
    assert_array_equal(model.node_class_, [0, 0, 1, 1, 1])
    assert np.isfinite(model.predict_joint_log_proba(X)).all()
    repeated = np.repeat(X, 4, axis=0), np.repeat(y, 4)
    assert_array_equal(model.fit(*repeated).n_hidden_, [2, 3])


def test_a_class_of_one_document_is_learned_and_never_held_out(rng):
    X, y, _ = topics(rng)
    y = y.copy()
    y[0] = 7
    model = HierarchicalBayes(validation_fraction=0.5, random_state=0).fit(X, y)
    assert_array_equal(model.n_hidden_, [2, 2, 1])
    alone = MultinomialNaiveBayes(alpha=model.alpha_).fit(X[[0]], [7])
    assert_allclose(model.feature_log_prob_[-1], alone.feature_log_prob_[0])


def test_a_class_without_validation_documents_is_not_judged(rng):
    X, y, _ = topics(rng)
    only = y[100:] == 0
    model = HierarchicalBayes(random_state=0).fit(
        X[:100], y[:100], validation=(X[100:][only], y[100:][only])
    )
    assert set(model.predict(X)) == {0, 1}
    assert model.validation_score_ <= 1


def test_a_validation_label_that_was_not_learned_is_an_error(rng):
    X, y, _ = topics(rng)
    with pytest.raises(DataError, match="label 9 in row 0 is not one of the known"):
        HierarchicalBayes().fit(X, y, validation=(X[:2], [9, 0]))


def test_validation_must_be_a_pair(rng):
    X, y, _ = topics(rng)
    with pytest.raises(TypeError, match=r"validation must be a pair \(X, y\), got"):
        HierarchicalBayes().fit(X, y, validation=X)


def test_negative_counts_are_an_error_that_names_the_row():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [0.0, -3.0]])
    with pytest.raises(DataError, match=r"Negative values .* got -3 in row 2"):
        HierarchicalBayes().fit(X, [0, 1, 1])


def test_negative_counts_are_an_error_in_validation_and_prediction_too(rng):
    X, y, _ = topics(rng)
    with pytest.raises(DataError, match=r"got -\d+ in row \d+ of the validation data"):
        HierarchicalBayes().fit(X, y, validation=(-X, y))
    model = HierarchicalBayes(n_restarts=2, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="Negative values in data"):
        model.predict(-X)


@pytest.mark.parametrize("event_model", ["multinomial", "gaussian"])
def test_a_single_class_is_always_the_answer(rng, event_model):
    X, _, _ = topics(rng, n_documents=30)
    model = HierarchicalBayes(event_model=event_model, n_restarts=3, random_state=0)
    assert set(model.fit(X, ["only"] * 30).predict(X)) == {"only"}
    assert_allclose(model.predict_proba(X), 1)


def test_the_order_of_documents_makes_no_difference(rng):
    X, y, _ = topics(rng)
    order = rng.permutation(len(y))
    one = HierarchicalBayes(n_restarts=5, random_state=0).fit(X, y)
    two = HierarchicalBayes(n_restarts=5, random_state=0).fit(X[order], y[order])
    assert_array_equal(one.best_restart_, two.best_restart_)
    assert_allclose(one.feature_log_prob_, two.feature_log_prob_, rtol=1e-9)


def test_a_class_of_empty_documents_has_one_node():
    X = np.array([[0.0, 0], [0, 0], [3, 1], [1, 4]])
    model = HierarchicalBayes(n_hidden=2, random_state=0).fit(X, [0, 0, 1, 1])
    assert_array_equal(model.n_hidden_, [1, 2])
    assert np.isfinite(model.predict_joint_log_proba(X)).all()


def test_a_class_without_weight_is_an_error(rng):
    X, y, _ = topics(rng)
    with pytest.raises(DataError, match="class 1 has no weight: "):
        HierarchicalBayes().fit(X, y, sample_weight=(y == 0).astype(float))


def test_documents_without_tokens_get_the_prior():
    X = np.array([[4.0, 0, 0], [0, 3, 0], [0, 0, 2], [1, 0, 2]])
    model = HierarchicalBayes(random_state=0).fit(X, [0, 0, 1, 1])
    assert_allclose(model.predict_proba([[0.0, 0, 0]]), [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("setting", "error", "match"),
    [
        ({"n_hidden": 0}, ValueError, "n_hidden must be >= 1, got 0; or several"),
        ({"n_hidden": [2, 1.5]}, TypeError, "n_hidden must be a whole number"),
        ({"n_hidden": []}, ValueError, "n_hidden must hold at least one value"),
        ({"alpha": -1}, ValueError, r"alpha must be in \[0, inf\), got -1"),
        ({"alpha": "much"}, TypeError, "alpha must be a number, got 'much'"),
        ({"em": "medium"}, ValueError, "em must be one of 'soft', 'hard'"),
        ({"n_restarts": 0}, ValueError, "n_restarts must be >= 1"),
        ({"drop_after": 0}, ValueError, "drop_after must be >= 1"),
        ({"var_floor": 0}, ValueError, "var_floor must be in"),
        ({"dtype": "float16"}, ValueError, "dtype must be one of"),
        (
            {"event_model": "gaussian", "posterior": "product_of_sums"},
            ValueError,
            "must be 'sum_of_products' for Gaussian nodes",
        ),
    ],
)
def test_parameters_that_make_no_sense_are_refused(setting, error, match):
    with pytest.raises(error, match=match):
        HierarchicalBayes(**setting).fit([[1.0, 0], [0, 1]], [0, 1])


# -- hold-out ----------------------------------------------------------------------


def test_hold_out_takes_its_share_of_every_class_and_keeps_equals_together(rng):
    X = sparse.csr_array(rng.poisson(1.0, (400, 4)).astype(float))
    y = (np.arange(400) % 4 == 0).astype(int)
    keys = fingerprints(X)
    held = hold_out(keys, y, np.ones(400), 0.2, np.uint64(5))
    for c in (0, 1):
        assert 0.1 < held[y == c].mean() < 0.3
        sides = {(k, h) for k, h in zip(keys[y == c], held[y == c], strict=True)}
        assert len(sides) == len(set(keys[y == c].tolist()))


def test_hold_out_counts_weights_as_copies(rng):
    X = sparse.csr_array(rng.poisson(3.0, (60, 6)).astype(float))
    weight = rng.integers(0, 4, 60)
    y = np.arange(60) % 2
    keys, seed = fingerprints(X), np.uint64(1)
    held = hold_out(keys, y, weight.astype(float), 0.3, seed)
    copies = hold_out(
        keys.repeat(weight), y.repeat(weight), np.ones(weight.sum()), 0.3, seed
    )
    assert_array_equal(held.repeat(weight), copies)
    assert not held[weight == 0].any()


def test_hold_out_leaves_tiny_classes_whole():
    keys = np.arange(4, dtype=np.uint64)
    held = hold_out(keys, np.array([0, 0, 1, 1]), np.ones(4), 0.1, np.uint64(0))
    assert not held.any()


def test_whether_the_kept_starts_converged_is_told(rng):
    X, y, _ = topics(rng)
    settled = HierarchicalBayes(n_restarts=3, random_state=0, max_iter=500).fit(X, y)
    cut = HierarchicalBayes(n_restarts=3, random_state=0, max_iter=2, tol=0).fit(X, y)
    assert settled.converged_
    assert not cut.converged_
