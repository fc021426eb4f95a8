"""Few labels: the parts by hand, the whole on generated text."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from earmark.exceptions import DataError
from earmark.features.columns import Rows
from earmark.folds import class_keeping_folds
from earmark.kernels.rows import log_normalize
from earmark.models import SemiSupervisedClassifier, SemiSupervisedNaiveBayes
from earmark.models.base.classifier import check_parameters
from earmark.models.semi_supervised import n_different, pool_is_useful
from earmark.models.shared.few_labels import (
    LinearStudent,
    fit_scale,
    name_weights,
    prior_weights,
    scale_of_confidence,
    vote_together,
    weigh,
    weights_by_evidence,
)
from earmark.models.shared.pool_em import (
    ClassMeans,
    Pool,
    labelled_sums,
    naive_bayes_em,
)
from earmark.models.shared.views import VectorView, WordTables, ppmi

N_TERMS = 300


def documents(n, seed, length=70, n_classes=3):
    """Counts of documents whose class lends 40 terms of its own some weight."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    common = rng.dirichlet(np.full(N_TERMS, 0.5))
    X = np.zeros((n, N_TERMS))
    for c in range(n_classes):
        p = common.copy()
        p[c * 40 : (c + 1) * 40] += 0.004
        X[y == c] = rng.multinomial(length, p / p.sum(), (y == c).sum())
    return sparse.csr_array(X), y


def few(y, n, n_classes=3):
    """The labels, None for all but the first n of each class."""
    labels = np.full(len(y), None, dtype=object)
    for c in range(n_classes):
        rows = np.flatnonzero(y == c)[:n]
        labels[rows] = c
    return labels


@pytest.fixture(scope="module")
def corpus():
    X, y = documents(1200, 0)
    return X[:900], y[:900], X[900:], y[900:]


@pytest.fixture(scope="module")
def fitted(corpus):
    X, y, *_ = corpus
    return SemiSupervisedClassifier(n_components=20).fit(X, few(y, 5))


# -- parts ---------------------------------------------------------------------------


def test_ppmi_is_the_formula():
    C = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]], np.float32)
    total = C.sum()
    with np.errstate(divide="ignore"):
        logs = np.log(C * total / np.outer(C.sum(axis=1), C.sum(axis=1)))
    assert_allclose(ppmi(C.copy()), np.maximum(logs, 0.0), atol=1e-6)


def test_the_first_table_spans_the_leading_singular_vectors():
    X = documents(200, 3)[0]
    T = sparse.csr_array(TfidfTransformer().fit_transform(X))
    tables = WordTables(n_components=2).fit(T)
    exact = np.linalg.svd(T.toarray())[2][0]
    assert tables.table_.shape == (N_TERMS, 6)
    assert abs(exact @ tables.table_[:, 0]) > 0.999


def test_words_of_the_same_company_get_similar_vectors():
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 2, 400)
    X = (rng.random((400, 20)) < np.where(np.arange(20) < 10, 0.4, 0.05)).astype(float)
    X[topic == 1] = X[topic == 1][:, ::-1]
    W = WordTables(n_components=2).fit(sparse.csr_array(X)).table_[:, 4:]
    assert_allclose(np.linalg.norm(W, axis=1), 1.0, atol=1e-3)
    same, other = W[0] @ W[1:10].T, W[0] @ W[10:].T
    assert same.mean() > other.mean() + 0.5


def test_each_table_is_a_third_of_a_document():
    X = sparse.csr_array(TfidfTransformer().fit_transform(documents(200, 3)[0]))
    tables = WordTables(n_components=5).fit(X)
    vectors = tables.transform(X)
    parts = np.linalg.norm(vectors.reshape(200, 3, 5), axis=2)
    assert_allclose(parts, np.sqrt(1 / 3), rtol=1e-6)
    # Once a document's lengths are known, it is a sum over its words.
    for i in range(5):
        effects, mean = tables.effects(X[[i]])
        assert_allclose(X[[i]].data @ effects + mean, vectors[i], atol=1e-9)


