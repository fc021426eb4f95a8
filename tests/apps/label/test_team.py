"""Several people: overlap, disagreement, tokens, labels that change, notes, bulk."""

import csv
import io
import sqlite3
from dataclasses import replace

import pytest
from sklearn.metrics import cohen_kappa_score
from starlette.testclient import TestClient

from earmark.apps.label.app import make_app
from earmark.apps.label.project import open_project
from earmark.apps.label.store import Store
from tests.apps.label.conftest import TOPICS, documents, label_all, post, truth


def bob_says(document):
    return "car" if document % 5 == 0 else truth(document)


def test_documents_that_came_with_a_label_are_not_asked_twice(tmp_path):
    labels = [truth(d) if d % 2 else None for d in range(60)]
    known = replace(documents(), labels=labels)
    session = open_project(known, tmp_path / "p", labels=list(TOPICS), overlap=0.25)
    with TestClient(make_app(session), base_url="http://localhost") as client:
        assert len(session.overlap) == 15
        assert all(d % 2 == 0 for d in session.overlap)
        ann = label_all(client, "ann", truth)
        bob = label_all(client, "bob", truth)
        assert sorted(ann) == list(range(0, 60, 2))
        assert set(bob) == session.overlap
        assert client.get("/api/project").json()["twice"] == 15


def test_the_overlap_is_answered_twice_and_everything_else_once(team):
    ann = label_all(team, "ann", truth)
    bob = label_all(team, "bob", bob_says)
    assert sorted(ann) == list(range(60))
    assert set(bob) == team.session.overlap
    assert len(bob) == 30
    assert post(team, "next", person="ann")["document"] is None
    assert post(team, "next", person="cid")["document"] is None


def test_nobody_sees_the_other_answer_before_giving_one(team):
    label_all(team, "ann", truth)
    assert team.session.wait()
    data = post(team, "next", person="bob")["document"]
    assert data["why"] == "second"
    assert (data["given"], data["guess"], data["said"]) == (None, None, None)
    document = data["document"]
    lines = post(team, "browse", person="bob")["documents"]
    line = next(line for line in lines if line["document"] == document)
    assert (line["given"], line["guess"], line["hidden"]) == (None, None, True)
    asked = post(team, "browse", person="bob", given=truth(document))["documents"]
    assert document not in [line["document"] for line in asked]
    mine = post(team, "document", person="ann", document=document)["document"]
    assert mine["given"] == [truth(document)]


def test_agreement_disputes_and_their_settlement(team):
    label_all(team, "ann", truth)
    bob = label_all(team, "bob", bob_says)
    project = team.get("/api/project").json()
    kappa = next(a for a in project["agreement"] if a["name"] == "Cohen's kappa")
    expected = cohen_kappa_score([truth(d) for d in bob], [bob_says(d) for d in bob])
    assert kappa["value"] == pytest.approx(expected)
    assert kappa["low"] <= kappa["value"] <= kappa["high"]
    assert kappa["people"] == "ann and bob"
    assert {p["name"]: p["answers"] for p in project["people"]} == {
        "ann": 60,
        "bob": 30,
    }
    differ = sorted(d for d in bob if truth(d) != bob_says(d))
    assert sorted(team.session.disputed) == differ
    listed = post(team, "browse", show="disputed")["documents"]
    assert [line["document"] for line in listed] == differ
    first = listed[0]
    assert first["said"] == {
        "ann": [truth(differ[0])],
        "bob": [bob_says(differ[0])],
    }
    # Until it is settled the first answer counts; then what was settled.
    assert team.session.entries[differ[0]].labels == (truth(differ[0]),)
    post(
        team, "answer", person="cid", key="s", document=differ[0], labels=["tea"],
        how="settled",
    )  # fmt: skip
    assert team.session.entries[differ[0]].labels == ("tea",)
    assert team.session.entries[differ[0]].person == "cid"
    state = team.get("/api/state").json()
    assert state["disputed"] == len(differ) - 1
    exported = team.get("/export/answers.csv").text
    rows = [
        r
        for r in csv.DictReader(io.StringIO(exported))
        if int(r["row"]) == differ[0] + 1
    ]
    assert [(r["person"], r["how"], r["counts"]) for r in rows] == [
        ("ann", "asked", "False"),
        ("bob", "asked", "False"),
        ("cid", "settled", "True"),
    ]
    said = [truth(differ[0]), bob_says(differ[0]), "tea"]
    assert [r["label"] for r in rows] == said
    assert all(r["at"].startswith("20") for r in rows)
    labels = team.get("/export/labels.csv").text
    chosen = next(
        r for r in csv.DictReader(io.StringIO(labels)) if int(r["row"]) == differ[0] + 1
    )
    assert (chosen["person"], chosen["label"]) == ("cid", "tea")


