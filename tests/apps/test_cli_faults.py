"""The command line when something is wrong: one line and the right status."""

import csv
import json
import os
import re
import shlex
import stat
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from earmark.apps.cli import console
from earmark.apps.cli import main as cli
from earmark.apps.harmless import harmless
from earmark.distributed.fitting import predict as predict_parts
from earmark.exceptions import DataError, EarmarkWarning
from tests.apps.test_terminal import on_terminal
from tests.pages import ROOT

ROWS = [
    ("the cat sat on the mat", "animal"),
    ("a dog chased the cat", "animal"),
    ("the car drove away", "vehicle"),
    ("my truck stopped", "vehicle"),
] * 3


def run(*args):
    return CliRunner().invoke(cli.app, list(map(str, args)))


def written(path, rows, header=("text", "kind")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def data(tmp_path):
    return written(tmp_path / "data.csv", ROWS)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--model", "nope"), "multinomial"),
        (("--class-weight", "x"), "balanced"),
        (("--substitute", "x"), "number"),
        (("--encoding", "x"), "utf-8"),
        (("--text", ","), "column"),
        (("--text", "text,text"), "twice"),
        (("--memory", "1GB", "--classes", "a,b"), "not go with --memory"),
        (("--skip-bad", "--classes", "a,b"), "not go with --skip-bad"),
        (("--max-error", "0"), "0.05"),
        (("--max-error", "1"), "0.05"),
        (("--max-error", "nan"), "0.05"),
        (("--out", "no-such-folder/m.earmark"), "no-such-folder"),
        (("--out", "."), "folder"),
    ],
)
def test_a_wrong_option_is_status_2_and_says_what_is_right(args, said, data):
    found = run("train", data, "--label", "kind", *args)
    assert found.exit_code == 2
    assert said in found.stderr


def test_an_output_that_cannot_be_written_is_refused_before_the_work(data, tmp_path):
    out = tmp_path / "none" / "x"
    assert run("predict", tmp_path / "m.earmark", data, "-o", out).exit_code == 2
    assert run("evaluate", "m.earmark", data, "--report", out).exit_code == 2


def test_one_class_only_is_the_fault_of_the_data(tmp_path):
    path = written(tmp_path / "one.csv", [("a cat", "x"), ("a dog", "x")])
    found = run("train", path, "--label", "kind", "-o", tmp_path / "m")
    assert isinstance(found.exception, DataError)
    assert "one class only, x" in str(found.exception)


def test_two_documents_are_enough_to_train(tmp_path):
    path = written(tmp_path / "two.csv", [("a cat sat", "x"), ("the car drove", "y")])
    found = run("train", path, "--label", "kind", "-o", tmp_path / "m")
    assert found.exit_code == 0, found.exception
    assert "0 of 2 left-out training documents right: between 0" in found.stdout


def test_a_missing_label_column_is_asked_for(data, tmp_path):
    for command in (("train", data, "-o", tmp_path / "m"), ("compare", data)):
        found = run(*command, "--text", "text")
        assert isinstance(found.exception, DataError)
        assert "--label" in str(found.exception)


def test_rows_without_a_label_are_no_row_of_comparison_and_calibration(tmp_path):
    rows = [(f"{text} {i} times {i + 7}", kind) for i, (text, kind) in enumerate(ROWS)]
    path = written(tmp_path / "gaps.csv", [*rows, ("a horse", "")])
    options = ("--label", "kind", "--models", "multinomial", "--repeats", "2", "--json")
    whole = written(tmp_path / "whole.csv", rows)
    scores = [
        [(row["name"], row["accuracy"]) for row in facts["classifiers"]]
        for facts in (
            json.loads(run("compare", file, *options).stdout) for file in (path, whole)
        )
    ]
    assert scores[0] == scores[1]
    options = ("--label", "kind", "--max-error", "0.3", "--model", "multinomial")
    held_out = written(
        tmp_path / "held.csv", [("some cats", "animal"), ("bus", "vehicle"), ("x", "")]
    )
    out = ("--calibration", held_out, "-o", tmp_path / "m")
    assert run("train", path, *options, *out).exit_code == 0