def test_vectors_are_stretched_along_their_main_axes_by_hand():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 4)) * [4.0, 2.0, 1.0, 0.1]
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    spread, axes = np.linalg.eigh(units.T @ units / 300)
    along = (units @ axes) * (spread + 0.1 * spread.mean()) ** 0.25
    expected = along / np.linalg.norm(along, axis=1, keepdims=True)
    made = VectorView().fit(units).transform(units)
    assert_allclose(made @ made.T, expected @ expected.T, atol=1e-9)


def em(labelled, pool, **settings):
    """The loop on two labelled documents, one of each class, and a pool."""
    own = labelled_sums(labelled, np.array([0, 1]), 2, np.ones(2))
    return naive_bayes_em(own, pool.sums(), pool.expect, **settings)


def test_one_em_step_is_naive_bayes_by_hand():
    labelled = sparse.csr_array([[2.0, 0.0], [0.0, 1.0]])
    pool = Pool(sparse.csr_array([[1.0, 1.0]]), np.array([[0.75, 0.25]]))
    result = em(labelled, pool, weight=0.5, alpha=0.1, max_iter=1)
    tokens = np.array([[2.375, 0.125], [0.375, 1.125]]) + 0.1  # terms x classes
    log_phi = np.log(tokens / tokens.sum(axis=0))
    prior = np.array([1 + 0.375 + 1, 1 + 0.125 + 1])
    joint = log_phi.sum(axis=0) + np.log(prior / prior.sum())
    assert_allclose(result.parameters.log_prob, log_phi)
    assert_allclose(pool.posterior[0], np.exp(joint) / np.exp(joint).sum())


def test_an_anchor_of_certainty_holds_the_loop():
    labelled = sparse.csr_array([[2.0, 0.0], [0.0, 1.0]])
    rows, anchor = sparse.csr_array([[5.0, 0.0]]), np.log([[1e-30, 1.0]])
    pool = Pool(rows, np.array([[0.5, 0.5]]), anchor=anchor)
    em(labelled, pool)
    assert pool.posterior[0, 1] > 0.999


def test_long_documents_are_tempered_to_ten_tokens():
    labelled = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    start = np.array([[0.5, 0.5]])

    def odds(length):
        pool = Pool(sparse.csr_array([[float(length), 0.0]]), start, evidence=10.0)
        em(labelled, pool, weight=1e-9, max_iter=1)
        return np.log(pool.posterior[0, 0] / pool.posterior[0, 1])

    assert_allclose(odds(10), odds(1000), rtol=1e-4)
    assert odds(5) < 0.6 * odds(10)


def test_plain_em_without_a_pool_is_naive_bayes():
    from sklearn.naive_bayes import MultinomialNB

    X, y = documents(60, 5)
    ours = SemiSupervisedNaiveBayes(alpha=0.3).fit(X, y)
    assert_allclose(
        ours.predict_proba(X), MultinomialNB(alpha=0.3).fit(X, y).predict_proba(X)
    )


def test_plain_em_takes_any_start():
    X, y = documents(300, 6)
    labels = few(y, 2)
    pool = np.array([label is None for label in labels])
    start = np.eye(3)[y[pool]]
    known = SemiSupervisedNaiveBayes().fit(X, labels, start=start)
    assert known.score(X, y) > 0.9
    with pytest.raises(ValueError, match="start must be"):
        SemiSupervisedNaiveBayes().fit(X, labels, start=start[1:])


def test_a_student_is_softmax_regression_and_shares_out_its_weights():
    X, y = documents(80, 7)
    T = sparse.csr_array(TfidfTransformer().fit_transform(X))
    weight = np.linspace(0.5, 2.0, 80)
    is_labelled = np.arange(80) < 20
    student = LinearStudent().fit(T, y, weight, is_labelled)
    exact = LogisticRegression(C=10.0, tol=1e-8, max_iter=5000)
    exact.fit(T, y, sample_weight=weight)
    gap = log_normalize(student.scores(T)) - exact.predict_log_proba(T)
    assert np.abs(gap).max() < 0.05
    # The labelled part is what the labelled documents' errors put there.
    error = np.eye(3)[y] - exact.predict_proba(T)
    part = 10.0 * (T[:20].T @ (weight[:20, None] * error[:20]))
    assert_allclose(student.labelled_weights_, part, atol=0.1)
    alone = LinearStudent().fit(T, y, weight, np.ones(80, bool))
    assert_array_equal(alone.labelled_weights_, alone.weights_)


