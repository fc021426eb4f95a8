"""The page's server: routes, exports, and who may talk to it."""

import io
import json
import re

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

import earmark
from earmark.apps.label.app import make_app
from earmark.apps.label.project import open_project
from earmark.documents import Documents, read_documents
from tests.apps.label.conftest import TOPICS, documents, truth


def post(client, path, status=200, tab="tab", **body):
    reply = client.post(f"/api/{path}", json={"client": tab, **body})
    assert reply.status_code == status, reply.text
    return reply.json()


def answer_some(client, n):
    data = post(client, "next")
    for number in range(n):
        document = data["document"]["document"]
        data = post(
            client, "answer", key=f"k{number}", document=document,
            labels=[truth(document)],
        )  # fmt: skip
    assert client.session.wait()
    return data


def test_answering_gives_the_next_document_and_the_state(client):
    first = post(client, "next")["document"]
    assert (
        first["parts"][0]["text"] == client.session.documents.texts[first["document"]]
    )
    data = post(client, "answer", key="k", document=first["document"], labels=["cat"])
    assert data["new"] is True
    assert data["document"]["document"] != first["document"]
    assert data["state"]["answered"] == 1
    again = post(client, "answer", key="k", document=first["document"], labels=["cat"])
    assert again["new"] is False
    assert again["state"]["answered"] == 1


def test_the_state_tells_progress_estimate_and_promise(client):
    answer_some(client, 40)
    state = client.get("/api/state").json()
    assert state["answered"] == 40
    assert [label["name"] for label in state["labels"]] == ["cat", "car", "tea"]
    assert sum(label["count"] for label in state["labels"]) == 40
    assert state["estimate"]["checks"] >= 5
    assert state["estimate"]["low"] < state["estimate"]["accuracy"] <= 1
    assert "too few for a promise" in state["promise"]["words"]
    assert not state["promise"]["can_audit"]
    assert re.match(r"Trained on \d+ answers", state["model"])
    assert state["advice"].endswith(state["promise"]["words"])
    assert len(state["curve"]) >= 1


def test_guesses_come_with_their_words_but_not_on_checks(client):
    answer_some(client, 30)
    loop = client.session.loop
    open_ = [d for d in range(60) if d not in client.session.entries]
    check = next(d for d in open_ if loop.is_check[d])
    lesson = next(d for d in open_ if not loop.is_check[d])
    shown = post(client, "document", document=lesson)["document"]
    assert shown["guess"]["labels"] == [truth(lesson)]
    text = shown["parts"][0]["text"]
    words = {text[start:end] for start, end, weight in shown["parts"][0]["spans"]}
    assert words
    assert words <= set(text.split())
    hidden = post(client, "document", document=check)["document"]
    assert hidden["hidden"]
    assert hidden["guess"] is None
    assert hidden["parts"][0]["spans"] == []


def test_browsing_searches_and_filters(client):
    answer_some(client, 30)
    assert post(client, "browse")["total"] == 60
    n_honey = sum("honey" in text for text in client.session.documents.texts)
    assert post(client, "browse", search="HONEY")["total"] == n_honey
    assert post(client, "browse", show="answered")["total"] == 30
    assert post(client, "browse", show="open")["total"] == 30
    found = post(client, "browse", show="open", guess="tea")["documents"]
    assert found
    assert all("tea" in line["text"] for line in found)
    second = post(client, "browse", page=1)
    assert (len(second["documents"]), second["pages"]) == (10, 2)


def test_wrong_answers_are_suspected_and_in_the_confusion_table(client):
    for d in range(48):  # what would be asked depends on how fast the model learns
        post(client, "answer", key=f"b{d}", document=d, labels=[truth(d)], how="browse")
    lessons = [d for d in client.session.loop.lessons() if truth(d) == "tea"]
    post(client, "answer", key="x", document=lessons[3], labels=["car"], how="browse")
    assert client.session.wait()
    suspects = post(client, "browse", show="suspects")["documents"]
    assert suspects[0]["document"] == lessons[3]
    share, words = suspects[0]["note"].split("%")
    assert 50 <= int(share) <= 100
    assert words == " likely wrong: others like it are tea"
    table = client.get("/api/confusion").json()
    row, column = table["labels"].index("car"), table["labels"].index("tea")
    assert table["table"][row][column] >= 1
    cell = post(client, "browse", show="answered", given="car", guess="tea")
    assert lessons[3] in [line["document"] for line in cell["documents"]]


def test_undo_and_new_labels(client):
    post(client, "next")
    post(client, "label", name="dog")
    document = post(client, "next")["document"]["document"]
    post(client, "answer", key="k", document=document, labels=["dog"])
    undone = post(client, "undo")
    assert undone["undone"] == 1
    assert undone["document"]["document"] == document
    assert undone["state"]["answered"] == 0
    assert post(client, "undo")["undone"] == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_labels_are_exported_for_training(client, tmp_path, kind):
    answer_some(client, 20)
    path = tmp_path / f"labels.{kind}"
    path.write_bytes(client.get(f"/export/labels.{kind}").content)
    found = read_documents(path, text="text", label="label")
    assert len(found) == 20
    assert all(
        label in text for text, label in zip(found.texts, found.labels, strict=True)
    )
    path.write_bytes(client.get(f"/export/labels.{kind}?which=all").content)
    whole = read_documents(path, text="text", label="label", allow_unlabelled=True)
    assert len(whole) == 60
    assert whole.labels.count(None) == 40