def test_calibration_documents_that_all_repeat_training_are_refused(data, tmp_path):
    options = ("--label", "kind", "--max-error", "0.3", "--model", "multinomial")
    found = run("train", data, *options, "--calibration", data, "-o", tmp_path / "m")
    assert isinstance(found.exception, DataError)
    assert "took no part in fitting" in str(found.exception)


def test_a_system_error_is_one_line_and_status_1(tmp_path):
    code = (
        "from earmark.apps.cli import main, info; import sys\n"
        "def broken(*a): raise PermissionError(13, 'Permission denied', 'm.earmark')\n"
        "info._installation = broken; sys.argv = ['earmark', 'info']; main.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: m.earmark: Permission denied\n"


def test_check_counts_rows_from_1_and_passes_over_empty_texts(tmp_path):
    path = written(tmp_path / "gaps.csv", [*ROWS, ("", "animal"), ("", "vehicle")])
    found = run("check", path, "--label", "kind")
    assert "2 documents without text (rows 13, 14)" in found.stdout
    assert "  row 14" not in found.stdout
    facts = json.loads(run("check", path, "--label", "kind", "--json").stdout)
    rows = {one["kind"]: one["rows"] for one in facts["findings"]}
    assert rows["empty"] == [13, 14]


def test_check_needs_no_labels(tmp_path):
    path = written(tmp_path / "pool.csv", [("a cat",), ("",)], ["text"])
    found = run("check", path)
    assert found.exit_code == 0, found.exception
    assert "2 documents, 0 labels" in found.stdout


def test_labels_with_a_bar_raise_the_question_of_several_labels(tmp_path):
    data = tmp_path / "d.csv"
    rows = ["red apple,a", "blue sky,b", "red sky,a|b"] * 4
    data.write_text("\n".join(["text,kind", *rows]))
    args = ("train", data, "--label", "kind", "--model", "multinomial")
    with pytest.warns(EarmarkWarning, match="--multi-label"):
        assert run(*args, "-o", tmp_path / "m.earmark").exit_code == 0
    done = run(*args, "--multi-label", "-o", tmp_path / "m.earmark")
    assert "learned 2 classes" in done.stdout


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("labels.xlsx", ".jsonl"),
        ("labels.parquet", ".jsonl"),
        ("labels/", "--by-part"),
    ],
)
def test_a_name_that_promises_another_format_is_refused(out, said, data):
    found = run("predict", "m.earmark", data, "-o", out)
    assert found.exit_code == 2
    assert said in found.stderr


def test_json_lines_do_not_go_into_a_csv_file(data):
    found = run("predict", "m.earmark", data, "--json", "-o", "labels.csv")
    assert found.exit_code == 2
    assert ".jsonl" in found.stderr


def test_quotes_may_be_ordinary_characters(tmp_path):
    path = tmp_path / "inches.csv"
    rows = ['a 5" cat,animal', 'a "big dog,animal', 'one 2" car,vehicle']
    path.write_text("\n".join(["text,kind", *rows, "my truck,vehicle", ""]))
    command = ("train", path, "--label", "kind", "-o", tmp_path / "m.earmark")
    assert run(*command, "--no-quotes", "--model", "multinomial").exit_code == 0
    found = run("predict", tmp_path / "m.earmark", path, "--no-quotes")
    assert len(found.stdout.splitlines()) == 5
    open_quote = tmp_path / "open.csv"
    open_quote.write_text('text,kind\n"a cat,animal\n')
    fault = run("train", open_quote, "-o", "m").exception
    assert "--no-quotes" in fault.said(console.words)


def test_a_file_without_labels_is_named(data, tmp_path):
    model = tmp_path / "m.earmark"
    train = ("train", data, "--label", "kind", "--model", "multinomial", "-o", model)
    assert run(*train).exit_code == 0
    bare = written(tmp_path / "bare.csv", [("a cat", ""), ("a car", "")])
    for command in (("evaluate", model, bare), (*train, "--calibration", bare)):
        assert f"{bare}: no row has a label" in str(run(*command).exception)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_nearly_as_many_labels_as_documents_are_asked_about(tmp_path):
    path = written(tmp_path / "x.csv", [(f"text {i}", f"id {i}") for i in range(30)])
    with pytest.warns(EarmarkWarning, match="'kind' holds 30 different labels in 30"):
        run("train", path, "--label", "kind", "-o", tmp_path / "m.earmark")


