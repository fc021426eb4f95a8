"""Around the answers: health, metrics, ids, logs, headers, batching, reload."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import time

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient

from earmark.apps.serve import model as served
from earmark.apps.serve.app import make_app
from earmark.apps.serve.model import ServedModel
from earmark.apps.serve.schemas import Job
from earmark.apps.web.guard import Limits, logs_to_stderr
from tests.apps.serve.conftest import LABELS, TEXTS, fitted


def test_health_and_facts(client, model_file):
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    facts = client.get("/model").json()
    assert facts["labels"] == ["ham", "spam"]
    assert facts["model"] == "multinomial"
    assert facts["bytes"] == model_file.stat().st_size
    assert len(facts["fingerprint"]) >= 32


def test_metrics_count_requests_and_documents(model_file):
    with TestClient(make_app(model_file, reload_seconds=0)) as client:
        for _ in range(3):
            client.post("/classify", json={"texts": ["a", "b"]})
        client.get("/no/such/path")
        text = client.get("/metrics").text
    assert 'earmark_requests_total{path="/classify",status="200"} 3.0' in text
    assert 'earmark_requests_total{path="other",status="404"} 1.0' in text
    assert "earmark_documents_total 6.0" in text
    assert "earmark_request_seconds_bucket" in text


def test_request_ids_are_kept_if_harmless(client):
    given = client.get("/healthz", headers={"X-Request-ID": "abc-1"})
    assert given.headers["x-request-id"] == "abc-1"
    made = client.get("/healthz", headers={"X-Request-ID": 'a"}\t{'})
    assert made.headers["x-request-id"].isalnum()


def test_the_page_is_locked_up(client):
    reply = client.get("/")
    assert reply.headers["content-type"].startswith("text/html")
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "set-cookie" not in reply.headers
    assert "http://" not in reply.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in reply.text
    tag = reply.headers["etag"]
    assert client.get("/", headers={"If-None-Match": tag}).status_code == 304


def test_logs_are_json_and_hold_no_text(model_file, capsys):
    with TestClient(make_app(model_file, reload_seconds=0)) as client:
        logs_to_stderr("info")
        try:
            client.post("/classify", json={"texts": ["zanzibar"], "explain": True})
            client.post("/classify", json={"zanzibar": 1})
            client.post("/zanzibar?zanzibar=1", json={"texts": ["zanzibar"]})
        finally:
            logging.getLogger("earmark.web").handlers.clear()
            logging.getLogger("uvicorn").handlers.clear()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["status"] for line in lines] == [200, 422, 404]
    assert lines[0]["documents"] == 1
    assert "zanzibar" not in json.dumps(lines)


def test_a_failure_is_logged_without_its_message(model_file, capsys, monkeypatch):
    def broken(self, jobs):
        raise RuntimeError("zanzibar")

    app = make_app(model_file, reload_seconds=0)
    monkeypatch.setattr(ServedModel, "classify", broken)
    with TestClient(app) as client:
        logs_to_stderr("info")
        try:
            reply = client.post("/classify", json={"texts": ["a"]})
        finally:
            logging.getLogger("earmark.web").handlers.clear()
            logging.getLogger("uvicorn").handlers.clear()
    assert reply.status_code == 500
    shown = capsys.readouterr().err
    assert "RuntimeError" in shown
    assert "zanzibar" not in shown + reply.text


def run_together(app, bodies, **limits):
    async def together():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as c:
            posts = [c.post("/classify", json=body) for body in bodies]
            return await asyncio.gather(*posts)

    return asyncio.run(together())


def test_requests_that_wait_together_are_answered_in_one_call(model_file, monkeypatch):
    app = make_app(model_file, reload_seconds=0)
    sizes = []
    classify = ServedModel.classify

    def counted(self, jobs):
        sizes.append(len(jobs))
        return classify(self, jobs)

    monkeypatch.setattr(ServedModel, "classify", counted)
    monkeypatch.setattr(served, "_INLINE_SECONDS", 10.0)
    bodies = [{"texts": [t]} for t in TEXTS]
    replies = run_together(app, bodies)
    found = [r.json()["results"][0]["label"] for r in replies]
    assert found == LABELS
    assert max(sizes) > 1
    assert sum(sizes) == len(TEXTS)


def test_a_bad_job_does_not_fail_the_others(model_file, monkeypatch):
    app = make_app(model_file, reload_seconds=0)
    classify = ServedModel.classify

    def picky(self, jobs):
        if any("poison" in job.texts["text"] for job in jobs):
            raise RuntimeError
        return classify(self, jobs)

    monkeypatch.setattr(ServedModel, "classify", picky)
    monkeypatch.setattr(served, "_INLINE_SECONDS", 10.0)
    replies = run_together(app, [{"texts": [t]} for t in ("a", "poison", "b")])
    assert [r.status_code for r in replies] == [200, 500, 200]


def test_too_many_at_a_time_get_503_and_when_to_come_back(model_file, monkeypatch):
    app = make_app(
        model_file, limits=Limits(concurrency=2, answer_seconds=0.3), reload_seconds=0
    )
    monkeypatch.setattr(ServedModel, "seconds", lambda self, job: 1.0)
    monkeypatch.setattr(ServedModel, "classify", lambda self, jobs: time.sleep(1.0))
    replies = run_together(app, [{"texts": ["a"]}] * 4)
    assert {r.status_code for r in replies} == {503}
    assert {r.headers["retry-after"] for r in replies} == {"1"}
    assert sorted(r.json()["error"] for r in replies) == [
        "busy",
        "busy",
        "slow",
        "slow",
    ]
    assert app.in_flight == 0


def test_a_replaced_file_is_taken_over_and_a_bad_one_refused(tmp_path):
    path = tmp_path / "m.earmark"
    fitted().save(path)
    app = make_app(path, reload_seconds=0.02)

    def labels(client):
        return client.get("/model").json()["labels"]

    def wait_for(client, what):
        for _ in range(200):
            if what(client):
                return True
            client.portal.call(asyncio.sleep, 0.02)
        return False

    with TestClient(app) as client:
        assert labels(client) == ["ham", "spam"]
        (tmp_path / "new").write_bytes(path.read_bytes()[:-7])
        os.replace(tmp_path / "new", path)
        assert wait_for(client, lambda c: 'result="refused"' in c.get("/metrics").text)
        assert labels(client) == ["ham", "spam"]
        path.unlink()
        assert client.post("/classify", json={"texts": ["a"]}).status_code == 200
        type(fitted())("complement").fit(["a bc", "de fg"], ["x", "y"]).save(path)
        assert wait_for(client, lambda c: labels(c) == ["x", "y"])
        assert (
            client.post("/classify", json={"texts": ["de"]}).json()["results"][0][
                "label"
            ]
            == "y"
        )


def test_long_jobs_are_known_to_be_long(model_file):
    model = ServedModel.from_file(model_file)
    assert model.seconds(Job({"text": ["a" * 10**7]})) > 10 * model.seconds(
        Job({"text": ["a"]})
    )


@pytest.mark.parametrize("value", ["", "two\nlines\n", "ümlaut"])
def test_a_token_file_must_hold_a_token(value, tmp_path):
    from earmark.apps.cli.serve import read_token
    from earmark.exceptions import DataError

    (tmp_path / "t").write_text(value)
    with pytest.raises(DataError, match="expected one line"):
        read_token(tmp_path / "t")


def test_the_api_page_shows_every_path_without_the_network(client):
    reply = client.get("/docs")
    assert reply.headers["content-type"].startswith("text/html")
    assert "https://" not in reply.text
    described = client.get("/openapi.json").json()
    assert {"/classify", "/model", "/metrics"} <= set(described["paths"])
    result = described["components"]["schemas"]["Result"]
    assert {"label", "confidence", "abstained"} <= set(result["required"])


def test_misspelt_fields_are_pointed_out(client):
    reply = client.post("/classify", json={"text": ["a"]})
    assert reply.status_code == 422
    assert 'did you mean "texts"?' in reply.text.replace("\\", "")


def test_a_full_garbage_collection_does_not_stop_the_service(model_file):
    """In a process of its own: what is spared stays spared."""
    code = (
        "import gc, sys, time\n"
        "from earmark.apps.serve.app import make_app\n"
        "from earmark.apps.web.run import spare_imports\n"
        "before = len(gc.get_objects())\n"
        "spare_imports()\n"
        "app = make_app(sys.argv[1], reload_seconds=0)\n"
        "gc.collect()\n"
        "print(len(gc.get_objects()) / before)\n"
    )
    command = [sys.executable, "-c", code, str(model_file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.2
