"""Several models, a canary, learning under load, and feedback."""

import asyncio
import collections
import errno
import itertools
import json
import os
import resource
import threading

import pytest
from starlette.testclient import TestClient

from earmark import TextClassifier, load
from earmark.apps.serve.app import make_app
from earmark.apps.serve.model import ModelHolder, ServedModel
from earmark.apps.web.guard import Limits
from earmark.documents import read_documents
from earmark.exceptions import DataError
from earmark.persistence import read_manifest
from tests.apps.serve.conftest import LABELS, TEXTS, fitted

TOKEN = {"Authorization": "Bearer abc"}


@pytest.fixture
def two(tmp_path):
    fitted().save(tmp_path / "old.earmark")
    TextClassifier("multinomial").fit(TEXTS, ["other", "ham"] * 12).save(
        tmp_path / "new.earmark"
    )
    return [tmp_path / "old.earmark", tmp_path / "new.earmark"]


def test_models_answer_by_name_and_the_first_by_default(two):
    with TestClient(make_app(two, reload_seconds=0)) as client:
        body = {"texts": ["cheap pills"]}
        plain = client.post("/classify", json=body)
        assert plain.headers["x-earmark-model"] == "old"
        assert plain.json()["results"][0]["label"] == "spam"
        named = client.post("/classify?model=new", json=body)
        assert named.headers["x-earmark-model"] == "new"
        assert named.json()["results"][0]["label"] == "other"
        refused = client.post("/classify?model=none", json=body)
        assert refused.status_code == 404
        assert "no model 'none'; the models are old, new" in refused.json()["detail"]
        assert client.get("/model").json()["names"] == ["old", "new"]
        assert client.get("/model?model=new").json()["labels"] == ["ham", "other"]
        assert client.get("/model").json()["samples"]


def test_the_canary_gets_its_share_exactly(two):
    with TestClient(make_app(two, reload_seconds=0, canary=0.1)) as client:
        said = collections.Counter(
            client.post("/classify", json={"texts": ["a"]}).headers["x-earmark-model"]
            for _ in range(100)
        )
    assert said == {"old": 90, "new": 10}


def test_what_cannot_be_meant_is_refused(two, tmp_path):
    with pytest.raises(DataError, match="needs a token"):
        make_app(two, learn=True)
    with pytest.raises(DataError, match="second model"):
        make_app(two[0], canary=0.5)
    with pytest.raises(DataError, match="different file names"):
        make_app([two[0], two[0]])
    with TestClient(make_app(two[0], reload_seconds=0)) as client:
        body = {"texts": ["a"], "labels": ["spam"]}
        for path in ("/learn", "/forget", "/feedback"):
            assert client.post(path, json=body).status_code == 403


def test_learning_and_forgetting_are_exact_and_in_the_file(tmp_path):
    path = tmp_path / "m.earmark"
    known = {"labelled": 24, "classes": {"ham": 12, "spam": 12}}
    fitted().save(path, metadata={"label": "kind", "training_data": known})
    before = load(path).predict_proba(["green tea"])
    app = make_app(path, reload_seconds=0, token="abc", learn=True)
    with TestClient(app) as client:
        body = {"texts": ["green tea", "tea kettle"], "labels": ["ham", "spam"]}
        assert client.post("/learn", json=body).status_code == 401
        done = client.post("/learn", json=body, headers=TOKEN)
        assert done.json()["documents"] == 2
        all_at_once = TextClassifier("multinomial").fit(
            TEXTS + body["texts"], LABELS + body["labels"]
        )
        assert (
            load(path).predict_proba(["green tea"])
            == all_at_once.predict_proba(["green tea"])
        ).all()
        kept = read_manifest(path).metadata
        assert kept["training_data"]["classes"] == {"ham": 13, "spam": 13}
        assert [record["documents"] for record in kept["updates"]] == [2]
        assert client.post("/forget", json=body, headers=TOKEN).status_code == 200
        assert len(read_manifest(path).metadata["forgotten"]) == 1
        assert client.post("/classify?model=none", json=body).status_code == 401
        wrong = client.post("/classify?model=none", json=body, headers=TOKEN)
        assert wrong.status_code == 404
        assert (load(path).predict_proba(["green tea"]) == before).all()
        unequal = {"texts": ["a", "b"], "labels": ["ham"]}
        assert client.post("/learn", json=unequal, headers=TOKEN).status_code == 422
        never = {"texts": ["never seen"], "labels": ["ham"]}
        refused = client.post("/forget", json=never, headers=TOKEN)
        assert refused.status_code == 422
        assert never["texts"][0] not in refused.text
    assert list(tmp_path.iterdir()) == [path]


