"""Options that several commands share, and what to make of them."""

from __future__ import annotations

import codecs
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from earmark.exceptions import DataError, EarmarkWarning, MissingDependencyError

if TYPE_CHECKING:
    from earmark.documents import Documents

DATA_HELP = (
    "Documents: .csv .tsv .jsonl .json .parquet .xlsx (text also .gz .zst), an mbox or "
    "Maildir, a folder with one sub-folder per label, a directory of Parquet, JSONL or "
    "csv parts, or - for stdin."
)


def _encoding(name: str | None) -> str | None:
    try:
        if name is not None and name != "auto":
            codecs.lookup(name)
    except LookupError:
        raise typer.BadParameter(
            f"no encoding {name!r}; common ones are utf-8, latin-1, cp1252, utf-16."
        ) from None
    return name


def _encoder(name: str | None) -> str | None:
    from earmark.encoders.by_name import require_encoder

    if name is not None:
        try:
            require_encoder(name)  # a wrong name need not wait for the data
        except (DataError, MissingDependencyError) as error:
            raise typer.BadParameter(str(error)) from None
    return name


NEVER = "never"
_IN_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 10  # runs of more characters are single documents' own


def _share_or_never(share: str | float) -> float | str:
    """A share of documents, or that abstaining is switched off."""
    if str(share).lower() == NEVER:
        return NEVER
    try:
        number = float(share)
    except ValueError:
        number = float("nan")
    if not 0 < number < 1:
        raise typer.BadParameter(
            f"expected a share between 0 and 1, such as 0.05, or {NEVER}; got {share}."
        )
    return number


def _ngram_range(bounds: str | tuple[int, int]) -> tuple[int, int]:
    """``3`` as (1, 3), ``2,4`` as (2, 4)."""
    if isinstance(bounds, tuple):
        return bounds
    try:
        numbers = [int(part) for part in bounds.split(",")]
        low, high = numbers if len(numbers) > 1 else (1, *numbers)
    except ValueError:
        low, high = 0, 0
    if not 1 <= low <= high <= _LONGEST:
        raise typer.BadParameter(
            f"expected a number from 1 to {_LONGEST}, or two of them such as 1,4; "
            f"got {bounds}."
        )
    return low, high


def _seconds(text: str | float) -> float:
    """``90``, ``60s``, ``5m`` or ``1h`` in seconds."""
    number, unit = str(text)[:-1], str(text)[-1:].lower()
    if unit not in _IN_SECONDS:
        number, unit = str(text), "s"
    try:
        seconds = float(number) * _IN_SECONDS[unit]
    except ValueError:
        seconds = float("nan")
    if not 0 < seconds < float("inf"):
        raise typer.BadParameter(f"expected a time such as 60s or 5m; got {text}.")
    return seconds


def _size(text: str | int) -> int:
    """``2GB`` in bytes."""
    from earmark.distributed.counting import as_bytes

    try:
        return as_bytes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def error_rate(given: float | str | None) -> float | None:
    """``--max-error``, ``--novelty`` as TextClassifier takes them: None for never."""
    return given if isinstance(given, float) else None


