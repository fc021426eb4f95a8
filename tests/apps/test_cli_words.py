"""What the commands say: their own flags and honest shares."""

import csv
import json
import re
import sys

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from earmark import TextClassifier
from earmark.apps.cli import console
from earmark.apps.cli import main as cli
from earmark.documents.format import FORMATS
from earmark.documents.support import write_support_corpus
from earmark.evaluation import learning_curve
from earmark.evaluation.report.text import targets
from earmark.exceptions import DataError, EarmarkError, EarmarkWarning, Try
from earmark.folds import stratified_folds
from earmark.pipeline.explain import Explanation, TermEvidence

# A parameter or a name of Python: text=, allow_unlabelled, TextClassifier.
PYTHON = re.compile(r"\b\w+=|\b[a-z]+_[a-z]+\b|TextClassifier|read_documents")


def run(*args):
    return CliRunner().invoke(cli.app, list(map(str, args)))


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def message(*args):
    """What the command would print on stderr: its words, warnings or error."""
    done = run(*args)
    if isinstance(done.exception, EarmarkError):
        return done.exception.said(console.words)
    return done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("words")
    train, _ = write_support_corpus(path)
    model = path / "m.earmark"
    done = run("train", train, "--label", "topic", "--max-error", 0.1, "-o", model)
    assert done.exit_code == 0, done.stderr
    return path


@pytest.mark.parametrize(
    ("name", "content", "flag"),
    [
        ("two.csv", "a,topic,b\nsome words,x,more words\n", "--text"),
        ("latin.csv", "text,topic\ncaf\xe9,a\n".encode("latin-1"), "--encoding"),
        ("nul.csv", b"text,topic\na\0b,a\n", "--encoding utf-16"),
        ("open.csv", 'text,topic\n"never closed,a\n', "--no-quotes"),
        ("lists.jsonl", '{"text": "a", "topic": ["x", "y"]}\n', "--multi-label"),
        ("floats.jsonl", '{"text": "a", "topic": 1.5}\n', "--label"),
        ("odd.xyz", "text,topic\na,b\n", "--format"),
        ("case.csv", "text,topic\n" + "red sun,A\nblue sea,a\n" * 3, "--merge-labels"),
    ],
)
def test_messages_name_flags_and_no_parameters(name, content, flag, tmp_path):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.warns() if name == "case.csv" else np.errstate() as warned:
        said = message("train", path, "--label", "topic", "-o", tmp_path / "m")
    if name == "case.csv":
        said = "\n".join(one.message.said(console.words) for one in warned)
    assert flag in said
    assert not PYTHON.search(said), said


def test_a_parameter_without_a_flag_is_left_out(folder):
    error = DataError("a quote is not closed", Try("otherwise raise", field_limit=...))
    run("predict", folder / "m.earmark", folder / "test.csv")
    assert error.said(console.words) == "a quote is not closed."


def test_advice_about_python_is_left_out_for_a_model_changed_there(folder):
    texts, labels = ["a cat", "a dog", "my car", "my bus"] * 9, [0, 0, 1, 1] * 9
    model = TextClassifier("multinomial", max_error=0.2).fit(texts, labels)
    with pytest.warns(EarmarkWarning, match="does not hold after this change"):
        model.partial_fit(texts, labels)
    model.save(folder / "changed.earmark")
    said = message("predict", folder / "changed.earmark", folder / "test.csv")
    assert said.endswith("fit with --max-error set (earmark train --max-error).")


def test_words_of_python_inside_data_stay_as_they_are(folder, tmp_path):
    rows = (folder / "test.csv").read_text().replace("delivery", "class_weight")
    odd = tmp_path / "text=1.csv"
    odd.write_text(rows)
    run("train", folder / "train.csv", "--model", "complement", "-o", tmp_path / "m")
    said = message("update", tmp_path / "m", odd, "--label", "topic")
    assert "has not learned the label(s) class_weight" in said
    assert "text=1.csv" in said
    assert "--class-weight" not in said


def test_predict_counts_its_own_answers(folder):
    done = run(
        "predict", folder / "m.earmark", folder / "test.csv", "--max-error", 0.05
    )
    answered = sum(
        bool(row["label"]) for row in csv.DictReader(done.stdout.splitlines())
    )
    assert 0 < answered < 60
    assert f"Answered {answered} of 60 ({answered / 0.6:.1f} %); " in done.stderr
    assert "an estimate from the training documents" in done.stderr


