"""Small changes of source files: where one can be made, what it is, which are drawn."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "earmark"
PACKAGES = ("models", "statistics", "decision", "persistence")

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """One changed place.

    Its name holds the text of the line rather than its number, so that a change
    elsewhere leaves it, and its place in the draw, alone.
    """

    path: Path
    number: int
    line: int
    name: str
    in_signature: bool

    @property
    def module(self) -> str:
        """The changed module's dotted name."""
        return module_name(self.path)

    def code(self) -> CodeType:
        """The changed module, compiled."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        _apply(list(_places(tree))[self.number])
        return compile(ast.fix_missing_locations(tree), str(self.path), "exec")


def module_name(path: Path) -> str:
    """The dotted name of a source file."""
    return "earmark." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def source_files() -> list[Path]:
    """The files that are changed."""
    found = (p for package in PACKAGES for p in (SOURCE / package).rglob("*.py"))
    return sorted(p for p in found if p.name != "__init__.py")


def all_mutants(path: Path) -> list[Mutant]:
    """Every mutant of one file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines, seen, defaults = text.splitlines(), Counter[str](), _defaults(tree)
    found = []
    for number, node in enumerate(_places(tree)):
        shown = f"`{lines[node.lineno - 1].strip()}` {_in_words(node)}"
        seen[shown] += 1
        name = f"{path.relative_to(SOURCE)} {shown}"
        if seen[shown] > 1:
            name += f" #{seen[shown]}"
        found.append(Mutant(path, number, node.lineno, name, node in defaults))
    return found


def _defaults(tree: ast.AST) -> set[ast.AST]:
    """Nodes of the default values of parameters."""
    signatures = (node for node in ast.walk(tree) if isinstance(node, ast.arguments))
    values = (v for s in signatures for v in (*s.defaults, *s.kw_defaults) if v)
    return {node for value in values for node in ast.walk(value)}


def drawn(seed: int, size: int, only: str = "") -> list[Mutant]:
    """The mutants whose hash with the seed is smallest: a draw without replacement."""
    files = (path for path in source_files() if only in str(path))
    mutants = [mutant for path in files for mutant in all_mutants(path)]
    return sorted(mutants, key=lambda mutant: _digest(seed, mutant.name))[:size]


def _digest(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


def _places(tree: ast.AST) -> Iterator[Any]:
    """Nodes that can be changed; not in annotations, types or decorators."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not _is_type(node):
                if _can_change(node):
                    yield node
                yield from _places(node)


def _can_change(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            return type(node.ops[0]) in _COMPARISONS
        case ast.BinOp() | ast.AugAssign():
            return type(node.op) in _OPERATIONS
        case ast.UnaryOp():
            return isinstance(node.op, ast.USub | ast.Not)
        case ast.Constant():
            number = isinstance(node.value, bool | int | float)
            return number and node.value + 1 != node.value
    return isinstance(node, ast.BoolOp | ast.If | ast.While | ast.IfExp)


def _is_type(node: ast.AST) -> bool:
    """Unions of types such as ``int | None``, and what only type checkers read."""
    if isinstance(node, ast.If):
        return getattr(node.test, "id", None) == "TYPE_CHECKING"
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)):
        return False
    names = {getattr(n, "id", None) for n in ast.walk(node)}
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return None in values or bool(names & {"str", "int", "float", "bool", "Any"})


def _in_words(node: Any) -> str:
    before = ast.unparse(node) if isinstance(node, ast.Constant) else _sign(node)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return "condition negated"
    if isinstance(node, ast.UnaryOp):
        return f"{before} dropped"
    return f"{before} -> {_after(node)}"


def _sign(node: Any) -> str:
    operator = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", "")
    return type(operator).__name__


def _after(node: Any) -> str:
    if isinstance(node, ast.Constant):
        return str(_other(node.value))
    if isinstance(node, ast.BoolOp):
        return "Or" if isinstance(node.op, ast.And) else "And"
    if isinstance(node, ast.Compare):
        return _COMPARISONS[type(node.ops[0])].__name__
    return _OPERATIONS[type(node.op)].__name__


def _other(value: float) -> float:
    return not value if isinstance(value, bool) else value + 1


def _apply(node: Any) -> None:
    """Change the node in place."""
    match node:
        case ast.Compare():
            node.ops[0] = _COMPARISONS[type(node.ops[0])]()
        case ast.BinOp() | ast.AugAssign():
            node.op = _OPERATIONS[type(node.op)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.If() | ast.While() | ast.IfExp():
            node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
        case ast.Constant():
            node.value = _other(node.value)
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)