def test_a_model_that_answers_nothing_says_so(data, tmp_path):
    model = tmp_path / "m.earmark"
    held_out = written(tmp_path / "held.csv", [("cat", "animal"), ("car", "vehicle")])
    options = ("--label", "kind", "--model", "multinomial", "-o", model)
    run("train", data, *options, "--calibration", held_out, "--max-error", "0.01")
    shown = run("evaluate", model, data).stdout
    assert "It answers nothing" in shown
    assert "inf" not in shown


def trained(data, tmp_path, *options):
    model = tmp_path / "m.earmark"
    done = run("train", data, "--label", "kind", "-o", model, *options)
    assert done.exit_code == 0, done.exception
    return model


def test_devices_and_pipes_are_written_to_and_links_stay_links(data, tmp_path):
    model = trained(data, tmp_path, "--model", "multinomial")
    pipe, link, target = (tmp_path / name for name in ("pipe", "link.csv", "real.csv"))
    os.mkfifo(pipe)
    target.write_text("old")
    link.symlink_to(target)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    assert run("predict", model, data, "-o", pipe).exit_code == 0
    assert reader.communicate()[0].startswith("row,label,confidence")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert run("card", model, "-o", pipe).exit_code == 2
    assert run("predict", model, data, "-o", link).exit_code == 0
    assert run("evaluate", model, data, "--report", link).exit_code == 0
    assert link.is_symlink()
    assert "<html" in target.read_text()


def test_a_link_into_no_folder_is_refused_before_the_work(data, tmp_path):
    link = tmp_path / "link.earmark"
    link.symlink_to(tmp_path / "missing" / "x.earmark")
    done = run("train", data, "--label", "kind", "-o", link)
    assert done.exit_code == 2
    said = re.sub(r"\W", "", done.output)  # the frame breaks lines in words
    assert "xearmarkthefolderofthisfiledoesnotexistcreateit" in said


def test_a_fault_of_the_data_names_the_file(tmp_path):
    path = written(tmp_path / "blank.csv", [("", "x"), (" ", "y")])
    found = run("train", path, "--label", "kind", "-o", tmp_path / "m")
    assert str(found.exception).startswith(f"{path}: ")


def test_a_label_column_that_stands_twice_is_refused(tmp_path):
    rows = [("a cat", "x", "y"), ("a car", "y", "x")]
    path = written(tmp_path / "twice.csv", rows, ("text", "kind", "kind"))
    found = run("train", path, "--label", "kind", "-o", tmp_path / "m")
    assert "expected one column 'kind', the header has 2" in str(found.exception)


def test_a_text_column_of_numbers_is_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": 1, "kind": 2}\n{"text": 3, "kind": 4}\n')
    found = run("train", path, "--label", "kind", "-o", tmp_path / "m")
    assert "'text' holds no strings" in str(found.exception)


def test_labelling_needs_a_file_to_go_on_with():
    assert run("label", "-").exit_code == 2


def test_regions_can_be_explained_apart(tmp_path):
    rows = [("lunch", "at noon", "x"), ("pills", "buy now", "y")] * 4
    path = written(tmp_path / "m.csv", rows, ("subject", "body", "kind"))
    model = trained(path, tmp_path, "--text", "subject,body", "--model", "multinomial")
    found = run("explain", model, '{"subject": "lunch", "body": "noon"}')
    assert "subject: lunch" in found.stdout
    assert "body: lunch" not in found.stdout
    assert "stands in for each of subject, body" in run("explain", model, "a").stderr


def test_a_slip_in_the_names_of_classes_is_asked_about(data, tmp_path):
    pool = written(tmp_path / "pool.csv", [(text, "") for text, _ in ROWS[:6]])
    rows = [("animel", "cats and dogs"), ("vehicle", "cars and trucks")]
    names = written(tmp_path / "names.csv", rows, ("label", "description"))
    more = ("--unlabelled", pool, "--class-names", names, "--out", tmp_path / "m")
    with pytest.warns(EarmarkWarning, match="did you mean 'animal'"):
        run("train", data, "--label", "kind", *more)


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        (("name", "description"), ("a", "cats"), "a column 'label', the columns are"),
        (("label", "words"), ("a", "cats"), "a column 'description', the columns are"),
        (("label", "description"), ("", "cats"), "fill it in or remove the row."),
        (("label", "description"), ("a", "cats"), "expected at least two classes"),
    ],
)
def test_faults_of_the_names_of_classes_are_said_in_their_words(
    tmp_path, header, row, said
):
    names = written(tmp_path / "names.csv", [row], header)
    pool = written(tmp_path / "pool.csv", [("a cat",), ("a car",)], ("text",))
    done = run("train", pool, "--class-names", names, "--out", tmp_path / "m")
    message = done.exception.said(console.words)
    assert said in message
    assert "--class-names" in message
    assert not re.search(r"asked for|--text|\by\b|allow_unlabelled", message)