def test_max_error_of_a_model_that_knows_no_errors_is_refused(folder, tmp_path):
    model = tmp_path / "m.earmark"
    run("train", folder / "train.csv", "--label", "topic", "--no-estimate", "-o", model)
    said = message("predict", model, folder / "test.csv", "--max-error", 0.1)
    assert "train it with --max-error" in said


def test_a_curve_of_two_sizes_promises_nothing(folder):
    options = ("--label", "topic", "--model", "complement", "--repeats", 2)
    for sizes in ("40", "40,60"):
        done = run("learning-curve", folder / "train.csv", *options, "--sizes", sizes)
        assert "At least 3 sizes are needed" in done.stdout
        assert "points of accuracy" not in done.stdout
    done = run(
        "learning-curve", folder / "train.csv", *options, "--sizes", "40", "--json"
    )
    facts = json.loads(done.stdout)
    assert facts["gain_of_doubling"] is facts["exponent"] is None


def test_a_curve_is_carried_on_from_three_sizes(folder):
    rows = rows_of(folder / "train.csv")
    texts, labels = [row["text"] for row in rows], [row["topic"] for row in rows]
    far = {
        n: learning_curve(
            TextClassifier("complement"), texts, labels, sizes=sizes, n_repeats=2
        ).horizon
        for n, sizes in ((2, [20, 60]), (3, [20, 40, 60]))
    }
    assert far == {2: 60, 3: 240}


@pytest.mark.filterwarnings("ignore:--classes does not name")
def test_classes_that_look_alike_are_pointed_out(folder, tmp_path):
    with pytest.warns(match="Delivery and delivery differ only by case") as _:
        run(
            "train", folder / "train.csv", "--label", "topic", "--classes",
            "delivery,Delivery", "-o", tmp_path / "m",
        )  # fmt: skip


