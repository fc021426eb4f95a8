"""Every model that is fitted in parts, against the same fit in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.distributed import fit
from earmark.exceptions import NotSupportedError
from earmark.features import WordCounter
from earmark.models import (
    HierarchicalBayes,
    SemiSupervisedNaiveBayes,
    SoftmaxRegression,
)
from earmark.models.base.declaration import MODELS
from tests.distributed.conftest import Corpus


@pytest.mark.parametrize("model", ["rocchio", "higher-order"])
def test_whole_number_models_have_the_same_bytes(model, corpus, tmp_path, saved):
    classifier = TextClassifier(model)
    whole = saved(classifier.fit(corpus.texts, corpus.labels))
    for n_parts in (1, 3, 17):
        folder = corpus.write(tmp_path / str(n_parts), n_parts)
        assert saved(fit(classifier, folder)) == whole
    folder = tmp_path / "3"
    assert saved(fit(classifier, folder, checkpoint=tmp_path / "c")) == whole


@pytest.mark.parametrize(
    "model", ["hybrid", HierarchicalBayes(n_restarts=3, random_state=0)]
)
def test_other_models_agree_to_nine_digits(model, corpus, tmp_path):
    classifier = TextClassifier(model)
    whole = classifier.fit(corpus.texts, corpus.labels).predict_log_proba(corpus.texts)
    for n_parts in (1, 5):
        folder = corpus.write(tmp_path / str(n_parts), n_parts)
        parts = fit(classifier, folder).predict_log_proba(corpus.texts)
        assert_allclose(parts, whole, rtol=1e-9, atol=1e-9)


def test_softmax_finds_the_optimum(corpus, tmp_path):
    tight = SoftmaxRegression(solver="dual", C=10.0, tol=1e-9)
    classifier = TextClassifier(tight)
    whole = classifier.fit(corpus.texts, corpus.labels).model_
    found = [fit(classifier, corpus.write(tmp_path / str(n), n)).model_ for n in (1, 4)]
    scale = np.abs(whole.coef_).max()
    assert_allclose(found[0].coef_, whole.coef_, atol=2e-4 * scale)
    assert_allclose(found[0].coef_, found[1].coef_, atol=1e-9 * scale)


def test_semi_supervised_em_is_the_loop_in_memory(tmp_path):
    corpus = Corpus(300, seed=3, unlabelled=0.8)
    model = SemiSupervisedNaiveBayes(max_iter=6, tol=0.0, evidence=8.0)
    X = WordCounter().fit_transform(corpus.texts)
    whole = model.fit(X, np.array(corpus.labels, dtype=object))
    for n_parts in (1, 4):
        folder = corpus.write(tmp_path / str(n_parts), n_parts)
        parts = fit(
            TextClassifier(SemiSupervisedNaiveBayes(max_iter=6, tol=0.0, evidence=8.0)),
            folder,
        )
        found = parts.model_
        assert_allclose(found.feature_log_prob_, whole.feature_log_prob_, rtol=1e-9)
        assert_allclose(found.class_log_prior_, whole.class_log_prior_, rtol=1e-9)
        assert found.n_iter_ == whole.n_iter_


@pytest.mark.parametrize("name", MODELS.names())
def test_the_registry_says_which_models_are_fitted_in_parts(name, corpus, tmp_path):
    folder = corpus.write(tmp_path / "parts", 2)
    if MODELS[name].in_parts:
        model = TextClassifier(name, random_state=0)
        whole = model.fit(corpus.texts, corpus.labels)
        assert fit(model, folder).model_name_ == whole.model_name_
    else:
        with pytest.raises(NotSupportedError, match="bernoulli, complement"):
            fit(TextClassifier(name), folder)


def test_the_name_of_plain_em_means_one_model_in_memory_and_in_parts(tmp_path):
    corpus = Corpus(300, seed=3, unlabelled=0.8)
    rows = np.array([label is not None for label in corpus.labels])
    texts, labels = np.array(corpus.texts), np.array(corpus.labels, dtype=object)
    whole = TextClassifier("em-multinomial").fit(
        texts[rows].tolist(), labels[rows].tolist(), unlabelled=texts[~rows].tolist()
    )
    parts = fit(TextClassifier("em-multinomial"), corpus.write(tmp_path / "p", 3))
    assert parts.model_.n_iter_ == whole.model_.n_iter_
    assert_allclose(
        parts.predict_log_proba(corpus.texts),
        whole.predict_log_proba(corpus.texts),
        rtol=1e-9,
        atol=1e-9,
    )


def test_a_model_that_needs_all_documents_is_refused(corpus, tmp_path):
    folder = corpus.write(tmp_path / "parts", 2)
    with pytest.raises(NotSupportedError, match="LinearSVC cannot be fitted in parts"):
        fit(TextClassifier(LinearSVC(random_state=0)), folder)
