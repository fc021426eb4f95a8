"""Many clients on keep-alive connections, in a process of their own.

    python -m benchmarks._load HOST PORT SECONDS CLIENTS

Sends POST /classify with short texts, one request after another on each connection,
and prints the answers' times as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

WORDS = "return the number of items list file path error value array".split()  # noqa: SIM905


def request(number: int) -> bytes:
    text = " ".join(WORDS[(number * 7 + i * 3) % len(WORDS)] for i in range(10))
    body = json.dumps({"texts": [text]}).encode()
    head = (
        "POST /classify HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def client(host: str, port: int, number: int, end: float, times: list[float]):
    reader, writer = await asyncio.open_connection(host, port)
    data, failed = request(number), 0
    while time.perf_counter() < end:
        began = time.perf_counter()
        writer.write(data)
        head = await reader.readuntil(b"\r\n\r\n")
        place = head.lower().index(b"content-length:") + 15
        await reader.readexactly(int(head[place : head.index(b"\r", place)]))
        times.append(time.perf_counter() - began)
        failed += not head.startswith(b"HTTP/1.1 200")
    writer.close()
    return failed


async def main(host: str, port: int, seconds: float, n_clients: int) -> None:
    times: list[float] = []
    began = time.perf_counter()
    clients = (
        client(host, port, number, began + seconds, times)
        for number in range(n_clients)
    )
    failed = sum(await asyncio.gather(*clients))
    spent = time.perf_counter() - began
    print(json.dumps({"seconds": spent, "failed": failed, "times": times}))


if __name__ == "__main__":
    asyncio.run(
        main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
    )