def test_a_student_that_is_not_linear_is_refused():
    from sklearn.tree import DecisionTreeClassifier

    X, y = documents(30, 8)
    with pytest.raises(TypeError, match="linear classifier"):
        SemiSupervisedClassifier(student=DecisionTreeClassifier()).fit(X, y)


def test_holding_out_never_takes_a_class_away():
    y = np.array([0, 1, 1, 2, 2, 2, 2])
    seen = []
    for kept, held_out in class_keeping_folds(y, 3, 0):
        assert set(y[kept]) == {0, 1, 2}
        assert sorted([*kept, *held_out]) == list(range(7))
        seen.extend(held_out)
    assert 0 not in seen
    assert sorted(seen) == [1, 2, 3, 4, 5, 6]


def test_one_label_a_class_cannot_be_held_out():
    assert list(class_keeping_folds(np.array([0, 1, 2]), 3, 0)) == []


def test_a_scale_stays_within_its_bounds():
    scores, y = np.tile([1.0, 0.0], (3000, 1)), np.zeros(3000, int)
    assert np.exp(2.5) < fit_scale(0.05 * scores, y, np.ones(3000), 1.0) <= np.exp(3.0)


def test_without_a_pool_there_is_nothing_to_iterate():
    X, y = documents(30, 0)
    model = SemiSupervisedNaiveBayes().fit(X, y)
    assert (model.n_iter_, model.converged_) == (1, True)


def test_overconfident_scores_are_scaled_down():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = np.array([rng.choice(3, p=row) for row in p])
    assert fit_scale(4.0 * scores, y, np.ones(4000), 1.0) == pytest.approx(
        0.25, rel=0.1
    )


@pytest.mark.parametrize(
    ("labelled", "pool", "useful"),
    [(10, 499, False), (10, 500, True), (300, 599, False), (300, 600, True)],
)
def test_the_guard(labelled, pool, useful):
    assert pool_is_useful(labelled, pool) is useful


# -- the whole -----------------------------------------------------------------------


def test_the_pool_helps(corpus, fitted):
    X, y, X_test, y_test = corpus
    labels = few(y, 5)
    labelled = np.flatnonzero([label is not None for label in labels])
    alone = SemiSupervisedClassifier().fit(X[labelled], y[labelled])
    assert fitted.used_pool_
    assert fitted.score(X_test, y_test) > alone.score(X_test, y_test) + 0.05


def test_without_a_pool_it_is_softmax_regression_on_tfidf(corpus):
    X, y, X_test, _ = corpus
    model = SemiSupervisedClassifier().fit(X[:60], y[:60])
    kept = np.flatnonzero((X[:60] > 0).sum(axis=0))
    tfidf = TfidfTransformer(sublinear_tf=True).fit(X[:60][:, kept])
    exact = LogisticRegression(C=10.0, tol=1e-8, max_iter=5000)
    exact.fit(tfidf.transform(X[:60][:, kept]), y[:60])
    theirs = exact.predict_proba(tfidf.transform(X_test[:, kept]))
    assert_allclose(model.predict_proba(X_test), theirs, atol=0.02)
    assert not model.used_pool_


def test_a_pool_below_the_guard_changes_nothing(corpus):
    X, y, X_test, _ = corpus
    labels = few(y[:300], 20)
    labelled = np.flatnonzero([label is not None for label in labels])
    small = SemiSupervisedClassifier().fit(X[:300], labels)
    none = SemiSupervisedClassifier().fit(X[labelled], y[labelled])
    assert_array_equal(small.predict_proba(X_test), none.predict_proba(X_test))