def test_stdin_asks_for_its_format(data, tmp_path):
    run("train", data, "--label", "kind", "-o", tmp_path / "m.earmark")
    done = run("predict", tmp_path / "m.earmark", "-")
    assert "give --format: argilla, csv, " in done.exception.said(console.words)
    assert "None" not in str(done.exception)


@pytest.mark.parametrize("label", ["NA", "null", "n/a"])
def test_every_label_that_looks_like_none_is_asked_about(tmp_path, label):
    path = written(tmp_path / "d.csv", [*ROWS, ("x y", "None"), ("y z", label)])
    with pytest.warns(EarmarkWarning) as seen:
        run("train", path, "--label", "kind", "-o", tmp_path / "m")
    said = "\n".join(str(one.message) for one in seen)
    assert "the label 'None' is taken as a class" in said
    assert f"the label {label!r} is taken as a class" in said


def test_a_name_that_stands_twice_in_the_header_is_to_be_changed(tmp_path):
    path = written(tmp_path / "d.csv", [("a", "b", "c")], ("text", "text", "kind"))
    message = str(run("train", path, "--label", "kind").exception)
    assert "rename them so that each name stands once" in message
    assert "text=" not in message


def test_an_export_needs_a_project_and_begins_none(data, tmp_path):
    done = run("label", data, "--export", tmp_path / "out.csv")
    assert "there is no such project" in str(done.exception)
    assert not (tmp_path / "data.csv.labels").exists()


def test_labels_are_merged_for_the_label_page_too(tmp_path):
    rows = [("a dog", "Animal "), ("a car", "vehicle"), *[("a cat", "animal")] * 2]
    path = written(tmp_path / "d.csv", rows)
    out = tmp_path / "out.csv"
    done = run("label", path, "--label", "kind", "--merge-labels", "--export", out)
    assert done.exit_code == 0, done.exception
    with out.open() as file:
        assert {row["label"] for row in csv.DictReader(file)} == {"animal", "vehicle"}


def test_evaluate_says_that_a_model_was_updated_with_the_data(data, tmp_path):
    model = tmp_path / "m.earmark"
    rows = [("a cat purrs", "animal"), ("a bus", "vehicle"), ("nothing", "")]
    new = written(tmp_path / "new.csv", rows)
    other = written(tmp_path / "other.csv", rows[:1])
    learned = ("--label", "kind", "--model", "multinomial", "-o", model)
    assert run("train", data, *learned).exit_code == 0
    assert "was trained on" not in run("evaluate", model, new).stderr
    assert run("update", model, new).exit_code == 0
    assert "was trained on" in run("evaluate", model, new).stderr
    assert "was trained on" not in run("evaluate", model, other).stderr


def test_the_column_that_training_guessed_comes_first(tmp_path):
    header = ("body", "kind")
    path = written(tmp_path / "d.csv", ROWS, header)
    model, out = tmp_path / "m.earmark", tmp_path / "labels.jsonl"
    assert run("train", path, "--label", "kind", "-o", model).exit_code == 0
    rows = [("the truck", "the cat", "a"), ("the dog", "the car", "b")]
    new = written(tmp_path / "new.csv", rows, ("text", "body", "content"))
    done = run("predict", model, new, "--with-text", "--out", out)
    assert done.exit_code == 0, done.exception
    texts = [json.loads(line)["text"] for line in out.read_text().splitlines()]
    assert texts == ["the cat", "the car"]