def test_labels_are_renamed_merged_split_and_deleted_with_history(team):
    label_all(team, "ann", truth)
    session = team.session

    def counts():
        labels = team.get("/api/state").json()["labels"]
        return {label["name"]: label["count"] for label in labels}

    post(team, "change", action="rename", old=["cat"], new=["kitten"])
    assert counts() == {"kitten": 20, "car": 20, "tea": 20}
    assert session.wait()
    assert "kitten" in session.view.fitted.classes
    post(team, "change", action="merge", old=["kitten", "car"], new=["thing"])
    assert counts() == {"tea": 20, "thing": 40}
    merged = team.get("/api/project").json()["changes"][0]
    assert (merged["action"], merged["person"]) == ("merge", "ann")
    post(team, "unchange", number=merged["number"])
    assert counts() == {"kitten": 20, "car": 20, "tea": 20, "thing": 0}
    post(team, "change", action="delete", old=["thing"])
    post(team, "change", action="split", old=["tea"], new=["green", "black"])
    assert counts() == {"kitten": 20, "car": 20, "green": 0, "black": 0}
    reopened = post(team, "next")["document"]
    assert truth(reopened["document"]) == "tea"
    post(team, "change", status=422, action="rename", old=["car"], new=["kitten"])
    post(team, "change", status=422, action="delete", old=["nothing"])
    actions = [c["action"] for c in team.get("/api/project").json()["changes"]]
    assert actions == ["split", "delete", "merge", "rename"]


def test_changed_labels_stay_changed_when_the_project_is_opened_again(
    tmp_path, project
):
    first = project()
    first.answer("k", "tab", 0, ["cat"], "asked")
    first.change_labels("rename", ["cat"], ["kitten"])
    again = project()
    assert again.store.labels() == ["kitten", "car", "tea"]
    assert again.entries[0].labels == ("kitten",)


def test_notes_flags_descriptions_keys_and_guidelines(team):
    post(team, "note", document=3, text="ask ann", flagged=True, person="bob")
    flagged = post(team, "browse", show="flagged")["documents"]
    assert [line["document"] for line in flagged] == [3]
    assert post(team, "document", document=3)["document"]["notes"][0]["text"]
    post(
        team,
        "describe",
        name="cat",
        description="felines",
        shortcut="c",
        group="animals",
    )
    post(team, "describe", status=422, name="car", shortcut="c")
    post(team, "guidelines", text="Read twice.")
    project = team.get("/api/project").json()
    assert project["guidelines"] == "Read twice."
    assert project["labels"][0] == {
        "name": "cat",
        "description": "felines",
        "key": "c",
        "group": "animals",
    }
    post(team, "answer", key="k", document=3, labels=["cat"])
    row = next(csv.DictReader(io.StringIO(team.get("/export/labels.csv").text)))
    assert (row["person"], row["note"]) == ("ann", "bob: [flag] ask ann")
    post(team, "note", document=3, person="bob")
    assert post(team, "browse", show="flagged")["total"] == 0