def test_copies_of_a_document_do_not_make_a_pool(corpus):
    X, y, *_ = corpus
    rows = np.concatenate([np.arange(30), np.full(2000, 40)])
    labels = np.concatenate([y[:30].astype(object), np.full(2000, None)])
    model = SemiSupervisedClassifier().fit(X[rows], labels)
    assert not model.used_pool_
    assert n_different(sparse.csr_array([[1, 0], [0, 0], [1, 0], [0, 2]])) == 2


def test_scores_fall_into_exact_parts(corpus, fitted):
    X_test = corpus[2][:5]
    scores = fitted.class_scores(X_test)
    for parts, row in zip(fitted.score_parts(X_test), scores, strict=True):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, rtol=1e-9, atol=1e-9)
        assert parts.labelled.shape == parts.terms.shape


def short_corpus(seed=0):
    X, y = documents(900, seed, length=12)
    rng = np.random.default_rng(seed)
    phrases = rng.poisson(0.05, (900, 30)) + (y[:, None] == np.arange(30) % 3) * (
        rng.random((900, 30)) < 0.1
    )
    vectors = rng.normal(size=(900, 6)) + np.eye(3)[y] @ rng.normal(size=(3, 6))
    blocks = (sparse.csr_array(X), sparse.csr_array(phrases), vectors)
    return Rows(blocks, ("word", "phrase", "vector")), y


def test_words_tables_phrases_and_encoder_add_up_exactly():
    X, y = short_corpus()
    model = SemiSupervisedClassifier(n_components=10).fit(X[:700], few(y[:700], 5))
    assert set(model.students_) == {"words", "tables", "encoder"}
    assert_allclose(sum(model.student_weights_.values()), 1.0)
    rows = X[700:706]
    for i, (parts, row) in enumerate(
        zip(model.score_parts(rows), model.class_scores(rows), strict=True)
    ):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, rtol=1e-6, atol=1e-8)
        by = model.vector_weights(rows[i : i + 1])
        own = rows.of("vector")[i] @ by.weights
        assert_allclose(own, parts.constants["encoder"], rtol=1e-6, atol=1e-8)
    assert model.score(X[700:], y[700:]) > 0.55


def test_same_data_and_seed_give_the_same_bytes():
    X, y = short_corpus()
    one, two = (
        SemiSupervisedClassifier(n_components=10, random_state=3)
        .fit(X[:700], few(y[:700], 3))
        .predict_proba(X)
        for _ in range(2)
    )
    assert one.tobytes() == two.tobytes()


def test_steps_student_and_voter_can_be_exchanged(corpus):
    X, y, X_test, y_test = corpus
    model = SemiSupervisedClassifier(
        student=LinearSVC(),
        voter=LogisticRegression(C=1.0),
        max_iter=2,
        pool_weight=0.3,
        calibration_folds=0,
    )
    assert clone(model).fit(X, few(y, 5)).score(X_test, y_test) > 0.6


def test_the_prior_correction_lifts_rare_classes(corpus, fitted):
    offset = fitted._offset()
    assert_array_equal(np.argsort(offset), np.argsort(-fitted.class_share_))


def test_noise_in_the_labels_is_survived(corpus):
    X, y, X_test, y_test = corpus
    labels = few(y, 10)
    rows = np.flatnonzero([label is not None for label in labels])
    labels[rows[::10]] = (y[rows[::10]] + 1) % 3
    model = SemiSupervisedClassifier(n_components=20).fit(X, labels)
    assert model.score(X_test, y_test) > 0.7


def test_a_class_that_nobody_labelled_does_no_harm(corpus):
    X, y, X_test, y_test = corpus
    labels = few(y, 5, n_classes=2)
    rows = np.flatnonzero([label is not None for label in labels])
    known = y_test < 2
    alone = SemiSupervisedClassifier().fit(X[rows], y[rows])
    pooled = SemiSupervisedClassifier(n_components=20).fit(X, labels)
    ours = pooled.score(X_test[known], y_test[known])
    assert ours >= alone.score(X_test[known], y_test[known])