def test_a_table_without_the_column_of_the_model_is_refused(tmp_path, data):
    model = trained(data, tmp_path)
    rows = [("the cat", "animal"), ("the truck", "vehicle")]
    other = written(tmp_path / "other.csv", rows, ("body", "kind"))
    for command in (["predict"], ["evaluate"], ["filter", "--keep", "animal"]):
        name, *more = command
        out = [] if name != "filter" else ["-o", tmp_path / "kept"]
        done = run(name, model, other, *more, *out)
        assert done.exit_code == 1, command
        said = done.exception.said(lambda name, value: f"--{name}")
        assert "expected a column 'text' (the model's column)" in said
        assert "the columns are 'body', 'kind'; name the text with --text" in said
    with pytest.raises(DataError, match="expected a column 'text'"):
        predict_parts(model, other, tmp_path / "labels")
    assert run("predict", model, other, "--text", "body").exit_code == 0


def test_a_seed_is_not_negative(data):
    said = run("train", data, "--label", "kind", "--seed", "-1")
    assert said.exit_code == 2
    assert "--seed" in said.output


def test_regions_that_a_model_does_not_know_are_refused(tmp_path):
    rows = [["alpha", "good", "x"], ["beta", "bad", "y"]] * 3
    file = written(tmp_path / "d.csv", rows, ("title", "body", "kind"))
    out = tmp_path / "m.earmark"
    run("train", file, "--text", "title,body", "--label", "kind", "--out", out)
    said = run("explain", out, '{"title": "a", "nope": "b"}')
    assert said.exit_code == 1
    assert "the document has nope, expected only title, body" in str(said.exception)


def test_a_model_that_cannot_be_read_begins_no_project(data, tmp_path):
    bad = tmp_path / "bad.earmark"
    bad.write_bytes(b"x" * 100)
    folder = tmp_path / "p"
    said = run("label", data, "--model", bad, "--project", folder, "--labels", "a,b")
    assert said.exit_code == 1
    assert not folder.exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("predict MODEL DATA --text text,kind", "trained on one text column"),
        ("predict MODEL DATA --skip-bad --out y.csv", "name a folder"),
        ("filter MODEL DATA --keep animal --out y.csv", "name a folder"),
        ("evaluate MODEL", "Missing argument 'DATA'"),
        ("evaluate", "Missing argument"),
        ("evaluate MODEL MODEL -", "stdin can be read once"),
        ("evaluate MODEL DATA --date nope", "a day such as 2026-11-16"),
        ("card MODEL --date 2026-13-01", "a day such as 2026-11-16"),
        ("info MODEL --models", "name no file"),
        ("serve MODEL --canary 0.5", "needs a second model"),
        ("serve MODEL --learn", "needs a token"),
    ],
)
def test_wrong_usage_of_a_model_is_status_2(command, said, data, tmp_path):
    places = {"MODEL": trained(data, tmp_path), "DATA": data}
    done = run(*(places.get(word, word) for word in command.split()))
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_other_columns_than_those_of_training_are_refused(tmp_path):
    rows = [["alpha", "good", "x"], ["beta", "bad", "y"]] * 3
    file = written(tmp_path / "d.csv", rows, ("title", "body", "kind"))
    model = trained(file, tmp_path, "--text", "title,body")
    assert run("predict", model, file, "--text", "body,title").exit_code == 0
    for columns in ("title,body,kind", "title", "title,kind"):
        done = run("predict", model, file, "--text", columns)
        assert done.exit_code == 2
        assert "trained on title,body" in done.stderr


def test_labels_of_parts_do_not_go_into_the_folder_of_label(data, tmp_path):
    model = trained(data, tmp_path)
    done, again = (run("predict", model, data, "--by-part") for _ in range(2))
    assert f"in {data}.predicted" in done.stdout
    assert "nothing left to do: 1 part, done before" in again.stdout
    assert not (tmp_path / "data.csv.labels").exists()


def test_a_token_file_that_is_not_there_is_named(data, tmp_path):
    missing = tmp_path / "nosuch"
    said = run("serve", trained(data, tmp_path), "--token-file", missing)
    assert isinstance(said.exception, FileNotFoundError)


def test_a_mail_is_explained_by_its_parts(tmp_path):
    texts = [(f"Subject: {text[:7]}\n\n{text}", kind) for text, kind in ROWS]
    model = trained(written(tmp_path / "m.csv", texts), tmp_path, "--email")
    mail = run("explain", model, "Subject: cat\n\nsat on the mat", "--json")
    parts = run(
        "explain", model, '{"subject": "cat", "body": "sat on the mat"}', "--json"
    )
    assert json.loads(parts.stdout) == json.loads(mail.stdout)


