"""HybridBayes: exact leave-one-out evidence, convex weights, edge cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse

from earmark.exceptions import DataError
from earmark.kernels.logspace import log_normalize
from earmark.models import HybridBayes, MultinomialNaiveBayes
from earmark.models.hybrid.theta import negative_log_likelihood


def counts(rng, n_samples=60, widths=(15, 25), n_classes=3):
    width = sum(widths)
    centre = rng.gamma(0.4, 1.0, (n_classes, width))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    blocks = np.repeat(np.arange(len(widths)), widths)
    return rng.poisson(centre[y]).astype(float), y, blocks


@pytest.mark.parametrize(
    "event_model", ["multinomial", "bernoulli", "gaussian", ("multinomial", "gaussian")]
)
@pytest.mark.parametrize("normalize", [True, False])
def test_features_equal_refitting_without_the_document(event_model, normalize, rng):
    X, y, blocks = counts(rng, n_samples=300)
    if event_model != "multinomial":
        X[:, 15:] = np.round(X[:, 15:] + rng.random((300, 25)), 3)
    model = HybridBayes(
        event_model=event_model, blocks=blocks, normalize=normalize
    ).fit(X, y)
    weight = np.ones(len(y))
    features = model._features_without(sparse.csr_matrix(X), y, weight)
    for d in rng.choice(len(y), 8, replace=False):
        rest = np.arange(len(y)) != d
        refit = HybridBayes(
            event_model=event_model, blocks=blocks, normalize=normalize
        ).fit(X[rest], y[rest])
        for r, region in enumerate(refit.regions_):
            rows = region.rows(sparse.csr_matrix(X[[d]]))
            expected = refit._scaled(region, rows, region.log_likelihood(rows))
            assert_allclose(features[r][d], expected[0], rtol=1e-9, atol=1e-9)


def test_shared_vocabulary_takes_all_regions_of_a_document_out(rng):
    X, y, blocks = counts(rng, widths=(20, 20))
    options = {"blocks": blocks, "vocabulary": "shared", "alpha": 0.5}
    model = HybridBayes(**options).fit(X, y)
    features = model._features_without(sparse.csr_matrix(X), y, np.ones(len(y)))
    for d in range(10):
        rest = np.arange(len(y)) != d
        together = X[rest][:, :20] + X[rest][:, 20:]
        table = MultinomialNaiveBayes(alpha=0.5).fit(together, y[rest])
        for r, part in enumerate((X[d, :20], X[d, 20:])):
            expected = table.feature_log_prob_ @ part / max(part.sum(), 1)
            assert_allclose(features[r][d], expected, rtol=1e-10)


def test_two_classes_equal_the_logistic_form(rng):
    X, y, blocks = counts(rng, n_classes=2)
    model = HybridBayes(blocks=blocks).fit(X, y)
    log_odds = np.zeros(len(y))
    for r, theta in enumerate(model.region_weight_):
        part = X[:, blocks == r]
        table = MultinomialNaiveBayes(alpha=0.1).fit(part, y).feature_log_prob_
        length = np.maximum(part.sum(axis=1), 1)
        log_odds += theta * (part @ (table[1] - table[0])) / length  # HY1
    log_odds += model.class_bias_[1] - model.class_bias_[0]
    assert_allclose(
        model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-9
    )


def test_gradient_equals_finite_differences(rng):
    features = [rng.normal(size=(30, 4)) for _ in range(2)]
    own, weight = rng.integers(0, 4, 30), rng.random(30)
    theta = rng.normal(size=6)
    args = (features, own, weight, 0.3)
    _, gradient = negative_log_likelihood(theta, *args)
    numeric = optimize.approx_fprime(
        theta, lambda t: negative_log_likelihood(t, *args)[0], 1e-6
    )
    assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)


def test_regions_of_exactly_theta_words_give_naive_bayes(rng):
    # Footnote 4 of the paper: with n_r = theta_r the length division cancels.
    X = np.array([rng.multinomial(7, rng.dirichlet(np.ones(12))) for _ in range(40)])
    y = np.arange(40) % 2
    model = HybridBayes(alpha=1.0).fit(X, y)
    model.region_weight_ = np.array([7.0])
    model.class_bias_ = np.zeros(2)
    plain = MultinomialNaiveBayes(class_prior="uniform").fit(X, y)
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-10)


def test_normalising_reorders_confidence_and_recalibrating_does_not(rng):
    X, y, _ = counts(rng, n_samples=200, widths=(40,), n_classes=2)
    X[::2] *= 6  # long documents: naive Bayes is sure of them for their length
    plain = MultinomialNaiveBayes().fit(X, y).predict_proba(X).max(axis=1)
    recalibrated = 1 / (1 + np.exp(-0.1 * np.log(plain / (1 - plain + 1e-300))))
    hybrid = HybridBayes().fit(X, y).predict_proba(X).max(axis=1)
    order = np.argsort(plain, kind="stable")
    assert (np.diff(recalibrated[order]) >= 0).all()
    assert (np.diff(hybrid[order]) < 0).any()


def test_separable_documents_keep_weights_finite():
    X = np.array([[5, 0], [6, 0], [0, 5], [0, 4]])
    model = HybridBayes().fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.region_weight_).all()
    assert np.abs(model.region_weight_).max() < 1e3


def test_empty_region_says_nothing(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes(blocks=blocks).fit(X, y)
    empty = np.zeros((1, X.shape[1]))
    assert_allclose(
        model.predict_log_proba(empty)[0], log_normalize(model.class_bias_[None])[0]
    )
    only_first = X[:1].copy()
    only_first[:, blocks == 1] = 0
    without = HybridBayes(blocks=blocks).fit(X, y)
    without.region_weight_ = model.region_weight_ * [1, 0]
    assert_allclose(
        model.predict_proba(only_first), without.predict_proba(only_first), rtol=1e-12
    )


def test_a_region_that_a_class_never_has_is_scored_on_the_rest(rng):
    X, y, blocks = counts(rng)
    X[np.ix_(y == 0, blocks == 1)] = 0
    proba = HybridBayes(blocks=blocks).fit(X, y).predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)


def test_one_document_a_class_and_many_classes_work(rng):
    X = rng.poisson(1.0, (5, 30))
    assert HybridBayes().fit(X, np.arange(5)).predict_proba(X).shape == (5, 5)
    X = sparse.random(2000, 300, 0.05, random_state=0, format="csr")
    X.data = np.ceil(X.data * 3)
    model = HybridBayes().fit(X, np.arange(2000) % 1000)
    assert np.isfinite(model.predict_log_proba(X[:3])).all()


def test_contributions_add_up_to_the_scores(rng):
    X, y, blocks = counts(rng)
    for event_model in ("multinomial", "bernoulli", "gaussian"):
        model = HybridBayes(blocks=blocks, event_model=event_model).fit(X, y)
        scores = model._scores(X)
        for row, parts in zip(scores, model._score_parts(X), strict=True):
            total = parts.terms.sum(axis=0) + sum(parts.constants.values())
            assert_allclose(total, row, rtol=1e-9, atol=1e-9)


def test_alpha_is_chosen_by_leave_one_out_log_loss(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes(blocks=blocks, alpha=[0.01, 0.1, 1.0, 10.0]).fit(X, y)
    assert model.log_loss_[model.alpha_] == min(model.log_loss_.values())
    left_out = model.leave_one_out(X, y)
    loss = -left_out[np.arange(len(y)), y].mean()
    assert_allclose(loss, model.log_loss_[model.alpha_], rtol=1e-6)


def test_plug_in_weights_see_signal_in_pure_noise(rng):
    X, y = rng.poisson(0.3, (40, 200)), np.arange(40) % 2
    honest = HybridBayes().fit(X, y)
    plug_in = HybridBayes(fit_features="plug_in").fit(X, y)
    assert plug_in.predict_proba(X).max(axis=1).mean() > 0.9
    confidence = np.exp(honest.leave_one_out(X, y)).max(axis=1).mean()
    assert confidence < 0.7


def test_forgetting_restores_the_generative_part(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes(blocks=blocks).fit(X[:40], y[:40])
    before = model.predict_log_proba(X)
    model.partial_fit(X[40:], y[40:])
    assert not np.array_equal(model.predict_log_proba(X), before)
    model.forget(X[40:], y[40:])
    assert_array_equal(model.predict_log_proba(X), before)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha must be > 0"),
        ({"alpha": []}, "alpha must be > 0"),
        ({"event_model": "poisson"}, "event_model must be one of"),
        ({"vocabulary": "both"}, "vocabulary must be one of"),
        ({"blocks": [0]}, "must give a region for each of the 2 columns"),
        ({"blocks": [0, 1], "event_model": ["bernoulli"]}, "each of the 2 regions"),
    ],
)
def test_bad_parameters_say_what_is_wanted(parameters, message):
    with pytest.raises(ValueError, match=message):
        HybridBayes(**parameters).fit([[1, 0], [0, 1]], [0, 1])


def test_shared_vocabulary_wants_equal_columns():
    with pytest.raises(DataError, match="widths"):
        HybridBayes(vocabulary="shared", blocks=[0, 0, 1]).fit(np.eye(3), [0, 1, 1])
