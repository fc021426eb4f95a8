"""The command, the options that several of its commands share, and their values.

An option is declared once, with its help, as ``Annotated[type, option(...)]``: of one
command in its signature, of several in a dataclass below, whose fields ``groups`` makes
into options. The parameter of an option has the name of the Python parameter that it
sets; so a message that names one is said in the words of the command line.
"""

from __future__ import annotations

import codecs
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from functools import wraps
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeVar,
    get_args,
    get_type_hints,
)

import typer
from typer.models import OptionInfo

from earmark.apps.cli import console
from earmark.apps.cli.console import status, warn
from earmark.documents.format import FORMATS
from earmark.exceptions import EarmarkError, ParameterError
from earmark.registry import Registry
from earmark.whole_files import check_target

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.documents.document import Texts

app = typer.Typer(
    name="earmark",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Classify text with few labels.\n\nTry: earmark demo",
    epilog="Exit status: 0 done, 1 the data or the model is at fault, 2 wrong usage.",
)

# What options are about: the panels of the help.
DATA, MODEL, DECIDING = "Data", "Model", "Deciding"
LARGE, OUTPUT, SERVER = "Large data", "Output", "Server"

NEVER, NO_ENCODER = "never", "none"
_IN_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 10  # runs of more characters are single documents' own
_Value = TypeVar("_Value")


# -- declaring options -----------------------------------------------------------------


def option(
    about: str,
    *flags: str,
    panel: str,
    read: Callable[[str], object] | None = None,
    **settings: Any,
) -> Any:
    """What Typer needs to know of an option; ``read`` makes its value of its text."""
    settings |= {"help": about, "rich_help_panel": panel}
    settings["parser"] = None if read is None else _parser(read)
    declared: Any = typer.Option
    return declared(*flags, **settings)


def examples(*commands: str) -> str:
    """The end of a help: commands to try, a line each."""
    return "\n\n".join(["Examples:", *commands])


def argument(metavar: str, about: str) -> Any:
    """What Typer needs to know of an argument."""
    return typer.Argument(metavar=metavar, help=about)


def _parser(read: Callable[[str], object]) -> Callable[[str], object]:
    """Make a reader of values report what it cannot read as wrong usage."""

    def parse(text: str) -> object:
        try:
            return read(text)
        except EarmarkError as error:
            raise typer.BadParameter(error.said(console.words)) from None
        except (ValueError, LookupError):
            what = (inspect.getdoc(read) or "").partition(", read")[0]
            expected = what[:1].lower() + what[1:]
            raise typer.BadParameter(f"expected {expected}; got {text}.") from None

    return parse


