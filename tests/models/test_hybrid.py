"""HybridBayes: exact leave-one-out evidence, convex weights, edge cases."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from earmark.evaluation import accuracy_coverage
from earmark.exceptions import DataError
from earmark.kernels.rows import log_normalize
from earmark.models import HybridBayes, MultinomialNaiveBayes
from earmark.models.shared.region_weights import WeightFit, evidence


def counts(rng, n_samples=60, widths=(15, 25), n_classes=3):
    width = sum(widths)
    centre = rng.gamma(0.4, 1.0, (n_classes, width))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    blocks = np.repeat(np.arange(len(widths)), widths)
    return rng.poisson(centre[y]).astype(float), y, blocks


EVENT_MODELS = ["multinomial", "bernoulli", "gaussian", ("multinomial", "gaussian")]


def mixed_counts(event_model, rng, n_samples=300):
    """Counts with empty regions; real numbers where a region is Gaussian."""
    X, y, blocks = counts(rng, n_samples=n_samples)
    if event_model == "gaussian":
        X = np.round(X + rng.random(X.shape), 3)
    elif "gaussian" in event_model:
        X[:, 15:] = np.round(X[:, 15:] + rng.random((n_samples, 25)), 3)
    X[::17, :15] = 0
    X[5::23, 15:] = 0
    return X, y, blocks


def left_out_differences(event_model, normalize, rows, rng):
    """Largest relative difference between left-out evidence and a refit's."""
    X, y, blocks = mixed_counts(event_model, rng)
    options = {"event_model": event_model, "normalize": normalize}
    model = HybridBayes(**options).fit(X, y, columns=blocks)
    found = model.weight_features(sparse.csr_matrix(X), y, np.ones(len(y)))
    worst = 0.0
    for d in rows:
        rest = np.arange(len(y)) != d
        refit = HybridBayes(**options)
        refit.finalise(refit.accumulate(X[rest], y[rest], columns=blocks))
        parts = refit._parts(X[[d]])
        for r, values in enumerate(evidence(refit.regions_, parts, normalize)):
            gap = np.abs(found[r][d] - values[0]) / np.maximum(np.abs(values[0]), 1.0)
            worst = max(worst, float(gap.max()))
    return worst


@pytest.mark.parametrize("event_model", EVENT_MODELS)
@pytest.mark.parametrize("normalize", [True, False])
def test_evidence_equals_refitting_without_the_document(event_model, normalize, rng):
    rows = rng.choice(300, 12, replace=False)
    assert left_out_differences(event_model, normalize, rows, rng) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("event_model", EVENT_MODELS)
def test_evidence_of_all_300_documents_equals_refitting(event_model, rng):
    assert left_out_differences(event_model, True, range(300), rng) < 1e-9


def test_fractional_weights_leave_with_their_document(rng):
    # As class_weight="balanced" gives them: nothing of the document stays behind.
    X, y, _ = counts(rng)
    weight = rng.uniform(0.3, 4.0, len(y))
    model = HybridBayes().fit(X, y, weight)
    left_out = model.leave_one_out(X, y, weight)
    for d in range(5):
        rest = np.arange(len(y)) != d
        refit = HybridBayes().fit(X[rest], y[rest], weight[rest])
        refit.region_weight_, refit.class_bias_ = (
            model.region_weight_,
            model.class_bias_,
        )
        assert_allclose(left_out[d], refit.predict_log_proba(X[[d]])[0], rtol=1e-8)


def test_whole_weights_are_copies(rng):
    X, y, blocks = counts(rng)
    weight = rng.integers(0, 4, len(y))
    weighted = HybridBayes().fit(X, y, weight, columns=blocks)
    copied = HybridBayes().fit(
        np.repeat(X, weight, 0), np.repeat(y, weight), columns=blocks
    )
    assert_allclose(weighted.region_weight_, copied.region_weight_, rtol=1e-6)


