"""``earmark info``, ``export``, ``card``, ``cache``, ``fetch``: what files hold."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earmark.apps.cli import options
from earmark.apps.cli.console import (
    confirm,
    echo,
    file_size,
    note,
    say_facts,
    show,
    status,
)
from earmark.apps.cli.options import (
    DATA,
    MODEL,
    OUTPUT,
    app,
    argument,
    examples,
    groups,
    option,
)

if TYPE_CHECKING:
    from earmark.typing import JsonObject


@app.command(
    epilog=examples(
        "earmark info", "earmark info --models", "earmark info model.earmark"
    )
)
@groups
def info(
    model: options.AnyModel = None,
    models: Annotated[bool, option("List the names for --model.", panel=MODEL)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Describe a model file, or this installation."""
    if models and model is not None:
        raise typer.BadParameter("--models lists all names; name no file.")
    if models:
        facts: JsonObject = _models()
    else:
        facts = _installation() if model is None else _model_file(model)
    if as_json:
        show(True, facts, None)
    else:
        say_facts((name, words) for name, words in _lines(facts) if words)


def _lines(facts: JsonObject) -> Iterator[tuple[str, str]]:
    """A name and words for people per line; what is not set is left out."""
    for name, value in facts.items():
        if name == "training_data" and isinstance(value, dict):
            yield "training data", _training_data(value)
            yield "per class", _words(value.get("classes"))
            yield "data digest", str(value.get("fingerprint") or "")
        elif name == "columns" and isinstance(value, dict):
            guessed = f"{value['guessed']} (guessed)" if "guessed" in value else ""
            yield "text column", value.get("text") or guessed
            yield "label column", value.get("label") or ""
        elif name in ("updates", "forgotten") and isinstance(value, list):
            for one in value:
                yield name, f"{one['documents']:,} documents, {one['time']}"
        else:
            yield name, _words(value)


def _training_data(data: JsonObject) -> str:
    known = {kind: data.get(kind) for kind in ("labelled", "unlabelled", "bad_parts")}
    counts = [f"{n:,} {kind.replace('_', ' ')}" for kind, n in known.items() if n]
    return f"{data.get('source')}: {', '.join(counts)}"


def _words(value: object) -> str:
    if isinstance(value, dict):
        known = {name: _words(one) for name, one in value.items()}
        return ", ".join(f"{name} {words}" for name, words in known.items() if words)
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "" if value is None else str(value)


def _models() -> JsonObject:
    from earmark.models.base.declaration import MODELS

    chosen = "linear, or semi-supervised where many documents without a label are given"
    listed = {
        model.name: model.summary
        + (" [also in parts]" if model.in_parts else "")
        + (" [can be updated]" if model.updates else "")
        for model in MODELS
    }
    return {"auto": f"{chosen} [also in parts]", **listed}


