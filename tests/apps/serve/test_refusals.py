"""Whatever is sent is answered, and what is wrong with a documented 4xx."""

import gzip
import json

import pytest
from starlette.testclient import TestClient

from earmark.apps.cli.serve import _hosts
from earmark.apps.serve.app import make_app
from earmark.apps.web.guard import Limits

JSON = {"Content-Type": "application/json"}
SMALL = Limits(body=2000, text=50, batch=3, concurrency=2, body_seconds=0.2)


@pytest.fixture(scope="module")
def small(model_file):
    with TestClient(make_app(model_file, limits=SMALL, reload_seconds=0)) as client:
        yield client


BODIES = {
    "empty": (b"", 400),
    "lone surrogate": (b'{"texts": ["a\\ud800b"]}', 400),
    "not UTF-8": (b'{"texts": ["\xff\xfe"]}', 400),
    "NaN as text": (b'{"texts": [NaN]}', 422),
    "NaN as max_error": (b'{"texts": ["a"], "max_error": NaN}', 422),
    "100,000 deep": (b"[" * 100_000 + b"]" * 100_000, 400),
    "deep in texts": (b'{"texts": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
    "not closed": (b'{"texts": ["a"', 400),
    "a number": (b"5", 422),
    "nothing asked": (b"{}", 422),
    "no texts": (b'{"texts": []}', 422),
    "null texts": (b'{"texts": null}', 422),
    "both kinds": (b'{"texts": ["a"], "documents": [{"text": "a"}]}', 422),
    "a null beside": (b'{"texts": ["a"], "documents": null}', 422),
    "unknown option": (b'{"texts": ["a"], "regex": "(a+)+$"}', 422),
    "top_k 0": (b'{"texts": ["a"], "top_k": 0}', 422),
    "top_k huge": (b'{"texts": ["a"], "top_k": 1e400}', 422),
    "top_k as text": (b'{"texts": ["a"], "top_k": "1"}', 422),
    "explain as number": (b'{"texts": ["a"], "explain": 1}', 422),
    "unknown region": (b'{"documents": [{"x": "a"}]}', 422),
    "no region": (b'{"documents": [{}]}', 422),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_wrong_body_is_refused(client, name):
    body, status = BODIES[name]
    reply = client.post("/classify", content=body, headers=JSON)
    assert reply.status_code == status
    data = reply.json()
    assert data["detail"]
    assert "Value error" not in reply.text
    assert data["request_id"] == reply.headers["x-request-id"]


def test_broken_json_is_located_and_not_repeated(client):
    body = b'{"texts":\n ["a", secret]}'
    reply = client.post("/classify", content=body, headers=JSON)
    assert "line 2 column 8" in reply.json()["detail"]
    assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json; charset=latin-1"}, 415),
        ({"Content-Type": "application/json; charset=UTF-16"}, 415),
        ({"Content-Type": 'application/json; charset="utf-8"'}, 200),
        ({"Content-Type": "application/json;charset=UTF-8"}, 200),
        ({**JSON, "Origin": "http://evil.example"}, 403),
        ({**JSON, "Sec-Fetch-Site": "cross-site"}, 403),
        ({**JSON, "Origin": "http://testserver"}, 200),
    ],
)
def test_headers_that_do_not_fit_are_refused(client, headers, status):
    reply = client.post("/classify", content=b'{"texts":["a"]}', headers=headers)
    assert reply.status_code == status


def test_a_compressed_bomb_is_not_opened(client):
    bomb = gzip.compress(b'{"texts":["' + b"a" * 10_000_000 + b'"]}')
    reply = client.post(
        "/classify", content=bomb, headers={**JSON, "Content-Encoding": "gzip"}
    )
    assert reply.status_code == 415


def test_one_byte_over_the_limit_is_refused_by_length_and_in_chunks(small):
    def body(size):
        start = b'{"texts": ["a"]'
        return start + b" " * (size - len(start) - 1) + b"}"

    def chunks(size):
        yield body(size)[:700]
        yield body(size)[700:]

    for size, status in ((SMALL.body, 200), (SMALL.body + 1, 413)):
        for content in (body(size), chunks(size)):
            reply = small.post("/classify", content=content, headers=JSON)
            assert reply.status_code == status


def test_texts_and_batches_have_limits(small):
    for body, status in (
        ({"texts": ["x" * 50]}, 200),
        ({"texts": ["x" * 51]}, 422),
        ({"texts": ["x"] * 3}, 200),
        ({"texts": ["x"] * 4}, 422),
        ({"documents": [{"text": "x" * 51}]}, 422),
        ({"documents": [{"text": "x"}] * 4}, 422),
    ):
        reply = small.post("/classify", json=body)
        assert reply.status_code == status
        assert "xxx" not in reply.text


