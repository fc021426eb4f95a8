"""The ``earmark`` command: one sub-command a file in this folder."""

from __future__ import annotations

import typer

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True, help="Classify text with few labels.")


@app.callback()
def _root() -> None:
    """Classify text with few labels."""


def main() -> None:
    """Entry point of the console script."""
    app()
