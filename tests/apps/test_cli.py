"""The command line: what it prints, writes and returns."""

import csv
import datetime
import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import earmark
from earmark.apps.cli import console
from earmark.apps.cli import main as cli

ROWS = [
    ("the cat sat on the mat", "animal"),
    ("a dog chased the cat", "animal"),
    ("the car drove away", "vehicle"),
    ("my truck stopped", "vehicle"),
] * 3


def run(*args, stdin=None):
    """Run a command in this process; errors as the console script shows them."""
    runner = CliRunner()
    result = runner.invoke(cli.app, list(map(str, args)), input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        if isinstance(result.exception, earmark.exceptions.EarmarkError):
            return 1, result.output, str(result.exception)
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "kind"])
        writer.writerows(ROWS)
    return path


@pytest.fixture
def model(data, tmp_path):
    path = tmp_path / "m.earmark"
    code, _, _ = run(
        "train", data, "--label", "kind", "--model", "multinomial", "-o", path
    )
    assert code == 0
    return path


def test_train_says_what_it_learned_and_saves(data, tmp_path):
    out = tmp_path / "m.earmark"
    code, stdout, _ = run(
        "train", data, "--label", "kind", "--model", "complement", "-o", out
    )
    assert code == 0
    assert "2 classes from 12 labelled documents" in stdout
    assert earmark.load(out).predict(["a dog"]).tolist() == ["animal"]


def test_train_reports_json_for_machines(data, tmp_path):
    out = tmp_path / "m.earmark"
    _, stdout, _ = run(
        "train", data, "--label", "kind", "--model", "multinomial", "-o", out, "--json"
    )
    facts = json.loads(stdout)
    assert facts["classes"] == ["animal", "vehicle"]
    assert facts["labelled"] == 12


def test_predict_writes_one_row_a_document(model, data, tmp_path):
    out = tmp_path / "labels.csv"
    assert run("predict", model, data, "--out", out)[0] == 0
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [label for _, label in ROWS]
    assert list(rows[0]) == ["row", "label", "confidence"]
    assert rows[0]["row"] == "1"


def test_predict_reads_stdin_and_writes_json_lines(model):
    stdin = json.dumps({"text": "my car"}) + "\n" + json.dumps({"text": "cat"}) + "\n"
    code, stdout, _ = run(
        "predict", model, "-", "--format", "jsonl", "--json", "--explain", stdin=stdin
    )
    assert code == 0
    first, second = map(json.loads, stdout.splitlines())
    assert (first["label"], second["label"]) == ("vehicle", "animal")
    assert first["explanation"][0][0] in {"car", "my"}


