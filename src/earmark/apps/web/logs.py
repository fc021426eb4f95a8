"""Logs as JSON lines on stderr. They hold no text of any document."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback

__all__ = ["failure", "logger", "logs_to_stderr"]

logger = logging.getLogger("earmark.web")


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        return json.dumps(line)


def logs_to_stderr(level: str) -> None:
    """Send the log to stderr, from ``level`` on."""
    # Not in any line, so nobody need look them up.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(level.upper())
    # uvicorn's own lines may quote what clients sent: only its errors are kept.
    server = logging.getLogger("uvicorn")
    server.handlers[:] = [handler]
    server.setLevel(logging.CRITICAL)


def failure(error: BaseException, request_id: str | None = None) -> None:
    """Log where something failed, without the message, which may quote a text."""
    frames = traceback.extract_tb(error.__traceback__)
    facts = {
        "error": type(error).__name__,
        "at": [f"{f.filename}:{f.lineno} {f.name}" for f in frames[-8:]],
    }
    if request_id is not None:
        facts["id"] = request_id
    logger.error("failure", extra={"facts": facts})