def test_advice_is_in_words_of_the_command_line(data, tmp_path):
    model = trained(data, tmp_path, "--model", "softmax")
    wrong = ("filter", model, data, "--keep", "animals", "--out", tmp_path / "out")
    messages = [
        run(*command).exception.said(console.words)
        for command in (("update", model, data), wrong)
    ]
    assert "train multinomial, bernoulli or complement" in messages[0]
    assert messages[1].startswith("--keep must name labels of the model (animal, v")


@pytest.mark.parametrize("columns", ["", " , "])
def test_an_empty_text_option_is_wrong_usage(tmp_path, columns):
    data = tmp_path / "d.csv"
    data.write_text("a,b\nx,y\n")
    done = CliRunner().invoke(cli.app, ["train", str(data), "--text", columns])
    assert done.exit_code == 2
    assert "at least one column" in done.output


@pytest.mark.parametrize(
    ("options", "clash"),
    [
        (("--keep", "label"), "--keep label"),
        (("--keep", "day,row"), "--keep row"),
        (("--keep", "label_1", "--top-k", "1"), "--keep label_1"),
        (("--keep", "scores", "--top-k", "1", "--json"), "--keep scores"),
        (("--keep", "explanation", "--explain"), "--keep explanation"),
        (("--id", "confidence"), "--id confidence"),
        (("--id", "day", "--keep", "row"), None),
        (("--keep", "label_1,explanation,scores"), None),
    ],
)
def test_no_column_of_the_data_is_lost_behind_one_of_the_output(
    options, clash, data, tmp_path
):
    model = trained(data, tmp_path, "--model", "multinomial")
    names = ("text", "label", "row", "confidence", "label_1", "scores", "explanation")
    header, rows = (*names, "day"), [("a cat", *"abcdef", "1"), ("a car", *"ghijkl", 2)]
    new = written(tmp_path / "new.csv", rows, header)
    for out in ((), ("-o", tmp_path / "labels.csv") if "--json" not in options else ()):
        done = run("predict", model, new, *options, *out)
        if clash is None:
            assert done.exit_code == 0, done.exception
            continue
        assert done.exit_code == 2
        words = " ".join(done.stderr.split())
        assert f"{clash}: the output has its own column" in words
        assert ("earmark evaluate" in words) == clash.endswith("label")
        assert not done.stdout
    assert (tmp_path / "labels.csv").exists() == (clash is None)


def test_a_text_of_the_data_is_not_lost_behind_that_of_the_model(tmp_path):
    model = trained(written(tmp_path / "d.csv", ROWS, ("body", "kind")), tmp_path)
    new = written(tmp_path / "n.csv", [("a cat", "mine")], ("body", "text"))
    assert run("predict", model, new, "--keep", "text").exit_code == 0
    assert run("predict", model, new, "--keep", "text", "--with-text").exit_code == 2


def test_a_file_without_a_header_is_asked_about(data, tmp_path):
    model = trained(data, tmp_path)
    new = tmp_path / "new.csv"
    new.write_text("a cat\nthe car\n")
    pooled = ("train", data, "--label", "kind", "--unlabelled", new, "-o", model)
    said = str(run("predict", model, new).exception)
    assert "expected a column 'text' (the model's column), the columns are" in said
    assert "the file has no header" in said
    with pytest.warns(EarmarkWarning, match="no column 'text'; 'a cat'"):
        assert run(*pooled).exit_code == 0
    new.write_text("a cat sat on the mat\nthe car\n")
    with pytest.warns(EarmarkWarning, match="a cat sat on the mat.* no header"):
        run("check", new)


def test_what_cannot_be_written_is_named_and_what_is_saved_too(data, tmp_path):
    model = trained(data, tmp_path)
    new = tmp_path / "new.earmark"

    # A file of coverage figures would be too large first.
    plain = {k: v for k, v in os.environ.items() if not k.startswith("COV")}

    def said(*args, limit=""):
        words = " ".join(map(str, (sys.executable, "-m", "earmark", *args)))
        command = ["bash", "-c", f"{limit}{words}"]
        done = subprocess.run(command, capture_output=True, text=True, env=plain)
        assert done.returncode == 1
        return done.stderr.strip().splitlines()[-1]

    full = "No space left on device"
    assert said("predict", model, data, ">/dev/full") == f"error: stdout: {full}"
    device = said("predict", model, data, "-o", "/dev/full")
    assert device == f"error: /dev/full: {full}"
    trains = ("train", data, "--label", "kind", "-o", new)
    assert f"stdout: {full}; {new} is saved" in said(*trains, ">/dev/full")
    assert new.exists()
    new.unlink()
    large = said(*trains, limit="ulimit -f 1; ")
    assert large == f"error: {new}: File too large"
    assert not new.exists()


