"""Files of labelling tools: read as they export them, written as they import them."""

import json
import re

import pytest
from typer.testing import CliRunner

from earmark.apps.cli import main as cli
from earmark.apps.label.project import open_project
from earmark.documents import Documents, read_documents
from earmark.documents.exchange import Task, dialect_named, endings, written
from earmark.documents.format import FORMATS
from earmark.exceptions import DataError
from earmark.pipeline import TextClassifier


def choices(*labels, name="topic"):
    return {
        "from_name": name,
        "to_name": "text",
        "type": "choices",
        "value": {"choices": [*labels]},
    }


def annotation(*results, **more):
    return {"id": 7, "completed_by": 1, "was_cancelled": False, **more} | {
        "result": [*results]
    }


LABEL_STUDIO = [
    {
        "id": 11,
        "data": {"text": "good film"},
        "annotations": [annotation(choices("pos"))],
        "predictions": [{"score": 0.2, "result": [choices("neg")]}],
    },
    {
        "id": 12,
        "data": {"text": "bad film"},
        "annotations": [
            annotation(choices("pos")),
            annotation(choices("neg")),
            annotation(choices("neg")),
            annotation(choices("pos"), was_cancelled=True),
        ],
    },
    {"id": 13, "data": {"text": "film"}, "annotations": [], "predictions": []},
]
ARGILLA = [
    {
        "id": "11",
        "status": "completed",
        "fields": {"text": "good film"},
        "metadata": {},
        "responses": {"topic": [{"value": "pos", "user_id": "u", "status": None}]},
        "suggestions": {"topic": {"value": "neg", "score": 0.2, "agent": "x"}},
        "vectors": {},
    },
    {
        "id": "12",
        "fields": {"text": "bad film"},
        "responses": {
            "topic": [
                {"value": "pos", "user_id": "u"},
                {"value": "neg", "user_id": "v"},
                {"value": "neg", "user_id": "w"},
                {"value": "pos", "user_id": "x", "status": "discarded"},
            ]
        },
        "suggestions": {},
    },
    {"id": "13", "fields": {"text": "film"}, "responses": {}, "suggestions": {}},
]
OPTIONS = [{"id": "pos", "text": "pos"}, {"id": "neg", "text": "neg"}]
PRODIGY = [
    {"text": text, "options": OPTIONS, "_input_hash": 1, "_task_hash": number}
    | {"accept": accept, "answer": answer, "_view_id": "choice"}
    for number, text, accept, answer in [
        (11, "good film", ["pos"], "accept"),
        (12, "bad film", ["neg"], "accept"),
        (13, "film", ["neg"], "ignore"),
    ]
]
BINARY = [
    {"text": text, "label": label, "answer": answer, "_task_hash": number}
    for number, text, label, answer in [
        (11, "good film", "pos", "accept"),
        (12, "bad film", "neg", "accept"),
        (13, "film", "neg", "reject"),
    ]
]
DOCCANO = [
    {"id": 11, "text": "good film", "label": ["pos"], "Comments": []},
    {"id": 12, "text": "bad film", "label": ["neg"], "Comments": []},
    {"id": 13, "text": "film", "label": [], "Comments": []},
]
FILES = {
    "label-studio": LABEL_STUDIO,
    "argilla": ARGILLA,
    "prodigy": PRODIGY,
    "prodigy, binary": BINARY,
    "doccano": DOCCANO,
}


def write(path, records):
    if path.suffix == ".json":
        path.write_text(json.dumps(records))
    else:
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
@pytest.mark.parametrize("tool", FILES)
def test_an_export_is_known_by_its_contents(tmp_path, tool, ending):
    path = write(tmp_path / f"export{ending}", FILES[tool])
    read = read_documents(path, allow_unlabelled=True, id="id")
    assert read.texts == ["good film", "bad film", "film"]
    assert read.labels == ["pos", "neg", None]
    assert list(map(str, read.ids)) == ["11", "12", "13"]


