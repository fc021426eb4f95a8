"""The API reference: one page per public module, made from its ``__all__``.

So the documented names are exactly the public ones. The command line's page is made
from the options of its commands.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from typer.main import get_command

import earmark
from earmark.apps.cli.main import app as command_line

# Shown under ``earmark`` although they live in a module of their own.
_TOP = (
    (
        "Classes",
        [
            "earmark.TextClassifier",
            "earmark.pipeline.Explanation",
            "earmark.pipeline.TermEvidence",
        ],
    ),
    ("Functions", ["earmark.load"]),
)


def public_modules() -> list[str]:
    """Names of the public modules below ``earmark``."""
    return [
        name for name in earmark.__all__ if inspect.ismodule(getattr(earmark, name))
    ]


def module_page(name: str) -> str:
    """The page of one module: its docstring and tables of its names."""
    full = f"earmark.{name}"
    module = importlib.import_module(full)
    members = {n: getattr(module, n) for n in module.__all__}
    classes = [f"{full}.{n}" for n, m in members.items() if inspect.isclass(m)]
    functions = [f"{full}.{n}" for n, m in members.items() if inspect.isroutine(m)]
    rest = [
        f"{full}.{n}" for n in members if f"{full}.{n}" not in (*classes, *functions)
    ]
    groups = (("Classes", classes), ("Functions", functions), ("Data", rest))
    return _page(full, inspect.getdoc(module) or "", groups)


def _page(title: str, about: str, groups: Any) -> str:
    parts = [title, "=" * len(title), "", about, ""]
    for heading, names in groups:
        if names:
            parts += [
                heading,
                "-" * len(heading),
                "",
                ".. autosummary::",
                "   :toctree: ../generated",
                "",
            ]
            parts += [*(f"   {n}" for n in names), ""]
    return "\n".join(parts)


def index_page() -> str:
    """Every public name with its first line, module by module."""
    parts = []
    for name in ("earmark", *(f"earmark.{module}" for module in public_modules())):
        if name == "earmark":
            names = [full for _, group in _TOP for full in group]
        else:
            names = [f"{name}.{n}" for n in importlib.import_module(name).__all__]
        rows = [f"| {{py:obj}}`~{full}` | {_first_sentence(full)} |" for full in names]
        head = ["", "| name | what it is |", "|---|---|", *rows, ""]
        parts += [f"## [{name}](modules/{name.removeprefix('earmark.')})", *head]
    return "\n".join(parts)


def _first_sentence(full: str) -> str:
    module, _, name = full.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    text = inspect.getdoc(thing) if callable(thing) else ""
    line = (text or "A constant.").split("\n\n")[0].replace("\n", " ")
    return line.replace("|", "\\|").replace("``", "`")


def command_pages() -> dict[str, str]:
    """An overview of the commands, and a page for each with its options in tables."""
    commands = get_command(command_line).commands
    overview = [
        "# Command line",
        "Every command explains itself with `--help`; `--quiet` prints only "
        "results, warnings and errors. Exit status: 0 done, 1 the data or the model is "
        "at fault, 2 wrong usage.",
        "| command | what it does |\n|---|---|",
        "```{toctree}\n:hidden:\n",
    ]
    for name, command in commands.items():
        link = f"[`earmark {name}`](earmark-{name}.md)"
        overview[2] += f"\n| {link} | {_in_short(command)} |"
        overview[3] += f"\nearmark-{name}"
    overview[3] += "\n```"
    pages = {f"earmark-{name}.md": _command(name, c) for name, c in commands.items()}
    return {"command-line.md": "\n\n".join(overview), **pages}


def _in_short(command: Any) -> str:
    """The first sentence of a command's help."""
    return str(command.help).split("\n\n")[0].split(". ")[0].rstrip(".") + "."


def _command(name: str, command: Any) -> str:
    parts = [f"# earmark {name}", *command.help.split("\n\n")]
    _, *examples = (command.epilog or "").split("\n\n")
    if examples:
        parts.append("\n".join(["```sh", *examples, "```"]))
    panels: dict[str, list[str]] = {}
    for option in command.params:
        if option.name != "help":
            about = getattr(option, "rich_help_panel", None) or "Arguments"
            panels.setdefault(about, []).append(_option_row(option))
    for about, rows in panels.items():
        parts.append("\n".join([f"| {about.lower()} | |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _option_row(option: Any) -> str:
    """An option with its flags and value, and what it does."""
    if option.param_type_name == "argument":
        return f"| `{option.metavar}` | {option.help} |"
    flags = sorted(option.opts or option.secondary_opts, key=len)
    name = f"{', '.join(flags)} {option.metavar or 'TEXT'}".strip()
    about = option.help
    if not isinstance(option.default, bool | None):
        about += f" Default: {option.default}."
    escaped = name.replace("|", r"\|")
    return f"| `{escaped}` | {about} |"


def write_pages(docs: Path) -> None:
    """Write the reference pages below ``docs``; unchanged files are left alone."""
    folder = docs / "reference" / "modules"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.rst": module_page(name) for name in public_modules()}
    pages["earmark.rst"] = _page("earmark", earmark.__doc__ or "", _TOP)
    pages |= command_pages()
    pages["../../_generated/api.md"] = index_page()
    (docs / "_generated").mkdir(exist_ok=True)
    for name, text in pages.items():
        target = folder / name
        if not target.exists() or target.read_text(encoding="utf-8") != text + "\n":
            target.write_text(text + "\n", encoding="utf-8")


def _skip(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator by itself."""
    routing = name.startswith("set_") and name.endswith("_request")
    return True if routing or name in ("get_metadata_routing", "set_output") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before autosummary looks for them."""
    app.connect("config-inited", lambda app, config: write_pages(Path(app.srcdir)))
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
