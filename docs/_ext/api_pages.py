"""The API reference: one page a public module, made from its ``__all__``.

So the documented names are exactly the public ones. The command line's page is what
``--help`` prints.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from typer.main import get_command
from typer.testing import CliRunner

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


def command_page() -> str:
    """What ``earmark COMMAND --help`` prints, command by command."""
    runner = CliRunner()
    environment = {
        "COLUMNS": "96",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "TERMINAL_WIDTH": "96",
    }
    commands = list(get_command(command_line).commands)
    parts = [
        "# Command line",
        "What `earmark --help` and `earmark COMMAND --help` print.",
    ]
    for arguments in ([], *([name] for name in commands)):
        shown = runner.invoke(
            command_line, [*arguments, "--help"], env=environment, prog_name="earmark"
        )
        text = "\n".join(line.rstrip() for line in shown.output.strip().splitlines())
        parts += [f"## {' '.join(['earmark', *arguments])}", f"```text\n{text}\n```"]
    return "\n\n".join(parts)


def write_pages(docs: Path) -> None:
    """Write the reference pages below ``docs``; unchanged files are left alone."""
    folder = docs / "reference" / "modules"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.rst": module_page(name) for name in public_modules()}
    pages["earmark.rst"] = _page("earmark", earmark.__doc__ or "", _TOP)
    pages["command-line.md"] = command_page()
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
