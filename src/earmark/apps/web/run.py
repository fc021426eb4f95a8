"""Run an application under uvicorn, on loopback unless told otherwise."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Callable
from typing import Any

from earmark._optional import require
from earmark.apps.web.guard import Guard
from earmark.exceptions import DataError

__all__ = ["LOOPBACK", "is_loopback", "listen", "run_app", "spare_imports"]

_MOST_CONNECTIONS = 2000
# A request may be on its way on an idle connection when the end is announced.
_GRACE_SECONDS = 0.5
_OBJECTS_PER_COLLECTION = 20_000
# What a browser on this machine calls it.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that address."""
    return host in ("localhost", "::1") or host.startswith("127.")


def spare_imports() -> None:
    """Leave what was imported out of garbage collections; before a model is loaded."""
    # It lives to the end, and looking through it stops answers for a tenth of a second.
    gc.collect()
    gc.freeze()
    # Requests leave no cycles behind, and a batch holds more objects than the default.
    gc.set_threshold(_OBJECTS_PER_COLLECTION)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise DataError(
            f"cannot listen on {host} port {port}: {error.strerror}; "
            "choose another with --port."
        ) from None
    bound.listen(1024)
    return bound


def run_app(
    app: Guard, bound: socket.socket, *, started: Callable[[str], None], drain: float
) -> None:
    """Serve until SIGTERM or Ctrl-C; unfinished answers get ``drain`` seconds."""
    uvicorn = require("uvicorn", "serve over HTTP")
    config = uvicorn.Config(
        app,
        http="h11",  # has a limit on the size of a head
        log_config=None,
        access_log=False,
        proxy_headers=False,  # nobody asks for the address of a client
        server_header=False,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=int(drain),
        limit_concurrency=_MOST_CONNECTIONS,
        backlog=1024,
        lifespan="on",
    )
    host, port = bound.getsockname()[:2]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    class Server(uvicorn.Server):  # type: ignore[name-defined]
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                started(f"http://{address}")

        async def shutdown(self, sockets: Any = None) -> None:
            # New connections are refused at once, not lost; open ones are told to
            # close with their next answer.
            bound.shutdown(socket.SHUT_RDWR)
            app.is_stopping = True
            await asyncio.sleep(_GRACE_SECONDS)
            await super().shutdown(sockets)

    Server(config).run(sockets=[bound])