def test_one_label_a_class_is_enough_to_learn(corpus):
    X, y, X_test, y_test = corpus
    model = SemiSupervisedClassifier(n_components=10).fit(X, few(y, 1))
    assert model.left_out_ is None
    assert model.score(X_test, y_test) > 0.4


def test_bad_input_is_told(corpus):
    X, y, *_ = corpus
    with pytest.raises(DataError, match="no label at all"):
        SemiSupervisedClassifier().fit(X, np.full(X.shape[0], None, dtype=object))
    with pytest.raises(DataError, match="at least 2 classes"):
        SemiSupervisedClassifier().fit(X, few(y, 5, n_classes=1))


def views_of(y, words, encoder, seed=0):
    """Two views of words and one of an encoder, each so much clearer than noise."""
    rng = np.random.default_rng(seed)
    told = np.eye(y.max() + 1)[y]

    def view(clear):
        return clear * told + rng.normal(size=told.shape)

    return {"words": view(words), "tables": view(words), "encoder": view(encoder)}


def shares_of(votes, y):
    prior = prior_weights(votes, 10.0).shares
    strength = {name: 2.0 if name == "encoder" else 5.0 for name in votes}
    return weigh(votes, y, prior, strength, 3.0)


def test_a_better_view_gets_a_greater_share_of_the_vote():
    y = np.repeat(np.arange(3), 8)
    prior = prior_weights(views_of(y, 1.0, 1.0), 10.0).encoder_share
    better = shares_of(views_of(y, 0.2, 4.0), y)
    worse = shares_of(views_of(y, 4.0, 0.0), y)
    assert 0.0 < worse["encoder"] < prior < better["encoder"] < 1.0
    for shares in (better, worse):
        assert_allclose(sum(shares.values()), 1.0)
    votes = views_of(y, 0.0, 1.0)
    before = shares_of(votes, y)
    votes["words"] = 3.0 * np.eye(3)[y]
    after = shares_of(votes, y)
    assert after["words"] / after["tables"] > before["words"] / before["tables"]


def test_long_texts_need_an_encoder_less():
    of = {
        n_words: prior_weights(["words", "tables", "encoder"], n_words).shares
        for n_words in (0.0, 25.0, 75.0, 975.0)
    }
    assert_allclose([of[n]["encoder"] for n in of], [0.3, 0.3, 0.25, 0.025])
    for shares in of.values():
        assert_allclose(sum(shares.values()), 1.0)
        assert_allclose(shares["tables"], 2.0 * shares["words"])


def test_the_weights_are_those_of_a_search():
    """Weights by gradient, and by looking at every point of a grid."""
    y = np.repeat(np.arange(3), 4)
    votes = {
        "words": views_of(y, 1.0, 0)["words"],
        "encoder": views_of(y, 0, 0.5)["encoder"],
    }
    prior = {"words": 0.4, "encoder": 0.6}
    weights = weigh(votes, y, prior, dict.fromkeys(votes, 0.3), 3.0)

    def loss(share, log_scale):
        blend = (1 - share) * votes["words"] + share * votes["encoder"]
        scores = 3.0 * np.exp(log_scale) * blend
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        # The cheapest moves of two logarithms that lead to this share.
        moved = (np.log(share / 0.6) - np.log((1 - share) / 0.4)) / 2
        penalty = 2 * 0.3 * moved**2 + 0.1 * log_scale**2
        return penalty - logs[np.arange(len(y)), y].sum()

    grid = np.linspace(0.005, 0.995, 199)
    scales = np.linspace(-3, 3, 121)
    best = min((loss(share, scale), share) for share in grid for scale in scales)[1]
    assert_allclose(weights["encoder"], best, atol=0.01)


def test_without_evidence_the_weights_are_the_prior():
    votes = views_of(np.arange(3), 1.0, 1.0)
    prior = prior_weights(votes, 10.0)
    weights = weights_by_evidence([], prior, np.full(3, 1 / 3))
    assert weights.shares == prior.shares
    assert weights.means == 0.1
    del votes["encoder"]
    alone = weights_by_evidence([], prior_weights(votes, 10.0), np.full(3, 1 / 3))
    assert alone.means == 0.0
    assert alone.encoder_share is None
    assert_allclose([alone.shares["words"], alone.shares["tables"]], [1 / 3, 2 / 3])


