"""Encoders by name: what is loaded, what is refused, and what a model file keeps."""

import json
import sys
import types

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import earmark
from earmark import TextClassifier, _optional
from earmark.encoders import encoder as module
from earmark.encoders import fetch_encoder, load_encoder
from earmark.exceptions import (
    DataError,
    MissingDependencyError,
    ModelFormatError,
    NotSupportedError,
)
from earmark.features import vectors as encoder_columns
from earmark.progress import listening
from tests.encoders.tiny import tiny_model2vec

TOPICS = {
    "garden": "rose soil seed spade compost tulip prune hedge lawn bulb weed shed",
    "kitchen": "flour butter oven whisk sugar dough pan recipe bake spoon salt yeast",
    "sea": "sail anchor tide harbour mast wave keel storm buoy deck rope gull",
}
WORDS = " ".join(TOPICS.values()).split()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "cache"))
    module._loaded.cache_clear()


@pytest.fixture
def tiny(tmp_path):
    """A name for a model that knows the words, and those of the probe sentences."""
    probed = sorted({w for text in module.PROBES for w in text.lower().split()})
    folder = tiny_model2vec(tmp_path / "tiny", dict.fromkeys([*WORDS, *probed]))
    return f"model2vec:{folder}"


def sentences(n, seed):
    rng = np.random.default_rng(seed)
    labels = np.array(sorted(TOPICS))[rng.integers(0, 3, n)]
    return [" ".join(rng.choice(TOPICS[c].split(), 6)) for c in labels], labels


@pytest.fixture
def fitted(tiny):
    X, y = sentences(20, 0)
    model = TextClassifier("semi-supervised", encoder=tiny, random_state=0)
    return model.fit(X, y, unlabelled=sentences(600, 1)[0])


def test_a_text_is_what_model2vec_makes_of_it(tiny):
    from model2vec import StaticModel

    X, _ = sentences(50, 0)
    expected = StaticModel.from_pretrained(tiny.partition(":")[2]).encode(X)
    assert_allclose(load_encoder(tiny)(X), expected, atol=1e-6)
    assert load_encoder(tiny) is load_encoder(tiny)  # weights are loaded once
    assert load_encoder(tiny)([]).shape == (0, 8)


@pytest.mark.parametrize("name", ["", "bert", "model2vec:", "pickle:x", "minilm:x"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(
        DataError, match=r"expected minilm, static, fastembed:NAME, mod"
    ):
        TextClassifier(encoder=name).fit(*sentences(20, 0))


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("model2vec:x", "model2vec"),
        ("fastembed:x", "fastembed"),
        ("sentence-transformers:x", "sentence-transformers"),
        ("minilm", "fastembed"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, name, extra):
    for package in ("model2vec", "fastembed", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(_optional, "find_spec", lambda package: None)
    with pytest.raises(MissingDependencyError, match=rf"\.\[{extra}\]"):
        load_encoder(name)


def test_weights_that_are_not_here_are_not_downloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(DataError, match="earmark fetch model2vec:nobody/nothing"):
        load_encoder("model2vec:nobody/nothing")
    with pytest.raises(DataError, match="there is no folder /nowhere/at/all"):
        load_encoder("model2vec:/nowhere/at/all")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="cannot be loaded"):
        load_encoder(f"model2vec:{tmp_path / 'empty'}")


def test_equal_texts_are_encoded_once_and_never_again(tiny, monkeypatch):
    encoder = load_encoder(tiny)
    seen = []
    whole = encoder._encode
    encoder._encode = lambda texts: seen.extend(texts) or whole(texts)
    X, y = sentences(20, 0)
    pool = sentences(600, 1)[0] * 2
    told = []
    model = TextClassifier("semi-supervised", encoder=tiny, class_names=None)
    with listening(lambda loops: told.extend((x.done, x.total) for x in loops[-1:])):
        model.fit(X, y, unlabelled=pool)
    texts = [text for text in seen if text not in module.PROBES]
    assert sorted(texts) == sorted({*X, *pool})
    told = [pair for pair in told if pair[1] == len(texts)]
    assert told[-1] == (len(texts), len(texts))
    assert len(told) > 3
    seen.clear()
    model.fit(X, y, unlabelled=pool)
    model.measure_confidence(X, y, unlabelled=pool)
    assert seen == []


def test_the_file_brings_the_encoder_back(fitted, tiny, tmp_path):
    X, y = sentences(200, 2)
    path = tmp_path / "m.earmark"
    fitted.save(path)
    module._loaded.cache_clear()
    again = earmark.load(path)
    assert again.encoder == tiny
    assert np.mean(again.predict(X) == y) > 0.9
    assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    other = earmark.load(path, encoder=load_encoder(tiny))  # a function, the same
    assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))


