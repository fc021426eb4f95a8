"""What Python can, from the command line: update, forget, curves, comparisons."""

import csv
import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import earmark
from earmark import TextClassifier
from earmark.apps.cli import data as reading
from earmark.documents import read_documents
from earmark.documents.document import fingerprint
from earmark.documents.format import FORMATS
from earmark.persistence import read_manifest
from tests.apps.test_cli import run

ANIMALS = ["the cat sat on the mat", "a dog chased the cat", "two mice ate cheese"]
VEHICLES = ["the car drove away", "my truck stopped", "a bus and a car waited"]
FIRST = [(t, "animal") for t in ANIMALS] + [(t, "vehicle") for t in VEHICLES]
SECOND = [("a horse and a dog ran", "animal"), ("the bus broke down", "vehicle")]


def write(path, rows, header=("text", "kind")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def first(tmp_path):
    return write(tmp_path / "first.csv", FIRST)


@pytest.fixture
def second(tmp_path):
    return write(tmp_path / "second.csv", SECOND)


def trained(data, out, *options):
    code, _, message = run("train", data, "--label", "kind", "-o", out, *options)
    assert code == 0, message
    return out


def probabilities(path):
    return earmark.load(path).predict_proba([*ANIMALS, "a horse in a bus", ""])


@pytest.mark.parametrize("name", ["multinomial", "bernoulli", "complement"])
def test_update_and_forget_are_training_with_and_without(tmp_path, first, second, name):
    model = trained(first, tmp_path / "m.earmark", "--model", name)
    before = probabilities(model)
    both = write(tmp_path / "both.csv", FIRST + SECOND)
    at_once = trained(both, tmp_path / "b.earmark", "--model", name)

    assert run("update", model, second)[0] == 0
    assert np.array_equal(probabilities(model), probabilities(at_once))
    data = read_manifest(model).metadata["training_data"]
    whole = read_manifest(at_once).metadata["training_data"]
    for fact in ("labelled", "classes", "fingerprint"):
        assert data[fact] == whole[fact]

    assert run("forget", model, second)[0] == 0
    assert np.array_equal(probabilities(model), before)


def test_what_was_forgotten_is_recorded_without_a_word_of_it(tmp_path, first):
    model = trained(first, tmp_path / "m.earmark", "--model", "multinomial")
    secret = write(tmp_path / "leave.csv", [("two mice ate cheese", "animal")])
    code, stdout, _ = run("forget", model, secret, "--json")
    assert code == 0
    (record,) = read_manifest(model).metadata["forgotten"]
    assert json.loads(stdout)["record"] == record
    assert record["documents"] == 1
    assert record["time"].endswith("+00:00")
    known = fingerprint(read_documents(secret, label="kind"))
    digest = hashlib.sha256(f"{record['salt']}{known}".encode()).hexdigest()
    assert record["hash"] == digest
    content = model.read_bytes()
    assert b"mice" not in content
    assert b"cheese" not in content
    assert "forgotten" in run("info", model)[1]


def test_another_file_may_take_the_change(tmp_path, first, second):
    model = trained(first, tmp_path / "m.earmark", "--model", "multinomial")
    old = model.read_bytes()
    assert run("update", model, second, "--out", tmp_path / "new.earmark")[0] == 0
    assert model.read_bytes() == old
    assert not np.array_equal(
        probabilities(model), probabilities(tmp_path / "new.earmark")
    )


def test_a_document_that_was_not_learned_cannot_be_forgotten(tmp_path, first, second):
    model = trained(first, tmp_path / "m.earmark", "--model", "multinomial")
    old = model.read_bytes()
    code, _, message = run("forget", model, second)
    assert code == 1
    assert "second.csv" in message
    assert model.read_bytes() == old


@pytest.mark.parametrize("name", ["softmax", "linear", "hybrid", "rocchio"])
@pytest.mark.parametrize("command", ["update", "forget"])
def test_a_model_without_exact_changes_says_what_to_do(
    tmp_path, first, second, name, command
):
    model = trained(first, tmp_path / "m.earmark", "--model", name)
    code, _, message = run(command, model, second)
    assert code == 1
    assert "multinomial" in message
    assert "train again" in message


def test_labels_are_checked_and_merged_with_those_of_the_model(tmp_path, first):
    model = trained(first, tmp_path / "m.earmark", "--model", "multinomial")
    odd = write(tmp_path / "odd.csv", [("a horse", "Animal "), ("no label", "")])
    code, _, message = run("update", model, odd)
    assert code == 1
    assert "Animal" in message
    code, _, stderr = run("update", model, odd, "--merge-labels")
    assert code == 0
    assert "left out 1 document without a label" in stderr
    classes = read_manifest(model).metadata["training_data"]["classes"]
    assert classes == {"animal": 4, "vehicle": 3}


def test_a_model_with_numbers_for_labels_is_updated(tmp_path):
    path = tmp_path / "m.earmark"
    TextClassifier("multinomial").fit(["good", "bad"], [1, 0]).save(path)
    more = write(tmp_path / "more.csv", [("great", "1")], ("text", "label"))
    assert run("update", path, more)[0] == 0
    assert earmark.load(path).predict(["great"]).tolist() == [1]


def test_a_model_that_abstains_is_changed_only_if_it_may_answer_all(
    tmp_path, first, second
):
    options = ("--model", "multinomial", "--max-error", "0.2")
    model = trained(first, tmp_path / "m.earmark", *options)
    code, _, message = run("update", model, second)
    assert code == 1
    assert "--answer-all" in message
    assert run("update", model, second, "--answer-all")[0] == 0
    assert None not in earmark.load(model).predict(ANIMALS).tolist()


def test_merging_labels_spans_training_and_calibration(tmp_path, first):
    rows = [(f"{text} again", label.upper()) for text, label in FIRST]
    calibration = write(tmp_path / "calibration.csv", rows)
    options = ("--model", "multinomial", "--calibration", calibration)
    model = trained(first, tmp_path / "m.earmark", *options, "--merge-labels")
    assert earmark.load(model).classes_.tolist() == ["animal", "vehicle"]
    assert earmark.load(model).evidence_.accuracy > 0.5


# -- learning curves and comparisons ------------------------------------------------


@pytest.fixture
def many(tmp_path):
    rng = np.random.default_rng(0)
    words = {"a": [f"x{i}" for i in range(30)], "b": [f"y{i}" for i in range(30)]}
    common = [f"z{i}" for i in range(60)]
    rows = []
    for n in range(120):
        label = "ab"[n % 2]
        text = [*rng.choice(words[label], 3), *rng.choice(common, 6)]
        rows.append((" ".join(text), label if n < 80 else ""))
    return write(tmp_path / "many.csv", rows)


def test_a_learning_curve_is_a_table_a_chart_and_json(many, tmp_path):
    chart = tmp_path / "curve.svg"
    options = ("--label", "kind", "--model", "multinomial", "--repeats", 2)
    code, stdout, _ = run("learning-curve", many, *options, "--chart", chart)
    assert code == 0
    assert "interval" in stdout
    assert "more labels" in stdout.lower()
    assert chart.read_text().rstrip().endswith("</svg>")
    sizes = ("--sizes", "10,20,40")
    found = json.loads(run("learning-curve", many, *options, *sizes, "--json")[1])
    assert found["sizes"] == [10, 20, 40]
    assert len(found["mean"]) == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--sizes", "ten"), "whole numbers"),
        (("--chart", "curve.doc"), ".svg"),
        (("--ngrams", "4,1"), "1,4"),
        (("--ngrams", "a"), "1,4"),
        (("--ngrams", "1,2,3"), "1,4"),
        (("--budget", "soon"), "60s"),
        (("--budget", "-1"), "60s"),
    ],
)
def test_options_of_a_curve_that_cannot_be_meant(many, wrong, said):
    code, _, message = run("learning-curve", many, "--label", "kind", *wrong)
    assert code == 2
    assert said in message