def test_many_documents_are_labelled_at_once_and_undone_at_once(client):
    rows = [d for d in range(60) if "honey" in client.session.documents.texts[d]]
    given = post(client, "many", key="m", labels=["tea"], search="honey")
    checks = [d for d in rows if client.session.loop.is_check[d]]
    assert (given["given"], given["left_out"]) == (
        len(rows) - len(checks),
        len(checks),
    )
    assert given["state"]["answered"] == given["given"]
    assert post(client, "undo")["undone"] == given["given"]
    some = [d for d in rows if d not in checks][:2]
    assert post(client, "many", key="n", labels=["car"], documents=some)["given"] == 2
    post(client, "many", status=422, key="o", labels=["dog"], documents=some)


def test_the_list_is_sorted_and_found_by_meaning(client):
    data = post(client, "next")["document"]
    for number in range(40):
        data = post(
            client, "answer", key=f"k{number}", document=data["document"],
            labels=[truth(data["document"])],
        )["document"]  # fmt: skip
    assert client.session.wait()
    sure = post(client, "browse", show="open", sort="sure")["documents"]
    shown = [line["confidence"] for line in sure if not line["hidden"]]
    assert shown == sorted(shown, reverse=True)
    assert [line["hidden"] for line in sure] == sorted(line["hidden"] for line in sure)
    like = post(client, "browse", like=0)["documents"]
    assert 0 not in [line["document"] for line in like]
    assert {truth(line["document"]) for line in like[:10]} == {truth(0)}
    tea = post(client, "browse", search="kettle steam", meaning=True)["documents"]
    assert [truth(line["document"]) for line in tea[:8]] == ["tea"] * 8
    found = post(client, "browse", search="honey")["documents"][0]
    start, end, _ = found["spans"][0]
    assert found["text"][start:end] == "honey"
    assert post(client, "browse", sort="novel")["total"] == 60
    post(client, "browse", status=404, like=10**6)


def test_a_filter_by_guess_does_not_betray_a_hidden_one(client):
    data = post(client, "next")["document"]
    for number in range(30):
        data = post(
            client, "answer", key=f"k{number}", document=data["document"],
            labels=[truth(data["document"])],
        )["document"]  # fmt: skip
    assert client.session.wait()
    for guess in TOPICS:
        lines = post(client, "browse", guess=guess)["documents"]
        assert not any(line["hidden"] for line in lines)


def test_a_token_says_who_it_is_until_it_is_revoked(tmp_path):
    session = open_project(documents(), tmp_path / "p", labels=list(TOPICS))
    token = session.store.invite("ann")
    app = make_app(session, hosts=None, with_tokens=True)
    with TestClient(app, base_url="http://far.example") as client:
        assert client.get("/").status_code == 200
        assert client.get("/api/state").status_code == 401
        post(client, "next", status=401, headers={"Authorization": "Bearer guess"})
        mine = {"Authorization": f"Bearer {token}"}
        assert client.get("/api/project", headers=mine).json()["me"] == "ann"
        document = post(client, "next", headers=mine)["document"]["document"]
        post(
            client, "answer", person="bob", key="k", document=document,
            labels=["cat"], headers=mine,
        )  # fmt: skip
        assert session.entries[document].person == "ann"
        assert client.get("/export/labels.csv").status_code == 401
        other = Store(tmp_path / "p", {})
        assert token not in str(other._all("SELECT * FROM people"))
        assert other.revoke("ann")
        assert not other.revoke("ann")
        other.close()
        post(client, "next", status=401, headers=mine)