def test_views_vote_by_their_shares():
    votes = views_of(np.repeat(np.arange(3), 4), 1.0, 1.0)
    shares = prior_weights(votes, 50.0).shares
    expected = 3.0 * sum(shares[name] * votes[name] for name in votes)
    assert_allclose(vote_together(votes, shares), expected)


@pytest.mark.parametrize(("n_labelled", "right"), [(30, 27), (30, 12), (0, 0)])
def test_confidence_is_what_left_out_documents_say_it_is(n_labelled, right):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(500, 3)) * 4.0
    y = np.zeros(n_labelled, dtype=int)
    scores = np.tile([1.0, 0.0, 0.5], (n_labelled, 1))
    scores[right:] = [0.0, 1.0, 0.5]
    scale = scale_of_confidence(scores, pool, y, np.ones(n_labelled))

    def sure(factor):
        p = np.exp(factor * pool)
        return (p / p.sum(axis=1, keepdims=True)).max(axis=1).mean()

    wanted = (right + 2 / 3 + 2 * sure(1.0)) / (n_labelled + 4)
    assert_allclose(sure(scale), wanted, atol=1e-6)


def test_answers_worse_than_chance_are_hardly_sure_of_anything():
    pool = np.random.default_rng(0).normal(size=(500, 3))
    scores, y = np.tile([0.0, 1.0, 0.5], (30, 1)), np.zeros(30, dtype=int)
    assert scale_of_confidence(scores, pool, y, np.ones(30)) < 0.02


def test_class_means_are_spheres_by_hand():
    rng = np.random.default_rng(0)
    vectors, y = rng.normal(size=(9, 4)), np.array([0, 1, 1])
    weight, posterior = np.array([1.0, 2.0, 0.5]), rng.dirichlet([1, 1], 6)
    evidence = ClassMeans(vectors, y, 2, weight, 0.2, 0.7).evidence(posterior)
    densities = np.zeros((6, 2))
    for c in range(2):
        counts = np.concatenate([weight * (y == c), 0.2 * posterior[:, c]])
        mean = np.average(vectors, axis=0, weights=counts)
        densities[:, c] = np.exp(-8.0 * ((vectors[3:] - mean) ** 2).sum(axis=1))
    expected = 0.7 * np.log(densities / densities.sum(axis=1, keepdims=True))
    assert_allclose(evidence, expected, atol=1e-12)


def test_names_are_weighted_documents_by_hand():
    """One round over the pool, from votes that learned names and labels by weight."""
    X, y = documents(800, 5)
    labels = few(y, 2)
    names = sparse.csr_array((3, N_TERMS)).tolil()
    for c in range(3):
        names[c, c * 40 : c * 40 + 5] = 1.0
    names = sparse.csr_array(names.tocsr())
    voter = LogisticRegression(C=10.0, tol=1e-8, max_iter=5000)
    options = {"min_df": 1, "calibration_folds": 0, "max_iter": 1, "pool_weight": 0.5}
    model = SemiSupervisedClassifier(voter=voter, n_components=20, **options)
    model.fit(X, labels, names=(names, [0, 1, 2]))
    known = np.flatnonzero([label is not None for label in labels])
    pool = np.setdiff1d(np.arange(len(y)), known)
    first = sparse.csr_array(sparse.vstack([names, X[known]], format="csr"))
    y_first = np.concatenate([np.arange(3), y[known]])
    weight = np.concatenate([np.full(3, 3.0 / (1.0 + 2 / 5)), np.ones(6)])
    assert_allclose(name_weights(np.arange(3), np.full(3, 2), 3.0), weight[:3])
    votes = 0.0
    for view, share in (("words", 1 / 3), ("tables", 2 / 3)):
        both = [
            model.views_.transform(Rows((rows,), ("word",))).views[view]
            for rows in (first, X[pool])
        ]
        voter.fit(both[0], y_first, weight)
        votes = votes + share * voter.predict_log_proba(both[1])
    # Naive Bayes on ln(1 + tf), names and labels whole, the pool by the squared vote.
    start = np.exp(2.0 * 3.0 * votes)
    start /= start.sum(axis=1, keepdims=True)
    member = np.eye(3)[y_first] * weight[:, None]
    used = X.sum(axis=0) > 0
    logs, pool_logs = np.log1p(first.toarray()), np.log1p(X[pool].toarray())
    logs, pool_logs = logs[:, used], pool_logs[:, used]
    counts = logs.T @ member + 0.5 * pool_logs.T @ start + 0.1
    docs = member.sum(axis=0) + 0.5 * start.sum(axis=0) + 1.0
    joint = pool_logs @ np.log(counts / counts.sum(axis=0)) + np.log(docs / docs.sum())
    joint *= np.minimum(1.0, 4.0 / pool_logs.sum(axis=1, keepdims=True))
    said = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
    posterior = np.exp(3.0 * votes + said)
    posterior /= posterior.sum(axis=1, keepdims=True)
    sizes = np.bincount(y_first) + posterior.sum(axis=0)
    assert_allclose(model.class_share_, sizes / sizes.sum(), atol=1e-6)