def test_another_encoder_is_refused(fitted, tiny, tmp_path):
    path = tmp_path / "m.earmark"
    fitted.save(path)
    probed = sorted({w for text in module.PROBES for w in text.lower().split()})
    other = tiny_model2vec(tmp_path / "other", [*WORDS, *probed], seed=1)
    wide = tiny_model2vec(tmp_path / "wide", [*WORDS, *probed], width=9)
    for folder in (other, wide):
        with pytest.raises(NotSupportedError, match=r"not the one .* or train again"):
            earmark.load(path, encoder=f"model2vec:{folder}")
    tiny_model2vec(tmp_path / "tiny", [*WORDS, *probed], seed=1)  # in its place
    module._loaded.cache_clear()
    with pytest.raises(NotSupportedError, match="probe sentences differ"):
        earmark.load(path)


def test_without_its_weights_a_file_says_what_to_do(fitted, tmp_path):
    path = tmp_path / "m.earmark"
    fitted.save(path)
    (tmp_path / "tiny").rename(tmp_path / "moved")
    module._loaded.cache_clear()
    with pytest.raises(DataError, match="there is no folder"):
        earmark.load(path)
    again = earmark.load(path, encoder=f"model2vec:{tmp_path / 'moved'}")
    assert again.encoder.endswith("moved")
    again.save(path)
    assert earmark.load(path).encoder.endswith("moved")


@pytest.mark.parametrize("name", ["pickle:x", "model2vec://host/share", "os.system"])
def test_a_name_in_a_file_is_of_a_known_kind(fitted, tmp_path, name):
    path = tmp_path / "m.earmark"
    fitted.columns_.encoder.encoder = name
    fitted.save(path)
    with pytest.raises(ModelFormatError, match="the name of an encoder"):
        earmark.load(path)


# -- the other two packages, by their interface; the real ones in the slow tests -----


def a_package(monkeypatch, name, **members):
    package = types.ModuleType(name)
    vars(package).update(members)
    monkeypatch.setitem(sys.modules, name, package)


class Fastembed:
    def __init__(self, name, local_files_only):
        if "absent" in name:
            raise OSError("not here")
        assert local_files_only

    @staticmethod
    def list_supported_models():
        names = ("small", "absent", "sentence-transformers/all-MiniLM-L6-v2")
        return [{"model": name} for name in names]

    def embed(self, texts):
        return (np.full(3, len(text), dtype=float) for text in texts)


def test_fastembed_serves_its_own_models(monkeypatch):
    a_package(monkeypatch, "fastembed", TextEmbedding=Fastembed)
    encoder = load_encoder("fastembed:small")
    assert_array_equal(encoder(["ab", "c"]), [[2, 2, 2], [1, 1, 1]])
    with pytest.raises(DataError, match="has no model 'large'; it has absent"):
        load_encoder("fastembed:large")
    with pytest.raises(DataError, match="earmark fetch fastembed:absent"):
        load_encoder("fastembed:absent")
    monkeypatch.setattr(
        _optional, "find_spec", lambda name: name == "fastembed" or None
    )
    minilm = load_encoder("minilm")
    assert minilm.name == "fastembed:sentence-transformers/all-MiniLM-L6-v2"