def test_bodies_at_work_share_a_budget_of_memory(model_file):
    limits = Limits(body=1000, buffered=500)
    with TestClient(make_app(model_file, limits=limits, reload_seconds=0)) as client:
        for n, status in ((100, 200), (600, 503), (100, 200)):
            body = b'{"texts": ["' + b"x" * n + b'"]}'
            reply = client.post("/classify", content=body, headers=JSON)
            assert reply.status_code == status


def test_the_input_is_never_echoed(client):
    body = {"texts": ["ok", 5], "secret phrase": "very secret words"}
    reply = client.post("/classify", json=body)
    assert reply.status_code == 422
    assert "very secret" not in reply.text


def test_unknown_paths_and_methods_are_refused_in_the_same_shape(client):
    assert client.get("/nothing").json()["error"] == "not_found"
    reply = client.get("/classify")
    assert reply.status_code == 405
    assert reply.headers["allow"] == "POST"
    assert client.get("/static/..%2fapp.py").status_code == 404


def test_a_token_is_asked_for(model_file):
    app = make_app(model_file, token="s3cret-token", reload_seconds=0)
    with TestClient(app) as client:
        body = {"texts": ["a"]}
        for given in (None, "Bearer wrong", "s3cret-token", "Bearer s3cret-tokeN"):
            headers = {} if given is None else {"Authorization": given}
            reply = client.post("/classify", json=body, headers=headers)
            assert reply.status_code == 401
            assert reply.headers["www-authenticate"] == "Bearer"
        good = {"Authorization": "Bearer s3cret-token"}
        assert client.post("/classify", json=body, headers=good).status_code == 200
        assert client.get("/metrics").status_code == 401
        assert client.get("/model", headers=good).status_code == 200
        for path in ("/", "/healthz", "/readyz", "/static/base.css"):
            assert client.get(path).status_code == 200
        assert "securitySchemes" in json.dumps(
            client.get("/openapi.json", headers=good).json()
        )


def test_a_host_name_that_is_not_served_is_refused(model_file):
    app = make_app(model_file, hosts=frozenset({"localhost"}), reload_seconds=0)
    with TestClient(app, base_url="http://localhost:8000") as client:
        assert client.get("/model").status_code == 200
        refused = client.get("/model", headers={"Host": "evil.example:8000"})
        assert refused.status_code == 403
        assert "expected the host name localhost" in refused.json()["detail"]


ODD_HOSTS = ["[", "[::1", "]", "[x]", "[::1]x", "a]:80", "\xff", "[" * 500, "x/y?"]


@pytest.mark.parametrize("host", ODD_HOSTS)
def test_a_host_header_that_is_no_address_is_refused(model_file, host):
    app = make_app(model_file, hosts=frozenset({"localhost"}), reload_seconds=0)
    with TestClient(
        app, base_url="http://localhost", raise_server_exceptions=False
    ) as c:
        for path in ("/", "/healthz", "/model", "/nothing"):
            reply = c.get(path, headers={"Host": host.encode("latin-1")})
            assert (path, reply.status_code) == (path, 403)


@pytest.mark.parametrize("host", ODD_HOSTS)
def test_where_every_host_is_served_the_path_alone_says_what_is_asked(
    tmp_path, model_file, host
):
    path = tmp_path / "m.earmark"
    path.write_bytes(model_file.read_bytes())
    app = make_app(path, reload_seconds=0, token="abc", learn=True)
    lesson = {"texts": ["a good new lesson"], "labels": ["ham"]}
    with TestClient(app, raise_server_exceptions=False) as c:
        for odd in (host, f"{host}/forget?"):
            headers = {"Authorization": "Bearer abc", "Host": odd.encode("latin-1")}
            for page in ("/", "/docs", "/healthz", "/readyz", "/model"):
                assert c.get(page, headers=headers).status_code == 200, page
            assert c.post("/learn", json=lesson, headers=headers).status_code == 200


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://]", "[", "//[x"])
def test_an_origin_that_is_no_address_is_refused(client, origin):
    body, headers = b'{"texts": ["a"]}', {**JSON, "Origin": origin}
    reply = client.post("/classify", content=body, headers=headers)
    assert reply.status_code == 403


@pytest.mark.parametrize(
    ("host", "token", "allowed", "answers", "refuses"),
    [
        ("127.0.0.1", None, [], "localhost", "evil.example"),
        ("127.0.0.2", None, [], "127.0.0.2", "evil.example"),
        ("127.0.0.1", None, ["Mail.Example"], "mail.example", "evil.example"),
        ("0.0.0.0", None, ["mail.example"], "mail.example", "evil.example"),
        ("127.0.0.1", "secret", [], "any.example", None),
        ("0.0.0.0", None, [], "any.example", None),
    ],
)
def test_loopback_without_a_token_answers_to_its_own_names(
    host, token, allowed, answers, refuses
):
    hosts = _hosts(host, token, allowed)
    assert hosts is None or answers in hosts
    assert (hosts is None) == (refuses is None)
    assert hosts is None or refuses not in hosts
