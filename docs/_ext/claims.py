"""Sentences that compare results, checked against the stored results.

    The nodes are above naive Bayes. <!-- claim on hierarchical/table-1:
    cell("hierarchical Bayes", "accuracy") > cell("naive Bayes", "accuracy") -->

``python docs/_ext/claims.py`` lists what does not hold, and what has no claim. A claim
follows its sentence on a page. It is an expression over the tables that
``stored_tables`` makes of the stored results, with the helpers of ``HELPERS``; rows and
columns are compared number by number, and a claim holds if every comparison does. What
names no table is looked up in the one behind "on". A sentence with a word of
``COMPARING`` that is no statement about results, such as a definition or advice, says
so instead: ``<!-- no result: WHY -->``. The build of the documentation fails where a
claim does, and a test where a sentence has neither.
"""

from __future__ import annotations

import ast
import itertools
import json
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from stored_tables import ROOT, stored_tables

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# The words by which a sentence is known to compare, rank or generalize.
COMPARING = re.compile(
    r"""\b(
    better | best | worse | worst | ahead | superior | inferior
    | beats? | wins? | won | los(?:es?|t) | gain(?:s|ed)? | worth | leads\sby
    | overtakes? | outperforms? | (?<!-)help(?:s|ed)? | hurts? | harms? | improves?
    | falls? | fell | rises? | rose | grows? | doubles? | halves
    | (?:points?|far|significantly|slightly|is|are)\s(?:above|below|behind)
    | more\saccurate | less\saccurate | as\sgood\sas | as\swell\sas | level\swith
    | higher(?!-order|\sorder) | lower(?!-case|\scase|\slimit|\shalf)
    | significant(?:ly)? | highest | lowest | largest | smallest
    | stronger | weaker | faster | slower | quicker | comes\sfrom | due\sto
    | no\sdifference | no\sgain | changes?\snothing | adds?\snothing
    | most(?=\sof\s|\swhen|\swhere|\swith|[.,])
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NOTE = re.compile(
    r"<!--\s*(claim|no result)(?: on (?P<table>[\w./#-]+))?:\s*(?P<text>.*?)\s*-->",
    re.DOTALL,
)
# What would begin a list or a quotation within a paragraph.
_BLOCK = re.compile(r"^\s*(?:[-+*]\s|>)", re.MULTILINE)
# What holds no sentences: tables, pictures, code, formulas, headings, comments.
_NO_PROSE = re.compile(
    r"<!-- table: .*?<!-- end -->|!\[[^\]]*\]\([^)]*\)|^ *(```+).*?^ *\1$"
    r"|\$\$.*?\$\$|^\|.*?$|^#.*?$"
    r"|<!--(?!\s*(?:claim|no result):).*?-->",
    re.DOTALL | re.MULTILINE,
)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. ))")
# A sentence ends at its mark, or behind its note.
_END = re.compile(
    r"(?<!et al\.)(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?])[*_)\"”]*\s+(?=[^a-z\s<])"
    r"|(?<=\d>)\s+(?!<)"
)
_NUMBER = re.compile(r"[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)")


def checked_pages(root: Path = ROOT) -> list[Path]:
    """The pages whose sentences are checked."""
    folders = ("methods", "research", "how-to")
    written = ("coverage.md", *(f"coverage-00{i}.md" for i in range(5)))
    pages = (p for f in folders for p in sorted((root / "docs" / f).glob("*.md")))
    return [root / "README.md", *(p for p in pages if p.name not in written)]


@dataclass(frozen=True)
class Sentence:
    """A sentence of a page with what is noted behind it."""

    text: str
    claims: tuple[str, ...]
    excuses: tuple[str, ...]

    @property
    def compares(self) -> bool:
        """Whether a word of it compares."""
        return COMPARING.search(self.text) is not None

    @property
    def is_covered(self) -> bool:
        """Whether it has a claim, or says why it needs none."""
        return bool(self.claims or any(self.excuses))


def sentences(page: str) -> Iterator[Sentence]:
    """Every sentence of a page."""
    notes: list[tuple[str, str]] = []

    def numbered(mark: re.Match[str]) -> str:
        on = f"on {mark['table']}: " if mark["table"] else ""
        notes.append((mark[1], on + " ".join(mark["text"].split())))
        return f"<{len(notes) - 1}>"

    prose = _NO_PROSE.sub("\n\n", _NOTE.sub(numbered, page))
    for paragraph in _PARAGRAPH.split(prose):
        for part in _END.split(" ".join(paragraph.split())):
            mine = [notes[int(n)] for n in re.findall(r"<(\d+)>", part)]
            text = re.sub(r"\s*<\d+>", "", part).strip()
            if text or mine:
                kinds = ("claim", "no result")
                yield Sentence(
                    text, *(tuple(t for k, t in mine if k == kind) for kind in kinds)
                )


def without_notes(page: str) -> str:
    """The page as it is read: without claims."""
    return re.sub(rf"[ \t]*{_NOTE.pattern}", "", page, flags=re.DOTALL)


class ClaimError(ValueError):
    """A claim that is not true, or cannot be read."""


@cache
def _tables() -> Mapping[str, tuple[list[str], list[list[str]]]]:
    """Head and rows of every stored table; a second one of a name has "#2"."""
    tables = {}
    for name, markdown in stored_tables().items():
        parts = re.findall(r"(?:^\|.*\n?)+", markdown, re.MULTILINE)
        for i, part in enumerate(parts, 1):
            tables[name if i == 1 else f"{name}#{i}"] = _parsed(part.splitlines())
    return tables


def _parsed(lines: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Head and rows; an empty first cell repeats the one above it."""
    rows = [[_plain(c) for c in re.split(r"(?<!\\)\|", n)[1:-1]] for n in lines]
    for above, cells in itertools.pairwise(rows[2:]):
        cells[0] = cells[0] or above[0]
    return rows[0], rows[2:]


def _plain(cell: str) -> str:
    return cell.replace("**", "").replace("`", "").replace("\\|", "|").strip()


def _chosen(table: str, keys: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Head of a table, and its rows that have all these cells."""
    if table not in _tables():
        raise ClaimError(f"there is no table {table!r}")
    head, rows = _tables()[table]
    mine = [row for row in rows if all(key in row for key in keys)]
    if not mine:
        raise ClaimError(f"{table} has no row with {', '.join(keys)}")
    return head, mine


def _one(table: str, keys: Sequence[str]) -> tuple[list[str], list[str]]:
    head, rows = _chosen(table, keys)
    if len(rows) > 1:
        raise ClaimError(f"{table} has {len(rows)} rows with {', '.join(keys)}")
    return head, rows[0]


def _index(table: str, head: list[str], name: str) -> int:
    if name not in head:
        raise ClaimError(f"{table} has no column {name!r}, but {', '.join(head)}")
    return head.index(name)


def _number(cell: str) -> float:
    """The first number of a cell; not a number where there is none."""
    match = _NUMBER.search(cell)
    if match is None:
        return float("nan")
    return float(match[0].replace("−", "-").replace(",", ""))


def row(table: str, *keys: str) -> Any:
    """The numbers of the row that has these cells, without the cells."""
    _, cells = _one(table, keys)
    return np.array([_number(c) for c in cells if c not in keys])


def column(table: str, name: str, *keys: str) -> Any:
    """The numbers of a column, in all rows that have these cells."""
    head, rows = _chosen(table, keys)
    at = _index(table, head, name)
    return np.array([_number(cells[at]) for cells in rows])


def text(table: str, *keys: str) -> str:
    """A cell as it is written; the last key is its column."""
    head, cells = _one(table, keys[:-1])
    return cells[_index(table, head, keys[-1])]


def cell(table: str, *keys: str) -> float:
    """The first number of a cell; the last key is its column."""
    return _number(text(table, *keys))


def paper(table: str, *keys: str) -> float:
    """The number in the brackets of a cell: the source's."""
    return _number(text(table, *keys).partition("(")[2])


def p(table: str, *keys: str) -> float:
    """The p-value that a cell ends with."""
    return _number(text(table, *keys).rpartition("p ")[2])


def marked(mark: str, table: str, *keys: str) -> Any:
    """Which cells of the row that has these cells carry the mark."""
    _, cells = _one(table, keys)
    return np.array([mark in c.split() for c in cells if c not in keys])


def stored(path: str) -> float:
    """A number of a stored result, such as ``hybrid>twenty_newsgroups>n_train``.

    The first name is a file of reproductions/results or benchmarks/results.
    """
    name, *keys = path.split(">")
    value = _result(name)
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return float(value)


@cache
def _result(name: str) -> Any:
    for folder, key in (("reproductions", "result"), ("benchmarks", None)):
        file = ROOT / folder / "results" / f"{name}.json"
        if file.exists():
            content = json.loads(file.read_text(encoding="utf-8"))
            return content[key] if key else content
    raise ClaimError(f"there is no stored result {name!r}")


HELPERS: Mapping[str, Callable[..., Any]] = {
    **{one.__name__: one for one in (row, column, cell, paper, p, marked, stored)},
    "count": lambda flags: int(np.sum(flags)),
    "mean": lambda values: float(np.mean(values)),
    "least": lambda values: float(np.min(values)),
    "most": lambda values: float(np.max(values)),
    "size": lambda values: len(values),
    "distance": lambda ours, theirs: np.abs(np.subtract(ours, theirs)),
    "better": np.maximum,
    "part": lambda values, start, end: values[int(start) : int(end)],
}
# The helpers that take a table -> which argument that is.
_TABLED = {"row": 0, "column": 0, "cell": 0, "paper": 0, "p": 0, "marked": 1}
_COMPARE: Mapping[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def check(claim: str) -> None:
    """Evaluate a claim; an error with both sides where it does not hold."""
    match = re.fullmatch(r"(?:on (\S+): )?(.*)", claim, re.DOTALL)
    assert match is not None  # every text matches
    try:
        tree = ast.parse(match[2].strip(), mode="eval").body
    except SyntaxError as error:
        raise ClaimError(f"{claim}: {error.msg}") from None
    if match[1]:
        tree = _OnTable(match[1]).visit(tree)
    said: list[str] = []
    if not _compares(tree):
        raise ClaimError(f"{claim}: it compares nothing")
    if not np.all(_value(tree, said)):
        raise ClaimError(f"{claim}\n  does not hold: {'; '.join(said)}")


class _OnTable(ast.NodeTransformer):
    """Names the table of the claim where a helper names none."""

    def __init__(self, table: str) -> None:
        self.table = ast.Constant(table)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        helper = node.func.id if isinstance(node.func, ast.Name) else ""
        place = _TABLED.get(helper)
        if place is not None:
            named = node.args[place : place + 1]
            if not (named and getattr(named[0], "value", None) in _tables()):
                node.args.insert(place, self.table)
        return node


def _compares(tree: ast.expr) -> bool:
    """Whether a stored result stands on one side of a comparison."""
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return bool(names & {*_TABLED, "stored"}) and any(
        isinstance(node, ast.Compare) for node in ast.walk(tree)
    )


def _value(node: ast.expr, said: list[str]) -> Any:
    """The value of an expression; comparisons that do not hold are noted."""
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name in HELPERS:
                return HELPERS[name](*(_value(arg, said) for arg in args))
        case ast.BoolOp(op=ast.And(), values=values):
            return all([np.all(_value(each, said)) for each in values])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, said)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](_value(left, said), _value(right, said))
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(each, said) for each in (left, *others)]
            return _compared(sides, [_COMPARE.get(type(op)) for op in ops], said)
        case _:
            pass
    raise ClaimError(
        f"{ast.unparse(node)}: expected numbers, comparisons, + - * /, and, and "
        f"{', '.join(HELPERS)}"
    )


