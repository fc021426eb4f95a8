"""Encoders by name, and the registry of their kinds.

A kind is one module of ``encoders/kinds`` with a constant ``KIND``: an adapter to a
package that turns texts into vectors. Another package adds one by an entry point of the
group ``earmark.encoders``. Nothing is downloaded here but by ``fetch_encoder``, and no
code comes with weights: only folders that hold data are read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from earmark._optional import is_installed, require
from earmark.exceptions import DataError, MissingDependencyError
from earmark.progress import counted
from earmark.registry import Registry

Vectors = NDArray[np.float32]

# A name, or a function from a list of texts to an array with a row for each.
Encoder: TypeAlias = str | Callable[[list[str]], Any]
Encode: TypeAlias = Callable[[list[str]], Any]
_Result = TypeVar("_Result")

WORDS = "words:"
# Vectors of these tell one encoder from another: many words, scripts and lengths.
PROBES = (
    "The quick brown fox jumps over the lazy dog.",
    "Shares fell 3.5% on Monday after the central bank raised interest rates.",
    "please cancel my order and refund the money to my card",
    "The patient was treated with antibiotics and left the hospital in May 2019.",
    "def parse(line): return [field.strip() for field in line.split(',')]",
    "Der Zug nach München hat heute leider zwanzig Minuten Verspätung.",
    "天気がいいから散歩しましょう",
    " ".join(f"Paragraph {i} of a long letter about gardens." for i in range(120)),
)
# Cosine of probe vectors above which two packages serve the same model.
_ALIKE = 0.99


@dataclass(frozen=True)
class EncoderKind:
    """How encoders of one package are named and loaded."""

    prefix: str
    """What their names begin with, such as ``model2vec:``, without the colon."""
    summary: str
    """One line for the tables of the documentation."""
    load: Callable[[str, str, bool], NamedEncoder]
    """From the whole name, the model in it, and whether it may be downloaded."""
    extra: str | None = None
    """The extra of earmark to install for it."""
    short_names: Mapping[str, str] = field(default_factory=dict)
    """Names without a prefix that this kind can load, and the models they mean."""

    @property
    def name(self) -> str:
        """Its name in the registry: the prefix."""
        return self.prefix

    @property
    def pattern(self) -> str:
        """How a name looks, for messages and help."""
        return f"{self.prefix}:NAME"


KINDS: Registry[EncoderKind] = Registry(
    "earmark.encoders.kinds", "earmark.encoders", "KIND"
)


class Named(NamedTuple):
    """A name, taken apart."""

    kind: str
    """The prefix, or the short name."""
    place: str
    """The model; "" for a short name."""


def parse_name(name: str) -> Named:
    """Kind, and model name or path; raise DataError for a name of no known kind."""
    kind, colon, place = name.removeprefix(WORDS).partition(":")
    if kind in KINDS and place.strip():
        return Named(kind, place.strip())
    if not colon and kind in short_names():
        return Named(kind, "")
    raise DataError(
        f"encoder {name!r} is not known: expected {known_names()}, one of these "
        f"after {WORDS}, or a function from a list of texts to an array."
    )


def reads_words(name: str) -> bool:
    """Whether an encoder of this name reads the vocabulary instead of the documents."""
    return name.startswith(WORDS)


def short_names() -> list[str]:
    """The names without a prefix that some kind can load."""
    return sorted({name for kind in KINDS for name in kind.short_names})


def known_names() -> str:
    """How names of encoders look."""
    return ", ".join([*short_names(), *(kind.pattern for kind in KINDS)])


def require_encoder(encoder: object) -> None:
    """Refuse what is neither the name of an encoder that is here nor a function."""
    if isinstance(encoder, str):
        load_encoder(encoder)
        return
    method = callable(getattr(encoder, "encode", None))
    # Calling a network of torch means a forward pass on tensors.
    is_network = method and callable(getattr(encoder, "forward", None))
    if encoder is None or (callable(encoder) and not is_network):
        return
    hint = "; give its method: encoder=model.encode" if method else ""
    raise TypeError(
        "TextClassifier.encoder must be a name or a function from a list of texts to "
        f"an array, got {type(encoder).__name__}{hint}."
    )


class NamedEncoder:
    """An encoder whose weights are loaded; made by ``load_encoder``."""

    def __init__(
        self, name: str, encode: Encode, stamp: str = "", is_quick: bool = False
    ) -> None:
        self.name, self._encode = name, encode
        self.stamp = stamp  # what tells one state of its files from another
        self.is_quick = is_quick  # so fast that it need not be spared
        self._lock = Lock()  # tokenizers are changed while they are used

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, from the cache where it is known."""
        return self.encoded(texts, store=False)

    def encoded(self, texts: Sequence[str], *, store: bool) -> Vectors:
        """A row for each text; ``store`` keeps what is new on disk, else it is read."""
        places = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        distinct = list(places)
        rows = [places[text] for text in texts]
        if not store and len(distinct) < _FEW:  # not worth opening a file
            return self._vectors(distinct)[rows]
        from earmark.encoders.cache import VectorCache  # brings sqlite3

        cache = VectorCache(self.name, self.stamp, self.probes)
        with counted("text", len(distinct)) as advance:
            known = cache.encoded(distinct, self._vectors, store=store, advance=advance)
        return known[rows]

    def known_share(self, texts: Sequence[str]) -> float:
        """The share of the words of some texts that it knows; 1 if nobody can say."""
        return 1.0

    def by_word(self, text: str) -> tuple[list[str], NDArray[np.float64]] | None:
        """Words of a text and vectors that add up to its own; None: it is no sum."""
        return None

    @cached_property
    def probes(self) -> Vectors:
        """Its vectors of the probe sentences: what it is known by."""
        return self._vectors(list(PROBES))

    def _vectors(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.probes.shape[1]), dtype=np.float32)
        with self._lock:
            return np.asarray(self._encode(texts), dtype=np.float32)