@pytest.mark.parametrize("tool", FILES)
def test_an_export_is_read_in_the_format_that_is_stated(tmp_path, tool):
    path = write(tmp_path / "export", FILES[tool])
    read = read_documents(path, format=tool.split(",")[0], allow_unlabelled=True)
    assert read.labels == ["pos", "neg", None]


def test_a_stated_format_reads_what_has_no_mark_of_its_own(tmp_path):
    records = [{"data": "one", "labels": ["a"]}, {"data": "two", "labels": ["b"]}]
    path = write(tmp_path / "old.jsonl", records)
    read = read_documents(path, format="doccano")
    assert (read.texts, read.labels) == (["one", "two"], ["a", "b"])


def test_several_labels_and_controls_are_kept(tmp_path):
    one = annotation(choices("a", "b"), choices("x", name="tone"))
    task = {"id": 1, "data": {"review": "text", "n": 3}, "annotations": [one]}
    path = write(tmp_path / "export.json", [task])
    assert read_documents(path, multi_label=True).labels == [["a", "b"]]
    assert read_documents(path, label="tone").labels == ["x"]
    assert read_documents(path, "review", label="tone").texts == ["text"]
    with pytest.raises(DataError, match="expected one label, got a list of 2"):
        read_documents(path)


def test_votes_of_several_people_are_a_column(tmp_path):
    for tool in (LABEL_STUDIO, ARGILLA):
        path = write(tmp_path / "export.json", tool)
        read = read_documents(path, allow_unlabelled=True, keep=["votes"])
        assert read.columns["votes"] == [{"pos": 1}, {"pos": 1, "neg": 2}, {}]


def test_fields_asked_for_by_name_are_read_as_they_are(tmp_path):
    path = write(tmp_path / "export.json", LABEL_STUDIO)
    read = read_documents(path, "data.text", label=False)
    assert read.texts == ["good film", "bad film", "film"]


def test_a_list_of_one_label_is_a_label(tmp_path):
    rows = [{"text": "a", "label": ["x"]}, {"text": "b", "label": ["y"]}]
    path = write(tmp_path / "a.jsonl", rows)
    assert read_documents(path).labels == ["x", "y"]
    assert read_documents(path, multi_label=True).labels == [["x"], ["y"]]
    write(path, [*rows, {"text": "c", "label": ["x", "y"]}])
    with pytest.raises(DataError, match=r"row 3 .*a list of 2.*multi_label=True"):
        read_documents(path)
    write(path, [*rows, {"text": "c", "label": []}])
    with pytest.raises(DataError, match=r"row 3 .*expected a label, got a list of 0"):
        read_documents(path)
    assert read_documents(path, allow_unlabelled=True).labels == ["x", "y", None]


TASKS = [
    Task({"text": "good “film”"}, 11, ["pos"], classes=["neg", "pos"]),
    Task({"text": "bad film"}, 12, None, ["neg"], 0.9, ["neg", "pos"]),
    Task({"text": "film"}, 13, None, [], None, ["neg", "pos"]),
]


@pytest.mark.parametrize("ending", endings())
def test_what_is_written_is_read_again(tmp_path, ending):
    dialect = dialect_named(f"tasks{ending}")
    path = tmp_path / f"tasks{ending}"
    path.write_bytes(b"".join(written(TASKS, dialect)))
    read = read_documents(path, allow_unlabelled=True, id="id")
    assert read.texts == ["good “film”", "bad film", "film"]
    assert list(map(str, read.ids)) == ["11", "12", "13"]
    # Only doccano makes no difference between a label and a suggestion.
    suggested = "neg" if "doccano" in ending else None
    assert read.labels == ["pos", suggested, None]
    assert list(written([], dialect)) == [b"[]\n" if path.suffix == ".json" else b"\n"]