def test_a_failed_prediction_leaves_no_output(model, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "fine"}\n{"text": \n')
    out = tmp_path / "labels.csv"
    code, _, message = run("predict", model, bad, "--out", out)
    assert code == 1
    assert "2" in message
    assert [p.name for p in tmp_path.glob("*labels*")] == []


def test_evaluate_prints_accuracy_and_writes_a_page(model, data, tmp_path):
    page = tmp_path / "report.html"
    code, stdout, _ = run("evaluate", model, data, "--report", page)
    assert code == 0
    assert "100.0 %" in stdout
    today = time.strftime("%Y-%m-%d")
    assert f"<dt>date</dt><dd>{today}</dd>" in page.read_text()
    run("evaluate", model, data, "--report", page, "--date", "1999-12-31")
    assert "<dt>date</dt><dd>1999-12-31</dd>" in page.read_text()
    _, stdout, _ = run("evaluate", model, data, "--json")
    assert json.loads(stdout)


def test_explain_shows_words_that_add_up(model):
    code, stdout, _ = run("explain", model, "a cat in a car")
    assert code == 0
    assert "cat" in stdout
    found = json.loads(run("explain", model, "a cat in a car", "--json")[1])
    total = sum(t["contribution"] for t in found["terms"])
    assert total + sum(found["constants"].values()) == pytest.approx(found["score"])


def test_explain_shows_paths_when_asked(model, data, tmp_path):
    out = tmp_path / "h.earmark"
    args = ("--label", "kind", "--model", "higher-order", "-o", out)
    assert run("train", data, *args)[0] == 0
    code, stdout, _ = run("explain", out, "the cat in a car", "--paths", 2)
    assert code == 0
    assert "paths through documents of animal (rows from 0)" in stdout
    assert stdout.count(" - document ") == 4
    shown = json.loads(run("explain", out, "a cat", "--paths", 1, "--json")[1])
    left, right = shown["paths"][0]["documents"]
    assert ROWS[left][1] == ROWS[right][1] == "animal"
    assert "paths" not in run("explain", out, "a cat")[1]
    code, _, message = run("explain", model, "a cat", "--paths", 2)
    assert code == 1
    assert "model='higher-order' has" in message


def test_a_warning_is_one_line_said_once(data, tmp_path):
    data.write_text(data.read_text() + "lonely,thing\n")
    out = tmp_path / "m.earmark"
    command = [sys.executable, "-m", "earmark", "train", data, "--label", "kind"]
    done = subprocess.run(
        [*command, "--model", "higher-order", "-o", out],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    lines = [x for x in done.stderr.splitlines() if "near-duplicates" not in x]
    assert [line[:35] for line in lines] == ["warning: 1 class(es) have no second"]


def test_info_describes_installation_models_and_files(model):
    assert "kernels" in run("info")[1]
    assert "multinomial" in run("info", "--models")[1]
    facts = json.loads(run("info", model, "--json")[1])
    assert facts["classes"] == ["animal", "vehicle"]


def test_regions_are_remembered_from_training(tmp_path):
    data = tmp_path / "d.jsonl"
    rows = [{"subject": t, "body": f"x {t}", "kind": k} for t, k in ROWS]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = tmp_path / "m.earmark"
    args = ("--label", "kind", "--text", "subject,body", "--model", "hybrid")
    assert run("train", data, *args, "-o", model)[0] == 0
    code, stdout, _ = run("predict", model, data)
    assert code == 0
    assert len(stdout.splitlines()) == 13


def test_mail_and_text_options_reach_the_model(tmp_path):
    data = tmp_path / "d.jsonl"
    rows = [{"text": f"Subject: {t}s\n\nroom 12 {t}", "kind": k} for t, k in ROWS]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = tmp_path / "m.earmark"
    args = ("--label", "kind", "--model", "hybrid", "--email")
    code, stdout, _ = run(
        "train", data, *args, "--stem", "english", "--substitute", "number", "-o", model
    )
    assert code == 0
    assert "subject" in stdout
    shown = run("explain", model, rows[0]["text"], "--json")[1]
    assert {"NUMBER", "room"} <= {t["term"] for t in json.loads(shown)["terms"]}


@pytest.mark.parametrize("model", ["softmax", "mlp", "linear"])
def test_pairs_of_words_are_counted_and_explained(model, tmp_path):
    data, file = tmp_path / "d.csv", tmp_path / "m.earmark"
    rows = [("not good", "bad"), ("very good", "good"), ("not bad", "good")] * 4
    rows += [("very bad", "bad")] * 4
    data.write_text("text,kind\n" + "".join(f"{t},{k}\n" for t, k in rows))
    args = ("--label", "kind", "--model", model, "--ngrams", "2", "-o", file)
    assert run("train", data, *args)[0] == 0
    shown = json.loads(run("explain", file, "not bad", "--json")[1])
    assert shown["label"] == "good"
    assert {t["term"] for t in shown["terms"]} == {"not", "bad", "not bad"}


@pytest.mark.parametrize("model", ["softmax", "mlp", "linear"])
def test_a_document_a_class_is_enough_and_a_single_class_is_not(model, tmp_path):
    data, file = tmp_path / "d.csv", tmp_path / "m.earmark"
    args = ("--label", "kind", "--model", model, "-o", file)
    data.write_text("text,kind\nhello world,a\nbye moon,b\n")
    assert run("train", data, *args)[0] == 0
    assert run("predict", file, data)[1].splitlines()[1].startswith("1,a")
    data.write_text("text,kind\nhello world,a\nbye moon,a\n")
    code, _, error = run("train", data, *args)
    assert code == 1
    assert "one class only, a; expected at least 2" in error


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,kind\nfine,a\nbroken,b,extra\n", "row 2"),
        ("", "empty"),
        ("text,kind\n", "no"),
        ("text,other\na,b\n", "kind"),
    ],
)
def test_bad_data_is_status_1_with_the_place(content, message, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    out = tmp_path / "m.earmark"
    code, _, error = run("train", path, "--label", "kind", "-o", out)
    assert code == 1
    assert message in error
    assert not out.exists()


def test_training_without_a_label_column_says_what_to_name(data):
    code, _, error = run("train", data)
    assert code == 1
    assert "name it with --label" in error


def test_wrong_usage_is_status_2(model):
    assert run("train")[0] == 2
    assert run("predict", model)[0] == 2
    assert run("nonsense")[0] == 2


def test_missing_and_damaged_model_files_are_status_1(tmp_path, data):
    assert "no such model file" in run("predict", tmp_path / "none", data)[2]
    broken = tmp_path / "broken.earmark"
    broken.write_bytes(b"not a model")
    assert "broken.earmark" in run("predict", broken, data)[2]


def test_console_script_prints_errors_as_one_line(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("text,kind\nfine,a\nbroken,b,extra\n")
    done = subprocess.run(
        [sys.executable, "-m", "earmark", "train", str(path), "--label", "kind"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from earmark.apps.cli.main import app; "
        "heavy = {'sklearn', 'numpy', 'scipy', 'pyarrow', 'matplotlib'}; "
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_compare_keeps_the_baselines_in_the_table(tmp_path):
    data = tmp_path / "other.csv"
    rows = (f"{text} {i} times {i + 7},{kind}" for i, (text, kind) in enumerate(ROWS))
    data.write_text("\n".join(["text,kind", *rows]))
    args = ("--label", "kind", "--models", "multinomial", "--repeats", "2")
    code, stdout, _ = run("compare", data, *args)
    assert code == 0
    for name in ("multinomial", "tf-idf + SVM", "complement", "tf-idf + LR"):
        assert name in stdout
    found = json.loads(run("compare", data, *args, "--json")[1])
    assert {one["name"] for one in found["classifiers"]} >= {
        "multinomial",
        "tf-idf + SVM",
    }


def test_fetch_names_the_corpora_and_the_missing_address(monkeypatch):
    monkeypatch.delenv("EARMARK_DATA_URL", raising=False)
    assert run("fetch", "nonsense")[0] == 2
    assert "EARMARK_DATA_URL" in run("fetch", "sms")[2]


def test_check_names_conflicts_and_suspected_label_errors(tmp_path):
    path = tmp_path / "odd.csv"
    animals = [
        (f"the cat{i} sat on the mat with a dog{i % 7}", "animal") for i in range(60)
    ]
    cars = [
        (f"my truck{i} left the road by the car{i % 7}", "vehicle") for i in range(60)
    ]
    rows = [*animals, *cars, ("the cat sat on the mat with a dog3", "vehicle")]
    rows += [(animals[0][0], "vehicle")]
    path.write_text("text,kind\n" + "".join(f"{t},{k}\n" for t, k in rows))
    code, stdout, _ = run("check", path, "--label", "kind")
    assert code == 0
    assert "row 121: labelled vehicle, looks like animal (" in stdout
    assert "About 1 of 122 labels is wrong (95 % interval" in stdout
    result = json.loads(run("check", path, "--label", "kind", "--json")[1])
    assert "conflict" in {one["kind"] for one in result["findings"]}
    suspects = result["suspected_label_errors"]
    assert all(one["probability"] >= 0.5 for one in suspects)
    assert result["wrong_labels"]["suspected"] == len(suspects)
    low, high = result["wrong_labels"]["interval"]
    assert low <= result["wrong_labels"]["estimate"] <= high


def test_check_accuses_none_of_a_few_good_rows(data):
    stdout = run("check", data, "--label", "kind")[1]
    assert "rather" not in stdout
    assert "none is more probably wrong than right" in stdout


def test_labels_that_the_promise_leaves_open_are_listed(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(240):
        labels = [name for name in ("red", "blue") if rng.random() < 0.5]
        words = [f"{name}{rng.integers(4)}" for name in labels for _ in range(2)]
        vague = "shade" if rng.random() < 0.3 else "green"
        labels += ["dark"] if vague == "shade" and rng.random() < 0.5 else []
        rows.append(
            f"{' '.join([*words, vague])} n{rng.integers(99)},{'|'.join(labels)}"
        )
    (tmp_path / "a.csv").write_text("\n".join(["text,kind", *rows[:120]]))
    (tmp_path / "b.csv").write_text("\n".join(["text,kind", *rows[120:], rows[0]]))
    model = tmp_path / "m.earmark"
    code, out, err = run(
        "train", tmp_path / "a.csv", "--label", "kind", "--multi-label",
        "--model", "softmax", "--max-error", "0.2", "--calibration", tmp_path / "b.csv",
        "--min-coverage", "0.2", "--out", model,
    )  # fmt: skip
    assert code == 0, err
    assert "1 calibration document nearly repeats" in err
    code, out, err = run("predict", model, tmp_path / "b.csv", "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert all(isinstance(answer["undecided"], list) for answer in answers)
    for answer in answers:
        assert not set(answer["label"] or ()) & set(answer["undecided"])
    assert any(answer["undecided"] for answer in answers)
    out = run("predict", model, tmp_path / "b.csv", "--max-error", "never")[1]
    assert out.splitlines()[0] == "row,label,confidence"


def test_a_coverage_without_documents_kept_apart_is_refused(data, tmp_path):
    options = ("--label", "kind", "--min-coverage", "0.2", "--max-error", "0.1")
    code, _, err = run("train", data, *options, "--out", tmp_path / "m.earmark")
    assert code == 2
    assert "--calibration" in err


def test_calibration_documents_turn_the_estimate_into_a_guarantee(data, tmp_path):
    held_out = tmp_path / "held-out.csv"
    rows = [f"{text} {i},{kind}" for i, (text, kind) in enumerate(ROWS * 20)]
    held_out.write_text("\n".join(["text,kind", *rows]))
    out = tmp_path / "m.earmark"
    options = ("--label", "kind", "--model", "multinomial", "--max-error", "0.3")
    run("train", data, *options, "-o", out)
    assert earmark.load(out).guaranteed_error_ is None
    code, stdout, _ = run("train", data, *options, "-o", out, "--calibration", held_out)
    assert code == 0
    assert earmark.load(out).guaranteed_error_ == 0.3
    assert "with 95 % confidence" in stdout


@pytest.mark.compiled
def test_the_demo_compares_explains_and_writes_a_report(tmp_path):
    out = tmp_path / "out"
    status, told, _ = run("demo", "--labels", 5, "--out", out)
    assert status == 0
    lines = told.splitlines()
    rows = [line for line in lines if line.startswith(("Complement", "earmark "))]
    theirs, ours = (float(re.search(r"\d\.\d+", row)[0]) for row in rows)
    assert ours > theirs
    assert "Which answers to trust" in told
    assert "was classified as" in told
    assert "<svg" in (out / "report.html").read_text()
    assert earmark.load(out / "demo.earmark").model_name_ == "semi-supervised"


def test_no_command_writes_over_what_it_reads(data, tmp_path):
    model = tmp_path / "m.earmark"
    assert run("train", data, "--label", "kind", "--out", model)[0] == 0
    before = data.read_bytes(), model.read_bytes()
    for command in (
        ("train", data, "--label", "kind", "--out", data),
        ("predict", model, data, "--out", data),
        ("predict", model, data, "--out", model),
        ("evaluate", model, data, "--label", "kind", "--report", data),
        ("card", model, "--out", model),
        ("label", data, "--export", data),
    ):
        status, _, told = run(*command)
        assert status == 2, command
        assert "would take the place of" in " ".join(told.replace("│", "").split())
    assert (data.read_bytes(), model.read_bytes()) == before


def test_predict_says_how_many_documents_it_leaves_open(data, tmp_path):
    model = tmp_path / "m.earmark"
    options = ("--label", "kind", "--model", "multinomial")
    assert run("train", data, *options, "--max-error", "0.001", "--out", model)[0] == 0
    status, rows, told = run("predict", model, data)
    assert status == 0
    n_open = sum(row.split(",")[1] == "" for row in rows.splitlines())
    word = "document" if n_open == 1 else "documents"
    assert (f"{n_open} {word} without an answer" in told) == (n_open > 0)


def test_lines_are_wrapped_between_words_on_a_terminal_only(monkeypatch, capsys):
    line = "- 12 documents repeat an earlier one word for word " + "x" * 70 + " 5 % end"
    console.say(line, hang="  ")
    assert capsys.readouterr().out == f"{line}\n"
    monkeypatch.setattr(console, "columns", lambda err=False: 40)
    console.say(line, hang="  ")
    narrow = capsys.readouterr().out
    assert narrow.split() == line.split()
    assert all(len(row) <= 40 or "x" * 70 in row for row in narrow.splitlines())
    assert all(row.startswith("  ") for row in narrow.splitlines()[1:])


def test_max_error_never_switches_abstaining_off(data, tmp_path):
    model = tmp_path / "m.earmark"
    options = ("--label", "kind", "--model", "multinomial")
    run("train", data, *options, "--max-error", "0.001", "--out", model)
    assert "documents without an answer" in run("predict", model, data)[2]
    status, rows, told = run("predict", model, data, "--max-error", "never")
    assert status == 0
    assert "without an answer" not in told
    assert all(row.split(",")[1] for row in rows.splitlines())
    stays = ("--keep", "animal,vehicle", "--max-error", "never", "--out")
    assert "kept 12 of 12" in run("filter", model, data, *stays, tmp_path / "all")[1]
    run("train", data, *options, "--max-error", "never", "--out", model)
    assert earmark.load(model).max_error is None


def test_evaluate_says_what_would_have_been_answered(data, tmp_path):
    model = tmp_path / "m.earmark"
    options = ("--label", "kind", "--model", "multinomial")
    run("train", data, *options, "--max-error", "0.001", "--out", model)
    told = run("evaluate", model, data, "--label", "kind")[1]
    assert "Without abstaining, 100.0 % of all documents" in " ".join(told.split())
    told = run("evaluate", model, data, "--label", "kind", "--max-error", "never")[1]
    assert "Without abstaining" not in told


def test_train_warns_of_copies(data, tmp_path):
    twice = tmp_path / "twice.csv"
    lines = data.read_text().splitlines()
    twice.write_text("\n".join([*lines, *lines[1:]]))
    options = ("--label", "kind", "--model", "multinomial")
    out = ("--out", tmp_path / "m.earmark")
    status, told, warned = run("train", twice, *options, *out)
    assert status == 0
    assert "20 labelled documents are near-duplicates of others" in warned
    assert "of 4 left-out training documents right: between" in told


ODD = "a good \ud800 schöner dog"  # JSON has an escape for it, UTF-8 has not


@pytest.mark.parametrize(
    ("out", "flags"),
    [("o.jsonl", []), ("o.csv", []), ("-", []), ("-", ["--json"])],
)
def test_texts_without_utf_8_are_labelled_and_copied(model, tmp_path, out, flags):
    data = tmp_path / "odd.jsonl"
    data.write_text(json.dumps({"text": ODD}) + "\n")
    place = out if out == "-" else tmp_path / out
    status, text, _ = run("predict", model, data, "-o", place, "--with-text", *flags)
    assert status == 0
    text = text if out == "-" else place.read_bytes().decode()
    if flags or out == "o.jsonl":
        assert json.loads(text)["text"] == ODD
    else:
        (row,) = csv.DictReader(text.splitlines())
        assert row["text"] == ODD.replace("\ud800", "?")


def test_a_column_of_days_is_copied_into_json(model, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    day = datetime.date(2024, 5, 1)
    parquet.write_table(
        pa.table({"text": ["a dog"], "day": [day]}), tmp_path / "d.parquet"
    )
    options = ("--keep", "day", "--json")
    status, text, _ = run("predict", model, tmp_path / "d.parquet", *options)
    assert status == 0
    assert json.loads(text)["day"] == "2024-05-01"


def test_a_locale_without_umlauts_does_not_matter(model, tmp_path):
    data, out = tmp_path / "odd.jsonl", tmp_path / "out"
    data.write_text(json.dumps({"text": ODD}) + "\n")
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for command in (
        ("filter", model, data, "--keep", "animal,vehicle", "--out", out),
        ("predict", model, data, "--with-text", "--json"),
        ("explain", model, ODD.replace("\ud800", ""), "--json"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "earmark", *map(str, command)],
            env=os.environ | plain,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if command[0] == "predict":
            assert json.loads(done.stdout)["text"] == ODD
    assert json.loads((out / "odd.jsonl").read_bytes())["text"] == ODD