def test_descriptions_of_classes_nobody_asked_for_are_refused(folder, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text("label,description\ndelivery,late parcel\nbilling,invoice\n")
    pool = tmp_path / "pool.csv"
    pool.write_text("text\nthe parcel is late\nan invoice came\n")
    done = run(
        "train", pool, "--classes", "delivery,returns", "--class-names", names,
        "-o", tmp_path / "m",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "billing" in done.stderr


def test_a_size_that_is_none_is_wrong_usage(folder):
    done = run("train", folder / "train.csv", "--memory", "1XB")
    assert done.exit_code == 2
    assert "2GB" in done.stderr


def test_evidence_against_the_label_is_drawn_to_the_left():
    terms = (TermEvidence("for", 2.0), TermEvidence("against", -1.0))
    lines = str(Explanation("a", 0.9, "b", 1.0, terms)).splitlines()
    assert lines[1].endswith("│████████████")
    assert lines[2].endswith("██████│")
    assert lines[1].index("│") == lines[2].index("│")


def test_explanations_of_a_pool_fit_the_terminal_and_name_their_columns():
    terms = tuple(TermEvidence("x" * n, 1.0 - n, None, 0.5) for n in (1, 40))
    text = str(Explanation("a", 0.9, "b", 1.0, terms, {"rare-class correction": 1.0}))
    assert "score  supervised  unlabelled" in text
    assert max(map(len, text.splitlines())) <= 80


def test_labels_that_are_ids_are_not_judged(folder, tmp_path):
    path = tmp_path / "ids.csv"
    rows = rows_of(folder / "train.csv")
    lines = [f'{i},"{row["text"]}"' for i, row in enumerate(rows)]
    path.write_text("\n".join(["id,text", *lines]))
    with pytest.warns(match="is it the one that is meant"):
        done = run("check", path, "--label", "id")
    assert "labels are wrong" not in done.stdout


def test_few_documents_show_no_share_of_right_answers():
    assert targets(4) == []
    assert targets(20) == [0.9, 0.95]
    assert targets(100) == [0.9, 0.95, 0.99]


@pytest.mark.parametrize("name", sorted(get_command(cli.app).commands))
def test_every_option_has_its_help_and_its_panel(name):
    for one in get_command(cli.app).commands[name].params:
        assert one.help, one.name
        assert one.param_type_name == "argument" or one.rich_help_panel, one.name
        assert not one.secondary_opts or not one.opts, f"{one.name} has a --no-..."


def test_a_parameter_has_the_name_of_python_and_its_flag():
    flags = {
        one.name: (one.opts or one.secondary_opts)[0]
        for command in get_command(cli.app).commands.values()
        for one in command.params
    }
    assert flags["max_novelty"] == "--novelty"
    assert flags["ngram_range"] == "--ngrams"
    assert flags["quote"] == "--no-quotes"


def test_info_speaks_of_changes_in_words(folder, tmp_path):
    model = tmp_path / "m.earmark"
    run("train", folder / "train.csv", "--label", "topic", "--model", "multinomial",
        "-o", model)  # fmt: skip
    run("update", model, folder / "test.csv")
    told = run("info", model).stdout
    assert re.search(r"updates +60 documents, 20\d\d-", told)
    assert "{" not in told
    assert re.search(r"training data +train.csv: 180 labelled", told)


def test_folds_do_not_depend_on_the_spelling_of_labels():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 60)
    other = np.array(["d", "a", "c", "b"])[labels]
    ours, theirs = (
        [held.tolist() for _, held in stratified_folds(y, 5, 0)]
        for y in (labels, other)
    )
    assert ours == theirs


def test_a_label_that_means_none_is_pointed_out(tmp_path):
    data = tmp_path / "d.csv"
    rows = ["good film,pos", "bad film,neg", "good day,pos", "bad day,n/a"]
    data.write_text("text,label\n" + "\n".join(rows) + "\n")
    out = str(tmp_path / "m.earmark")
    with pytest.warns(EarmarkWarning, match="'n/a' is taken as a class"):
        run("train", data, "--model", "multinomial", "-o", out)
    judged = run("evaluate", out, data)
    assert "was trained on" in " ".join(judged.stderr.split())


def test_labels_beside_those_asked_for_are_pointed_out(tmp_path):
    data = tmp_path / "d.csv"
    rows = ["good film,pos", "bad film,neg", "good day,pos", "bad day,new"]
    data.write_text("text,label\n" + "\n".join(rows) + "\n")
    options = ["--classes", "pos,neg", "--model", "multinomial"]
    with pytest.warns(EarmarkWarning, match="--classes does not name new"):
        run("train", data, *options, "-o", tmp_path / "m.earmark")


def test_the_command_alone_shows_the_help(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["earmark"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert "Usage: earmark" in capsys.readouterr().out


def test_quiet_training_prints_nothing_and_the_guessed_column_is_remembered(folder):
    model = folder / "quiet.earmark"
    command = ("train", folder / "train.csv", "--model=complement", "-o", model)
    assert "learned 4 classes" in run(*command).stdout
    done = run(*command, "--quiet")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert re.search(r"text column +text \(guessed\)", run("info", model).stdout)


def test_documents_without_a_known_word_are_counted(folder):
    strange = folder / "strange.csv"
    strange.write_text("text\nzzz qqq\nwhere is my parcel\n")
    done = run("predict", folder / "m.earmark", strange, "--max-error", "never")
    assert "1 document without any word that the model knows" in done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_equal_texts_with_different_labels_are_wrong_labels(folder):
    copies = folder / "copies.csv"
    rows = [f"word{i} of a kind,{'ab'[i % 2]}" for i in range(20)]
    same = ["the very same text,a", "the very same text,b"]
    copies.write_text("\n".join(["text,kind", *rows, *same]))
    stdout = run("check", copies, "--label", "kind").stdout
    assert "1 document has another label than an earlier one" in stdout
    assert not re.search(r"About 0 of|interval 0 to", stdout)


def test_texts_that_tell_nothing_are_said_to_tell_nothing(folder):
    same, emoji = folder / "same.csv", folder / "emoji.csv"
    same.write_text("text,kind\n" + "".join(f"help me,{c}\n" for c in "abcd" * 15))
    stdout = run("check", same, "--label", "kind").stdout
    assert "Nothing can be said about wrong labels" in stdout
    assert "About" not in stdout
    assert "wrong_labels" not in run("check", same, "--label", "kind", "--json").stdout
    emoji.write_text("text,kind\n" + "😀,a\n🎉,b\n" * 20, encoding="utf-8")
    train = ("train", emoji, "--label", "kind", "--out", folder / "e.earmark")
    assert "learned 2 classes" in run(*train).stdout
    said = message(*train, "--model", "complement")
    assert "no document holds a word" in said
    assert "--analyzer char reads every character" in said


def test_the_formats_of_the_command_line_are_those_that_are_read():
    for one in get_command(cli.app).commands["predict"].params:
        if one.name == "format":
            assert ", ".join(FORMATS.names()) in one.help
