"""Encoders on the command line: train, then everything from the model file alone."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from earmark import TextClassifier
from earmark.apps.cli.main import app
from earmark.encoders import encoder
from earmark.exceptions import DataError
from tests.encoders.test_by_name import WORDS, sentences
from tests.encoders.tiny import tiny_model2vec


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    encoder._loaded.cache_clear()


def run(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def write(path, texts, labels):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("text", "topic"), *zip(texts, labels, strict=True)])


def test_train_predict_and_look_at_the_cache(tmp_path):
    tiny_model2vec(tmp_path / "tiny", WORDS)
    X, y = sentences(620, 0)
    write(tmp_path / "data.csv", X, [*y[:20], *[""] * 600])
    told = run("train", "data.csv", "--label", "topic", "--encoder", "model2vec:tiny")
    assert "the encoder has" in told.stdout
    encoder._loaded.cache_clear()
    X, y = sentences(50, 3)
    write(tmp_path / "new.csv", X, y)
    told = run(
        "predict", "model.earmark", "new.csv", "--text", "text", "--format", "csv"
    )
    answers = list(csv.DictReader(told.stdout.splitlines()))
    assert np.mean([row["label"] for row in answers] == y) > 0.9
    listed = json.loads(run("cache", "--json").stdout)
    assert [(e["name"], e["n_texts"]) for e in listed] == [
        ("model2vec:tiny", len(set(sentences(620, 0)[0])))
    ]
    assert "model2vec:tiny" in run("cache").stdout
    assert "no vectors" in run("cache", "fastembed", "--clear").stdout
    run("cache", "--clear")
    assert json.loads(run("cache", "--json").stdout)[0]["n_texts"] == 0


def test_a_wrong_name_is_wrong_usage(tmp_path):
    write(tmp_path / "data.csv", *sentences(9, 0))
    done = run("train", "data.csv", "--label", "topic", "--encoder", "bert")
    assert done.exit_code == 2
    assert "model2vec:NAME" in " ".join(done.stderr.split())
    with pytest.raises(DataError, match="is not known"):
        run("fetch", "bert:x")


def test_an_encoder_that_is_not_here_is_told_before_the_data_is_read():
    where = "model2vec:./nowhere"
    done = run("train", "missing.csv", "--label", "topic", "--encoder", where)
    assert done.exit_code == 2
    said = " ".join(done.stderr.replace("│", " ").split())
    assert "there is no folder ./nowhere" in said
    with pytest.raises(DataError, match="there is no folder"):
        TextClassifier(encoder=where).fit(None, None)


def test_compare_puts_a_regression_on_the_vectors_beside_it(tmp_path):
    tiny_model2vec(tmp_path / "tiny", WORDS)
    X, y = sentences(620, 0)
    write(tmp_path / "data.csv", X, [*y[:60], *[""] * 560])
    given = ("compare", "data.csv", "--label", "topic", "--encoder", "model2vec:tiny")
    told = run(*given, "--models", "semi-supervised", "--repeats", "2", "--json")
    models = {r["name"]: r for r in json.loads(told.stdout)["classifiers"]}
    assert {"semi-supervised", "encoder + LR", "tf-idf + LR"} <= set(models)
    assert np.mean(models["encoder + LR"]["scores"]) > 0.8
    rows = [("title", "text", "topic"), *zip(X[::-1], X, y, strict=True)][:61]
    with (tmp_path / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    regions = ("--text", "title,text", "--repeats", "2", "--models", "multinomial")
    assert "encoder + LR" in run(*given, *regions).stdout
