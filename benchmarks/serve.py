"""Load on loopback: earmark serve beside a bare FastAPI echo of the same payload.

    python -m benchmarks.serve [--seconds 60] [--clients 64]

Both run in one process each, under uvicorn with the same settings, and are asked in
turns of five seconds by the same clients, so that they share whatever else the machine
does. Stored in benchmarks/results/serve.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
TURN = 5.0

ECHO = """
import fastapi, pydantic, uvicorn, sys
app = fastapi.FastAPI()
class Body(pydantic.BaseModel):
    texts: list[str]
@app.post("/classify")
async def echo(body: Body) -> Body:
    return body
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="critical")
"""


def train(path: Path) -> None:
    from earmark import TextClassifier
    from earmark.documents import docstring_corpus

    documents = docstring_corpus()
    texts = documents.joined()[:4000]
    TextClassifier("softmax").fit(texts, documents.labels[:4000]).save(path)


@contextlib.contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen(
        command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        yield made
    finally:
        made.send_signal(signal.SIGTERM)
        made.wait(30)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        time.sleep(0.2)
    raise RuntimeError(f"nothing listens on port {port}")


def rss_mb(pid: int) -> float:
    with open(f"/proc/{pid}/status") as file:
        lines = [line for line in file if line.startswith("VmRSS")]
    return int(lines[0].split()[1]) / 1024


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(port: int, seconds: float, clients: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks._load", "127.0.0.1", str(port)]
    done = subprocess.run(
        [*command, str(seconds), str(clients)], capture_output=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def summary(turns: list[dict[str, Any]]) -> dict[str, float]:
    times = np.concatenate([turn["times"] for turn in turns])
    return {
        "requests": len(times),
        "failed": sum(turn["failed"] for turn in turns),
        "requests_per_second": len(times) / sum(turn["seconds"] for turn in turns),
        "p50_ms": 1000 * float(np.quantile(times, 0.5)),
        "p99_ms": 1000 * float(np.quantile(times, 0.99)),
    }


def measure(seconds: float, clients: int) -> dict[str, Any]:
    ports = {"echo": free_port(), "earmark": free_port()}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        model = Path(folder) / "m.earmark"
        train(model)
        echo = (sys.executable, "-c", ECHO, str(ports["echo"]))
        served = (sys.executable, "-m", "earmark", "serve", str(model))
        ours = stack.enter_context(process(*served, "--port", str(ports["earmark"])))
        pids = {
            "echo": stack.enter_context(process(*echo)).pid,
            "earmark": ours.pid,
        }
        turns: dict[str, list[dict[str, Any]]] = {name: [] for name in ports}
        for port in ports.values():
            wait_for(port)
            load(port, 2.0, clients)
        before = rss_mb(ours.pid)
        spent = {name: -cpu_seconds(pid) for name, pid in pids.items()}
        for _ in range(max(1, round(seconds / TURN))):
            for name, port in ports.items():
                turns[name].append(load(port, min(TURN, seconds), clients))
        drift = rss_mb(ours.pid) - before
        for name, pid in pids.items():
            spent[name] += cpu_seconds(pid)
    found = {name: summary(parts) for name, parts in turns.items()}
    for name, one in found.items():
        one["cpu_ms_per_request"] = 1000 * spent[name] / one["requests"]
    ratio = (
        found["earmark"]["requests_per_second"] / found["echo"]["requests_per_second"]
    )
    ours, theirs = found["earmark"], found["echo"]
    return {
        "job": f"{clients} clients with short texts for {seconds:g} s",
        "peer": "a bare FastAPI echo",
        "cpu_seconds": spent["earmark"],
        "peer_cpu_seconds": spent["echo"],
        "cpu_ratio": theirs["cpu_ms_per_request"] / ours["cpu_ms_per_request"],
        "memory_ratio": None,
        "target": "half its requests per second, 50 MB of drift",
        "met": bool(ratio >= 0.5 and drift < 50 and not ours["failed"]),
        "requests_per_second": ours["requests_per_second"],
        "peer_requests_per_second": theirs["requests_per_second"],
        "share_of_its_throughput": ratio,
        "p50_ms": ours["p50_ms"],
        "p99_ms": ours["p99_ms"],
        "peer_p99_ms": theirs["p99_ms"],
        "failed": ours["failed"],
        "megabytes_of_drift": drift,
        "megabytes": before + drift,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=64)
    asked = parser.parse_args()
    row = measure(asked.seconds, asked.clients)
    payload = {
        "command": f"python -m benchmarks.serve --seconds {asked.seconds:g} "
        f"--clients {asked.clients}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_average": os.getloadavg()[0],
        "rows": [row],
    }
    results = FOLDER / "results"
    results.mkdir(exist_ok=True)
    (results / "serve.json").write_text(json.dumps(payload, indent=1) + "\n")
    print(json.dumps(row, indent=1))


if __name__ == "__main__":
    main()
