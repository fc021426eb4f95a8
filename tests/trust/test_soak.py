"""Ten minutes of good and bad requests while the model learns, forgets and is replaced.

No 5xx, no lost answer, no leak; nothing lost of what was acknowledged.
"""

import http.client
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from earmark import TextClassifier, load
from earmark.documents import read_documents
from earmark.persistence import read_manifest
from tests.apps.serving import running

SECONDS = float(os.environ.get("EARMARK_SOAK_SECONDS", "600"))
CLIENTS = 4
DRIFT = 50 * 2**20
TOKEN = "soak"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json", **BEARER}


def good(rng):
    words = ["good", "bad", "film", "day", "\u00fcber", "\u7d71\u8a08", "x" * 200]
    texts = [" ".join(rng.choices(words, k=rng.randint(0, 60))) for _ in range(8)]
    return "POST", "/classify", json.dumps({"texts": texts}).encode(), JSON


def bad(rng):
    """Requests that must be refused, each in its own way."""
    return rng.choice(
        [
            ("POST", "/classify", b"{", JSON),
            ("POST", "/classify", b"\xff\xfe", JSON),
            ("POST", "/classify", b'{"texts": [1, null]}', JSON),
            ("POST", "/classify", b'{"text": "a"}', JSON),
            ("POST", "/classify", b"[" * 20_000, JSON),
            ("POST", "/classify", b'{"texts": ["a"]}', {**JSON, "Content-Type": "a/b"}),
            ("POST", "/learn", b'{"texts": ["a"], "labels": []}', JSON),
            ("POST", "/learn", b'{"texts": ["a"], "labels": [null]}', JSON),
            ("POST", "/forget", b'{"texts": ["never seen"], "labels": ["pos"]}', JSON),
            ("POST", "/learn", b'{"texts": ["a"], "labels": ["pos"]}', {}),
            ("POST", "/classify", b'{"texts": ["\\ud800"]}', JSON),
            ("DELETE", "/classify", b"", BEARER),
            ("GET", "/nowhere", b"", BEARER),
            ("GET", "/model", b"", {**BEARER, "Host": rng.choice(["[", "]", "[::1"])}),
            ("POST", "/classify", b'{"texts": ["a"]}', {**JSON, "Origin": "http://["}),
            ("POST", "/feedback", b'{"texts": ["a"], "labels": [null]}', JSON),
            ("POST", "/classify", b'{"texts": ["' + b"a" * 3_000_000 + b'"]}', JSON),
        ]
    )


def read_only(rng):
    return "GET", rng.choice(["/healthz", "/readyz", "/model", "/metrics"]), b"", BEARER


def teaching(rng):
    """A document to learn or forget; what a replaced model never had is refused."""
    text, label = rng.choice([("good night", "pos"), ("bad night", "neg")])
    body = json.dumps({"texts": [text], "labels": [label]}).encode()
    return "POST", rng.choice(["/learn", "/learn", "/forget"]), body, JSON


def correcting(rng):
    """Feedback whose text stands nowhere else."""
    text = f"{rng.getrandbits(64):016x} " + "\u00fcber " * rng.randint(0, 200)
    body = json.dumps({"texts": [text], "labels": ["pos"]}).encode()
    return "POST", "/feedback", body, JSON