def test_parquet_keeps_who_answered(client):
    answer_some(client, 20)
    data = client.get("/export/labels.parquet").content
    by = pq.read_table(io.BytesIO(data)).column("by").to_pylist()
    assert set(by) == {"person", "check"}


def test_the_model_and_the_report_are_exported(client, tmp_path):
    early = client.get("/export/model.earmark")
    assert early.status_code == 409
    answer_some(client, 30)
    path = tmp_path / "m.earmark"
    path.write_bytes(client.get("/export/model.earmark").content)
    model = earmark.load(path)
    assert model.predict(["warm cat mat"]).tolist() == ["cat"]  # not asked to abstain
    assert model.evidence_.held_out
    report = client.get("/export/report.html")
    assert "<html" in report.text
    assert client.get("/export/passwords.txt").status_code == 404


def test_other_sites_cannot_reach_it(client):
    body = {"client": "tab"}
    for headers, status in (
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost:8001", "Origin": "http://localhost:8001"}, 200),
    ):
        reply = client.post("/api/next", json=body, headers=headers)
        assert reply.status_code == status
    form = client.post("/api/next", data=body)
    assert form.status_code == 415
    plain = client.post(
        "/api/next", content=json.dumps(body), headers={"Content-Type": "text/plain"}
    )
    assert plain.status_code == 415
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/api/answer").status_code == 405


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"client": "a b"},
        {"client": "x" * 65},
        {"client": "tab", "more": 1},
        {"client": "tab", "key": "k", "document": -1, "labels": ["cat"]},
        {"client": "tab", "key": "k", "document": 0, "labels": "cat"},
        {"client": "tab", "key": "k", "document": 1.5, "labels": ["cat"]},
        {"client": "tab", "key": "k", "document": 0, "labels": ["dog"]},
    ],
)
def test_wrong_requests_are_refused(client, body):
    reply = client.post("/api/answer", json=body)
    assert reply.status_code == 422
    assert not client.session.entries


def test_regions_and_known_labels_are_taken_over(tmp_path):
    texts = {"title": ["cats", "cars"] * 5, "body": ["purr", "vroom"] * 5}
    labels = ["animal", "machine"] * 3 + [None] * 4
    documents = Documents(texts, labels, rows=range(1, 11), source="x")
    session = open_project(documents, tmp_path)
    with TestClient(make_app(session), base_url="http://localhost") as client:
        state = client.get("/api/state").json()
        assert state["answered"] == 6
        shown = post(client, "next")["document"]
        assert [part["name"] for part in shown["parts"]] == ["title", "body"]
        assert shown["document"] >= 6


def test_awkward_texts_go_through(tmp_path):
    texts = [
        "<script>alert(1)</script> cat",
        "\ud800 lone",
        "",
        "a\x00b",
        "x" * 200_000,
    ]
    session = open_project(Documents(texts * 3), tmp_path, labels=["a", "b"])
    with TestClient(make_app(session), base_url="http://localhost") as client:
        for number in range(15):
            shown = post(client, "next")["document"]
            post(client, "answer", key=f"k{number}", document=shown["document"],
                 labels=["ab"[number % 2]])  # fmt: skip
        assert post(client, "browse", search="script")["total"] == 3
        for kind in ("jsonl", "csv", "parquet"):
            path = tmp_path / f"labels.{kind}"
            path.write_bytes(client.get(f"/export/labels.{kind}").content)
            copies = set(read_documents(path, text="text", label="label").texts)
            assert ("\ud800 lone" if kind == "jsonl" else "? lone") in copies


def test_the_command_exports_without_a_server(tmp_path):
    from typer.testing import CliRunner

    from earmark.apps.cli import main as cli
    from tests.apps.label.conftest import documents

    data = tmp_path / "data.jsonl"
    lines = [
        {"text": text, "kind": truth(row) if row < 30 else None}
        for row, text in enumerate(documents().texts)
    ]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(*more):
        command = ["label", str(data), "--label", "kind", *map(str, more)]
        return CliRunner().invoke(cli.app, command)

    done = run("--export", tmp_path / "out.csv")
    assert done.exit_code == 0, done.output
    assert "wrote" in done.output
    found = read_documents(tmp_path / "out.csv", text="text", label="label")
    assert len(found) == 30
    assert (tmp_path / "data.jsonl.labels" / "answers.sqlite").exists()
    assert run("--export", tmp_path / "m.earmark").exit_code == 0
    assert earmark.load(tmp_path / "m.earmark").classes_.tolist() == [
        "car",
        "cat",
        "tea",
    ]
    assert run("--export", tmp_path / "x.txt").exit_code == 2
    wrong = run("--export", tmp_path / "o.csv", "--multi-label")
    assert isinstance(wrong.exception, earmark.exceptions.DataError)


