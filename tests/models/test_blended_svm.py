"""The mean of two machines: each alone as a limit, sums that add up, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import LinearSVC

from earmark import TextClassifier, load
from earmark.exceptions import DataError
from earmark.features import TfidfWeighting
from earmark.models import NBSVM, BlendedSVM


def documents(rng, n_classes, n_samples=120, n_features=40):
    rate = rng.gamma(0.5, 0.8, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    counts = sparse.csr_array(rng.poisson(rate[y]))
    return TfidfWeighting().fit_transform(counts), np.array(list("abcd"))[y]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_margins_are_the_mean_of_both(rng, n_classes):
    X, y = documents(rng, n_classes)
    svm = LinearSVC(tol=1e-8, max_iter=10_000).fit(X, y).decision_function(X)
    nbsvm = NBSVM(random_state=0).fit(X, y).decision_function(X)
    for share in (0.0, 0.25, 0.5, 1.0):
        model = BlendedSVM(share=share, random_state=0).fit(X, y)
        expected = (1 - share) * svm + share * nbsvm
        assert_allclose(model.decision_function(X), expected, atol=2e-3)


def test_penalties_and_weights_reach_both_machines(rng):
    X, y = documents(rng, 3)
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = BlendedSVM(C=0.3, ratio_C=2.0, random_state=0).fit(X, y, weight)
    svm = LinearSVC(C=0.3, tol=1e-8, max_iter=10_000).fit(X, y, weight)
    nbsvm = NBSVM(C=2.0, random_state=0).fit(X, y, weight)
    expected = (svm.decision_function(X) + nbsvm.decision_function(X)) / 2
    assert_allclose(model.decision_function(X), expected, atol=2e-3)
    assert_allclose(
        model.decision_function(X),
        BlendedSVM(C=0.3, ratio_C=2.0, random_state=0, class_weight={"a": 3.0})
        .fit(X, y, weight / np.where(y == "a", 3.0, 1.0))
        .decision_function(X),
        atol=2e-3,
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_few_documents_score_as_many_do(rng, n_classes):
    X, y = documents(rng, n_classes, n_features=400)
    model = BlendedSVM(random_state=0).fit(X, y)
    together = model.class_scores(X)
    for row in range(5):
        few = sparse.csr_array(X[[row]])
        few.data[8:] = 0.0
        few.eliminate_zeros()
        assert few.nnz * 4 < few.shape[1]
        assert_allclose(
            model.class_scores(few),
            model.class_scores(few.toarray()),
            rtol=1e-12,
            atol=1e-12,
        )
    assert_allclose(together, model.class_scores(X.toarray()), rtol=1e-12, atol=1e-12)


def test_rows_in_any_order_give_the_same_machine(rng):
    X, y = documents(rng, 3)
    order = rng.permutation(len(y))
    one = BlendedSVM(random_state=0).fit(X, y)
    other = BlendedSVM(random_state=0).fit(X[order], y[order])
    assert one.weights_.tobytes() == other.weights_.tobytes()
    assert one.nbsvm_.weights_.tobytes() == other.nbsvm_.weights_.tobytes()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_parts_of_a_score_add_up(rng, n_classes):
    X, y = documents(rng, n_classes)
    model = BlendedSVM(random_state=0).fit(X, y)
    mixed = X.toarray()
    mixed[:, 3] *= -1  # weighs in one machine, is absent from the other
    scores = model.class_scores(mixed)
    for row, parts in zip(scores, model.score_parts(mixed), strict=True):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "value"), [("C", 0.0), ("ratio_C", 0.0), ("share", -0.1), ("share", 1.1)]
)
def test_parameters_out_of_range_are_named(name, value):
    with pytest.raises(ValueError, match=rf"BlendedSVM\.{name}"):
        BlendedSVM(**{name: value}).fit([[1.0], [0.0]], [0, 1])


def test_one_class_is_refused():
    with pytest.raises(DataError, match="at least 2 classes"):
        BlendedSVM().fit([[1.0], [0.0]], ["a", "a"])


def test_from_text_it_explains_and_is_the_same_after_loading(tmp_path):
    texts = ["good film", "a good good day", "bad film", "such a bad day"] * 5
    labels = ["pos", "pos", "neg", "neg"] * 5
    classifier = TextClassifier("blended-svm", random_state=0).fit(texts, labels)
    (why,) = classifier.explain(["good day"])
    assert why.label == "pos"
    assert why.terms[0].term == "good"
    assert classifier.telling_terms(1)["neg"][0][0] == "bad"
    classifier.save(tmp_path / "m.earmark")
    again = load(tmp_path / "m.earmark")
    assert_array_equal(again.predict_proba(texts), classifier.predict_proba(texts))
