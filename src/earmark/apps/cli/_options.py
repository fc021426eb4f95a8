"""Options that several commands share, and what to make of them."""

from __future__ import annotations

import codecs
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from earmark.apps.cli._console import status
from earmark.exceptions import DataError, EarmarkWarning, MissingDependencyError

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.documents.document import Texts

_DATA = (
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


def error_rate(rate: float | str | None) -> float | None:
    """``--max-error``, ``--novelty`` as TextClassifier takes them: None for never."""
    return rate if isinstance(rate, float) else None


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
Data = Annotated[str, typer.Argument(metavar="DATA", help=_DATA, show_default=False)]
_FILE = "A model file (*.earmark)."
Model = Annotated[Path, typer.Argument(metavar="MODEL", help=_FILE)]
AnyModel = Annotated[Path | None, typer.Argument(metavar="[MODEL]", help=_FILE)]
Models = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL...", help="Model files (*.earmark).", show_default=False
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535)]
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
Repeats = Annotated[int, typer.Option(min=2)]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1)]
Encoder = Annotated[str | None, typer.Option(callback=_encoder)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@dataclass(frozen=True)
class Files:
    """Which column holds the text, and how files are read."""

    text: str | None = None
    encoding: Encoding = None
    format: Format = None
    no_quotes: bool = False

    @property
    def how(self) -> dict[str, Any]:
        """How files are read, as ``read_documents`` and ``list_parts`` take it."""
        quote = None if self.no_quotes else '"'
        return {"encoding": self.encoding, "format": self.format, "quote": quote}

    @property
    def columns(self) -> str | list[str] | None:
        """The column with the text, or several columns."""
        return self.text and column_names(self.text)


@dataclass(frozen=True)
class Labelled(Files):
    """Files whose labels may be in a column."""

    label: str | None = None


@dataclass(frozen=True)
class Merged(Labelled):
    """Labels that are perhaps spelled in several ways."""

    merge_labels: bool = False

    def read(self, path: str, like: Documents | None = None, **more: Any) -> Documents:
        """Documents with and without labels; spelled as in others, if merged."""
        from earmark.documents import read_documents
        from earmark.documents.labels import merge_with

        settings = {**self.how, **column_arguments(self.columns), "label": self.label}
        settings |= {"null_text": "empty", "allow_unlabelled": True}
        settings |= {"merge_labels": self.merge_labels, **more}
        documents = read_documents(path, **settings)
        if like is None or not self.merge_labels:
            return documents
        return merge_with(documents, like.labels or ())

    def read_pool(self, path: str) -> Documents:
        """Documents without labels; --format is that of DATA, not theirs."""
        return self.read(path, format=None, label=False)

    def read_with_pool(
        self, data: str, unlabelled: str | None
    ) -> tuple[Documents, Texts | None]:
        """Labelled documents, and the texts of those without a label, or None."""
        from earmark.apps.cli._data import ask_about_labels, labelled_only
        from earmark.documents.document import concatenate

        with status(f"reading {data}"):
            documents, rest = labelled_only(self.read(data))
            pool = [rest] if len(rest) else []
            if unlabelled is not None:
                pool.append(self.read_pool(unlabelled))
        ask_about_labels(documents, self.label)
        plain = [replace(one, labels=None, ids=None, columns={}) for one in pool]
        return documents, concatenate(plain, "").texts if plain else None


@dataclass(frozen=True)
class Training(Merged):
    """Labels of which a document may have several."""

    multi_label: bool = False

    def read(self, path: str, like: Documents | None = None, **more: Any) -> Documents:
        """The same, with one label per document or several."""
        return super().read(path, like, multi_label=self.multi_label, **more)


@dataclass(frozen=True)
class Fitting:
    """What is counted, and how long, from which seed and on how many cores."""

    analyzer: Analyzer = None
    ngrams: Ngrams = None
    budget: Budget = None
    seed: Seed = 0
    jobs: Annotated[int, typer.Option(min=1)] = 1

    @property
    def features(self) -> dict[str, Any]:
        """The analyzer and its n-grams, if they are set."""
        usual = (1, 4) if self.analyzer in ("char", "char_wb") else None
        known = {"analyzer": self.analyzer, "ngram_range": self.ngrams or usual}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def parameters(self) -> dict[str, Any]:
        """Of every ``TextClassifier`` that is fitted to compare."""
        features, seed = self.features or None, self.seed
        return {"features": features, "budget": self.budget, "random_state": seed}


@dataclass(frozen=True)
class Large:
    """Data that is read in parts, here or on a cluster."""

    memory: Memory = None
    dask: str | None = None
    skip_bad: bool = False
    keep_parts: bool = False


def column_names(text: str) -> str | list[str]:
    """One column, or several between commas."""
    names = comma_list(text)
    if not names:
        raise typer.BadParameter("name at least one column.", param_hint="--text")
    return names[0] if len(names) == 1 else names


def column_arguments(columns: str | list[str] | None) -> dict[str, Any]:
    """The argument ``text`` or ``regions`` of ``read_documents``."""
    if columns is None:
        return {}
    return {"text" if isinstance(columns, str) else "regions": columns}


def comma_list(text: str | None) -> list[str]:
    """What stands between commas, without blanks around it."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def shares(text: str | None, flag: str) -> list[float] | None:
    """Shares in [0, 1] between commas."""
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 <= share <= 1 for share in numbers):
        raise typer.BadParameter(
            f"expected shares between 0 and 1, such as 0.1,0.3; got {text}.",
            param_hint=flag,
        )
    return numbers


def refuse_with_parts(options: dict[str, Any]) -> None:
    """Options that do not go together with data in parts are wrong usage."""
    for name, value in options.items():
        if value:
            raise typer.BadParameter(
                f"{name} does not go with data in parts (--memory, --dask, --by-part, "
                "--skip-bad)."
            )


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
    for source in map(Path, inputs):
        if source.exists() and source.resolve() in (
            out.resolve(),
            out.resolve().parent,
        ):
            among = "lie among" if source.is_dir() else "take the place of"
            raise typer.BadParameter(
                f"{out} would {among} the data in {source}; name another file."
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


def class_list(names: str) -> list[str]:
    """Labels separated by commas."""
    from earmark.documents.labels import similar_labels

    labels = comma_list(names)
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