def test_a_skipped_check_keeps_its_guess_to_itself(client):
    answer_some(client, 30)
    loop = client.session.loop
    check = next(d for d in loop.check_order.tolist() if d not in loop.answers)
    post(client, "answer", key="skip", document=check, labels=None)
    assert client.session.wait()
    again = post(client, "document", document=check)["document"]
    assert again["hidden"]
    assert again["guess"] is None
    listed = post(client, "browse", show="all")["documents"]
    line = next(line for line in listed if line["document"] == check)
    assert line["hidden"]
    assert line["guess"] is None


def test_a_new_tab_undoes_what_the_same_browser_answered(client):
    for number in range(3):
        data = post(client, "next", tab="b1-t1")["document"]
        post(
            client, "answer", tab="b1-t1", key=f"k{number}",
            document=data["document"], labels=["cat"],
        )  # fmt: skip
    assert post(client, "undo", tab="b2-t1")["undone"] == 0
    for left in (2, 1, 0):
        data = post(client, "undo", tab="b1-t2")
        assert data["undone"] == 1
        assert data["state"]["answered"] == left
    assert post(client, "undo", tab="b1-t2")["undone"] == 0


def test_the_confusion_page_says_how_many_were_picked(client):
    answer_some(client, 40)
    data = client.get("/api/confusion").json()
    assert data["total"] == sum(map(sum, data["table"]))
    checks = sum(client.session.loop.is_check[d] for d in client.session.loop.answers)
    assert data["picked"] == data["total"] - checks


def test_a_suspected_answer_that_is_kept_is_not_suspected_again(client):
    answer_some(client, 60)
    loop = client.session.loop
    wrong = next(iter(loop.lessons()))
    label = next(name for name in ("cat", "car", "tea") if name != truth(wrong))
    post(client, "answer", key="wrong", document=wrong, labels=[label], how="browse")
    assert client.session.wait()
    suspects = post(client, "browse", show="suspects")["documents"]
    assert [line["document"] for line in suspects] == [wrong]
    post(client, "keep", document=wrong)
    assert post(client, "browse", show="suspects")["documents"] == []
    assert client.session.store.confirmed() == {wrong}
    post(client, "keep", status=404, document=10**6)


def test_labels_for_a_document_that_is_not_there_are_refused(client):
    body = {"key": "m", "documents": [0, 10**6], "labels": ["cat"]}
    post(client, "many", status=404, **body)
    assert not client.session.entries


def test_a_full_disk_is_said_and_loses_nothing(client):
    answer_some(client, 6)
    database = client.session.store._db
    (size,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {size}")
    document, refused = post(client, "next")["document"]["document"], None
    for number in range(1000):
        key = {"client": "tab", "document": document, "key": f"n{number}"}
        answer = {**key, "labels": ["cat"], "how": "browse"}
        reply = client.post("/api/answer", json=answer)
        assert reply.status_code in (200, 503)
        if reply.status_code == 503:
            refused = reply.json()
            break
    assert refused is not None
    assert refused["error"] == "disk"
    assert "nothing was changed" in refused["detail"]
    assert "answers.sqlite cannot be written (database or disk is full)" in str(refused)
    assert len(client.session.store.entries_of(document)) == number
    database.execute("PRAGMA max_page_count = 1000000")
    assert client.post("/api/answer", json=answer).json()["new"] is True
    assert len(client.session.store.entries_of(document)) == number + 1


@pytest.mark.parametrize("host", ["[", "[::1", "]", "http://["])
def test_a_host_or_origin_that_is_no_address_is_refused(client, host):
    assert client.get("/api/state", headers={"Host": host}).status_code == 403
    reply = client.post("/api/next", json={"client": "t"}, headers={"Origin": host})
    assert reply.status_code == 403


def test_checks_begin_and_end_on_demand(tmp_path):
    session = open_project(
        documents(), tmp_path / "p", labels=list(TOPICS), max_error=0.3
    )
    with TestClient(make_app(session), base_url="http://localhost") as client:
        client.session = session
        body = {"client": "tab"}
        assert client.post("/api/audit", json=body | {"begin": True}).status_code == 409
        answer_some(client, 12)
        session.wait()
        state = client.get("/api/state").json()
        assert state["promise"]["can_audit"]
        assert state["promise"]["words"].startswith("Check now: ")
        data = client.post("/api/audit", json=body | {"begin": True}).json()
        assert data["document"]["why"] == "audit"
        assert data["document"]["hidden"]
        assert data["document"]["guess"] is None
        assert data["state"]["promise"]["auditing"]
        assert "Only checks are asked now" in data["state"]["advice"]
        data = client.post("/api/audit", json=body | {"begin": False}).json()
        assert not data["state"]["promise"]["auditing"]