_FEW = 32


def text_key(text: str) -> bytes:
    """What a text is known by."""
    data = text.encode("utf-8", errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def probe_vectors(encoder: Encoder) -> Vectors | None:
    """What an encoder makes of the probe sentences; None if it cannot be asked."""
    # A function may look texts up in a table, which has no such sentences.
    if isinstance(encoder, str):
        return load_encoder(encoder).probes
    try:
        vectors = np.asarray(encoder(list(PROBES)), dtype=np.float32)
    except Exception:  # whatever a function of a user raises
        return None
    is_whole = vectors.ndim == 2 and len(vectors) == len(PROBES)
    return vectors if is_whole and np.isfinite(vectors).all() else None


def same_encoder(known: Vectors, probes: Vectors) -> bool:
    """Whether probe vectors are those of one model, up to rounding."""
    if known.shape != probes.shape:
        return False
    known, probes = (
        v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)
        for v in (known, probes)
    )
    empty = ~known.any(axis=1) & ~probes.any(axis=1)
    return bool(((known * probes).sum(axis=1) > _ALIKE)[~empty].all())


# -- loading ------------------------------------------------------------------------


def load_encoder(name: str) -> NamedEncoder:
    """The encoder of a name, from weights on this machine.

    Parameters
    ----------
    name : str
        Kind and model, such as ``"model2vec:NAME-OR-PATH"``, or ``"minilm"``; the page
        on encoders lists the kinds.

    Returns
    -------
    encoder : callable
        From a list of texts to an array with a row for each.

    Raises
    ------
    MissingDependencyError
        If its package is not installed; the message has the line that installs it.
    DataError
        If the name is not known, or its weights are not here or not safe to load.

    """
    return _loaded(name.removeprefix(WORDS))


@lru_cache(maxsize=4)
def _loaded(name: str) -> NamedEncoder:
    kind, place = parse_name(name)
    if place:
        return KINDS[kind].load(name, place, False)
    return _first(_meant_by(kind), _loaded)


def fetch_encoder(name: str) -> str:
    """Download the weights of an encoder; the name that was fetched."""
    kind, place = parse_name(name)
    if not place:
        return _first(_meant_by(kind)[:1], fetch_encoder)
    KINDS[kind].load(name, place, True)
    _loaded.cache_clear()
    return name


def _first(names: Sequence[str], attempt: Callable[[str], _Result]) -> _Result:
    """What the first name gives that works; else the first error."""
    first: DataError | None = None
    for name in names:
        try:
            return attempt(name)
        except DataError as error:
            first = first or error
    assert first is not None
    raise first


def _meant_by(short: str) -> list[str]:
    """The full names that a short one stands for, by kinds whose package is here."""
    able = [kind for kind in KINDS if short in kind.short_names]
    here = [kind for kind in able if is_installed(kind.extra)]
    if not here:
        packages = " or ".join(kind.prefix for kind in able)
        extra = able[0].extra
        raise MissingDependencyError(
            f"{packages} is needed for the encoder {short}; install the extra {extra}, "
            f"in a checkout with: pip install '.[{extra}]'"
        )
    return [f"{kind.prefix}:{kind.short_names[short]}" for kind in here]


# -- weights on this machine -----------------------------------------------------------

_REPOSITORY = re.compile(r"\w[\w.-]*/[\w.-]+")
_DATA_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")


def local_folder(name: str, place: str, fetch: bool) -> Path:
    """A folder that was named, or that the hub's cache has for a repository."""
    path = Path(place).expanduser()
    if path.is_dir():
        return path
    if not _REPOSITORY.fullmatch(place):
        raise DataError(f"encoder {name!r}: there is no folder {place}.")
    hub = require("huggingface_hub", f"use the encoder {name}")
    try:
        return Path(
            hub.snapshot_download(
                place, local_files_only=not fetch, allow_patterns=list(_DATA_FILES)
            )
        )
    except Exception as error:  # whatever the package raises
        raise not_here(name, fetch, error) from error


def not_here(name: str, fetch: bool, error: Exception) -> DataError:
    """The error for weights that could not be loaded, or not be fetched."""
    if fetch:
        return DataError(f"encoder {name!r} cannot be fetched: {error}")
    return DataError(
        f"encoder {name!r}: its weights are not on this machine. Get them with: "
        f"earmark fetch {name} (earmark downloads nothing by itself), or name a "
        "folder that has them."
    )


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Whatever a package raises becomes an error that names the encoder."""
    try:
        yield
    except Exception as error:  # whatever the package raises
        raise DataError(f"encoder {name!r} cannot be loaded: {error}") from error


def stamp_of(folder: Path) -> str:
    """Names, sizes and dates of the files: another state is another encoder."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    facts = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    return hashlib.blake2b(repr(facts).encode(), digest_size=8).hexdigest()