# What options of several commands mean, as in the docstrings of the commands.
SHARED = """
--text COL[,COL...]  Column with the text. Several columns become regions, each with its
    own words.
--label COL  Column with the label.
--encoding NAME  Encoding of text files: utf-8 unless given; auto detects it per file.
--max-error SHARE|never  Answer only where at most this share of the answers is wrong.
    never: answer every document.
--min-coverage SHARE[,SHARE...]  Smallest shares of documents worth answering;
    --max-error is tested on --calibration from there. Default: 0.1,0.25,0.5.
--novelty SHARE|never  Do not answer documents unlike the training documents. At most
    this share of ordinary documents is rejected. never: answer them too.
--format NAME  csv, tsv, jsonl, json, xlsx, fasttext or mbox, for stdin (-) or an
    unusual file name.
--no-quotes  Treat quotes in csv and tsv files as ordinary characters.
--unlabelled DATA2  More documents, without labels.
--multi-label  Several labels per document, as a|b or lists.
--merge-labels  Merge labels that differ only in case or spaces.
--analyzer KIND  Count words (word), characters (char) or characters within words
    (char_wb). Characters suit mixed languages, names and misspellings.
--ngrams N|FROM,TO  Count sequences of up to N words, or of FROM to TO units of
    --analyzer.
--budget TIME  Processor time in which auto chooses and fits, such as 60s or 5m; models
    that would take longer are left out.
--memory SIZE  Read DATA part by part within this much memory, e.g. 2GB. The same
    command resumes an interrupted run.
--seed  Random seed.
--skip-bad  Leave out parts that cannot be read.
--dask WHERE  Run on a Dask cluster: local, local:N (N processes), or the address of the
    scheduler, tcp://host:8786.
--encoder NAME  Add vectors of the texts: model2vec:NAME-OR-PATH, fastembed:NAME,
    sentence-transformers:NAME-OR-PATH or minilm. words:NAME encodes only the
    vocabulary.
"""
Data = Annotated[
    str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file (*.earmark).")
]
Encoding = Annotated[str | None, typer.Option(callback=_encoding)]
MaxError = Annotated[Any, typer.Option(parser=_share_or_never)]
Novelty = Annotated[Any, typer.Option(parser=_share_or_never)]
Format = (
    Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "fasttext", "mbox", "eml"]
    | None
)
Analyzer = Literal["word", "char", "char_wb"] | None
Ngrams = Annotated[Any, typer.Option(parser=_ngram_range)]
Budget = Annotated[Any, typer.Option(parser=_seconds)]
Memory = Annotated[Any, typer.Option(parser=_size)]
Encoder = Annotated[str | None, typer.Option(callback=_encoder)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def reading(encoding: str | None, kind: str | None, no_quotes: bool) -> dict[str, Any]:
    """How files are read, as ``read_documents`` and ``list_parts`` take it."""
    quote = None if no_quotes else '"'
    return {"encoding": encoding, "format": kind, "quote": quote}


def share_list(text: str | None) -> list[float] | None:
    """Shares in [0, 1] between commas."""
    if text is None:
        return None
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        raise typer.BadParameter(
            f"expected shares between 0 and 1, such as 0.1,0.3; got {text}.",
            param_hint="--min-coverage",
        )
    return shares


def column_list(text: str | None) -> dict[str, Any]:
    """The arguments ``text`` and ``regions`` of ``read_documents``."""
    if text is None:
        return {}
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter("name at least one column.", param_hint="--text")
    return {"text": names[0]} if len(names) == 1 else {"regions": names}


def refuse_with_parts(given: dict[str, Any]) -> None:
    """Options that do not go together with data in parts are wrong usage."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter(
                f"{name} does not go with data in parts (--memory, --dask, --by-part, "
                "--skip-bad)."
            )


def text_options(
    stem: str | None,
    substitute: str | None,
    hashed: int | None = None,
    ngrams: tuple[int, int] | None = None,
    analyzer: str | None = None,
) -> Any:
    """``TextClassifier.features`` for the options about words; None if none is set."""
    found: dict[str, Any] = {}
    if analyzer is not None:
        found["analyzer"] = analyzer
        if analyzer != "word" and ngrams is None:
            ngrams = (1, 4)
    if ngrams is not None:
        found["ngram_range"] = ngrams
    if stem:
        found["stemmer"] = stem
    if substitute:
        found["substitutions"] = [s.strip() for s in substitute.split(",") if s.strip()]
    preparation = {
        key: found[key] for key in ("stemmer", "substitutions") if key in found
    }
    if preparation:
        from earmark.text.preparation import TextPreparation

        try:
            TextPreparation(**preparation)("")
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    if hashed is None:
        return found or None
    if found:
        raise typer.BadParameter(
            "--hashed does not go with --stem, --substitute, --analyzer or --ngrams."
        )
    from earmark.features import HashedCounter

    return HashedCounter(n_features=2**hashed, alternate_sign=False, norm=None)


def require_models(*names: str) -> None:
    """Refuse a model name that is not one, before anything is read."""
    from earmark.models.registry import MODELS

    for name in names:
        if name != "auto" and name not in MODELS:
            raise typer.BadParameter(
                f"no model {name!r}; the names are auto, {', '.join(MODELS)}."
            )


def require_output(out: Path, *inputs: Path | str, streams: bool = False) -> None:
    """Refuse an output that cannot be written, before the work and not after it.

    One that is an input of the command, or would lie among its parts, is refused too;
    and a device or pipe, unless what is written there ``streams``.
    """
    for given in map(Path, inputs):
        if given.exists() and given.resolve() in (out.resolve(), out.resolve().parent):
            among = "lie among" if given.is_dir() else "take the place of"
            raise typer.BadParameter(
                f"{out} would {among} the data in {given}; name another file."
            )
    folder = out.parent
    if out.is_dir():
        raise typer.BadParameter(f"{out} is a folder; name a file in it.")
    if out.exists() and not out.is_file():
        if streams:
            return
        raise typer.BadParameter(f"{out} is a device or a pipe; name a file.")
    if not folder.is_dir():
        raise typer.BadParameter(f"the folder {folder} does not exist; create it.")
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(f"no permission to write into {folder.resolve()}.")


def labelled_only(documents: Documents) -> tuple[Documents, Documents]:
    """The documents that have a label, and those that have none."""
    rows = labelled_rows(documents)
    if len(rows) == len(documents):
        return documents, documents.take([])
    rest = sorted(set(range(len(documents))) - set(rows))
    return documents.take(rows), documents.take(rest)


def listed(names: str) -> list[str]:
    """Labels separated by commas."""
    from earmark.documents.labels import similar_labels

    labels = [name.strip() for name in names.split(",") if name.strip()]
    if len(set(labels)) < 2:
        raise typer.BadParameter(
            f"--classes needs two labels at least, such as a,b; got {names!r}"
        )
    for alike in similar_labels(labels):
        warnings.warn(
            f"--classes: {' and '.join(alike)} differ only by case or blanks and are "
            f"taken as {len(alike)} classes.",
            EarmarkWarning,
            stacklevel=2,
        )
    return list(dict.fromkeys(labels))


def names_of(file: str) -> dict[str, list[str]]:
    """Descriptions by label, from a table of two columns."""
    from earmark.documents import read_documents

    table = read_documents(file, text="description", label="label", null_text="empty")
    texts: dict[str, list[str]] = {}
    for row, label, text in zip(
        table.rows, table.labels or (), list(table.texts), strict=True
    ):
        if not text.strip():
            raise DataError(
                f"{file}, row {row}, column 'description': expected what the class "
                f"{label!r} is about, got nothing; write a few words that its "
                "documents use."
            )
        texts.setdefault(str(label), []).append(text)
    return texts


def labelled_rows(documents: Any) -> list[int]:
    """Positions of the documents that have a label; an error if none has."""
    from earmark.documents.columns import LABEL_NAMES

    labels = documents.labels
    if labels is None:
        raise DataError(
            f"{documents.source}: no column is named "
            f"{', '.join(LABEL_NAMES)}; name it with --label COL."
        )
    rows = [i for i, label in enumerate(labels) if label is not None]
    if not rows:
        raise DataError(f"{documents.source}: no row has a label; label some rows.")
    return rows