def test_shared_vocabulary_takes_all_regions_of_a_document_out(rng):
    X, y, blocks = counts(rng, widths=(20, 20))
    options = {"vocabulary": "shared", "alpha": 0.5}
    model = HybridBayes(**options).fit(X, y, columns=blocks)
    features = model.weight_features(sparse.csr_matrix(X), y, np.ones(len(y)))
    for d in range(10):
        rest = np.arange(len(y)) != d
        together = X[rest][:, :20] + X[rest][:, 20:]
        table = MultinomialNaiveBayes(alpha=0.5).fit(together, y[rest])
        for r, part in enumerate((X[d, :20], X[d, 20:])):
            expected = table.feature_log_prob_ @ part / max(part.sum(), 1)
            assert_allclose(features[r][d], expected, rtol=1e-10)


def test_two_classes_equal_the_logistic_form(rng):
    X, y, blocks = counts(rng, n_classes=2)
    model = HybridBayes().fit(X, y, columns=blocks)
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
    fit = WeightFit(features, own, weight)
    _, gradient = fit.loss(theta, 0.3)
    numeric = optimize.approx_fprime(theta, lambda t: fit.loss(t, 0.3)[0], 1e-6)
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


def test_normalising_moves_the_coverage_curve_and_recalibrating_does_not(rng):
    # Half of the documents repeat themselves: naive Bayes is sure of them for
    # their length alone. A monotone map of its posterior keeps the order.
    centre = rng.gamma(0.4, 1.0, (2, 40))
    y = np.arange(600) % 2
    X = rng.poisson(0.12 * centre[y])
    X[rng.random(600) < 0.5] *= 8
    fit, new = slice(0, 300), slice(300, 600)
    plain = MultinomialNaiveBayes().fit(X[fit], y[fit])
    log_odds = np.subtract(*plain.predict_joint_log_proba(X[new]).T)
    labels = plain.predict(X[new])
    curves = [
        accuracy_coverage(y[new], labels, confidence)
        for confidence in (
            np.abs(log_odds),
            1 / (1 + np.exp(-0.1 * np.abs(log_odds))),
        )
    ]
    assert_array_equal(curves[0].accuracy, curves[1].accuracy)
    hybrid = HybridBayes().fit(X[fit], y[fit])
    sure = hybrid.predict_proba(X[new]).max(axis=1)
    moved = accuracy_coverage(y[new], hybrid.predict(X[new]), sure)
    assert moved.area > curves[0].area


def test_separable_documents_keep_weights_finite():
    X = np.array([[5, 0], [6, 0], [0, 5], [0, 4]])
    model = HybridBayes().fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.region_weight_).all()
    assert np.abs(model.region_weight_).max() < 1e3


def test_empty_region_says_nothing(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes().fit(X, y, columns=blocks)
    empty = np.zeros((1, X.shape[1]))
    assert_allclose(
        model.predict_log_proba(empty)[0], log_normalize(model.class_bias_[None])[0]
    )
    only_first = X[:1].copy()
    only_first[:, blocks == 1] = 0
    without = HybridBayes().fit(X, y, columns=blocks)
    without.region_weight_ = model.region_weight_ * [1, 0]
    assert_allclose(
        model.predict_proba(only_first), without.predict_proba(only_first), rtol=1e-12
    )


def test_a_region_that_a_class_never_has_is_scored_on_the_rest(rng):
    X, y, blocks = counts(rng)
    X[np.ix_(y == 0, blocks == 1)] = 0
    proba = HybridBayes().fit(X, y, columns=blocks).predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("event_model", ["multinomial", "bernoulli", "gaussian"])
def test_a_class_without_a_region_gets_neutral_evidence(event_model, rng):
    X, y, blocks = counts(rng)
    X[np.ix_(y == 0, blocks == 1)] = 0
    model = HybridBayes(event_model=event_model).fit(X, y, columns=blocks)
    values = evidence(model.regions_, model._parts(X[y != 0]), normalize=True)[1]
    assert_allclose(values[:, 0], values[:, 1:].mean(axis=1), rtol=1e-12)
    for row, parts in zip(model.class_scores(X), model.score_parts(X), strict=True):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, rtol=1e-9, atol=1e-9)