def test_a_comparison_has_auto_and_uses_documents_without_labels(many):
    seen = []
    fit = TextClassifier.fit

    def watched(self, X, y, *, unlabelled=None):
        seen.append((self.model, 0 if unlabelled is None else len(unlabelled)))
        return fit(self, X, y, unlabelled=unlabelled)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextClassifier, "fit", watched)
        code, stdout, _ = run("compare", many, "--label", "kind", "--repeats", 2)
    assert code == 0
    assert "auto" in stdout
    assert ("auto", 40) in seen


def test_a_pool_file_joins_the_documents_without_labels(many, tmp_path):
    pool = write(tmp_path / "pool.csv", [("x1 x2 z1", ""), ("y1 z2", "")])
    options = ("--label", "kind", "--models", "multinomial", "--repeats", 2, "--json")
    alone = json.loads(run("compare", many, *options)[1])
    with_pool = json.loads(run("compare", many, *options, "--unlabelled", pool)[1])
    assert [c["name"] for c in alone["classifiers"]]
    assert with_pool["n_train"] == alone["n_train"]


def test_characters_are_counted_if_asked_for(first, tmp_path):
    options = ("--model", "multinomial", "--analyzer", "char_wb", "--ngrams", "1,4")
    model = earmark.load(trained(first, tmp_path / "m.earmark", *options))
    assert model.features == {"analyzer": "char_wb", "ngram_range": (1, 4)}
    assert model.predict(["catlike"]).tolist() == ["animal"]
    model = trained(first, tmp_path / "n.earmark", "--analyzer", "char_wb")
    assert earmark.load(model).features["ngram_range"] == (1, 4)
    model = trained(first, tmp_path / "o.earmark", "--ngrams", "2")
    assert earmark.load(model).features == {"ngram_range": (1, 2)}