class SentenceTransformer:
    def __init__(self, place, trust_remote_code, local_files_only, model_kwargs):
        assert trust_remote_code is False
        assert local_files_only is True
        assert model_kwargs == {"use_safetensors": True}

    def encode(self, texts, show_progress_bar):
        return np.ones((len(texts), 2))


PARTS = [
    {"type": f"sentence_transformers.models.{n}"} for n in ("Transformer", "Dense")
]


def test_sentence_transformers_of_data_only(monkeypatch, tmp_path):
    a_package(
        monkeypatch, "sentence_transformers", SentenceTransformer=SentenceTransformer
    )
    name = f"sentence-transformers:{tmp_path}"
    (tmp_path / "modules.json").write_text(json.dumps(PARTS))
    (tmp_path / "pytorch_model.bin").touch()
    (tmp_path / "model.safetensors").touch()
    assert_array_equal(load_encoder(name)(["a"]), [[1, 1]])


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("modules.json", [{"type": "evil.Code"}], "evil.Code"),
        ("modules.json", [{"type": "sentence_transformers.util.run"}], "util.run"),
        ("modules.json", "evil", "evil"),
        ("config.json", {"auto_map": {"AutoModel": "evil.Model"}}, "evil.Model"),
        ("2_Dense/config.json", {"activation_function": "os.system"}, "os.system"),
        ("router_config.json", {"types": {"a": "evil.Code"}}, "a router"),
        ("2_Dense/pytorch_model.bin", {}, "may hold code"),
    ],
)
def test_a_folder_with_code_is_refused(monkeypatch, tmp_path, file, content, told):
    a_package(monkeypatch, "sentence_transformers", SentenceTransformer=None)
    (tmp_path / "modules.json").write_text(json.dumps(PARTS))
    (tmp_path / "2_Dense").mkdir()
    (tmp_path / file).write_text(json.dumps(content))
    with pytest.raises(DataError, match=told):
        load_encoder(f"sentence-transformers:{tmp_path}")


def test_fetching_asks_the_package(monkeypatch, tiny):
    load_encoder(tiny)  # model2vec imports the hub while it is the real one
    asked = []

    def download(place, local_files_only, allow_patterns):
        asked.append((place, local_files_only))
        return tiny.partition(":")[2]

    a_package(monkeypatch, "huggingface_hub", snapshot_download=download)
    assert fetch_encoder("model2vec:some/model") == "model2vec:some/model"
    assert asked == [("some/model", False)]
    load_encoder("model2vec:some/model")
    assert asked[1:] == [("some/model", True)]

    def fail(place, **options):
        raise OSError("no network")

    a_package(monkeypatch, "huggingface_hub", snapshot_download=fail)
    with pytest.raises(DataError, match="cannot be fetched: no network"):
        fetch_encoder("model2vec:another/model")


# -- an encoder of words --------------------------------------------------------------


@pytest.fixture
def by_words(tiny):
    X, y = sentences(20, 0)
    model = TextClassifier(
        "semi-supervised", encoder=f"words:{tiny}", class_names=None, random_state=0
    )
    return model.fit(X, y, unlabelled=sentences(600, 1)[0])


def test_a_document_is_the_sum_of_its_words(by_words, tiny):
    X, y = sentences(100, 2)
    columns = by_words.columns_
    features, counter = columns.encoder, columns.counter
    terms = list(counter.get_feature_names_out())
    raw = load_encoder(tiny)(terms).astype(float)
    raw -= raw.mean(axis=0)
    first = np.linalg.svd(raw)[2][0]
    table = raw - np.outer(raw @ first, first)
    assert_allclose(features.table, table, atol=1e-5)
    counts = counter.transform(X)
    idf = features.weighting.transform(counts).toarray()
    whole = idf @ table
    units = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    made = columns.rows({"text": X}).of("vector")
    assert_allclose(made, units - features.mean, atol=1e-5)
    assert np.mean(by_words.predict(X) == y) > 0.9