def test_documents_without_a_region_leave_its_statistics_alone(rng):
    X, y, blocks = counts(rng)
    empty = np.zeros_like(X)
    empty[:, blocks == 0] = X[:, blocks == 0]
    options = {"event_model": ["multinomial", "gaussian"]}
    some = HybridBayes(**options).fit(X, y, columns=blocks)
    more = HybridBayes(**options).fit(np.r_[X, empty], np.r_[y, y], columns=blocks)
    assert_allclose(more.regions_[1].model.theta_, some.regions_[1].model.theta_)
    assert_allclose(more.regions_[1].model.var_, some.regions_[1].model.var_)


def test_one_document_a_class_gives_naive_bayes():
    # Nothing can be left out: footnote 4's weights, so documents find their class.
    X = np.eye(5, dtype=int) * 3 + 1
    model = HybridBayes(alpha=1.0).fit(X, np.arange(5))
    assert_array_equal(model.predict(X), np.arange(5))
    plain = MultinomialNaiveBayes().fit(X, np.arange(5))
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def test_a_class_with_one_document_can_still_be_found(rng):
    X, y, _ = counts(rng, n_samples=90)
    alone = np.zeros((1, X.shape[1]))
    alone[0, :4] = 9
    X, y = np.r_[X, alone], np.r_[y, 3]
    model = HybridBayes().fit(X, y)
    assert model.predict(alone)[0] == 3
    assert np.isneginf(model.leave_one_out(X, y)[-1, 3])