def test_answers_come_from_a_whole_model_while_32_clients_ask(tmp_path):
    """Each step of learning has its own probability; no other is ever answered."""
    path = tmp_path / "m.earmark"
    model = TextClassifier("multinomial").fit(TEXTS, LABELS)
    model.save(path)
    text, steps = "green tea", 6
    whole = []
    for _ in range(steps + 1):
        (proba,) = model.predict_proba([text])
        whole.append(round(float(proba.max()), 9))
        model.partial_fit([text], ["spam"])
    assert len(set(whole)) == steps + 1
    seen, stop = collections.Counter(), threading.Event()
    app = make_app(path, reload_seconds=0, token="abc", learn=True)
    with TestClient(app) as client:

        def ask():
            while not stop.is_set():
                reply = client.post("/classify", json={"texts": [text]}, headers=TOKEN)
                seen[round(reply.json()["results"][0]["confidence"], 9)] += 1

        clients = [threading.Thread(target=ask) for _ in range(32)]
        for one in clients:
            one.start()
        body = {"texts": [text], "labels": ["spam"]}
        for _ in range(steps):
            assert client.post("/learn", json=body, headers=TOKEN).status_code == 200
        stop.set()
        for one in clients:
            one.join()
    assert set(seen) <= set(whole)
    assert sum(seen.values()) > 32
    (last,) = load(path).predict_proba([text])
    assert round(float(last.max()), 9) == whole[-1]


