"""The corpus that is on every machine: docstrings of installed Python packages."""

from __future__ import annotations

import ast
import gzip
import hashlib
import importlib.metadata
import importlib.util
import json
import logging
import platform
import re
import sysconfig
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from earmark.documents.document import Documents
from earmark.exceptions import DataError
from earmark.whole_files import cache_folder, write_whole

__all__ = ["docstring_corpus"]

logger = logging.getLogger(__name__)

# Label -> distribution that brings it; None is the standard library.
_LABELS: dict[str, str | None] = {
    **dict.fromkeys(["asyncio", "email", "http", "logging", "unittest", "xml"]),
    **{name: name for name in ("jinja2", "joblib", "narwhals", "numpy", "rich")},
    **{
        f"scipy.{part}": "scipy"
        for part in ("linalg", "optimize", "signal", "sparse", "stats")
    },
    **{
        f"sklearn.{part}": "scikit-learn"
        for part in ("ensemble", "linear_model", "metrics")
    },
    "typer": "typer",
}
# Names that go by another spelling in the text.
_ALIASES = ("jinja", "np", "nw", "scikit-learn", "sp")
# Tests, build tools and other people's code inside a package.
_SKIPPED = frozenset(
    (
        *("_vendor", "conftest", "distutils", "externals", "f2py", "setup"),
        *("stable", "test", "testing", "tests", "typing"),
    )
)
_FEWEST_WORDS = 10
# Part of the cache key: raise it when the rules of this module change.
_RULES = 1

_WORD = re.compile(r"[^\W\d_]{2,}")
_NAMES = {*_ALIASES, *(part for label in _LABELS for part in label.split("."))}
_LONGEST_FIRST = sorted(map(re.escape, _NAMES), key=lambda name: (-len(name), name))
_OWN_NAMES = re.compile(rf"\b(?:{'|'.join(_LONGEST_FIRST)})\b", re.IGNORECASE)
_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class _Entry(NamedTuple):
    """One docstring: its label, unique id, name in the module, and text."""

    label: str
    id: str
    name: str
    text: str


def docstring_corpus(cache: bool = True) -> Documents:
    """Docstrings of the Python library and of earmark's dependencies, by package.

    Thousands of real documents in about twenty classes on every machine: nothing
    to download, nothing to redistribute. The installed sources are read with
    ``ast`` and never run. The label is the package or sub-package (``asyncio``,
    ``numpy``, ``scipy.stats``, ...); the regions are the object's name in its
    module and the text. The names of all these packages are removed from all
    texts as whole words, so that neither their presence nor their absence gives
    the label away. Short docstrings and repeated ones are left out. The order is
    fixed and mixed, not by label.

    The counts depend on the installed versions, and only on them.

    Parameters
    ----------
    cache : bool, default=True
        Keep the result in the cache folder (``EARMARK_CACHE``, else
        ``XDG_CACHE_HOME``/earmark, else the platform's), one file for each set of
        versions. If the folder cannot be written the corpus is read anew each time.

    Returns
    -------
    documents : Documents
        ``texts`` has the regions "name" and "text", ``labels`` are str.

    Examples
    --------
    >>> from earmark.documents import docstring_corpus
    >>> documents = docstring_corpus()
    >>> documents.regions
    ('name', 'text')
    >>> len(documents) > 3000
    True

    """
    path = cache_folder() / f"docstrings-{_fingerprint()}.json.gz"
    entries = _load(path) if cache else None
    if entries is None:
        entries = _collect()
        if cache:
            packed = gzip.compress(json.dumps(entries).encode(), 1, mtime=0)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, packed)
            except OSError:
                logger.info("no docstring cache: %s cannot be written", path.parent)
    if len({entry.label for entry in entries}) < 2:
        raise DataError(
            "docstring_corpus: expected the sources of at least two packages among "
            f"{', '.join(_LABELS)}, found fewer; this Python is installed without "
            "its .py files, use read_documents or load_corpus instead."
        )
    return Documents(
        texts={
            "name": [entry.name for entry in entries],
            "text": [entry.text for entry in entries],
        },
        labels=[entry.label for entry in entries],
        ids=[entry.id for entry in entries],
        rows=range(1, len(entries) + 1),
        source="docstrings",
    )


def _fingerprint() -> str:
    """A short name for the rules and the versions that make the corpus."""
    parts = [f"rules {_RULES}", f"python {platform.python_version()}"]
    for distribution in sorted({name for name in _LABELS.values() if name}):
        try:
            version = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            version = "absent"
        parts.append(f"{distribution} {version}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _load(path: Path) -> list[_Entry] | None:
    """The cached entries, or None if there are none that can be read."""
    try:
        stored = json.loads(gzip.decompress(path.read_bytes()))
        return [_Entry(*fields) for fields in stored]
    except (OSError, EOFError, ValueError, TypeError, zlib.error):
        return None


def _collect() -> list[_Entry]:
    """Every docstring that counts, without repetition, in a fixed mixed order."""
    entries: list[_Entry] = []
    seen: set[str] = set()
    for label in _LABELS:
        for place, name, docstring in _docstrings(label):
            text = _OWN_NAMES.sub("", docstring)
            words = _WORD.findall(text.lower())
            key = " ".join(words)
            if len(words) < _FEWEST_WORDS or key in seen:
                continue
            seen.add(key)
            entries.append(_Entry(label, place, _OWN_NAMES.sub("", name), text))
    return sorted(
        entries, key=lambda entry: hashlib.sha256(repr(entry).encode()).hexdigest()
    )


def _docstrings(label: str) -> Iterator[tuple[str, str, str]]:
    """Unique id, name in the module and docstring of everything under a package."""
    folder = _folder(label)
    if folder is None:
        return
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if any(part in _SKIPPED or part.startswith("test_") for part in parts):
            continue
        module = ".".join((label, *parts)).removesuffix(".__init__")
        tree = _parse(path)
        if tree is None:
            continue
        docstring = ast.get_docstring(tree)
        if docstring:
            yield module, module.rpartition(".")[2], docstring
        for line, name, docstring in _inside(tree, ""):
            yield f"{module}:{line}:{name}", name, docstring


def _inside(node: ast.AST, prefix: str) -> Iterator[tuple[int, str, str]]:
    """Line, dotted name and docstring of the definitions in a block, nested too."""
    for child in getattr(node, "body", ()):
        if isinstance(child, _Definition):
            name = f"{prefix}{child.name}"
            docstring = ast.get_docstring(child)
            if docstring:
                yield child.lineno, name, docstring
            yield from _inside(child, f"{name}.")
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _inside(child, prefix)


def _parse(path: Path) -> ast.Module | None:
    """The syntax tree of a file, or None if this Python cannot read it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None


def _folder(label: str) -> Path | None:
    """Where the sources of a package lie; the package is not imported."""
    top, *rest = label.split(".")
    if _LABELS[label] is None:
        folder = Path(sysconfig.get_path("stdlib"), top)
    else:
        spec = importlib.util.find_spec(top)
        if spec is None or not spec.submodule_search_locations:
            return None
        folder = Path(spec.submodule_search_locations[0], *rest)
    return folder if folder.is_dir() else None