def _compared(sides: list[Any], operations: list[Any], said: list[str]) -> Any:
    result: Any = True
    for left, operation, right in zip(sides, operations, sides[1:], strict=False):
        if operation is None:
            raise ClaimError("comparisons are < <= > >= == !=")
        sign, compare = operation
        holds = compare(left, right)
        if not np.all(holds):
            said.append(f"{_shown(left)} {sign} {_shown(right)}")
        result = np.logical_and(result, holds)
    return result


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"[{' '.join(_shown(each) for each in value.tolist())}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def failures(page: str) -> list[str]:
    """What is wrong with the claims of a page."""
    wrong = [
        f"{' '.join(page[: mark.start()].split()[-6:])}: a claim begins a line, which "
        "would end the paragraph; begin it behind the sentence"
        for mark in _NOTE.finditer(page)
        if page[: mark.start()].rpartition("\n")[2].strip(" >") == ""
    ]
    wrong += [
        f"{mark['text']}: a line begins with a sign of lists or quotations, which "
        "would end the paragraph; put it at the end of the line before"
        for mark in _NOTE.finditer(page)
        if _BLOCK.search(mark["text"])
    ]
    for sentence in sentences(page):
        for claim in sentence.claims:
            try:
                check(claim)
            except (ClaimError, KeyError, IndexError, TypeError) as error:
                wrong.append(f"{sentence.text}\n  {error}")
    return wrong


def uncovered(page: str) -> list[str]:
    """The sentences of a page that compare without a claim."""
    return [s.text for s in sentences(page) if s.compares and not s.is_covered]


def _check_pages(app: Sphinx, config: object) -> None:
    from sphinx.errors import ExtensionError

    wrong = [
        f"{page.relative_to(ROOT)}: {failure}"
        for page in checked_pages()
        for failure in failures(page.read_text(encoding="utf-8"))
    ]
    if wrong:
        raise ExtensionError("claims that do not hold:\n" + "\n".join(wrong))


def _strip(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = without_notes(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Check all claims before the build, and leave them out of the pages."""
    app.connect("config-inited", _check_pages)
    app.connect("source-read", _strip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main() -> None:
    """List every claim that does not hold, and every sentence without one."""
    for page in checked_pages():
        content = page.read_text(encoding="utf-8")
        bare = [f"no claim: {sentence}" for sentence in uncovered(content)]
        for line in (*failures(content), *bare):
            sys.stdout.write(f"{page.relative_to(ROOT)}: {line}\n")


if __name__ == "__main__":
    main()