def test_columns_nobody_asked_for_are_those_of_the_model_or_of_a_part(tmp_path):
    both = [(text, text, kind) for text, kind in ROWS]
    path = written(tmp_path / "d.csv", both, ("title", "body", "kind"))
    model = trained(path, tmp_path, "--text", "title,body")
    new = written(tmp_path / "new.csv", [("a", "b")], ("title", "other"))
    error = str(run("predict", model, new).exception)
    assert "a column 'body' (the model's column)" in error
    parts = tmp_path / "parts"
    parts.mkdir()
    written(parts / "p0.csv", ROWS)
    written(parts / "p1.csv", ROWS, ("words", "kind"))
    error = str(run("train", parts, "--label", "kind", "-o", model).exception)
    assert "p1.csv: expected a column 'text' (as in p0.csv)" in error
    asked = ("--label", "kind", "--text", "text", "-o", model)
    assert "asked for by text=" in str(run("train", parts, *asked).exception)


def test_an_empty_folder_and_an_empty_name_are_said_to_be_so(data, tmp_path):
    model = trained(data, tmp_path)
    folder = tmp_path / "empty"
    folder.mkdir()
    for command in (("train", folder, "--label", "kind"), ("predict", model, folder)):
        assert "got an empty folder" in str(run(*command).exception)
    for command in (("train", "", "--label", "kind"), ("predict", model, "")):
        assert "got an empty one" in str(run(*command).exception)


def test_a_model_of_a_column_reads_a_folder_of_texts(data, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("the cat")
    for options in ((), ("--text", "text")):
        model = trained(data, tmp_path, *options)
        assert run("predict", model, folder).exit_code == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--jobs", "0"),
        ("--jobs", "many"),
        ("--seed", "-1"),
        ("--class-weight", "x"),
        ("--max-error", "2"),
        ("--analyzer", "words"),
    ],
)
def test_a_wrong_option_says_what_came_once(option, value, data):
    done = run("train", data, "--label", "kind", option, value)
    words = re.sub(r"[│\s]+", " ", done.stderr.partition("Invalid value")[2])
    assert done.exit_code == 2
    assert words.startswith(f" for '{option}'")
    assert "Value error" not in words
    assert len(re.findall(rf"(?<!\w){value}\b", words)) == 1


def test_a_missing_argument_is_all_that_is_said():
    for command in (("train",), ("predict", "m.earmark"), ("evaluate",)):
        said = run(*command).stderr
        assert "Missing argument" in said
        assert "got" not in said


def test_predict_says_what_it_wrote(data, tmp_path):
    model, out = trained(data, tmp_path), tmp_path / "labels.csv"
    done = run("predict", model, data, "-o", out)
    assert f"wrote {out}: 12 documents" in done.stderr
    assert not done.stdout
    assert "wrote" not in run("predict", model, data, "-o", out, "--quiet").stderr
    assert "wrote" not in run("predict", model, data).stderr


def test_the_same_documents_in_another_file_are_told(data, tmp_path):
    model, other = trained(data, tmp_path), tmp_path / "other.csv"
    other.write_bytes(data.read_bytes())
    said = run("evaluate", model, other).stderr
    assert f"was trained on the documents of {other}" in said


def test_a_link_that_leads_nowhere_or_to_itself_is_called_so(tmp_path, data):
    model = trained(data, tmp_path)
    broken, loop = tmp_path / "broken.csv", tmp_path / "loop.csv"
    broken.symlink_to(tmp_path / "gone.csv")
    loop.symlink_to(loop)
    for path, words in ((broken, "gone.csv', which is not"), (loop, "leads to itself")):
        for args in (("predict", model, path), ("info", path), ("predict", path, data)):
            said = str(run(*args).exception)
            assert said.startswith(f"{path}: it is a link")
            assert words in said
            assert "did you mean" not in said