def test_the_encoders_student_has_the_encoders_share():
    X, y = documents(700, 3, length=20)
    both = Rows((sparse.csr_array(X), np.eye(3)[y] + 0.1), ("word", "vector"))
    model = SemiSupervisedClassifier(calibration_folds=0)
    model.fit(both, few(y, 5))
    weights = dict(model.student_weights_)
    encoder = weights.pop("encoder")
    assert_allclose(encoder / (encoder + sum(weights.values())), model.encoder_share_)
    assert_allclose(model.encoder_share_, 0.3)  # of 20 words, where nothing is left out


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("alpha", 0.0, 1e-9),
        ("pool_weight", 0.0, 1e-9),
        ("pool_weight", 1.01, 1.0),
        ("max_iter", 0, 1),
        ("tol", -1e-9, 0.0),
        ("evidence", 0.0, 1e-9),
    ],
)
def test_limits_of_naive_bayes_parameters(corpus, name, bad, good):
    X, y, *_ = corpus
    X, labels = X[:40], few(y, 3)[:40]
    with pytest.raises(ValueError, match=f"SemiSupervisedNaiveBayes.{name} must be"):
        SemiSupervisedNaiveBayes(**{name: bad}).fit(X, labels)
    proba = SemiSupervisedNaiveBayes(**{name: good}).fit(X, labels).predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("prior_correction", -0.01, 0.0),
        ("min_pool_ratio", -0.01, 0.0),
        ("min_pool", 0, 1),
        ("calibration_folds", -1, 0),
        ("n_components", 0, 1),
        ("min_df", 0, 1),
        ("max_iter", 0, 1),
        ("pool_weight", 0.0, 1e-9),
    ],
)
def test_limits_of_the_parameters(name, bad, good):
    with pytest.raises(ValueError, match=f"SemiSupervisedClassifier.{name} must be"):
        check_parameters(SemiSupervisedClassifier(**{name: bad}))
    check_parameters(SemiSupervisedClassifier(**{name: good}))


@pytest.mark.parametrize(
    "model", [SemiSupervisedClassifier(), SemiSupervisedNaiveBayes()]
)
def test_negative_counts_are_refused_and_the_tags_say_so(model):
    assert get_tags(model).input_tags.positive_only
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.fit([[1.0, 0.0], [0.0, -1.0]], ["a", "b"])


@pytest.mark.parametrize("kind", [SemiSupervisedNaiveBayes, SemiSupervisedClassifier])
def test_a_negative_count_is_named_with_its_row(kind):
    X = [[1, 0], [0, 1], [2, -3], [1, 1]]
    expected = rf"{kind.__name__} takes counts, all >= 0, got -3 in row 2"
    with pytest.raises(DataError, match=expected):
        kind().fit(X, [0, 1, None, None])