def test_a_service_that_could_never_learn_does_not_start(tmp_path, monkeypatch):
    path = tmp_path / "m.earmark"
    TextClassifier("softmax").fit(TEXTS, LABELS).save(path)
    fitted().save(tmp_path / "able.earmark")
    for paths in (path, [tmp_path / "able.earmark", path]):
        with pytest.raises(DataError, match=r"m\.earmark: softmax cannot learn"):
            make_app(paths, token="abc", learn=True)
    fitted().save(path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(DataError, match=f"{path}: no permission to create"):
        make_app(path, token="abc", learn=True)


def test_a_lesson_that_cannot_be_stored_is_refused_with_the_folder(
    tmp_path, monkeypatch
):
    path = tmp_path / "m.earmark"
    fitted().save(path)
    app = make_app(path, reload_seconds=0, token="abc", learn=True)

    def fail(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    with TestClient(app) as client:
        body = {"texts": ["green tea"], "labels": ["ham"]}
        monkeypatch.setattr(os, "replace", fail)
        reply = client.post("/learn", json=body, headers=TOKEN)
        monkeypatch.undo()
        assert reply.status_code == 503
        assert f"model {path} cannot be replaced: Read-only" in reply.json()["detail"]
        assert client.post("/learn", json=body, headers=TOKEN).status_code == 200
    assert list(tmp_path.iterdir()) == [path]


def test_a_lesson_goes_to_the_file_behind_a_link(tmp_path):
    path, link = tmp_path / "m.earmark", tmp_path / "current.earmark"
    fitted().save(path)
    before = path.read_bytes()
    link.symlink_to(path)
    app = make_app(link, reload_seconds=0, token="abc", learn=True)
    with TestClient(app) as client:
        body = {"texts": ["green tea"], "labels": ["ham"]}
        assert client.post("/learn", json=body, headers=TOKEN).status_code == 200
    assert link.is_symlink()
    assert path.read_bytes() != before


def test_an_unknown_label_is_refused_in_words_for_a_client(tmp_path):
    path = tmp_path / "m.earmark"
    fitted().save(path)
    with TestClient(make_app(path, token="abc", learn=True)) as client:
        body = {"texts": ["green tea"], "labels": ["tea"]}
        reply = client.post("/learn", json=body, headers=TOKEN)
        assert reply.status_code == 422
        detail = reply.json()["detail"]
        assert "no label 'tea'; it has ham, spam" in detail
        assert "classes=" not in detail
        assert "partial_fit" not in detail


def test_two_services_that_learn_into_one_file_lose_nothing(tmp_path):
    path = tmp_path / "m.earmark"
    fitted().save(path, metadata={"training_data": {"labelled": 24, "classes": {}}})
    apps = [make_app(path, reload_seconds=0, token="abc", learn=True) for _ in "ab"]

    def teach(app):
        with TestClient(app) as client:
            for _ in range(4):
                body = {"texts": ["green tea"], "labels": ["ham"]}
                done = client.post("/learn", json=body, headers=TOKEN)
                assert done.status_code == 200

    threads = [threading.Thread(target=teach, args=[app]) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_manifest(path).metadata["training_data"]["labelled"] == 32


def test_lessons_never_go_to_the_canary_by_turns(two):
    app = make_app(two, reload_seconds=0, token="abc", learn=True, canary=1.0)
    with TestClient(app) as client:
        body = {"texts": ["green tea"], "labels": ["ham"]}
        done = client.post("/learn", json=body, headers=TOKEN)
        assert done.json()["labels"] == ["ham", "spam"]
        done = client.post("/learn?model=new", json=body, headers=TOKEN)
        assert done.json()["labels"] == ["ham", "other"]


@pytest.mark.parametrize(
    ("path", "several"),
    [("/learn", False), ("/forget", False), ("/feedback", False), ("/feedback", True)],
)
def test_what_is_no_label_is_refused_in_our_words(tmp_path, path, several):
    model = tmp_path / "m.earmark"
    labels = [[label] for label in LABELS] if several else LABELS
    TextClassifier("multinomial").fit(TEXTS, labels).save(model)
    kept = tmp_path / "feedback.jsonl"
    app = make_app(model, token="abc", learn=not several, feedback=kept)
    wrong = [{}, None, [None], [{}]] if several else [{}, None, [], ["ham"]]
    with TestClient(app) as client:
        for label in wrong:
            body = {"texts": ["cheap pills"], "labels": [label]}
            reply = client.post(path, json=body, headers=TOKEN)
            assert reply.status_code == 422, label
            assert reply.json()["detail"].startswith("labels.0")
            assert "Value error" not in reply.text
    assert not kept.exists()


def test_feedback_is_appended_as_data_to_train_on(two, tmp_path):
    kept = tmp_path / "feedback.jsonl"
    with TestClient(make_app(two[0], reload_seconds=0, feedback=kept)) as client:
        for n in range(2):
            body = {"texts": [f"text \u00fc {n}"], "labels": ["ham"]}
            assert client.post("/feedback", json=body).status_code == 200
        assert client.get("/model").json()["feedback"] is True
    rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    assert rows == [{"text": f"text \u00fc {n}", "label": "ham"} for n in range(2)]


def give(client, text):
    return client.post("/feedback", json={"texts": [text], "labels": ["ham"]})


def test_feedback_is_whole_or_not_there_when_the_disk_is_full(two, tmp_path):
    kept = tmp_path / "feedback.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with TestClient(make_app(two[0], reload_seconds=0, feedback=kept)) as client:
        assert give(client, "before").status_code == 200
        room = kept.stat().st_size + 20  # for half a line
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
            full = give(client, "while it is full")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert give(client, "after").status_code == 200
    assert full.status_code == 503
    assert f"not kept: {kept} cannot be written (File too" in full.json()["detail"]
    rows = [json.loads(line) for line in kept.read_bytes().splitlines()]
    assert [row["text"] for row in rows] == ["before", "after"]


@pytest.mark.parametrize("torn", [b'{"text": "kill', b"{", b'{"text": "\xc3'])
def test_feedback_after_a_kill_in_a_write_is_read_again(two, tmp_path, torn):
    kept = tmp_path / "feedback.jsonl"
    whole = b'{"text": "before", "label": "ham"}'
    kept.write_bytes(whole + b"\n" + torn)
    with TestClient(make_app(two[0], reload_seconds=0, feedback=kept)) as client:
        assert give(client, "after").status_code == 200
    assert read_documents(kept).texts == ["before", "after"]


@pytest.mark.parametrize("last", ['{"text": "mine", "label": "ham"}', "a note"])
def test_a_last_line_that_is_not_ended_is_ended_and_stays(two, tmp_path, last):
    kept = tmp_path / "feedback.jsonl"
    kept.write_text(last)
    with TestClient(make_app(two[0], reload_seconds=0, feedback=kept)) as client:
        assert give(client, "after").status_code == 200
    first, second = kept.read_text().splitlines()
    assert first == last
    assert json.loads(second)["text"] == "after"


def test_feedback_of_many_at_once_and_with_faults_loses_nothing(two, tmp_path):
    kept = tmp_path / "feedback.jsonl"
    said = []

    def give_some(client, name):
        texts = [f"{name} {n}" for n in range(30)]
        said.extend(text for text in texts if give(client, text).status_code == 200)

    def sometimes(descriptor):
        if next(turns) % 3 == 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    turns = itertools.count()
    with (
        pytest.MonkeyPatch.context() as patch,
        TestClient(make_app(two[0], reload_seconds=0, feedback=kept)) as client,
    ):
        patch.setattr(os, "fsync", sometimes)
        threads = [
            threading.Thread(target=give_some, args=[client, f"person {n}"])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(said) == 80
    rows = [json.loads(line) for line in kept.read_bytes().splitlines()]
    assert sorted(row["text"] for row in rows) == sorted(said)


def test_a_lesson_learned_while_the_file_is_read_again_stays(tmp_path, monkeypatch):
    path = tmp_path / "m.earmark"
    fitted().save(path)
    holder = ModelHolder(path, Limits(), lambda how: None)
    fitted().save(path)  # which the watcher will see
    may_end, load_slowly = threading.Event(), ServedModel.from_file

    def slowly(place, limits):
        model = load_slowly(place, limits)
        assert place != path or may_end.wait(20)
        return model

    async def both():
        watcher = asyncio.create_task(holder.refresh())
        await asyncio.sleep(0.05)
        lesson = asyncio.create_task(holder.change("learn", ["green tea"], ["ham"]))
        await asyncio.wait([lesson], timeout=0.5)
        may_end.set()
        return await asyncio.gather(watcher, lesson, holder.refresh())

    monkeypatch.setattr(ServedModel, "from_file", slowly)
    reloaded, _, again = asyncio.run(both())
    assert reloaded is True
    assert again is False  # what serves is what the file holds
    learned = holder.model.classifier.model_.statistics_.docs
    assert learned.tolist() == load(path).model_.statistics_.docs.tolist()
    assert learned.sum() == 25


def test_what_is_switched_on_is_in_the_description(tmp_path, two):
    path = tmp_path / "m.earmark"
    TextClassifier("multinomial").fit(TEXTS, LABELS).save(path)
    with TestClient(make_app(path, reload_seconds=0)) as client:
        paths = client.get("/openapi.json").json()["paths"]
        assert not {"/learn", "/forget", "/feedback"} & set(paths)
    kept = tmp_path / "feedback.jsonl"
    app = make_app(path, reload_seconds=0, token="abc", learn=True, feedback=kept)
    with TestClient(app) as client:
        described = client.get("/openapi.json", headers=TOKEN).json()
        for name in ("/learn", "/forget", "/feedback"):
            body = described["paths"][name]["post"]["requestBody"]["content"]
            (schema,) = (kind["schema"]["$ref"] for kind in body.values())
            assert schema == "#/components/schemas/Labelled"
        assert "labels" in described["components"]["schemas"]["Labelled"]["required"]
        for wrong in (
            {"texts": ["a"], "labels": []},
            {"texts": ["a"]},
            {"labels": ["ham"]},
        ):
            reply = client.post("/learn", json=wrong, headers=TOKEN)
            assert reply.status_code == 422, wrong


def test_a_model_that_abstains_answers_everything_once_it_has_learned(tmp_path):
    path = tmp_path / "m.earmark"
    careful = TextClassifier("multinomial", max_error=0.3, max_novelty=0.05)
    careful.fit(TEXTS, LABELS).save(path)
    app = make_app(path, reload_seconds=0, token="abc", learn=True)
    with TestClient(app) as client:
        lesson = {"texts": ["green tea"], "labels": ["ham"]}
        assert client.post("/learn", json=lesson, headers=TOKEN).status_code == 200
        reply = client.post("/classify", json={"texts": ["zzz"]}, headers=TOKEN)
        assert reply.json()["results"][0]["abstained"] is False
        blank = {"texts": ["green tea"], "labels": [" "]}
        refused = client.post("/learn", json=blank, headers=TOKEN)
        assert (refused.status_code, "blank" in refused.text) == (422, True)
    assert load(path).max_error is None


def test_a_damaged_or_lost_file_is_no_fault_of_the_lesson(tmp_path):
    path = tmp_path / "m.earmark"
    fitted().save(path)
    with TestClient(
        make_app(path, reload_seconds=0, token="abc", learn=True)
    ) as client:
        body = {"texts": ["green tea"], "labels": ["ham"]}
        path.write_bytes(path.read_bytes()[:100])
        for harm in (lambda: None, path.unlink):
            harm()
            reply = client.post("/learn", json=body, headers=TOKEN)
            assert reply.status_code == 503
            assert reply.json()["error"] != "labels"
            assert "m.earmark" in reply.json()["detail"]
            asked = client.post("/classify", json={"texts": ["a"]}, headers=TOKEN)
            assert asked.status_code == 200
