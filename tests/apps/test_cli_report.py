"""``earmark evaluate``: slices, costs, doubtful labels, two models, lines."""

import csv
import json
import re
import shlex
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from earmark.apps.cli import serve
from earmark.apps.cli.main import app
from earmark.documents import support_corpus
from earmark.exceptions import DataError, EarmarkWarning


def run(*args, code=0):
    done = CliRunner().invoke(app, list(map(str, args)))
    if isinstance(done.exception, DataError):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def write(path, head, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, and documents of which one source has flipped labels."""
    folder = tmp_path_factory.mktemp("report")
    corpus, rng = support_corpus(), np.random.default_rng(0)
    order = rng.permutation(len(corpus.texts)).tolist()
    pairs = [(corpus.texts[row], corpus.labels[row]) for row in order]
    write(folder / "train.csv", ["text", "topic"], pairs[:100])
    classes = sorted(set(corpus.labels))
    rows = []
    for number, (text, label) in enumerate(pairs[80:]):
        source = ("web", "mail", "shop")[number % 3]
        if source == "shop":
            label = classes[(classes.index(label) + 1) % 4]
        rows.append((f"id-{number}", source, text, "" if number == 5 else label))
    for number, label in enumerate(classes):  # a text that has every label
        rows.append((f"copy-{number}", "web", "Where is the parcel I ordered?", label))
    write(folder / "test.csv", ["id", "source", "text", "topic"], rows)
    for name, kind in (("a", "complement"), ("b", "multinomial")):
        more = "--label", "topic", "--model", kind, "--out", folder / f"{name}.earmark"
        run("train", folder / "train.csv", *more)
    return folder


def evaluate(folder, *more, code=0):
    given = "--text", "text", "--label", "topic"
    return run(
        "evaluate", folder / "a.earmark", folder / "test.csv", *given, *more, code=code
    )


def test_all_other_columns_but_ids_are_sliced_for_a_report(folder, tmp_path):
    shown = evaluate(folder, "--report", tmp_path / "r.html", "--json").stdout
    facts = json.loads(shown)
    assert facts["slices"]["slices"][0]["column"] == "source"
    assert facts["slices"]["slices"][0]["value"] == "shop"
    assert "source = shop" in facts["next_steps"][0]["sentence"] + " ".join(
        step["sentence"] for step in facts["next_steps"]
    )
    page = (tmp_path / "r.html").read_text()
    assert f"--text text --label topic --report {tmp_path}/r.html</dd>" in page
    assert "--doubtful fix.csv</code>" in page
    assert "id = " not in page
    assert "Misread documents with source = shop" in page


def test_named_columns_are_sliced_and_others_are_not(folder):
    shown = evaluate(folder, "--slices", "id", "--json").stdout
    facts = json.loads(shown)
    assert all(one["column"] != "source" for one in facts["slices"]["slices"])
    assert "source = shop" in evaluate(folder, "--slices", "source").stdout
    assert "slices" not in json.loads(evaluate(folder, "--json").stdout)
    with pytest.raises(DataError, match=r"'sauce' \(asked for by --slices\)"):
        evaluate(folder, "--slices", "sauce")


def test_costs_are_measured_on_the_judged_documents(folder, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("true,account,billing,delivery,returns\nbilling,9,,9,9\n")
    facts = json.loads(evaluate(folder, "--costs", costs, "--json").stdout)
    assert facts["costs"]["n_documents"] == facts["n_documents"] == 103
    assert (
        "By your costs, these answers cost" in evaluate(folder, "--costs", costs).stdout
    )
    costs.write_text("true,other\nother,1\n")
    with pytest.raises(DataError, match="the costs name other"):
        evaluate(folder, "--costs", costs)


def test_the_command_of_the_report_opens_exactly_the_doubtful_documents(
    folder, tmp_path, monkeypatch
):
    fix, page = tmp_path / "to fix.csv", tmp_path / "r.html"
    shown = evaluate(folder, "--report", page, "--doubtful", fix).stdout
    command = re.search(r"^  (earmark label .*)$", shown, re.M)[1]
    name, *args = shlex.split(command)
    assert name == "earmark"
    with fix.open(newline="") as file:
        doubtful = [*csv.DictReader(file)]
    assert f"Fix these {len(doubtful)}" in shown
    with (folder / "test.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    for one in doubtful:  # rows are those of the file, which has one without a label
        assert rows[int(one["row"]) - 1]["text"] == one["text"]
        assert rows[int(one["row"]) - 1]["topic"] == one["labelled"]
    opened = []

    def look(session, *_):
        entries, labels = session.store.entries(), session.store.labels()
        opened.append((session.documents.texts, entries, labels))

    monkeypatch.setattr(serve, "_serve_labels", look)
    run(*args)
    [(texts, answers, labels)] = opened
    assert texts == [one["text"] for one in doubtful]
    assert answers == {}
    assert labels == ["account", "billing", "delivery", "returns"]


def test_options_of_one_model_are_refused_with_several(folder, tmp_path):
    both = folder / "a.earmark", folder / "b.earmark", folder / "test.csv"
    for option in ("--slices", "--costs", "--doubtful"):
        done = run("evaluate", *both, option, tmp_path / "x", code=2)
        assert f"{option} does not go with several models" in done.stderr
    done = run("evaluate", *both[1:], "--dask", "local", "--costs", "x", code=2)
    assert "--costs does not go with --dask" in done.stderr


def test_two_models_have_words_marked_in_what_is_gained_and_lost(folder, tmp_path):
    page = tmp_path / "both.html"
    both = folder / "a.earmark", folder / "b.earmark", folder / "test.csv"
    shown = run("evaluate", *both, "--text", "text", "--report", page).stdout
    head, verdict = shown.splitlines()[:2]
    assert head.index("a.earmark") < head.index("b.earmark")
    assert "No difference shown between a.earmark and b.earmark" in verdict
    text = page.read_text()
    assert '<mark class="for"' in text
    assert 'class="line series0"' in text
    assert 'class="line series1"' in text


def test_no_line_breaks_before_a_percent_sign(folder, tmp_path):
    shown = evaluate(folder, "--report", tmp_path / "r.html").stdout
    assert re.search(r"\d %", shown)
    assert not re.search(r"^ *%", shown, re.M)


@pytest.mark.slow
def test_the_new_parts_take_less_than_a_second_on_7500_documents():
    from earmark.evaluation import Report

    rng = np.random.default_rng(0)
    words = np.array([f"w{n}" for n in range(20_000)])
    texts = [" ".join(rng.choice(words, 150)) for _ in range(7500)]
    y, z = (rng.choice(["a", "b", "c"], 7500, p=(0.8, 0.1, 0.1)) for _ in range(2))
    columns = {"source": rng.choice(["web", "mail"], 7500), "n": rng.random(7500)}
    seconds = []
    for parts in ({}, {"columns": columns}):
        start = time.process_time()
        Report.from_predictions(y, z, texts=texts, **parts)
        seconds.append(time.process_time() - start)
    assert seconds[1] - seconds[0] < 1.5  # on a slow machine


def test_check_says_that_many_labels_are_contradicted(tmp_path):
    corpus, rng = support_corpus(), np.random.default_rng(1)
    classes, labels = sorted(set(corpus.labels)), [*corpus.labels[:120]]
    for row in rng.permutation(120)[:36].tolist():
        labels[row] = classes[(classes.index(labels[row]) + 1 + row % 3) % 4]
    pairs = zip(corpus.texts[:120], labels, strict=True)
    path = write(tmp_path / "wrong.csv", ["text", "topic"], pairs)
    said = " ".join(run("check", path, "--label", "topic").stdout.split())
    assert "no problems found" not in said
    assert "many labels are wrong; look at some. The most doubtful: rows " in said
    facts = json.loads(run("check", path, "--label", "topic", "--json").stdout)
    (finding,) = [one for one in facts["findings"] if one["kind"] == "contradicted"]
    assert f"differ from {len(finding['rows'])} of 120 labels" in finding["message"]
    assert facts["wrong_labels"]["interval"][1] >= 36


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    """A model whose labels hold commas, and its test documents."""
    folder = tmp_path_factory.mktemp("tickets")
    corpus = support_corpus()
    pairs = [(t, f"{y}, any") for t, y in zip(corpus.texts, corpus.labels, strict=True)]
    write(folder / "train.csv", ["text", "topic"], pairs[:120])
    model = folder / "m.earmark"
    run("train", folder / "train.csv", "--model", "hybrid", "--out", model)
    return model, pairs[120:]


def test_the_terminal_names_the_doubtful_labels_and_the_command_that_opens_them(
    tickets, tmp_path, monkeypatch
):
    model, rows = tickets
    classes = sorted({label for _, label in rows})
    # Every text with two labels: its copies contradict each other.
    wrong = [(t, classes[(classes.index(y) + 1) % 4]) for t, y in rows[:3]]
    test = write(tmp_path / "t.csv", ["text", "topic"], [*rows, *wrong])
    fix = tmp_path / "fix.csv"
    done = run("evaluate", model, test, "--doubtful", fix)
    with fix.open(newline="") as file:
        n = len([*csv.DictReader(file)])
    assert f"wrote {n} doubtful labels to {fix}; to fix them: " in done.stderr
    command = done.stderr.partition("to fix them: ")[2].splitlines()[0]
    assert command in done.stdout
    opened = []

    def look(session, *_):
        opened.extend(session.store.labels())

    monkeypatch.setattr(serve, "_serve_labels", look)
    run(*shlex.split(command)[1:])
    assert opened == classes


def test_without_a_doubtful_label_no_file_is_written_and_that_is_said(
    tickets, tmp_path
):
    model, rows = tickets
    classes = sorted({label for _, label in rows})
    rng, rows = np.random.default_rng(0), [[*row] for row in rows]
    for row in rng.permutation(60)[:15].tolist():
        rows[row][1] = classes[(classes.index(rows[row][1]) + 1 + row % 3) % 4]
    test = write(tmp_path / "t.csv", ["text", "topic"], rows)
    fix = tmp_path / "fix.csv"
    done = run("evaluate", model, test, "--doubtful", fix)
    assert f"no label is doubtful, so {fix} is not written" in done.stderr
    assert not fix.exists()
    assert "labels: the model is weak or many labels are wrong" in " ".join(
        done.stdout.split()
    )


def test_a_document_without_text_is_never_a_doubtful_label(tickets, tmp_path):
    model, rows = tickets
    blank = [["", label] for _, label in rows[:20]]
    test = write(tmp_path / "t.csv", ["text", "topic"], [*rows, *blank])
    run("evaluate", model, test, "--doubtful", tmp_path / "fix.csv")
    if (tmp_path / "fix.csv").exists():
        with (tmp_path / "fix.csv").open(newline="") as file:
            assert all(one["text"].strip() for one in csv.DictReader(file))
    done = run("train", test, "--model", "hybrid", "--out", tmp_path / "m.earmark")
    assert "warning: 20 documents without text" in done.stderr
    assert "near-duplicate" not in done.output


def test_doubtful_labels_are_written_as_csv_only(tickets, tmp_path):
    test = write(tmp_path / "t.csv", ["text", "topic"], tickets[1])
    done = run("evaluate", tickets[0], test, "--doubtful", tmp_path / "x.html", code=2)
    assert "expected a name that ends in .csv" in " ".join(done.stderr.split())


def test_explain_refuses_the_name_of_a_file_and_names_the_command_that_was_meant(
    folder,
):
    model, table = folder / "a.earmark", folder / "test.csv"
    done = run("explain", model, table, code=2)
    said = re.sub(r"[│\s]+", "", done.stderr)
    assert f"earmarkpredict{model}{table}--explain" in said
    assert f"earmarkexplain{model}-<{table}" in said
    run("explain", model, "where is my parcel.csv")
    run("explain", model, "parcel " * 2000)


def test_columns_that_are_no_slices_are_named_with_the_reason(folder, tmp_path):
    done = evaluate(folder, "--slices", "id,source")
    assert "--slices: id is left out: nearly every document has its own" in done.stderr
    assert "source = shop" in done.stdout
    for name, what in (("topic", "label"), ("text", "text")):
        done = evaluate(folder, "--slices", name, code=2)
        assert f"--slices: {name} is the {what}" in " ".join(done.stderr.split())
    corpus = support_corpus()
    rows = zip(corpus.texts[100:], ["web"] * 80, corpus.labels[100:], strict=True)
    test = write(tmp_path / "t.csv", ["text", "source", "topic"], rows)
    done = run("evaluate", folder / "a.earmark", test, "--slices", "source")
    assert "source is left out: all documents have the same" in done.stderr
    said = r"^\d+ slices? looked at: none is surely misread more often"
    assert re.search(said, done.stdout, re.M)


def test_a_label_that_the_model_never_learned_is_said_to_be_one(folder, tmp_path):
    corpus = support_corpus()
    labels = ["Rückgabe" if y == "returns" else y for y in corpus.labels[100:]]
    rows = zip(corpus.texts[100:], labels, strict=True)
    test = write(tmp_path / "t.csv", ["text", "topic"], rows)
    model, page = folder / "a.earmark", tmp_path / "r.html"
    with pytest.warns(EarmarkWarning, match="Rückgabe"):
        shown = run("evaluate", model, test, "--report", page)
    said = " ".join(shown.stdout.split())
    assert "The model never learned “Rückgabe”, so it misreads all" in said
    assert "Label more documents of “Rückgabe”" not in said
    assert "is found, it was never answered)" in said
    assert "found, 0.0 % of the answers" not in said


def test_one_label_is_no_plural(tmp_path, folder):
    test = write(tmp_path / "t.csv", ["text", "topic"], [("where is it", "billing")])
    assert "1 document, 1 label\n" in run("check", test, "--label", "topic").stdout
    shown = run("evaluate", folder / "a.earmark", test).stdout
    assert "1 classes" not in shown
    assert "1 documents" not in shown


def test_a_handful_of_contradicted_labels_is_no_finding(tmp_path):
    path = tmp_path / "few.csv"
    rows = ["the parcel is late,delivery", "where is my parcel,delivery"]
    rows += ["refund me now,billing", "i was charged twice,billing"]
    path.write_text("\n".join(["text,topic", *rows]), encoding="utf-8")
    told = CliRunner().invoke(app, ["check", str(path), "--label", "topic"]).output
    assert "Left-out answers differ" not in told
