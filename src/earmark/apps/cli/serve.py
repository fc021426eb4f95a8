"""``earmark serve``, ``label``: a model, and documents to label, behind a URL."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from earmark.apps.cli import options
from earmark.apps.cli.console import confirm, echo, status, warn
from earmark.apps.cli.options import (
    DATA,
    DECIDING,
    MODEL,
    OUTPUT,
    SERVER,
    app,
    argument,
    examples,
    groups,
    option,
)
from earmark.exceptions import DataError

if TYPE_CHECKING:
    from earmark.apps.label.session import Session

_KINDS = ("csv", "jsonl", "parquet", "earmark", "html")


@app.command(
    epilog=examples(
        "earmark serve model.earmark",
        "earmark serve old.earmark new.earmark --canary 0.05",
        "curl -s localhost:8000/classify -H 'Content-Type: application/json' "
        '-d \'{"texts": ["free pills"], "explain": true}\'',
    )
)
@groups
def serve(
    models: Annotated[list[Path], argument("MODEL...", "Model files (*.earmark).")],
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    token_file: Annotated[
        Path | None,
        option(
            "Require the bearer token in FILE (or in EARMARK_TOKEN).",
            panel=SERVER,
            metavar="FILE",
        ),
    ] = None,
    allow_host: options.AllowHost = None,
    max_body: Annotated[
        int,
        option(
            "Maximum bytes per request.",
            panel=SERVER,
            read=options.whole(1),
            metavar="N",
        ),
    ] = 8 * 2**20,
    max_text: Annotated[
        int,
        option(
            "Maximum characters per text.",
            panel=SERVER,
            read=options.whole(1),
            metavar="N",
        ),
    ] = 1_000_000,
    max_batch: Annotated[
        int,
        option(
            "Maximum documents per request.",
            panel=SERVER,
            read=options.whole(1),
            metavar="N",
        ),
    ] = 1000,
    max_concurrency: Annotated[
        int,
        option(
            "Maximum concurrent requests.",
            panel=SERVER,
            read=options.whole(1),
            metavar="N",
        ),
    ] = 256,
    timeout: Annotated[
        float,
        option(
            "Seconds allowed per answer.",
            panel=SERVER,
            read=options.decimal(0.1),
            metavar="N",
        ),
    ] = 30.0,
    reload: Annotated[
        float,
        option(
            "Seconds between checks for a new model file; 0: never.",
            panel=SERVER,
            read=options.decimal(0),
            metavar="N",
        ),
    ] = 1.0,
    canary: Annotated[
        float,
        option(
            "Share of requests for the second model.",
            panel=SERVER,
            read=options.decimal(0, 1),
            metavar="N",
        ),
    ] = 0.0,
    learn: Annotated[
        bool,
        option(
            "Let POST /learn and /forget change the model and its file; needs a token.",
            panel=SERVER,
        ),
    ] = False,
    feedback: Annotated[
        Path | None,
        option(
            "Append corrections (POST /feedback) to this .jsonl file.",
            panel=SERVER,
            metavar="FILE",
        ),
    ] = None,
    quiet: Annotated[
        bool, option("Log only warnings and errors.", panel=OUTPUT)
    ] = False,
) -> None:
    """Answer over HTTP, with a page to try the model on.

    POST /classify takes {"texts": [...]}, or {"documents": [{"subject": ..., "body":
    ...}, ...]} for a model of several columns. GET /model, /healthz, /readyz, /metrics
    and /openapi.json describe the service. A new model file is loaded without a
    restart. Logs are JSON lines on stderr and never contain text. After SIGTERM, open
    requests are finished.

    With several models, POST /classify?model=NAME chooses one by its file name without
    .earmark. Other requests go to the first, and a share of --canary to the second.
    """
    from earmark._optional import require
    from earmark.apps.cli.data import require_model

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
    if learn and token is None:
        raise typer.BadParameter("--learn needs a token: add --token-file.")
    if canary and len(models) < 2:
        raise typer.BadParameter("--canary needs a second model.")
    bound = listen(host, port)
    spare_imports()
    most = (max_body, max_text, max_batch, max_concurrency)
    limits = Limits(*most, answer_seconds=timeout)
    logs_to_stderr("warning" if quiet else "info")
    app = make_app(
        models,
        limits=limits,
        token=token,
        hosts=_hosts(host, token, allow_host or []),
        reload_seconds=reload,
        canary=canary,
        learn=learn,
        feedback=feedback,
    )
    if token is None and not is_loopback(host):
        warn(f"anybody who reaches {host} can ask; see --token-file")
    named = f"serving {', '.join(map(str, models))}"
    run_app(app, bound, started=lambda u: echo(f"{named} at {u}"), drain=timeout)


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
    if file is None:
        return os.environ.get("EARMARK_TOKEN") or None
    token = file.read_text(encoding="utf-8", errors="replace").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise DataError(f"{file}: expected one line with a token of ASCII characters.")
    return token


@app.command(
    epilog=examples(
        "earmark label mails.csv --labels private,work,spam",
        "earmark label mails.csv --labels labels.csv --from-names",
        "earmark label mails.csv --label topic --text subject,body",
        "earmark label mails.csv --export labels.csv",
        "earmark label mails.csv --import project-1.json",
        "earmark label mails.csv --export tasks.label-studio.json",
        "earmark label mails.csv --invite ann",
        "earmark label mails.csv --host 0.0.0.0 --overlap 0.1",
    )
)
@groups
def label(
    data: options.DataFile,
    files: options.TrainingFiles,
    labels: Annotated[
        str | None,
        option(
            "Labels, or a .csv or .tsv file with columns label and, as you like, "
            "description, group, key. You can add more on the page. A label with a "
            "comma stands in double quotes.",
            panel=DATA,
            metavar="A,B,C|FILE",
        ),
    ] = None,
    project: Annotated[
        Path | None,
        option(
            "Folder for the answers, DATA.labels unless given.",
            panel=OUTPUT,
            metavar="DIR",
        ),
    ] = None,
    model: Annotated[
        str,
        option(
            "Model that learns as you label, as in train --model; or a model file to "
            "start from.",
            panel=MODEL,
            metavar="NAME|FILE",
        ),
    ] = "auto",
    encoder: options.EncoderName = "static",
    from_names: Annotated[
        bool,
        option(
            "Insist on guesses before the first answer, by the names and descriptions "
            "of the labels; without it they are made if each label has such words.",
            panel=MODEL,
        ),
    ] = False,
    no_names: Annotated[
        bool,
        option(
            "Make no guesses before the first answers, unless --from-names insists.",
            panel=MODEL,
        ),
    ] = False,
    max_error: Annotated[
        float,
        option(
            "Target error rate of the accepted predictions.",
            panel=DECIDING,
            read=options.decimal(0.0001, 0.9999),
            metavar="N",
        ),
    ] = 0.05,
    check_share: Annotated[
        float,
        option(
            "Share of random documents set aside to measure accuracy.",
            panel=DECIDING,
            read=options.decimal(0.0, 0.9),
            metavar="N",
        ),
    ] = 0.2,
    overlap: Annotated[
        float,
        option(
            "Share of documents that two people label.",
            panel=DECIDING,
            read=options.decimal(0.0, 1.0),
            metavar="N",
        ),
    ] = 0.0,
    guidelines: Annotated[
        Path | None,
        option("Text that tells people how to label.", panel=DATA, metavar="FILE"),
    ] = None,
    invite: Annotated[
        str | None,
        option(
            "Print a new token for a person, and stop.", panel=SERVER, metavar="NAME"
        ),
    ] = None,
    revoke: Annotated[
        str | None,
        option("Make a person's token void, and stop.", panel=SERVER, metavar="NAME"),
    ] = None,
    random_state: options.Seed = 0,
    host: options.Host = "127.0.0.1",
    allow_host: options.AllowHost = None,
    port: options.Port = 8001,
    export: Annotated[
        Path | None,
        option(
            "Write .csv, .jsonl, .parquet (labels), .earmark (model), .html (report), "
            "or answers and suggestions for another tool (.label-studio.json, "
            ".argilla.json, .prodigy.jsonl, .doccano.jsonl), and stop.",
            panel=OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    import_answers: Annotated[
        str | None,
        option(
            "Take over the labels that documents with the same text have in FILE, "
            "such as an export of Label Studio, Argilla, Prodigy or doccano.",
            "--import",
            panel=DATA,
            metavar="FILE",
        ),
    ] = None,
    open_browser: Annotated[
        bool, option("Open the page in the browser.", "--open", panel=SERVER)
    ] = False,
) -> None:
    """Label documents in the browser, by keyboard, while a model learns.

    Shows the next most useful document and the words behind the model's guess; some
    random ones are set aside for an honest estimate. Every answer is on disk before the
    next document appears; start the same command again to go on.

    To label as a team, everyone opens the page and enters a name. For other machines,
    create a token per person (--invite) and listen on a reachable address (--host).
    """
    from earmark._optional import require
    from earmark.apps.cli.data import load_model
    from earmark.documents import iter_documents, read_documents
    from earmark.documents.exchange import dialect_named, endings

    for package in ("starlette", "pydantic", "uvicorn"):
        require(package, "label in the browser")
    from earmark.apps.label.project import claim, open_project, with_answers

    folder = project or Path(f"{data.rstrip('/')}.labels")
    if data == "-":
        raise typer.BadParameter("name a file: answers go on with it another time.")
    if invite is not None or revoke is not None:
        # A slip in the name of the file must not begin another project.
        iter_documents(data, label=False, **files.how)
        _set_people(folder, invite, revoke)
        return
    if export is not None:
        options.require_output(export, data)
        if export.suffix[1:] not in _KINDS and dialect_named(export.name) is None:
            kinds = ", ".join((*_KINDS, *(name[1:] for name in endings())))
            raise typer.BadParameter(f"--export must end in one of {kinds}")
        if files.label is None and not folder.is_dir():
            raise DataError(
                f"{folder}: there is no such project, so there is nothing to export; "
                f"begin one with: earmark label {data}"
            )
    with status(f"reading {data}"):
        documents = files.read(data, label=files.label or False)
        if import_answers is not None:
            answers = read_documents(
                import_answers,
                multi_label=files.multi_label,
                allow_unlabelled=True,
                null_text="empty",
            )
            documents = with_answers(documents, answers)
    started = load_model(Path(model)).classifier if model.endswith(".earmark") else None
    by_names = _by_names(from_names, no_names or export is not None)
    lock = claim(folder) if export is None else None
    with status("opening the project"):
        session = open_project(
            documents,
            folder,
            labels=_labels(labels or ""),
            any_of=files.multi_label,
            model=model if started is None else "auto",
            encoder=None if encoder == options.NO_ENCODER else encoder,
            start=by_names if started is None else started,
            check_share=check_share,
            max_error=max_error,
            overlap=overlap,
            seed=random_state,
        )
    if guidelines is not None:
        text = guidelines.read_text(encoding="utf-8")
        session.store.set_fact("guidelines", text)
    try:
        if export is not None:
            _export(session, export)
        else:
            _serve_labels(session, host, port, allow_host or [], open_browser)
    finally:
        if lock is not None:
            lock.close()


def _by_names(insist: bool, never: bool) -> Literal["names", "auto"] | None:
    """Whether to guess by the names of labels before there are answers."""
    if insist:
        return "names"
    return None if never else "auto"


def _labels(words: str) -> list[str] | list[dict[str, str]]:
    """Labels of the command line, or of a table with what they mean."""
    from earmark.apps.label.project import read_labels

    if words.endswith((".csv", ".tsv")):
        return read_labels(Path(words))
    # As in csv: a label that holds a comma stands in double quotes.
    cells = next(csv.reader([words], skipinitialspace=True), [])
    return [cell.strip() for cell in cells if cell.strip()]


def _serve_labels(
    session: Session, host: str, port: int, allowed: list[str], open_browser: bool
) -> None:
    """Answer until Ctrl-C; beyond loopback, only to people with a token."""
    from earmark.apps.label.app import make_app
    from earmark.apps.label.session import SWITCH_SECONDS
    from earmark.apps.web.guard import logs_to_stderr
    from earmark.apps.web.run import is_loopback, listen, run_app

    with_tokens = bool(allowed) or not is_loopback(host)
    if with_tokens and not any(p["invited"] for p in session.store.people()):
        session.close()
        raise DataError(
            f"{host} is reachable from other machines: invite somebody first with "
            "--invite NAME."
        )
    try:
        bound = listen(host, port)
    except BaseException:  # a fit in the background must not outlive the command
        session.close()
        raise
    logs_to_stderr("warning")
    # A full fit in the background gives way to a key at once.
    sys.setswitchinterval(SWITCH_SECONDS)

    def started(url: str) -> None:
        n_documents = len(session.documents)
        echo(f"label {n_documents:,} documents at {url} (Ctrl-C ends)")
        if open_browser:
            import webbrowser

            webbrowser.open(url)

    hosts = _hosts(host, None, allowed)
    app = make_app(session, hosts=hosts, with_tokens=with_tokens)
    run_app(app, bound, started=started, drain=10)


def _set_people(folder: Path, invite: str | None, revoke: str | None) -> None:
    """Make a token for a person, or make one void; also while a server runs."""
    from earmark.apps.label.store import Store

    nobody = DataError(f"{folder}: nobody called {revoke!r} was invited.")
    if invite is None and not folder.is_dir():
        raise nobody
    store = Store(folder, {})
    try:
        if invite is not None:
            name = " ".join(invite.split())
            if not 0 < len(name) <= 60:
                raise typer.BadParameter("a name has 1 to 60 characters.")
            echo(f"token of {name} (shown only now): {store.invite(name)}")
        if revoke is not None:
            if not store.revoke(revoke):
                raise nobody
            echo(f"the token of {revoke} is void")
    finally:
        store.close()


def _export(session: Session, out: Path) -> None:
    from earmark.apps.label.project import export
    from earmark.apps.web.replies import Refusal
    from earmark.whole_files import write_whole

    try:
        data = export(session, out.name)
    except Refusal as refusal:
        raise DataError(refusal.detail) from None
    finally:
        session.close()
    write_whole(out, data)
    confirm(f"wrote {out} ({len(data):,} bytes)")
