"""Options that several commands share, and what to make of them."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import typer
from typer.models import OptionInfo

from earmark.apps.cli._console import status, warn
from earmark.documents.format import FORMATS
from earmark.exceptions import DataError, MissingDependencyError
from earmark.whole_files import check_target

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.documents.document import Texts

_DATA = (
    "Documents: .csv .tsv .jsonl .json .parquet .xlsx (text also .gz .zst), an mbox or "
    "Maildir, a folder with one sub-folder per label, a directory of Parquet, JSONL or "
    "csv parts"
)
_PARTS = "Documents: a .csv .tsv .jsonl or .parquet file, or a directory of them."


NEVER = "never"
_IN_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 10  # runs of more characters are single documents' own
_Value = TypeVar("_Value")


def _option(expected: str, read: Callable[[str], object]) -> OptionInfo:
    """An option whose value is read so; what cannot be read is wrong usage."""

    def parse(text: str) -> object:
        try:
            return read(text)
        except (DataError, MissingDependencyError) as error:
            raise typer.BadParameter(str(error)) from None
        except (ValueError, LookupError):
            raise typer.BadParameter(f"expected {expected}; got {text}.") from None

    return cast(OptionInfo, typer.Option(parser=parse))


def _checked(value: _Value, is_right: bool) -> _Value:
    if not is_right:
        raise ValueError
    return value


def _encoding(name: str) -> str:
    return name if name == "auto" else _checked(name, bool(codecs.lookup(name)))


def _encoder(name: str) -> str:
    from earmark.encoders.encoder import require_encoder

    require_encoder(name)  # a wrong name need not wait for the data
    return name


def _share_or_never(text: str) -> float | str:
    """A share of documents, or that abstaining is switched off."""
    if text.lower() == NEVER:
        return NEVER
    return _checked(float(text), 0 < float(text) < 1)


def _ngram_range(text: str) -> tuple[int, int]:
    """``3`` as (1, 3), ``2,4`` as (2, 4)."""
    numbers = _numbers(text)
    low, high = numbers if len(numbers) > 1 else (1, *numbers)
    return _checked((low, high), 1 <= low <= high <= _LONGEST)


def _seconds(text: str) -> float:
    """``90``, ``60s``, ``5m`` or ``1h`` in seconds."""
    number, unit = text[:-1], text[-1:].lower()
    if unit not in _IN_SECONDS:
        number, unit = text, "s"
    seconds = float(number) * _IN_SECONDS[unit]
    return _checked(seconds, 0 < seconds < float("inf"))


def _size(text: str) -> int:
    """``2GB`` in bytes."""
    from earmark.distributed.counting import as_bytes

    return as_bytes(text)


def _shares(text: str) -> list[float]:
    """Shares in [0, 1] between commas."""
    numbers = [float(part) for part in text.split(",")]
    return _checked(numbers, all(0 <= share <= 1 for share in numbers))


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


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
--format NAME  The format, for stdin (-) or an unusual file name: FORMATS.
--no-quotes  Treat quotes in csv and tsv files as ordinary characters.
--unlabelled DATA2  More documents, without labels.
--multi-label  Several labels per document, as a|b or lists.
--merge-labels  Merge labels that differ only by case, blanks or a final .0.
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
SHARED = SHARED.replace("FORMATS", ", ".join(FORMATS.names()))
Data = Annotated[str, typer.Argument(metavar="DATA", help=f"{_DATA}, or - for stdin.")]
DataFile = Annotated[str, typer.Argument(metavar="DATA", help=f"{_DATA}.")]
DataParts = Annotated[str, typer.Argument(metavar="DATA", help=_PARTS)]
_FILE = "A model file (*.earmark)."
Model = Annotated[Path, typer.Argument(metavar="MODEL", help=_FILE)]
AnyModel = Annotated[Path | None, typer.Argument(metavar="[MODEL]", help=_FILE)]
Models = Annotated[
    list[Path],
    typer.Argument(metavar="MODEL...", help="Model files (*.earmark)."),
]
Port = Annotated[int, typer.Option(min=0, max=65535)]
_ENCODINGS = "an encoding such as utf-8, latin-1, cp1252 or utf-16"
Encoding = Annotated[str | None, _option(_ENCODINGS, _encoding)]
_SHARE = f"a share between 0 and 1, such as 0.05, or {NEVER}"
MaxError = Annotated[Any, _option(_SHARE, _share_or_never)]
Novelty = Annotated[Any, _option(_SHARE, _share_or_never)]
Shares = Annotated[Any, _option("shares between 0 and 1, such as 0.1,0.3", _shares)]
Sizes = Annotated[Any, _option("whole numbers such as 50,100,200", _numbers)]
_FORMATS = f"one of {', '.join(FORMATS.names())}"
Format = Annotated[str | None, _option(_FORMATS, lambda name: FORMATS[name].name)]
Analyzer = Literal["word", "char", "char_wb"] | None
_NGRAMS = f"a number from 1 to {_LONGEST}, or two of them such as 1,4"
Ngrams = Annotated[Any, _option(_NGRAMS, _ngram_range)]
Budget = Annotated[float | None, _option("a time such as 60s or 5m", _seconds)]
Memory = Annotated[int | None, _option("a size such as 2GB, at least 50MB", _size)]
Repeats = Annotated[int, typer.Option(min=2)]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1)]
_DAY = "a day such as 2026-11-16"
Day = Annotated[str | None, _option(_DAY, lambda t: str(date.fromisoformat(t)))]
Encoder = Annotated[str | None, _option("an encoder", _encoder)]
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
        if self.text is None:
            return None
        names = column_names(self.text)
        if isinstance(names, list) and len({*names}) < len(names):
            raise typer.BadParameter(
                f"{self.text} names a column twice.", param_hint="--text"
            )
        return names


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

    def read_pool(self, path: str, like: Documents) -> Documents:
        """Documents without labels; --format is that of DATA, not theirs."""
        from earmark.documents.table import UsualColumn

        columns = column_arguments(self.columns)
        if self.text is None and like.text_columns:
            columns = {"text": UsualColumn(like.text_columns[0])}
        return self.read(path, format=None, label=False, **columns)

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
                pool.append(self.read_pool(unlabelled, documents))
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


def refuse_with_parts(options: Mapping[str, object], **asked: object) -> None:
    """Refuse options beside one of those ``asked`` for, by which data is in parts."""
    by = next(name.replace("_", "-") for name, value in asked.items() if value)
    for name, value in options.items():
        if value:
            raise typer.BadParameter(
                f"{name} does not go with --{by}, which reads the data in parts."
            )


def require_models(*names: str) -> None:
    """Refuse a model name that is not one, before anything is read."""
    from earmark.models.base.declaration import MODELS

    for name in names:
        if name != "auto" and name not in MODELS:
            raise typer.BadParameter(
                f"no model {name!r}; the names are auto, {', '.join(MODELS.names())}."
            )


def require_output(out: Path, *inputs: Path | str, streams: bool = False) -> None:
    """Refuse an output that cannot be written, before the work and not after it.

    One that is an input of the command, or would lie among its parts, is refused too;
    and a device or pipe, unless what is written there ``streams``.
    """
    for source in (Path(name) for name in inputs if name):
        if source.exists() and source.resolve() in (
            out.resolve(),
            out.resolve().parent,
        ):
            among = "lie among" if source.is_dir() else "take the place of"
            raise typer.BadParameter(
                f"{out} would {among} the data in {source}; name another file."
            )
    if streams and out.exists() and not (out.is_file() or out.is_dir()):
        return
    try:
        check_target(out)
    except OSError as error:
        raise typer.BadParameter(f"{error.filename}: {error.strerror}.") from None


def class_list(names: str) -> list[str]:
    """Labels separated by commas."""
    from earmark.documents.labels import similar_labels

    labels = comma_list(names)
    if len(set(labels)) < 2:
        raise typer.BadParameter(
            f"--classes needs two labels at least, such as a,b; got {names!r}"
        )
    for alike in similar_labels(labels):
        warn(
            f"--classes: {' and '.join(alike)} differ only by case, blanks or a final "
            f".0 and are taken as {len(alike)} classes."
        )
    return list(dict.fromkeys(labels))