def test_its_evidence_adds_up_word_by_word(by_words):
    X, _ = sentences(20, 2)
    fitted = by_words.text_model_

    def told(texts):
        parts = fitted.contributions(
            {"text": texts}, lambda c: "".join(map(str, fitted.columns.describe(c)[:1]))
        )
        return [(p, p.terms.sum(axis=0) + sum(p.constants.values())) for p in parts]

    scores = fitted.model.class_scores(fitted.rows({"text": X}))
    for (part, total), expected in zip(told(X), scores, strict=True):
        assert "encoder" not in part.constants
        assert_allclose(total, expected, rtol=1e-6, atol=1e-6)
    # What the encoder says moves the words; without its student the sum is another.
    (before, _), *_ = told(X)
    fitted.model.students_["encoder"].weights_ *= 2
    (after, total), *_ = told(X)
    moved = fitted.model.class_scores(fitted.rows({"text": X[:1]}))[0]
    assert np.abs(after.terms - before.terms).max() > 1e-3
    assert_allclose(total, moved, rtol=1e-6, atol=1e-6)


def test_its_file_needs_no_encoder(by_words, tmp_path, monkeypatch):
    X, _ = sentences(50, 2)
    before = by_words.predict_proba(X)
    by_words.save(tmp_path / "m.earmark")
    (tmp_path / "tiny").rename(tmp_path / "gone")
    module._loaded.cache_clear()
    monkeypatch.setitem(sys.modules, "model2vec", None)
    assert_array_equal(earmark.load(tmp_path / "m.earmark").predict_proba(X), before)


def test_words_without_a_vector_stay_without():
    vectors = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    vectors[3] = 0
    table = encoder_columns.word_table(vectors)
    assert not table[3].any()
    assert_allclose(np.delete(table, 3, axis=0).mean(axis=0), 0, atol=1e-6)
    assert not encoder_columns.word_table(np.zeros((2, 4), dtype=np.float32)).any()


# -- a sample of a large pool --------------------------------------------------------


def test_of_a_large_pool_a_sample_is_encoded(tiny, monkeypatch):
    encoder = load_encoder(tiny)
    encoder.is_quick = False
    monkeypatch.setattr(encoder_columns, "MOST_ENCODED", 200)
    seen = []
    whole = encoder._encode
    encoder._encode = lambda texts: seen.extend(texts) or whole(texts)
    X, y = sentences(20, 0)
    pool = sentences(700, 1)[0]
    model = TextClassifier("semi-supervised", encoder=tiny, class_names=None)
    model.fit(X, y, unlabelled=pool)
    encoded = set(seen) - set(module.PROBES)
    assert len(encoded) == len({*X}) + 200
    assert set(X) <= encoded
    n_spared = sum(text not in encoded for text in pool)
    assert f"{n_spared} documents of the pool were not encoded" in model.summary()
    X_test, y_test = sentences(200, 2)
    assert np.mean(model.predict(X_test) == y_test) > 0.9
    seen.clear()
    model.fit(X, y, unlabelled=[*pool[::-1], "tide tide oven"])  # the same sample
    assert len(set(seen) - set(X_test)) <= 1


def test_vectors_are_told_from_words_by_ridge_regression(rng):
    known, rows = (sparse.random_array((n, 30), density=0.2, rng=rng) for n in (40, 9))
    known, rows = known.tocsr(), rows.tocsr()
    vectors = rng.normal(size=(40, 5))
    made = encoder_columns.vectors_from_words(known, vectors, rows)
    A, mean = known.toarray(), vectors.mean(axis=0)
    weights = np.linalg.solve(A.T @ A + np.eye(30), A.T @ (vectors - mean))
    assert_allclose(made, rows.toarray() @ weights + mean, atol=1e-4)
    constant = encoder_columns.vectors_from_words(known, np.ones((40, 2)), rows)
    assert_allclose(constant, 1.0)
