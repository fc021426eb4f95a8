"""``earmark serve``: a model behind a URL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from earmark.apps.cli import _options as options


def serve(
    models: options.Models,
    host: str = "127.0.0.1",
    port: options.Port = 8000,
    token_file: Path | None = None,
    allow_host: list[str] | None = None,
    max_body: Annotated[int, typer.Option(min=1)] = 8 * 2**20,
    max_text: Annotated[int, typer.Option(min=1)] = 1_000_000,
    max_batch: Annotated[int, typer.Option(min=1)] = 1000,
    max_concurrency: Annotated[int, typer.Option(min=1)] = 256,
    timeout: Annotated[float, typer.Option(min=0.1)] = 30.0,
    reload: Annotated[float, typer.Option(min=0)] = 1.0,
    canary: Annotated[float, typer.Option(min=0, max=1)] = 0.0,
    learn: bool = False,
    feedback: Path | None = None,
    quiet: bool = False,
) -> None:
    r"""Answer over HTTP, with a page to try the model on.

    POST /classify takes {"texts": [...]}, or {"documents": [{"subject": ..., "body":
    ...}, ...]} for a model of several columns. GET /model, /healthz, /readyz, /metrics
    and /openapi.json describe the service. A new model file is loaded without a
    restart. Logs are JSON lines on stderr and never contain text. After SIGTERM, open
    requests are finished.

    With several models, POST /classify?model=NAME chooses one by its file name without
    .earmark. Other requests go to the first, and a share of --canary to the second.

      earmark serve model.earmark
      earmark serve old.earmark new.earmark --canary 0.05
      curl -s localhost:8000/classify -H 'Content-Type: application/json' \
           -d '{"texts": ["free pills"], "explain": true}'

    --host  Address to listen on; anything but loopback is open to the network.
    --port  0: any free port.
    --token-file FILE  Require the bearer token in FILE (or in EARMARK_TOKEN).
    --allow-host NAME  Also answer to this host name, e.g. behind a proxy; repeatable.
        On loopback without a token, other names are refused.
    --max-body  Maximum bytes per request.
    --max-text  Maximum characters per text.
    --max-batch  Maximum documents per request.
    --max-concurrency  Maximum concurrent requests.
    --timeout  Seconds allowed per answer.
    --reload  Seconds between checks for a new model file; 0: never.
    --canary  Share of requests for the second model.
    --learn  Let POST /learn and /forget change the model and its file; needs a token.
    --feedback FILE  Append corrections (POST /feedback) to this .jsonl file.
    --quiet  Log only warnings and errors.
    """
    from earmark._optional import require
    from earmark.apps.cli._data import require_model

    for package in ("starlette", "pydantic", "uvicorn", "prometheus_client"):
        require(package, "serve over HTTP")
    from earmark.apps.serve.app import make_app
    from earmark.apps.web.guard import Limits, logs_to_stderr
    from earmark.apps.web.run import is_loopback, listen, run_app, spare_imports

    for model in models:
        require_model(model)
    if feedback is not None:
        options.require_output(feedback, *models)
    token = read_token(token_file)
    bound = listen(host, port)
    spare_imports()
    app = make_app(
        models,
        limits=Limits(
            body=max_body,
            text=max_text,
            batch=max_batch,
            concurrency=max_concurrency,
            answer_seconds=timeout,
        ),
        token=token,
        hosts=_hosts(host, token, allow_host or []),
        reload_seconds=reload,
        canary=canary,
        learn=learn,
        feedback=feedback,
    )
    logs_to_stderr("warning" if quiet else "info")
    if token is None and not is_loopback(host):
        typer.echo(
            f"warning: anybody who reaches {host} can ask; see --token-file", err=True
        )
    names = ", ".join(map(str, models))
    run_app(
        app,
        bound,
        started=lambda url: typer.echo(f"serving {names} at {url}"),
        drain=timeout,
    )


def _hosts(host: str, token: str | None, allowed: list[str]) -> frozenset[str] | None:
    """Host names to answer to; None answers to all.

    A page of another site can point a name of its own at this machine (DNS
    rebinding): on loopback nothing but the host name, or a token, tells it apart.
    """
    from earmark.apps.web.run import LOOPBACK, is_loopback

    if not allowed and (token is not None or not is_loopback(host)):
        return None
    return LOOPBACK | {host.lower(), *map(str.lower, allowed)}


def read_token(file: Path | None) -> str | None:
    """The token of a file or of the environment, or None."""
    from earmark.exceptions import DataError

    if file is None:
        return os.environ.get("EARMARK_TOKEN") or None
    token = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    if not token or not token.isascii() or not token.isprintable():
        raise DataError(f"{file}: expected one line with a token of ASCII characters.")
    return token
