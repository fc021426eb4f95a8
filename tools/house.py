"""Measure the house: lines, files, private doors, untyped places, per package.

    python tools/house.py            the table
    python tools/house.py --doors    every private door by file and line

``tests/test_house.py`` allows no private door.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "earmark"


@dataclass(frozen=True)
class Place:
    """A line of a file and what stands there."""

    path: Path
    line: int
    text: str

    @property
    def package(self) -> str:
        """The package below ``earmark``; the root for its own modules."""
        return package_of(self.path)

    def __str__(self) -> str:
        return f"{self.path.relative_to(SOURCE.parent)}:{self.line} {self.text}"


def package_of(path: Path) -> str:
    """``models`` for src/earmark/models/...; ``(root)`` for modules beside it."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else "(root)"


def sources() -> list[Path]:
    """Every module and stub."""
    return sorted(p for p in SOURCE.rglob("*") if p.suffix in (".py", ".pyi"))


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Every module with its syntax tree."""
    for path in sources():
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def private_imports() -> Iterator[Place]:
    """Imports of a ``_module`` or ``_name`` that belongs to another package."""
    for path, tree in trees():
        here = ("earmark", *path.relative_to(SOURCE).parts[:-1])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield from _private_import(path, here, node)


def _private_import(
    path: Path, here: tuple[str, ...], node: ast.ImportFrom
) -> Iterator[Place]:
    parts = (node.module or "").split(".")
    if parts[0] != "earmark":
        return
    for place, part in enumerate(parts[1:], start=1):
        # The modules right below the root serve every package.
        if part.startswith("_") and place > 1 and here[:place] != tuple(parts[:place]):
            yield Place(path, node.lineno, f"from {node.module}")
            return
    if here[: len(parts) - 1] == tuple(parts[:-1]) or here == tuple(parts):
        return  # modules of one package share what they like
    for alias in node.names:
        if _is_private(alias.name) and alias.name != "_native":
            yield Place(path, node.lineno, f"{alias.name} from {node.module}")


def private_attributes() -> Iterator[Place]:
    """Uses of ``other._attribute`` where the file's own classes define no such name."""
    for path, tree in trees():
        own = _own_names(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not _is_private(node.attr):
                continue
            if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
                continue
            if node.attr not in own:
                yield Place(path, node.lineno, ast.unparse(node))


# Where the attributes of any object are asked for and set: what files and pickles hold.
_STATE = ("stored.py", "persistence")
_PICKLING = ("__getstate__", "__setstate__")


def looks_into_objects() -> Iterator[Place]:
    """Uses of ``vars(x)`` and ``x.__dict__`` that have nothing to do with storing."""
    for path, tree in trees():
        if path.relative_to(SOURCE).parts[0] in _STATE:
            continue
        pickling = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name in _PICKLING
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            names = {getattr(node, "id", None), getattr(node, "attr", None)}
            if names & {"vars", "__dict__"} and node not in pickling:
                yield Place(path, node.lineno, ast.unparse(node))


# The public methods of named tuples begin with an underscore.
_NAMED_TUPLE = {"_asdict", "_replace", "_fields"}


def _is_private(name: str) -> bool:
    return (
        name.startswith("_") and not name.startswith("__") and name not in _NAMED_TUPLE
    )


def _own_names(tree: ast.Module) -> set[str]:
    """Private names that the module itself defines or sets on ``self``."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
                names.add(node.attr)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {t.id for t in targets if isinstance(t, ast.Name)}
    return {name for name in names if _is_private(name)}


def uses_of_any() -> Iterator[Place]:
    """Annotations that say ``Any``."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == "Any":
                yield Place(path, node.lineno, "Any")


def questions_of_type() -> Iterator[Place]:
    """``hasattr`` and ``getattr`` with a default: a protocol that has no name."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "hasattr" or (
                node.func.id == "getattr" and len(node.args) == 3
            ):
                yield Place(path, node.lineno, ast.unparse(node)[:60])


MEASURES = {
    "private imports": private_imports,
    "private attributes": private_attributes,
    "Any": uses_of_any,
    "hasattr/getattr": questions_of_type,
}


def table() -> list[dict[str, int | str]]:
    """One row per package, and the sum."""
    rows: dict[str, dict[str, int | str]] = {}
    for path in sources():
        name = package_of(path)
        row = rows.setdefault(name, {"package": name, "files": 0, "lines": 0})
        row["files"] = int(row["files"]) + 1
        row["lines"] = int(row["lines"]) + path.read_text(encoding="utf-8").count("\n")
    for measure, places in MEASURES.items():
        for row in rows.values():
            row[measure] = 0
        for place in places():
            row = rows[place.package]
            row[measure] = int(row[measure]) + 1
    ordered = [rows[name] for name in sorted(rows)]
    total: dict[str, int | str] = {"package": "all"}
    for key in ("files", "lines", *MEASURES):
        total[key] = sum(int(row[key]) for row in ordered)
    return [*ordered, total]


def main() -> None:
    """Print the table, or the doors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--doors", action="store_true", help="list private doors")
    arguments = parser.parse_args()
    if arguments.doors:
        for place in [*private_imports(), *private_attributes()]:
            print(place)
        return
    rows = table()
    widths = {key: max(len(key), 7) for key in rows[0]}
    widths["package"] = 12
    print("  ".join(key.rjust(width) for key, width in widths.items()))
    for row in rows:
        print("  ".join(f"{row[key]:>{width}}" for key, width in widths.items()))


if __name__ == "__main__":
    main()
