"""Encoders by name: adapters to the packages that turn texts into vectors.

Nothing is downloaded here but by ``fetch_encoder``, and no code comes with weights:
only folders that hold data are read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from earmark._optional import require
from earmark.exceptions import DataError, MissingDependencyError
from earmark.progress import counted

Vectors = NDArray[np.float32]

# A name, or a function from a list of texts to an array with a row for each.
Encoder: TypeAlias = str | Callable[[list[str]], Any]
Encode: TypeAlias = Callable[[list[str]], Any]
_Result = TypeVar("_Result")

WORDS = "words:"
_MINILM = "minilm"
_MINILM_REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
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


class Named(NamedTuple):
    """A name, taken apart."""

    kind: str
    place: str
    by_words: bool
    """Whether it reads the vocabulary instead of the documents."""


def parse_name(name: str) -> Named:
    """Kind, and model name or path; raise DataError for a name of no known kind."""
    by_words = name.startswith(WORDS)
    kind, colon, place = name.removeprefix(WORDS).partition(":")
    if (kind == _MINILM and not colon) or (kind in KINDS and place.strip()):
        return Named(kind, place.strip(), by_words)
    known = ", ".join(f"{kind}:NAME" for kind in KINDS)
    raise DataError(
        f"encoder {name!r} is not known: expected {_MINILM}, {known}, one of these "
        f"after {WORDS}, or a function from a list of texts to an array."
    )


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
        ``"model2vec:NAME-OR-PATH"``, ``"fastembed:NAME"``,
        ``"sentence-transformers:NAME-OR-PATH"`` or ``"minilm"``.

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
    kind, place, _ = parse_name(name)
    if kind != _MINILM:
        return KINDS[kind](name, place, False)
    return _first(_installed_minilm(), _loaded)


def fetch_encoder(name: str) -> str:
    """Download the weights of an encoder; the name that was fetched."""
    kind, place, _ = parse_name(name)
    if kind == _MINILM:
        return _first(_installed_minilm()[:1], fetch_encoder)
    KINDS[kind](name, place, True)
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


def _installed_minilm() -> list[str]:
    kinds = ("fastembed", "sentence-transformers")
    here = [kind for kind in kinds if find_spec(kind.replace("-", "_")) is not None]
    if not here:
        raise MissingDependencyError(
            "fastembed or sentence-transformers is needed for the encoder minilm; "
            "install the extra fastembed, in a checkout with: "
            "pip install '.[fastembed]'"
        )
    return [f"{kind}:{_MINILM_REPOSITORY}" for kind in here]


def _model2vec(name: str, place: str, fetch: bool) -> NamedEncoder:
    """Static vectors of word pieces: no network is run, a text takes microseconds."""
    library = require("model2vec", f"use the encoder {name}")
    folder = _folder(name, place, fetch)
    with _explained(name):
        model = library.StaticModel.from_pretrained(folder)
    return NamedEncoder(name, model.encode, _stamp(folder), is_quick=True)


def _fastembed(name: str, place: str, fetch: bool) -> NamedEncoder:
    """A network in ONNX form, run without torch."""
    library = require("fastembed", f"use the encoder {name}")
    listed = library.TextEmbedding.list_supported_models()
    names = {model["model"].lower() for model in listed}
    if place.lower() not in names:
        raise DataError(
            f"encoder {name!r}: fastembed has no model {place!r}; it has "
            f"{', '.join(sorted(model['model'] for model in listed))}."
        )
    try:
        model = library.TextEmbedding(place, local_files_only=not fetch)
    except Exception as error:  # whatever the package raises
        raise _absent(name, fetch, error) from error
    return NamedEncoder(name, lambda texts: np.array(list(model.embed(texts))))


def _sentence_transformers(name: str, place: str, fetch: bool) -> NamedEncoder:
    """A network in torch; nothing but weights is taken from its folder."""
    library = require("sentence_transformers", f"use the encoder {name}")
    if "/" not in place and not Path(place).exists():
        place = f"sentence-transformers/{place}"
    folder = _folder(name, place, fetch)
    require_data_only(folder, name)
    with _explained(name):
        model = library.SentenceTransformer(
            str(folder),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    encode = partial(model.encode, show_progress_bar=False)
    return NamedEncoder(name, encode, _stamp(folder))


KINDS: dict[str, Callable[[str, str, bool], NamedEncoder]] = {
    "model2vec": _model2vec,
    "fastembed": _fastembed,
    "sentence-transformers": _sentence_transformers,
}


# -- weights on this machine -----------------------------------------------------------

_REPOSITORY = re.compile(r"\w[\w.-]*/[\w.-]+")
_DATA_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")


def _folder(name: str, place: str, fetch: bool) -> Path:
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
        raise _absent(name, fetch, error) from error


def _absent(name: str, fetch: bool, error: Exception) -> DataError:
    if fetch:
        return DataError(f"encoder {name!r} cannot be fetched: {error}")
    return DataError(
        f"encoder {name!r}: its weights are not on this machine. Get them with: "
        f"earmark fetch {name} (earmark downloads nothing by itself), or name a "
        "folder that has them."
    )


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever the package raises
        raise DataError(f"encoder {name!r} cannot be loaded: {error}") from error


def _stamp(folder: Path) -> str:
    """Names, sizes and dates of the files: another state is another encoder."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    facts = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    return hashlib.blake2b(repr(facts).encode(), digest_size=8).hexdigest()


_MODULES = {"Dense", "LayerNorm", "Normalize", "Pooling", "StaticEmbedding"}


def require_data_only(folder: Path, name: str) -> None:
    """Refuse a folder of sentence-transformers that could run code of its own."""
    # The package imports the classes that its JSON files name, even without
    # ``trust_remote_code`` if the folder is local, and reads pickles where there are
    # no safetensors.
    for path in folder.rglob("*.json"):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"encoder {name!r}: {path} is no JSON: {error}") from error
        for what in _names_of_code(path.name, content):
            raise DataError(
                f"encoder {name!r}: {path} asks for {what}, code that is not among "
                "the known parts of sentence-transformers; it is not loaded. Give "
                "your own function instead, if you trust it: encoder=model.encode."
            )
    for path in folder.rglob("*.bin"):
        if not list(path.parent.glob("*.safetensors")):
            raise DataError(
                f"encoder {name!r}: {path} may hold code (it is a pickle); it is not "
                "loaded. Convert it to safetensors: model.save(FOLDER) does so."
            )


def _names_of_code(file: str, content: Any) -> Iterator[str]:
    """What a JSON file would have imported, unless it is a known part."""
    if file == "modules.json":
        for part in content if isinstance(content, list) else [content]:
            kind = str(part.get("type") if isinstance(part, dict) else part)
            package, _, name = kind.rpartition(".")
            if package.partition(".")[0] != "sentence_transformers" or (
                name not in ("Transformer", *_MODULES)
            ):
                yield kind
    elif isinstance(content, dict):
        if content.get("auto_map"):
            yield str(content["auto_map"])
        if file == "router_config.json":
            yield "a router"
        activation = str(content.get("activation_function", "torch.nn."))
        if "." in activation and not activation.startswith("torch.nn."):
            yield activation