def test_suggestions_have_scores():
    label_studio, argilla, prodigy, doccano = (
        FORMATS[name].dialect.write(TASKS[1])
        for name in ("label-studio", "argilla", "prodigy", "doccano")
    )
    (prediction,) = label_studio["predictions"]
    assert prediction["score"] == 0.9
    assert prediction["result"][0]["value"] == {"choices": ["neg"]}
    assert "annotations" not in label_studio
    suggestion = argilla["suggestions"]["label"]
    assert suggestion == {"value": "neg", "score": 0.9, "agent": "earmark"}
    assert prodigy["accept"] == ["neg"]
    assert prodigy["meta"]["score"] == 0.9
    assert (doccano["label"], doccano["score"]) == (["neg"], 0.9)


def test_other_names_are_of_no_tool():
    for name in ("tasks.json", "a.doccano.json", "doccano.jsonl", "a.csv.jsonl", "a"):
        assert dialect_named(name) is None


TEXTS = ["good film", "good plot", "bad film", "bad plot"] * 5
LABELS = ["pos", "pos", "neg", "neg"] * 5


@pytest.mark.parametrize("ending", endings())
def test_predict_writes_suggestions_for_other_tools(tmp_path, ending):
    TextClassifier("multinomial").fit(TEXTS, LABELS).save(tmp_path / "m")
    data = write(tmp_path / "new.jsonl", [{"text": text} for text in TEXTS])
    out = tmp_path / f"tasks{ending}"
    command = ["predict", str(tmp_path / "m"), str(data), "--out", str(out)]
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 0, done.output
    said = out.read_text()
    records = json.loads(said) if out.suffix == ".json" else said.splitlines()
    assert len(records) == 20
    assert "0.9" in said
    assert read_documents(out, allow_unlabelled=True).texts == TEXTS


@pytest.mark.parametrize("tool", FILES)
def test_label_takes_over_and_writes_files_of_other_tools(tmp_path, tool):
    rows = [{"text": text} for text in ("good film", "bad film", "film", "a new one")]
    data = write(tmp_path / "data.jsonl", rows)
    theirs = write(tmp_path / "theirs.json", FILES[tool])
    out = tmp_path / "out.label-studio.json"
    command = ["label", str(data), "--import", str(theirs), "--labels", "pos,neg"]
    more = ["--project", str(tmp_path / "p"), "--export", str(out)]
    (tmp_path / "p").mkdir()
    done = CliRunner().invoke(cli.app, [*command, *more])
    assert done.exit_code == 0, done.output
    read = read_documents(out, allow_unlabelled=True)
    assert read.labels == ["pos", "neg", None, None]


def test_nothing_is_taken_over_from_other_documents(tmp_path):
    data = write(tmp_path / "data.jsonl", [{"text": "one"}, {"text": "two"}])
    theirs = write(tmp_path / "theirs.json", LABEL_STUDIO)
    command = ["label", str(data), "--import", str(theirs), "--export", "x.csv"]
    (tmp_path / "data.jsonl.labels").mkdir()
    done = CliRunner().invoke(cli.app, command)
    assert "none of its 3 documents is in" in str(done.exception)


def test_open_documents_leave_with_suggestions_except_random_checks(tmp_path):
    from earmark.apps.label.project import export

    texts = [f"{text} number {n}" for n, text in enumerate(TEXTS * 3)]
    labels = [*(LABELS * 3)[:40], *[None] * 20]
    documents = Documents(texts, labels, rows=range(1, 61), source="data")
    session = open_project(documents, tmp_path / "p", check_share=0.3)
    try:
        tasks = json.loads(export(session, "tasks.label-studio.json"))
        is_check = session.loop.is_check
    finally:
        session.close()
    assert sum("annotations" in task for task in tasks) == 40
    for number, task in enumerate(tasks[40:], start=40):
        assert bool(task["predictions"]) != is_check[number]
        if task["predictions"]:
            assert 0 < task["predictions"][0]["score"] <= 1


@pytest.mark.parametrize("command", ["predict", "label"])
def test_help_names_the_files_of_every_labelling_tool(command):
    shown = CliRunner().invoke(cli.app, [command, "--help"]).output
    plain = re.sub(r"[\s│]+", "", shown)
    assert len(endings()) > 3
    for ending in endings():
        assert ending in plain