def client(address, end, seed, statuses, acknowledged):
    """Send requests of all kinds; ``acknowledged`` gets those that change something."""
    rng = random.Random(seed)
    makers = [good] * 6 + [bad] * 3 + [read_only, teaching, correcting]
    while time.monotonic() < end:
        method, path, body, headers = rng.choice(makers)(rng)
        connection = http.client.HTTPConnection(*address, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            teaches = path in ("/learn", "/forget")
            damaged = answer.status == 503 and teaches  # the file, not the service
            statuses["damaged" if damaged else answer.status] += 1
            statuses["taught"] += answer.status == 200 and teaches
            if answer.status == 200 and method == "POST" and path != "/classify":
                acknowledged.append((path, json.loads(body)["texts"][0]))
        except (ConnectionError, http.client.BadStatusLine):
            # A body that is too large may be cut off while it is being sent.
            statuses["cut off"] += len(body) > 1_000_000
            statuses["lost"] += len(body) <= 1_000_000
        finally:
            connection.close()


def resident(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def fitted(n):
    texts = ["good film", "good day", "bad film", "so bad"] * 5
    labels = ["pos", "pos", "neg", "neg"] * 5
    return TextClassifier("multinomial").fit([f"{t} w{n}" for t in texts], labels)


def texts_of(acknowledged, path):
    return sorted(text for where, text in acknowledged if where == path)


@pytest.mark.trust
def test_nothing_acknowledged_is_lost_under_mixed_load(tmp_path):
    """Every lesson and feedback is in the files, and in the model that answers."""
    path, kept = tmp_path / "model.earmark", tmp_path / "feedback.jsonl"
    model = fitted(0)
    model.save(path)
    before = model.model_.statistics_.docs.sum()
    statuses, acknowledged = Counter(), []
    options = ("--learn", "--feedback", kept, "--reload", "0.05")
    with running("serve", path, *options, env={"EARMARK_TOKEN": TOKEN}) as server:
        end = time.monotonic() + SECONDS
        threads = [
            threading.Thread(
                target=client, args=(server.address, end, n, statuses, acknowledged)
            )
            for n in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        while time.monotonic() < end:
            time.sleep(0.2)
            os.utime(path)  # as if it was replaced: the watcher reads it again
        for thread in threads:
            thread.join(60)
        connection = http.client.HTTPConnection(*server.address, timeout=30)
        connection.request("GET", "/model", headers=BEARER)
        serving = json.loads(connection.getresponse().read())["fingerprint"]
        connection.close()
        assert server.stop() in (0, -signal.SIGTERM)
    sys.stdout.write(f"{dict(statuses)}, {len(acknowledged)} acknowledged\n")
    assert not [s for s in statuses if isinstance(s, int) and s >= 500], statuses
    assert statuses["lost"] == statuses["damaged"] == 0, statuses
    learned = texts_of(acknowledged, "/learn")
    forgotten = texts_of(acknowledged, "/forget")
    assert len(learned) > SECONDS / 20
    after = load(path).model_.statistics_.docs.sum()
    assert after == before + len(learned) - len(forgotten)
    assert serving == read_manifest(path).fingerprint
    assert sorted(read_documents(kept).texts) == texts_of(acknowledged, "/feedback")


@pytest.mark.trust
def test_a_service_under_mixed_load_neither_fails_nor_grows(tmp_path):
    path = tmp_path / "model.earmark"
    models = [fitted(n) for n in range(4)]
    models[0].save(path)
    statuses, acknowledged = Counter(), []
    kept = tmp_path / "feedback.jsonl"
    options = ("--learn", "--feedback", kept)
    with running("serve", path, *options, env={"EARMARK_TOKEN": TOKEN}) as server:
        pid = server.process.pid
        end = time.monotonic() + SECONDS
        threads = [
            threading.Thread(
                target=client, args=(server.address, end, n, statuses, acknowledged)
            )
            for n in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        warm, n, settled = time.monotonic() + min(60.0, SECONDS / 4), 0, None
        while time.monotonic() < end:
            time.sleep(min(1.5, SECONDS / 20))
            n += 1
            if n % 7 == 0:
                path.write_bytes(b"not a model")  # refused; the old one goes on
            else:
                models[n % 4].save(path)
            if settled is None and time.monotonic() > warm:
                settled = resident(pid)
        for thread in threads:
            thread.join(60)
        drift = resident(pid) - settled
        assert server.stop() in (0, -signal.SIGTERM)
    said = f"{dict(statuses)}, {drift / 2**20:.1f} MB"
    sys.stdout.write(said + "\n")  # pytest -rP shows it
    assert statuses[200] > 5 * SECONDS, said
    assert not [s for s in statuses if isinstance(s, int) and s >= 500], said
    assert statuses["lost"] == 0, said
    assert statuses["taught"] > SECONDS / 20, said
    assert statuses["damaged"] < statuses["taught"], said
    assert drift < DRIFT, said
    assert sorted(read_documents(kept).texts) == texts_of(acknowledged, "/feedback")
