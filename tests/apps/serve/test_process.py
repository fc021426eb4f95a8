"""``earmark serve`` as a process: start, drain, slow clients."""

import json
import os
import signal
import socket
import threading
import time

import httpx2 as httpx
import pytest

from tests.apps.serving import Server, running


def rss(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def hammer(server, seconds, outcomes):
    """Ask on one connection until told to stop; note every answer and loss."""
    end = time.monotonic() + seconds
    with httpx.Client(base_url=server.url, timeout=20) as client:
        while time.monotonic() < end:
            try:
                reply = client.post("/classify", json={"texts": ["cheap pills"]})
            except (httpx.ConnectError, httpx.ConnectTimeout):
                outcomes.append("refused")  # the request was never taken
                return
            except httpx.HTTPError as error:
                outcomes.append(f"lost: {error!r}")
                return
            outcomes.append(reply.status_code)


def test_sigterm_drains_without_a_lost_answer(model_file):
    with running("serve", model_file) as server:
        outcomes = []
        clients = [
            threading.Thread(target=hammer, args=(server, 20, outcomes))
            for _ in range(8)
        ]
        for client in clients:
            client.start()
        while len(outcomes) < 60:
            time.sleep(0.02)
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        status = server.stop()
        assert time.monotonic() - began < 10
        for client in clients:
            client.join()
    assert set(outcomes) == {200, "refused"}
    assert outcomes.count(200) >= 60
    assert status in (0, -signal.SIGTERM)
    lines = [json.loads(line) for line in server.log]
    assert sum(line.get("path") == "/classify" for line in lines) == outcomes.count(200)


def test_a_port_in_use_is_one_clear_line(model_file):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(RuntimeError, match="error: cannot listen on"):
            Server("serve", model_file, "--port", port)


@pytest.mark.slow
def test_200_slow_sockets_do_not_stop_other_clients(model_file):
    head = b"POST /classify HTTP/1.1\r\nHost: localhost\r\n"
    head += b"Content-Type: application/json\r\n"
    heads = [
        head + b"Content-Length: 1000\r\n\r\n{",
        b"POST /classify HTTP/1.1\r\nHo",
        b"",
        head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ]
    with running("serve", model_file, "--max-concurrency", 8) as server:
        slow = [socket.create_connection(server.address) for _ in range(200)]
        for number, one in enumerate(slow):
            one.sendall(heads[number % len(heads)])
        times = []
        with httpx.Client(base_url=server.url, timeout=20) as client:
            for _ in range(100):
                began = time.perf_counter()
                reply = client.post("/classify", json={"texts": ["cheap pills"]})
                times.append(time.perf_counter() - began)
                assert reply.status_code == 200
        assert sorted(times)[98] < 0.5
        # A body that takes too long is refused; a head waits, and costs a socket.
        time.sleep(13)
        answers = []
        for one in slow:
            one.settimeout(0.05)
            try:
                answers.append(one.recv(12))
            except TimeoutError:
                answers.append(None)
            one.close()
        assert answers == [b"HTTP/1.1 408", None, None, b"HTTP/1.1 408"] * 50
        assert server.stop() in (0, -signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_bodies_of_many_gigabytes_take_no_memory(model_file, host):
    piece = b"x" * 2**20
    with running("serve", model_file, "--max-body", 2**20) as server:
        before = rss(server.process.pid)
        with socket.create_connection(server.address) as one:
            one.sendall(
                f"POST /classify HTTP/1.1\r\nHost: {host}\r\n".encode()
                + b"Content-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n"
            )
            sent = 0
            try:
                for _ in range(2000):
                    one.sendall(b"100000\r\n" + piece + b"\r\n")
                    sent += 1
            except OSError:
                pass
            assert sent < 200
        assert rss(server.process.pid) - before < 30_000
        reply = httpx.post(f"{server.url}/classify", json={"texts": ["a"]})
        assert reply.status_code == 200


def test_the_token_may_come_from_the_environment(model_file):
    with running("serve", model_file, env={"EARMARK_TOKEN": "abc"}) as server:
        assert httpx.get(f"{server.url}/model").status_code == 401
        good = {"Authorization": "Bearer abc"}
        assert httpx.get(f"{server.url}/model", headers=good).status_code == 200
        assert "EARMARK_TOKEN" not in os.environ