def test_evaluate_names_the_file_with_labels_that_are_new(tmp_path, data):
    model = trained(data, tmp_path)
    new = written(tmp_path / "new.csv", [*ROWS, ("a b", "plant")])
    with pytest.warns(EarmarkWarning) as said:
        assert run("evaluate", model, new).exit_code == 0
    (warning,) = [str(w.message) for w in said if "not learned" in str(w.message)]
    assert warning.startswith(f"{new}: the model has not learned the label(s) plant")
    other = written(tmp_path / "other.csv", [("a b", "plant")] * 2)
    refused = str(run("evaluate", model, other).exception)
    assert refused.startswith(f"{other}: the model has learned none of its labels")


def test_a_long_header_is_not_repeated_whole(tmp_path, data):
    model = trained(data, tmp_path)
    name = "n" * 5000
    new = written(tmp_path / "new.csv", [("a", "b")], (name, "t" * 5000))
    for args in (("predict", model, new), ("train", new, "--label", name[:-1])):
        said = str(run(*args).exception)
        assert "'nnnn" in said
        assert len(said.replace(str(tmp_path), "")) < 600


def test_what_to_try_is_quoted_for_the_shell(tmp_path, data, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = "a b`|$(c);.earmark"
    done = run("train", data, "--label", "kind", "-o", odd)
    (line,) = [x for x in done.output.splitlines() if "try: " in x]
    *_, command = line.partition("try: ")
    assert shlex.split(command) == ["earmark", "predict", odd, "NEW-DATA"]


def test_no_label_of_a_stranger_commands_the_terminal(tmp_path, monkeypatch):
    evil = "\x1b]0;owned\x07\x9b31m\u202e"
    rows = [(text, evil if kind == "animal" else kind) for text, kind in ROWS]
    path = tmp_path / "d.jsonl"
    names = ("text", "kind", evil)
    objects = [dict(zip(names, (*row, "x"), strict=True)) for row in rows]
    path.write_text("\n".join(map(json.dumps, objects)))
    model = tmp_path / "m.earmark"
    test = tmp_path / "test.jsonl"
    new = [*objects, objects[0] | {"kind": f"new {evil}"}]
    test.write_text("\n".join(map(json.dumps, new)))
    entry = [sys.executable, "-c", "from earmark.apps.cli.main import main; main()"]
    for args in (
        ("train", path, "--label", "kind", "--model", "multinomial", "-o", model),
        ("info", model),
        ("evaluate", model, test),
        ("evaluate", model, test, "--json"),
        ("check", path, "--label", "kind"),
        ("explain", model, "the cat"),
        ("card", model),
        ("predict", model, path, "--keep", f"{evil},kind"),
        ("predict", model, path, "--json", "--text", evil),
        ("predict", model, path, "--id", evil + "x"),
        ("filter", model, path, "--keep", "none", "-o", tmp_path / "kept"),
        ("serve", model, "--feedback", f"{path}/{evil}"),
        ("update", model, test, "--label", "kind"),
    ):
        command = shlex.join([*entry, *map(str, args)])
        # On a terminal, where data are written to as well.
        _, shown = on_terminal(f"stty -opost; {command}", tmp_path)
        left = _OURS.sub("", shown)
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", left), args
        done = subprocess.run(
            [*entry, *map(str, args)], capture_output=True, cwd=tmp_path, check=False
        )
        if args[0] != "predict":  # whose rows are data in a pipe
            assert b"\x1b" not in done.stdout + done.stderr, args


# What the terminal gets from us: colors, the cursor shown and hidden, lines erased.
_OURS = re.compile(r"\x1b\[\??[0-9;]*[mhlKAG]|\r")


def test_json_on_a_terminal_is_the_same_data(tmp_path):
    text = 'a\x1b\x9b\u202e\n\tb"\\'
    assert json.loads(harmless(json.dumps(text, ensure_ascii=False))) == text


def test_only_the_console_writes_to_the_terminal():
    folder = ROOT / "src/earmark/apps/cli"
    for path in folder.glob("*.py"):
        if path.name != "console.py":
            words = re.findall(r"typer\.(?:s?echo|secho)|\bprint\(", path.read_text())
            assert not words, path
