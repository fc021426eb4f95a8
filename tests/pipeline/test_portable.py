"""A model as JSON: readers without earmark give the same labels and scores."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from earmark.apps.cli import main as cli
from earmark.documents import Documents, docstring_corpus, load_corpus
from earmark.exceptions import NotSupportedError
from earmark.pipeline import TextClassifier
from earmark.pipeline.portable import portable
from tests.pages import ROOT

READERS = {
    "Python": [sys.executable, "-S", ROOT / "examples/readers/earmark_model.py"],
    "JavaScript": ["node", ROOT / "examples/readers/earmark_model.mjs"],
}
ODD = [
    "",
    "   ",
    "ΑΣ ΟΔΟΣ İstanbul straße ﬁne Ǆ",
    "naïve café e\u0301 \u0301 x\u0301",
    "東京 とうきょう 한국어 ไทย ½ ² ⅷ ٣",
    "a\x1cb\x85c\xa0d\u2028e\ufefff g\u200bh",
    "😀😀 🏳️‍🌈 don't e-mail: a_b__c 1,000.50 $%&!!! ---",
    "word " * 300,
    "zzzzqqq unheard-ofness xxyyzz",
]


def answers(reader, path, documents):
    """What a reader says of documents, one process for all."""
    command = READERS[reader]
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not here")
    lines = "".join(json.dumps(one) + "\n" for one in documents)
    done = subprocess.run(
        [*command, path],
        input=lines.encode("utf-8", "surrogatepass"),
        capture_output=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def require_same(model, path, documents, regions=None):
    """Both readers give the labels and scores of the model."""
    X = documents
    if regions is not None:
        X = {name: [one[name] for one in documents] for name in regions}
    labels = model.predict(X).tolist()
    texts = model._texts(X)
    scores = model.text_model_.scores(texts)
    path.write_text(json.dumps(portable(model)))
    for reader in READERS:
        said = answers(reader, path, documents)
        assert [one["label"] for one in said] == labels
        own = np.array([one["scores"] for one in said])
        assert np.abs(own - scores).max() < 1e-6


@pytest.fixture(scope="module")
def corpus():
    every = docstring_corpus()
    some = every.take(range(0, len(every), 4))
    return Documents(some.joined(), some.labels)


@pytest.mark.parametrize(
    "model", ["linear", "softmax", "multinomial", "bernoulli", "complement"]
)
def test_readers_give_the_same_labels_and_scores(tmp_path, corpus, model):
    half = len(corpus) // 2
    fitted = TextClassifier(model, random_state=0)
    fitted.fit(corpus.texts[:half], corpus.labels[:half])
    require_same(fitted, tmp_path / "m.json", corpus.texts[half:][:200] + ODD)


def test_two_classes_and_no_encoder_are_read_as_well(tmp_path):
    texts = ["good film", "bad film", "good plot", "bad plot"] * 6
    fitted = TextClassifier("linear", encoder=None, random_state=0)
    fitted.fit(texts, ["pos", "neg"] * 12)
    require_same(fitted, tmp_path / "m.json", texts + ODD)


@pytest.mark.parametrize(
    "features",
    [
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"ngram_range": (1, 3), "stop_words": "english", "lowercase": False},
        {"token_pattern": r"(?u)\b\w\w\w+\b", "binary": True},
    ],
)
def test_all_analyzers_are_read(tmp_path, corpus, features):
    fitted = TextClassifier("softmax", features=features, random_state=0)
    fitted.fit(corpus.texts[:300], corpus.labels[:300])
    require_same(fitted, tmp_path / "m.json", corpus.texts[300:400] + ODD)


@pytest.mark.parametrize("model", ["linear", "multinomial"])
def test_regions_are_read(tmp_path, model):
    pairs = [("lunch", "at noon"), ("pills", "cheap, only today"), ("lunch", "pills")]
    documents = [{"subject": s, "body": b} for s, b in pairs * 8]
    X = {n: [one[n] for one in documents] for n in ("subject", "body")}
    fitted = TextClassifier(model, random_state=0).fit(X, ["a", "b", "a"] * 8)
    require_same(fitted, tmp_path / "m.json", documents, ("subject", "body"))


def test_probabilities_are_those_of_the_model(tmp_path, corpus):
    sys.path.insert(0, str(ROOT / "examples/readers"))
    try:
        from earmark_model import Model
    finally:
        sys.path.pop(0)
    for name in ("complement", "linear"):
        fitted = TextClassifier(name, random_state=0)
        fitted.fit(corpus.texts[:300], corpus.labels[:300])
        (tmp_path / "m.json").write_text(json.dumps(portable(fitted)))
        reader = Model(tmp_path / "m.json")
        own = [reader.probabilities(text) for text in corpus.texts[300:350]]
        answer = fitted.predict_proba(corpus.texts[300:350])
        assert np.allclose(own, answer, atol=1e-6)


def test_what_is_no_sum_over_terms_is_refused(corpus):
    texts, labels = corpus.texts[:100], corpus.labels[:100]
    with pytest.raises(NotSupportedError, match="knn has no scores that are sums"):
        portable(TextClassifier("knn").fit(texts, labels))
    several = TextClassifier("multinomial", multi_label=True)
    with pytest.raises(NotSupportedError, match="one label per document"):
        portable(several.fit(texts, [[label] for label in labels]))
    own = TextClassifier("multinomial", features={"token_pattern": "[a-z]+"})
    with pytest.raises(NotSupportedError, match="a pattern of your own"):
        portable(own.fit(texts, labels))
    own = TextClassifier("multinomial", features={"strip_accents": "unicode"})
    with pytest.raises(NotSupportedError, match="which JSON cannot hold"):
        portable(own.fit(texts, labels))


def test_the_command_writes_the_file(tmp_path, corpus):
    fitted = TextClassifier("multinomial").fit(corpus.texts[:300], corpus.labels[:300])
    fitted.save(tmp_path / "m.earmark")
    out = tmp_path / "m.json"
    run = CliRunner()
    command = ["export", str(tmp_path / "m.earmark"), "--out", str(out)]
    done = run.invoke(cli.app, [*command, "--format", "json"])
    assert done.exit_code == 0, done.output
    assert "wrote" in done.output
    assert answers("Python", out, corpus.texts[300:302])[0]["label"]
    done = run.invoke(cli.app, [*command, "--format", "onnx"])
    assert done.exit_code == 2


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["r8", "20newsgroups", "imdb", "trec"])
@pytest.mark.parametrize("model", ["linear", "multinomial"])
def test_readers_agree_on_corpora(tmp_path, name, model):
    documents = load_corpus(name)
    order = np.random.default_rng(0).permutation(len(documents))
    train, test = documents.take(order[:2000]), documents.take(order[2000:3000])
    fitted = TextClassifier(model, random_state=0).fit(train.joined(), train.labels)
    require_same(fitted, tmp_path / "m.json", test.joined())