def test_a_project_of_before_goes_on(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    with sqlite3.connect(folder / "answers.sqlite") as db:
        db.executescript(
            "CREATE TABLE labels (place INTEGER PRIMARY KEY, name TEXT UNIQUE);"
            "CREATE TABLE log (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT,"
            " document INTEGER, labels TEXT, how TEXT, client TEXT, at REAL,"
            " undone INTEGER NOT NULL DEFAULT 0, UNIQUE (key, document));"
            "INSERT INTO labels (name) VALUES ('cat');"
            "INSERT INTO log (key, document, labels, how, client, at)"
            " VALUES ('k', 4, '[\"cat\"]', 'asked', 'tab', 1.0);"
        )
    db.close()
    session = open_project(documents(), folder, labels=list(TOPICS))
    assert session.entries[4].labels == ("cat",)
    assert session.store.labels() == ["cat", "car", "tea"]
    session.close()


def test_the_command_invites_and_revokes(tmp_path):
    from typer.testing import CliRunner

    from earmark.apps.cli import main as cli

    def run(*more):
        command = ["label", str(tmp_path / "d.csv"), *more]
        return CliRunner().invoke(cli.app, command)

    assert "no such file" in str(run("--invite", "ann").exception)
    assert not (tmp_path / "d.csv.labels").exists()
    (tmp_path / "d.csv").write_text("text\ncat one\ncar two\n")
    invited = run("--invite", "ann lee")
    assert invited.exit_code == 0, invited.output
    token = invited.output.split()[-1]
    store = Store(tmp_path / "d.csv.labels", {})
    assert store.person_of(token) == "ann lee"
    assert "void" in run("--revoke", "ann lee").output
    assert store.person_of(token) is None
    store.close()
    refused = run("--host", "0.0.0.0", "--port", "0")
    assert "invite somebody first" in str(refused.exception)


def test_while_two_answers_are_compared_no_guess_is_shown(tmp_path):
    session = open_project(
        documents(), tmp_path / "p", labels=list(TOPICS), overlap=1.0, check_share=0.0
    )
    with TestClient(make_app(session), base_url="http://localhost") as client:
        for number in range(20):
            body = {"key": f"k{number}", "client": "a", "person": "ann"}
            body |= {"document": number, "labels": [truth(number)]}
            client.post("/api/answer", json=body)
        other = next(name for name in TOPICS if name != truth(3))
        body = {"key": "x", "client": "b", "person": "bob", "document": 3}
        client.post("/api/answer", json=body | {"labels": [other]})
        session.wait()
        body = {"client": "c", "person": "eve", "show": "disputed"}
        (line,) = client.post("/api/browse", json=body).json()["documents"]
        assert set(line["said"]) == {"ann", "bob"}
        assert line["guess"] is None
        body = {"client": "c", "person": "eve", "document": 3}
        assert (
            client.post("/api/document", json=body).json()["document"]["guess"] is None
        )


def test_lists_show_guesses_that_did_not_learn_from_the_answer(tmp_path):
    session = open_project(
        documents(), tmp_path / "p", labels=list(TOPICS), check_share=0.0
    )
    with TestClient(make_app(session), base_url="http://localhost") as client:
        for number in range(30):
            name = truth(number) if number != 4 else "tea"  # a slip: it is about cars
            body = {"key": f"k{number}", "client": "a", "document": number}
            client.post("/api/answer", json=body | {"labels": [name]})
        session.wait()
        lines = client.post("/api/browse", json={"client": "a"}).json()["documents"]
        assert lines[4]["left_out"]
        assert lines[4]["guess"] == ["car"]
        assert not lines[40]["left_out"]


def test_bulk_answers_leave_answers_alone_unless_told_otherwise(tmp_path):
    session = open_project(
        documents(), tmp_path / "p", labels=list(TOPICS), check_share=0.0
    )
    with TestClient(make_app(session), base_url="http://localhost") as client:
        body = {"key": "k", "client": "a", "document": 0, "labels": ["cat"]}
        client.post("/api/answer", json=body)
        many = {"client": "a", "labels": ["tea"], "documents": [0, 1, 2]}
        given = client.post("/api/many", json=many | {"key": "m"}).json()
        assert (given["given"], given["answered"]) == (2, 1)
        assert session.entries[0].labels == ("cat",)
        given = client.post("/api/many", json=many | {"key": "n", "over": True}).json()
        assert given["given"] == 3
        assert session.entries[0].labels == ("tea",)
        listed = client.post("/api/browse", json={"client": "a"}).json()
        assert (listed["total"], listed["answered"], listed["hidden"]) == (60, 3, 0)