def test_a_class_never_seen_is_impossible_until_it_is_learned(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes().partial_fit(X, y, classes=[0, 1, 2, 3], columns=blocks)
    assert (model.predict_proba(X)[:, 3] == 0).all()
    model.partial_fit(X[:4], np.full(4, 3)).fit_weights(X, y)
    assert (model.predict_proba(X)[:, 3] > 0).all()


def test_many_classes_work(rng):
    X = sparse.random(2000, 300, 0.05, random_state=0, format="csr")
    X.data = np.ceil(X.data * 3)
    model = HybridBayes().fit(X, np.arange(2000) % 1000)
    assert np.isfinite(model.predict_log_proba(X[:3])).all()


def test_contributions_add_up_to_the_scores(rng):
    X, y, blocks = counts(rng)
    for event_model in ("multinomial", "bernoulli", "gaussian"):
        model = HybridBayes(event_model=event_model).fit(X, y, columns=blocks)
        scores = model.class_scores(X)
        for row, parts in zip(scores, model.score_parts(X), strict=True):
            total = parts.terms.sum(axis=0) + sum(parts.constants.values())
            assert_allclose(total, row, rtol=1e-9, atol=1e-9)


def test_alpha_is_chosen_by_leave_one_out_log_loss(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes(alpha=[0.01, 0.1, 1.0, 10.0]).fit(X, y, columns=blocks)
    assert model.log_loss_[model.alpha_] == min(model.log_loss_.values())
    left_out = model.leave_one_out(X, y)
    loss = -left_out[np.arange(len(y)), y].mean()
    assert_allclose(loss, model.log_loss_[model.alpha_], rtol=1e-6)


def test_plug_in_weights_are_worse_calibrated_on_new_documents(rng):
    X, y, _ = counts(rng, n_samples=340, widths=(150,), n_classes=2)
    X = rng.poisson(0.1 * X)
    losses = {}
    for name in ("leave_one_out", "plug_in"):
        model = HybridBayes(fit_features=name).fit(X[:40], y[:40])
        losses[name] = log_loss(y[40:], model.predict_proba(X[40:]))
    assert losses["leave_one_out"] < losses["plug_in"]


def test_plug_in_weights_see_signal_in_pure_noise(rng):
    X, y = rng.poisson(0.3, (40, 200)), np.arange(40) % 2
    honest = HybridBayes().fit(X, y)
    plug_in = HybridBayes(fit_features="plug_in").fit(X, y)
    assert plug_in.predict_proba(X).max(axis=1).mean() > 0.9
    confidence = np.exp(honest.leave_one_out(X, y)).max(axis=1).mean()
    assert confidence < 0.7


def test_shards_merge_to_the_model_of_all(rng):
    X, y, blocks = counts(rng)
    options = {"event_model": ["multinomial", "bernoulli"]}
    whole = HybridBayes(**options).fit(X, y, columns=blocks)
    shards = [
        HybridBayes(**options).accumulate(
            X[i::3], y[i::3], classes=[0, 1, 2], columns=blocks
        )
        for i in range(3)
    ]
    merged = shards[0].merge(shards[1]).merge(shards[2])
    model = HybridBayes(**options)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.finalise(merged)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit_weights(X, y)
    assert_array_equal(model.predict_log_proba(X), whole.predict_log_proba(X))


def test_statistics_of_other_regions_are_not_merged(rng):
    X, y, blocks = counts(rng)
    one = HybridBayes().accumulate(X, y, columns=blocks)
    other = HybridBayes(event_model="bernoulli").accumulate(X, y, columns=blocks)
    with pytest.raises(DataError, match="different regions"):
        one.merge(other)


def test_a_batch_that_cannot_be_learned_changes_nothing(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes().fit(X, y, columns=blocks)
    before = model.predict_log_proba(X)
    bad = X[:3].copy()
    bad[1, -1] = -1
    with pytest.raises(DataError, match="Negative"):
        model.partial_fit(bad, y[:3])
    with pytest.raises(DataError, match="forget more"):
        model.forget(X * 1000, y)
    assert_array_equal(model.predict_log_proba(X), before)


def test_table_compares_words_of_regions_at_their_mean_lengths():
    X = np.array([[1, 1, 10, 10], [2, 0, 15, 5], [0, 2, 5, 15], [1, 1, 10, 10]])
    model = HybridBayes().fit(X, [0, 0, 1, 1], columns=[0, 0, 1, 1])
    model.region_weight_ = np.array([3.0, 6.0])
    # 3 over 2 words a subject, 6 over 20 words a body: 1.5 against 0.3.
    table = model.region_table(["subject", "body"])
    assert "a word in subject counts 5.0 times as much as one in body" in table
    assert "subject      3.000        2.0     1.5000" in table
    model.region_weight_ = np.array([3.0, -1.0])
    assert "region 1 says nothing that helps" in model.region_table()


def test_wide_matrices_are_not_made_dense(rng):
    X = sparse.random(2000, 20000, 0.0005, random_state=0, format="csr")
    X.data = np.ceil(X.data * 3)
    y = np.arange(2000) % 2
    tracemalloc.start()
    HybridBayes().fit(X, y, columns=np.arange(20000) % 2).leave_one_out(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6  # dense: 320 MB


def test_forgetting_restores_the_generative_part(rng):
    X, y, blocks = counts(rng)
    model = HybridBayes().fit(X[:40], y[:40], columns=blocks)
    before = model.predict_log_proba(X)
    model.partial_fit(X[40:], y[40:])
    assert not np.array_equal(model.predict_log_proba(X), before)
    model.forget(X[40:], y[40:])
    assert_array_equal(model.predict_log_proba(X), before)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, r"alpha must be in \(0, inf\), got 0; or several such"),
        ({"event_model": "poisson"}, "event_model must be one of"),
        ({"vocabulary": "both"}, "vocabulary must be one of"),
        ({"event_model": ["bernoulli"]}, "each of the 2 regions"),
    ],
)
def test_bad_parameters_say_what_is_wanted(parameters, message):
    with pytest.raises(ValueError, match=message):
        HybridBayes(**parameters).fit([[1, 0], [0, 1]], [0, 1], columns=[0, 1])


def test_blocks_say_the_region_of_every_column():
    with pytest.raises(DataError, match="must give a region for each of the 2 columns"):
        HybridBayes().fit([[1, 0], [0, 1]], [0, 1], columns=[0])


def test_shared_vocabulary_wants_equal_columns():
    model = HybridBayes(vocabulary="shared")
    with pytest.raises(DataError, match="widths"):
        model.fit(np.eye(3), [0, 1, 1], columns=[0, 0, 1])


def test_learned_models_want_the_columns_they_know(rng):
    X, y, _ = counts(rng)
    model = HybridBayes().fit(X, y)
    for method in (model.leave_one_out, model.fit_weights):
        with pytest.raises(ValueError, match="features"):
            method(X[:, 1:], y)