def _installation() -> JsonObject:
    from earmark import __version__
    from earmark._optional import EXTRAS
    from earmark.kernels.backend import describe

    missing = {extra for package, extra in EXTRAS.items() if not find_spec(package)}
    present = sorted({*EXTRAS.values()} - missing)
    packages = ("numpy", "scipy", "scikit-learn", "narwhals", "safetensors")
    return {
        "earmark": __version__,
        "kernels": describe(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
        "extras installed": present or ["none"],
        "extras missing": sorted(missing) or ["none"],
    }


def _model_file(path: Path) -> JsonObject:
    from earmark.apps.cli.data import require_model
    from earmark.persistence import read_manifest

    require_model(path)
    manifest = read_manifest(path)
    return {
        "file": str(path),
        **manifest.metadata,
        "size": file_size(manifest.file_size),
        "format": manifest.format_version,
        "written by": f"earmark {manifest.earmark_version}",
        "fingerprint": manifest.fingerprint,
        "functions": list(manifest.callables) or ["none"],
        "parameters": manifest.parameters,
    }


@app.command(
    epilog=examples(
        "earmark export model.earmark --out model.json",
        "node examples/readers/earmark_model.mjs model.json < documents.jsonl",
    )
)
@groups
def export(
    model: options.Model,
    out: Annotated[
        Path, option("The file to write.", "--out", "-o", panel=OUTPUT, metavar="FILE")
    ],
    format: Annotated[  # noqa: A002
        Any,
        option(
            "json: terms, weights and vectors, for readers in other languages.",
            panel=OUTPUT,
            metavar="json",
            read=options.one_of("json"),
        ),
    ] = "json",
) -> None:
    """Write a model in a form that other programs read.

    The numbers that answer, as JSON: terms, their weights, the offsets, tf-idf and the
    vectors of words. examples/readers has readers of a page each, in plain Python and
    in JavaScript. Thresholds are not in it: a reader always answers.
    """
    import json

    from earmark.apps.cli.data import load_model
    from earmark.pipeline.portable import portable
    from earmark.whole_files import write_whole

    options.require_output(out, model)
    stored = load_model(model)
    numbers = json.dumps(portable(stored.classifier), ensure_ascii=False)
    data = numbers.encode("utf-8", "surrogatepass")
    write_whole(out, data)
    confirm(f"wrote {out} ({file_size(len(data))})")


@app.command(
    epilog=examples(
        "earmark card model.earmark",
        'earmark card model.earmark --out card.html --intended-use "Routing tickets."',
        "earmark card model.earmark --out README.md --hub --license cc-by-4.0",
    )
)
@groups
def card(
    model: options.Model,
    out: Annotated[
        Path | None,
        option(
            "Write it there, not to stdout.",
            "--out",
            "-o",
            panel=OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    intended_use: Annotated[
        str | None,
        option("What the model is meant for, in words.", panel=OUTPUT, metavar="TEXT"),
    ] = None,
    date: options.Day = None,
    license: Annotated[  # noqa: A002
        str | None, option("License, e.g. cc-by-4.0.", panel=OUTPUT, metavar="ID")
    ] = None,
    contact: Annotated[
        str | None,
        option("Whom to ask about the model.", panel=OUTPUT, metavar="WHO"),
    ] = None,
    hub: Annotated[
        bool, option("Begin with the front matter that hubs read.", panel=OUTPUT)
    ] = False,
    test: Annotated[
        str | None,
        option("Add the accuracy on these documents.", panel=DATA, metavar="DATA"),
    ] = None,
    words: Annotated[
        int,
        option(
            "Most indicative words per label.",
            panel=OUTPUT,
            read=options.whole(0),
            metavar="N",
        ),
    ] = 8,
) -> None:
    """Write a model card: what the model is, its accuracy, what it is not for.

    Markdown, or one HTML page if FILE ends in .html. Everything in it is read from
    the model file: the labels, the fingerprint of the training data, the evaluation.
    """
    from earmark.apps.card import card_facts, front_matter, to_html, to_markdown
    from earmark.apps.cli.data import load_model, require_model
    from earmark.whole_files import write_whole

    require_model(model)
    if out is not None:
        options.require_output(out, model)
    said = {"date": date, "licence": license, "contact": contact}
    about = {name: value for name, value in said.items() if value is not None}
    report = None
    if test is not None:
        stored = load_model(model)
        documents = stored.read(test, options.LabelledFiles())
        report = stored.classifier.report(documents.texts, documents.labels), test
    facts = card_facts(model, words, report)
    if out is not None and out.suffix.lower() in (".html", ".htm"):
        text = to_html(facts, intended_use, about)
    else:
        front = front_matter(facts, license) if hub else None
        text = to_markdown(facts, intended_use, about, front)
    if out is None:
        echo(text, nl=False)
        return
    write_whole(out, text)
    note(f"wrote {out}")


@app.command(
    epilog=examples(
        "earmark cache", "earmark cache --clear", "earmark cache --clear model2vec"
    )
)
@groups
def cache(
    name: Annotated[
        str | None, argument("[NAME]", "Only encoders with this in the name.")
    ] = None,
    clear: Annotated[bool, option("Forget the vectors listed.", panel=OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show or clear the vectors that encoders have computed.

    They are kept in the folder EARMARK_CACHE (or the platform's for caches), at most
    4 GB per encoder; EARMARK_ENCODER_CACHE sets another size, or off.
    """
    from earmark.encoders.cache import cache_entries, clear_cache

    entries = [e for e in cache_entries() if name is None or name in e.name]
    if clear:
        clear_cache(entries)
    if as_json or not entries:
        facts = [entry._asdict() for entry in entries]
        show(as_json, facts, "no vectors are cached", is_result=True)
        return
    said = "cleared, " if clear else ""
    say_facts(
        (e.name, f"{said}{e.n_texts:,} texts, {e.n_bytes / 1e6:,.1f} MB, {e.path}")
        for e in entries
    )


@app.command(
    epilog=examples(
        "earmark fetch model2vec:minishlab/potion-base-8M",
        "earmark fetch r8 --url https://example.org/corpora",
    )
)
@groups
def fetch(
    what: Annotated[str, argument("NAME", "Of a corpus, or of an encoder.")],
    url: Annotated[
        str | None,
        option("Folder that holds the files.", panel=DATA, metavar="URL"),
    ] = None,
) -> None:
    """Download a benchmark corpus, or the weights of an encoder.

    Weights come through the encoder's own package, into its own cache. The corpora have
    no single public home: give the address of a mirror with --url or EARMARK_DATA_URL.
    Files already in the folder EARMARK_DATA need no fetching; checksums are verified.
    This is the only command that uses the network.
    """
    from earmark.documents import fetch_corpus
    from earmark.documents.corpora import corpus_names
    from earmark.encoders.encoder import KINDS, fetch_encoder, short_names

    if ":" in what or what in short_names():
        with status(f"fetching {what}"):
            fetched = fetch_encoder(what)
        confirm(f"{fetched} is on this machine now")
        return
    if what not in corpus_names():
        raise typer.BadParameter(
            f"{what!r} is not one of {', '.join(corpus_names())}, and no encoder "
            f"({', '.join(kind.pattern for kind in KINDS)})"
        )
    with status(f"fetching {what}"):
        paths = fetch_corpus(what, url=url)
    for path in paths:
        echo(path)