def groups(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option per field of its parameters that are dataclasses.

    And with --quiet, unless it has its own. A parameter of a wrong value that is found
    while it runs is wrong usage too.
    """
    kinds: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(kind := hints[name]):
            kinds[name], inner = kind, get_type_hints(kind, include_extras=True)
            options += [_option(f.name, inner[f.name], f.default) for f in fields(kind)]
        else:
            options.append(_option(name, kind, parameter.default))
    known = {one.name for one in options}
    if "quiet" not in known:
        options.append(_option("quiet", Quiet, False))
    options.append(_option("ctx", typer.Context, inspect.Parameter.empty))

    @wraps(command)
    def run(ctx: typer.Context, **values: Any) -> None:
        console.begin(ctx.command, quiet=values["quiet"])
        values = {name: values[name] for name in known}
        for name, kind in kinds.items():
            values[name] = kind(**{f.name: values.pop(f.name) for f in fields(kind)})
        try:
            command(**values)
        except ParameterError as error:
            raise typer.BadParameter(error.said(console.words)) from error

    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    run.__doc__ = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    run.__annotations__ = {one.name: one.annotation for one in options}
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return run


def _option(name: str, kind: Any, default: object) -> inspect.Parameter:
    """A parameter for Typer, whose flag is its name unless it is stated; no --no-..."""
    for info in getattr(kind, "__metadata__", ()):
        if isinstance(info, OptionInfo):
            if not isinstance(info.default, str):
                info.param_decls = (f"--{name.replace('_', '-')}",)
            if get_args(kind)[0] is bool:
                info.metavar = " "  # that it is a bool need not be said
    by_name = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, by_name, default=default, annotation=kind)


# -- reading values: the beginning of a docstring says what is expected ----------------


def _checked(value: _Value, is_right: bool) -> _Value:
    if not is_right:
        raise ValueError
    return value


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """Read a whole number within bounds."""

    def read(text: str) -> int:
        number = int(text)
        return _checked(number, low <= number and (high is None or number <= high))

    read.__doc__ = f"a whole number {_bounds(low, high)}, read"
    return read


def decimal(low: float, high: float | None = None) -> Callable[[str], float]:
    """Read a number within bounds."""

    def read(text: str) -> float:
        number = float(text)
        return _checked(number, low <= number and (high is None or number <= high))

    read.__doc__ = f"a number {_bounds(low, high)}, read"
    return read


def _bounds(low: float, high: float | None) -> str:
    return f">= {low}" if high is None else f"from {low} to {high}"


def one_of(*words: str) -> Callable[[str], str]:
    """Read one of some words."""

    def read(text: str) -> str:
        return _checked(text, text in words)

    read.__doc__ = f"{', '.join(words[:-1])} or {words[-1]}, read".removeprefix(" or ")
    return read


def name_of(registry: Registry[Any]) -> Callable[[str], str]:
    """Read one of the names of a registry."""

    def read(name: str) -> str:
        registry[name]
        return name

    return read


def _encoding(name: str) -> str:
    """An encoding such as utf-8, latin-1, cp1252 or utf-16, read as it is."""
    return name if name == "auto" else _checked(name, bool(codecs.lookup(name)))


def _encoder(name: str) -> str:
    """An encoder, or none, read as it is."""
    from earmark.encoders.encoder import require_encoder

    if name != NO_ENCODER:
        require_encoder(name)  # a wrong name need not wait for the data
    return name


def _share_or_never(text: str) -> float | str:
    """A share between 0 and 1, such as 0.05, or never, read as a number or a word."""
    if text.lower() == NEVER:
        return NEVER
    return _checked(float(text), 0 < float(text) < 1)


def _ngram_range(text: str) -> tuple[int, int]:
    """A number from 1 to 10, or two of them such as 1,4, read as least and most."""
    numbers = whole_numbers(text)
    low, high = numbers if len(numbers) > 1 else (1, *numbers)
    return _checked((low, high), 1 <= low <= high <= _LONGEST)


def _seconds(text: str) -> float:
    """A time such as 60s or 5m, read in seconds."""
    number, unit = text[:-1], text[-1:].lower()
    if unit not in _IN_SECONDS:
        number, unit = text, "s"
    seconds = float(number) * _IN_SECONDS[unit]
    return _checked(seconds, 0 < seconds < float("inf"))


def _size(text: str) -> int:
    """A size such as 2GB, at least 50MB, read in bytes."""
    from earmark.distributed.counting import as_bytes

    return as_bytes(text)


def _shares(text: str) -> list[float]:
    """Shares between 0 and 1, such as 0.1,0.3, read as numbers."""
    numbers = [float(part) for part in text.split(",")]
    return _checked(numbers, all(0 <= share <= 1 for share in numbers))


def whole_numbers(text: str) -> list[int]:
    """Whole numbers such as 50,100,200, read as a list."""
    return [int(part) for part in text.split(",")]


def _day(text: str) -> str:
    """A day such as 2026-11-16, read as it is."""
    return str(date.fromisoformat(text))


def error_rate(rate: float | str | None) -> float | None:
    """``--max-error``, ``--novelty`` as TextClassifier takes them: None for never."""
    return rate if isinstance(rate, float) else None


# -- arguments and single options ------------------------------------------------------

_DATA = (
    f"Documents: a file ({', '.join(FORMATS.names())}; text also .gz, .zst), a "
    "Maildir, a folder with one sub-folder per label, a directory of parts, a URL such "
    "as s3://bucket/mails.csv, or a database (--query)"
)
_FILE = "A model file (*.earmark)."
Data = Annotated[str, argument("DATA", f"{_DATA}; or - for stdin.")]
DataFile = Annotated[str, argument("DATA", f"{_DATA}.")]
DataParts = Annotated[
    str, argument("DATA", "Documents: a file that is read in parts, or a directory.")
]
Model = Annotated[Path, argument("MODEL", _FILE)]
AnyModel = Annotated[Path | None, argument("[MODEL]", _FILE)]
Models = Annotated[list[Path] | None, argument("MODEL...", "Model files (*.earmark).")]

MaxError = Annotated[
    Any,
    option(
        "Answer only where at most this share of the answers is wrong. never: answer "
        "every document.",
        panel=DECIDING,
        metavar="SHARE|never",
        read=_share_or_never,
    ),
]
Novelty = Annotated[
    Any,
    option(
        "Do not answer documents unlike the training documents. At most this share of "
        "ordinary documents is rejected. never: answer them too.",
        "--novelty",
        panel=DECIDING,
        metavar="SHARE|never",
        read=_share_or_never,
    ),
]
MinCoverage = Annotated[
    Any,
    option(
        "Minimum share of documents to answer, or several: the guarantee is tested "
        "from there on. Usually 0.1,0.25,0.5.",
        panel=DECIDING,
        metavar="SHARE[,SHARE...]",
        read=_shares,
    ),
]
Unlabelled = Annotated[
    str | None,
    option("More documents, without labels.", panel=DATA, metavar="DATA2"),
]
ModelName = Annotated[
    str, option("One of `earmark info --models`.", panel=MODEL, metavar="NAME")
]
EncoderName = Annotated[
    str,
    option(
        "What the meaning of the texts is told by: static (English, comes with "
        "earmark), minilm, model2vec:NAME (NAME may be a folder), or none. words:NAME "
        "encodes only the vocabulary.",
        "--encoder",
        panel=MODEL,
        metavar="NAME",
        read=_encoder,
    ),
]
Repeats = Annotated[
    int,
    option(
        "Number of random splits.", "--repeats", panel=MODEL, read=whole(2), metavar="N"
    ),
]
Seed = Annotated[
    int,
    option(
        "Random seed.", "--seed", panel=MODEL, read=whole(0, 2**32 - 1), metavar="N"
    ),
]
Jobs = Annotated[
    int,
    option("Threads or processes.", "--jobs", panel=MODEL, read=whole(1), metavar="N"),
]
SkipBad = Annotated[bool, option("Leave out parts that cannot be read.", panel=LARGE)]
Dask = Annotated[
    str | None,
    option(
        "Run on a Dask cluster: local, local:N (N processes), or the address of the "
        "scheduler, tcp://host:8786.",
        panel=LARGE,
        metavar="WHERE",
    ),
]
Day = Annotated[
    str | None,
    option(
        "The date to show, instead of today's.", panel=OUTPUT, metavar="DAY", read=_day
    ),
]
AsJson = Annotated[bool, option("Print JSON instead of text.", "--json", panel=OUTPUT)]
Quiet = Annotated[
    bool, option("Print only results, warnings and errors.", panel=OUTPUT)
]
Host = Annotated[
    str,
    option(
        "Address to listen on; anything but loopback is open to the network.",
        panel=SERVER,
    ),
]
Port = Annotated[
    int, option("0: any free port.", panel=SERVER, read=whole(0, 65535), metavar="N")
]
AllowHost = Annotated[
    list[str] | None,
    option(
        "Also answer to this host name, e.g. behind a proxy; repeatable. On loopback "
        "without a token, other names are refused.",
        panel=SERVER,
        metavar="NAME",
    ),
]


# -- options that several commands share -----------------------------------------------


@dataclass(frozen=True)
class Files:
    """Which column holds the text, and how files are read."""

    text: Annotated[
        str | None,
        option(
            "Column with the text. Several columns become regions, each with its own "
            "words.",
            panel=DATA,
            metavar="COL[,COL...]",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        option(
            "Encoding of text files: utf-8 unless given; auto detects it per file.",
            panel=DATA,
            metavar="NAME",
            read=_encoding,
        ),
    ] = None
    format: Annotated[
        str | None,
        option(
            "The format, for stdin (-) or an unusual file name: "
            f"{', '.join(FORMATS.names())}.",
            panel=DATA,
            metavar="NAME",
            read=name_of(FORMATS),
        ),
    ] = None
    query: Annotated[
        str | None,
        option(
            "SQL that gives the documents, for DATA a database: sqlite:///FILE, "
            "duckdb:///FILE or postgresql://HOST/NAME.",
            panel=DATA,
            metavar="SQL",
        ),
    ] = None
    quote: Annotated[
        bool,
        option(
            "Treat quotes in csv and tsv files as ordinary characters.",
            " /--no-quotes",
            panel=DATA,
            show_default=False,
        ),
    ] = True

    @property
    def how(self) -> dict[str, Any]:
        """How files are read, as ``read_documents`` and ``list_parts`` take it."""
        quote = '"' if self.quote else None
        how = {"encoding": self.encoding, "format": self.format, "quote": quote}
        return how if self.query is None else {**how, "query": self.query}

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
class LabelledFiles(Files):
    """Files whose labels may be in a column."""

    label: Annotated[
        str | None, option("Column with the label.", panel=DATA, metavar="COL")
    ] = None


@dataclass(frozen=True)
class MergedFiles(LabelledFiles):
    """Labels that are perhaps spelled in several ways."""

    merge_labels: Annotated[
        bool,
        option(
            "Merge labels that differ only by case, blanks or a final .0.", panel=DATA
        ),
    ] = False

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
        columns |= {"format": None, "query": None}
        return self.read(path, label=False, **columns)

    def read_with_pool(
        self, data: str, unlabelled: str | None
    ) -> tuple[Documents, Texts | None]:
        """Labelled documents, and the texts of those without a label, or None."""
        from earmark.apps.cli.data import ask_about_labels, labelled_only
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
class TrainingFiles(MergedFiles):
    """Labels of which a document may have several."""

    multi_label: Annotated[
        bool, option("Several labels per document, as a|b or lists.", panel=DATA)
    ] = False

    def read(self, path: str, like: Documents | None = None, **more: Any) -> Documents:
        """The same, with one label per document or several."""
        return super().read(path, like, multi_label=self.multi_label, **more)


@dataclass(frozen=True)
class FittingOptions:
    """What is counted, and how long, from which seed and on how many cores."""

    analyzer: Annotated[
        str | None,
        option(
            "Count words (word), characters (char) or characters within words "
            "(char_wb). Characters suit mixed languages, names and misspellings.",
            panel=MODEL,
            metavar="KIND",
            read=one_of("word", "char", "char_wb"),
        ),
    ] = None
    ngram_range: Annotated[
        Any,
        option(
            "Count sequences of up to N words, or of FROM to TO units of --analyzer.",
            "--ngrams",
            panel=MODEL,
            metavar="N|FROM,TO",
            read=_ngram_range,
        ),
    ] = None
    budget: Annotated[
        float | None,
        option(
            "Processor time for learning from unlabelled documents, such as 60s or "
            "5m; they are left out if it would take longer.",
            panel=MODEL,
            metavar="TIME",
            read=_seconds,
        ),
    ] = None
    encoder: EncoderName = "static"
    random_state: Seed = 0
    n_jobs: Jobs = 1

    @property
    def other_encoder(self) -> str | None:
        """The encoder, where one was asked for that does not come with earmark."""
        return None if self.encoder in ("static", NO_ENCODER) else self.encoder

    @property
    def features(self) -> dict[str, Any]:
        """The analyzer and its n-grams, if they are set."""
        usual = (1, 4) if self.analyzer in ("char", "char_wb") else None
        known = {"analyzer": self.analyzer, "ngram_range": self.ngram_range or usual}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def parameters(self) -> dict[str, Any]:
        """Of every ``TextClassifier`` that is fitted to compare."""
        seed = self.random_state
        encoder = None if self.encoder == NO_ENCODER else self.encoder
        known = {"features": self.features or None, "budget": self.budget}
        return {**known, "encoder": encoder, "random_state": seed}


@dataclass(frozen=True)
class PartsOptions:
    """Data that is read in parts, here or on a cluster."""

    memory: Annotated[
        int | None,
        option(
            "Read DATA part by part within this much memory, e.g. 2GB. The same "
            "command resumes an interrupted run.",
            panel=LARGE,
            metavar="SIZE",
            read=_size,
        ),
    ] = None
    dask: Dask = None
    skip_bad: SkipBad = False
    keep_parts: Annotated[
        bool,
        option(
            "Cache the counts of each part in MODEL.parts, so that training again "
            "reads only new parts.",
            panel=LARGE,
        ),
    ] = False


# -- what to make of them --------------------------------------------------------------


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
