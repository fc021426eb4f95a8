"""Whatever TextClassifier fits can be saved, loaded, and answers alike."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.svm import LinearSVC

import earmark
from earmark import TextClassifier, models
from earmark.documents import support_corpus
from earmark.models.base.declaration import MODELS

CORPUS = support_corpus()
TEXTS, TOPICS = CORPUS.texts[:80], CORPUS.labels[:80]
NEW = CORPUS.texts[80:100]
LONG = [" ".join(TEXTS[i : i + 12]) for i in range(60)]
SETS = [[topic, "shop"] if n % 2 else [topic] for n, topic in enumerate(TOPICS)]

SETTINGS = {
    **{name: {"model": name} for name in MODELS.names()},
    "regions": {"regions": ["subject", "body"], "model": "hybrid"},
    "regions svm": {"regions": ["subject", "body"], "model": LinearSVC(random_state=0)},
    "char": {"model": "softmax", "features": {"analyzer": "char_wb"}},
    "bigrams": {
        "model": "multinomial",
        "features": {"ngram_range": (1, 2), "min_df": 2, "max_features": 50},
    },
    "stop words": {"model": "complement", "features": {"stop_words": "english"}},
    "substitutions": {
        "model": LinearSVC(random_state=0),
        "features": {"substitutions": ("number", "address")},
    },
    "weights": {"model": LinearSVC(random_state=0), "class_weight": "balanced"},
    "weights by class": {
        "model": "multinomial",
        "class_weight": {t: 2.0 for t in set(TOPICS)},
    },
    "max_error": {"model": "multinomial", "max_error": 0.3},
    "max_error svm": {"model": LinearSVC(random_state=0), "max_error": 0.3},
    "several labels": {"model": LinearSVC(random_state=0), "labels": SETS},
    "several labels, abstaining": {
        "model": LinearSVC(random_state=0),
        "labels": SETS,
        "max_error": 0.3,
    },
    "several labels, counts": {"model": "multinomial", "labels": SETS},
    "novelty": {"model": "multinomial", "max_novelty": 0.05},
    "novelty svm": {
        "model": LinearSVC(random_state=0),
        "max_novelty": 0.05,
        "max_error": 0.3,
    },
    "pool of short texts": {"model": "semi-supervised", "pool": TEXTS * 8},
    "pool of long texts": {
        "model": "semi-supervised",
        "pool": LONG * 10,
        "texts": LONG,
    },
    "auto with a pool": {"pool": TEXTS * 8},
    "pool, promise": {"pool": TEXTS * 8, "max_error": 0.3},
    "pool, novelty": {"pool": TEXTS * 8, "max_novelty": 0.05},
    "whole labels": {"model": "multinomial", "labels": [len(t) for t in TOPICS]},
    "nodes": {"model": models.HierarchicalBayes(n_hidden=[1, 2], alpha=(0.1, 1.0))},
    "nodes, restarts": {"model": models.HierarchicalBayes(n_hidden=2, n_restarts=3)},
    "neighbours": {"model": models.NeighborsClassifier(n_neighbors=3)},
    "rocchio": {"model": models.RocchioClassifier()},
    "mlp": {"model": models.MultilayerPerceptron()},
    "logistic": {"model": LogisticRegression()},
    "sgd": {"model": SGDClassifier(random_state=0)},
    "ridge": {"model": RidgeClassifier()},
    "hybrid alphas": {"model": models.HybridBayes(alpha=[0.1, 1.0])},
    "linear, set": {"model": models.LinearMachine(C=1.0, prior=True)},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.filterwarnings("ignore::earmark.exceptions.EarmarkWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_comes_back(name, tmp_path):
    setting = dict(SETTINGS[name])
    texts = setting.pop("texts", TEXTS)
    labels = setting.pop("labels", TOPICS)[: len(texts)]
    pool = setting.pop("pool", None)
    new = NEW
    if "regions" in setting:
        texts = {"subject": TOPICS, "body": TEXTS}
        new = {"subject": ["refund"] * len(NEW), "body": NEW}
    classifier = TextClassifier(random_state=0, **setting)
    classifier.fit(texts, labels, unlabelled=pool)
    before = classifier.decide(new)
    path = tmp_path / "m.earmark"
    classifier.save(path)
    again = earmark.load(path)
    after = again.decide(new)
    assert_array_equal(before.labels, after.labels)
    assert_array_equal(before.scores, after.scores)
    if before.novelty is not None:
        assert_array_equal(before.novelty, after.novelty)
    assert again.summary() == classifier.summary()
    again.save(tmp_path / "again.earmark")
    assert path.read_bytes() == (tmp_path / "again.earmark").read_bytes()
    assert np.isfinite(after.confidence).all()
