"""The experiments beyond the sources: their parts on small data."""

import numpy as np
import pytest
from scipy import sparse

from earmark.models import (
    BernoulliNaiveBayes,
    HigherOrderNaiveBayes,
    MultinomialNaiveBayes,
)
from reproductions.beyond import hybrids, paths
from reproductions.higher_order.data import DataSet, Trial
from reproductions.hybrid.pairs import Part


def presence(rng, n=80, width=40, n_classes=2):
    rate = rng.beta(0.6, 3, (n_classes, width))
    y = np.arange(n) % n_classes
    return sparse.csr_array((rng.uniform(size=(n, width)) < rate[y]).astype(float)), y


@pytest.mark.parametrize("kind", [BernoulliNaiveBayes, HigherOrderNaiveBayes])
def test_scores_from_the_parts_are_those_of_the_model(kind, rng):
    X, y = presence(rng)
    trial = Trial(X[:50], y[:50], X[50:], y[50:], np.arange(50, 80))
    model = kind().fit(trial.train, trial.y_train)
    both = paths._right(kind(), "both")(trial).mean()
    assert both == pytest.approx(model.score(trial.test, trial.y_test))


def test_shortened_documents_keep_some_of_their_own_terms(rng):
    X, y = presence(rng, n=30, width=200)
    data = DataSet("toy", X, y, np.arange(0, 200, 2))
    short = paths._shortened(data).counts.toarray()
    full = X.toarray()[:, ::2]
    assert short.sum(axis=1).max() <= 25
    assert (short <= full).all()
    assert (short.sum(axis=1) == np.minimum(full.sum(axis=1), 25)).all()


def test_clusters_lose_less_about_the_class_than_words_cut_at_random(rng):
    X, y = presence(rng, n=200, width=120, n_classes=3)
    counts = np.stack([np.asarray(X[y == c].sum(axis=0)).ravel() for c in range(3)], 1)

    def information(cluster):
        joint = np.zeros((cluster.max() + 1, 3))
        np.add.at(joint, cluster, counts)
        joint /= joint.sum()
        outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        known = joint > 0
        return (joint[known] * np.log(joint[known] / outer[known])).sum()

    clusters = paths.clusters_of_words(X, y, 8)
    assert clusters.max() < 8
    every = information(np.arange(120))
    assert information(clusters) > 0.8 * every
    assert information(clusters) > information(rng.integers(0, 8, 120))


def region_part(n, seed):
    """Two classes of their own word probabilities, the same for every seed."""
    phi = np.random.default_rng(0).dirichlet(np.full(30, 0.3), size=2)
    rng = np.random.default_rng(seed)
    places = np.arange(n) % 2
    subject, body = (
        sparse.csr_matrix(np.array([rng.multinomial(words, phi[c]) for c in places]))
        for words in (6, 30)
    )
    return Part(subject, body, np.array(["a", "b"])[places])


def test_a_pool_and_hidden_nodes_leave_the_hybrid_a_classifier():
    train, pool, test = (region_part(n, s) for s, n in enumerate((12, 60, 80)))
    errors = hybrids._with_pool(train, test, pool)
    assert errors["hybrid with the pool"] <= 0.2
    latent = hybrids._latent(test, pool, pool)
    assert max(latent.values()) < 0.2
    chosen = hybrids._candidates(test, pool, pool)
    assert chosen["chosen by evidence"] in list(chosen.values())[:-1]


def test_a_document_left_out_of_one_node_is_left_out_of_naive_bayes(rng):
    train, test = region_part(40, 3), region_part(20, 4)
    X, new = train.whole, test.whole
    fitted, judged = hybrids.left_out_evidence(X, train.y, new, nodes=1)
    model = MultinomialNaiveBayes(alpha=0.1, class_prior="uniform").fit(X, train.y)
    odds = np.diff(model.leave_one_out(X, train.y), axis=1).ravel()
    # Classes of 20 documents: without one of them the prior stays uniform.
    assert fitted == pytest.approx(odds / X.sum(axis=1).A1, rel=1e-9)
    table = np.diff(model.feature_log_prob_, axis=0).ravel()
    assert judged == pytest.approx(new @ table / new.sum(axis=1).A1, rel=1e-9)