def test_a_budget_is_kept_with_the_model(first, tmp_path):
    model = trained(first, tmp_path / "m.earmark", "--budget", "2m")
    assert earmark.load(model).budget == 120.0


def test_large_data_is_read_in_parts_and_that_is_said(first, tmp_path, monkeypatch):
    whole = trained(first, tmp_path / "w.earmark", "--model", "multinomial")
    monkeypatch.setattr(reading, "_machine_memory", lambda: 800_000_000)
    large = replace(FORMATS["csv"], growth=10**6)
    monkeypatch.setitem(FORMATS._made, "csv", large)
    out = tmp_path / "p.earmark"
    options = ("--label", "kind", "-o", out)
    code, stdout, stderr = run("train", first, *options, "--model", "multinomial")
    assert code == 0
    assert "is large: read in parts, within 100.0 MB" in stderr
    assert "1 part " in stdout
    assert np.array_equal(probabilities(out), probabilities(whole))
    # What parts cannot do is done in memory.
    for more in (("--model", "mlp"), ("--max-error", "0.5"), ("--merge-labels",)):
        code, _, stderr = run("train", first, *options, *more)
        assert code == 0
        assert "in parts" not in stderr


@pytest.fixture
def several(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(90):
        has = (rng.random(2) < 0.5).astype(int).tolist()
        words = [f"x{rng.integers(9)} x{rng.integers(9)}"] * has[0]
        words += [f"y{rng.integers(9)} y{rng.integers(9)}"] * has[1]
        words += [f"z{rng.integers(30)}" for _ in range(4)]
        labels = "|".join(["left"] * has[0] + ["right"] * has[1]) or "|"
        rows.append((" ".join(words), labels))
    return write(tmp_path / "several.csv", rows)


def test_several_labels_per_document_are_compared(several):
    options = ("--label", "kind", "--multi-label", "--repeats", 2)
    code, stdout, message = run("compare", several, *options, "--models", "complement")
    assert code == 0, message
    assert "tf-idf + SVM" in stdout
    found = json.loads(
        run("compare", several, *options, "--models", "complement", "--json")[1]
    )
    best = found["classifiers"][0]
    assert best["accuracy"] > 0.7  # all labels right; one in four by chance
    assert best["log_loss"] is None


def test_several_labels_per_document_are_checked(several, tmp_path):
    lines = several.read_text().splitlines()
    wrong = next(n for n, line in enumerate(lines) if line.endswith(",left"))
    lines[wrong] = lines[wrong].replace(",left", ",right")
    path = tmp_path / "wrong.csv"
    path.write_text("\n".join(lines) + "\n")
    options = ("--label", "kind", "--multi-label")
    code, stdout, message = run("check", path, *options)
    assert code == 0, message
    assert "2 labels" in stdout
    found = json.loads(run("check", path, *options, "--json")[1])
    rows = [one["row"] for one in found["suspected_label_errors"]]
    assert wrong in rows[:3]


def test_facts_of_a_model_file_that_lie_are_passed_over(first, second, tmp_path):
    path = tmp_path / "lie.earmark"
    model = TextClassifier("multinomial").fit(*zip(*FIRST, strict=True))
    lies = {"columns": "text", "training_data": 7, "updates": "none"}
    model.save(path, metadata=lies)
    assert run("update", path, second, "--label", "kind")[0] == 0
    assert len(read_manifest(path).metadata["updates"]) == 1
    assert run("predict", path, second)[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks")
def test_changes_of_several_processes_at_once_all_count(tmp_path, first):
    model = trained(first, tmp_path / "m.earmark", "--model", "multinomial")
    processes = []
    for i in range(4):
        data = write(tmp_path / f"{i}.csv", [(f"newword{i} horse", "animal")])
        command = [sys.executable, "-m", "earmark", "update", str(model), str(data)]
        processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
    assert [process.wait() for process in processes] == [0] * 4
    known = read_manifest(model).metadata["training_data"]
    assert known["labelled"] == len(FIRST) + 4
    words = earmark.load(model).telling_terms(top=100)["animal"]
    assert {f"newword{i}" for i in range(4)} <= {word for word, _ in words}


def test_what_was_learned_about_confidence_is_not_told_after_a_change():
    texts = [f"{word} w{n}" for n, word in enumerate(["cats dogs", "cars roads"] * 30)]
    labels = ["animal", "vehicle"] * 30
    model = TextClassifier("multinomial", learn_confidence=True).fit(texts, labels)
    model.measure_confidence(texts, labels)
    assert "confidence" in model.summary()
    model.partial_fit(["new cats"], ["animal"])
    assert "confidence" not in model.summary()
    assert "accuracy" not in model.summary()
