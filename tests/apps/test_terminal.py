"""The command line on a real (pseudo-)terminal, where progress is drawn."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from earmark import progress
from earmark.apps.cli.main import app
from tests import quick_start
from tests.pages import ROOT

_TEXTS = ["cheap pills today", "lunch at noon", "cheap watch", "meeting at noon"]
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(
    command: str, folder: Path, columns: int = 80, color: bool = True
) -> tuple[int, str]:
    """Run a shell command on a terminal; its status and what it drew."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "CI")}
    environment |= {"TERM": "xterm-256color"} if color else {"NO_COLOR": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    process = subprocess.Popen(
        ["bash", "-eu", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        env=environment,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            chunk = os.read(master, 4096)
        except OSError:  # Linux's word for "the other end is closed"
            break
        if not chunk:
            break
        shown += chunk
    os.close(master)
    return process.wait(), shown.decode()


def lines(shown: str) -> list[str]:
    """What stays on the terminal: without colours and without erased progress."""
    drawn = _STYLE.sub("", shown).replace("\r\n", "\n").split("\n")
    return [_CONTROL.sub("", line.split("\r")[-1]) for line in drawn]


def check(shown: str, columns: int, command: str) -> None:
    assert "Traceback" not in shown, shown
    for line in lines(shown):
        # A longer line would be cut by the terminal, in the middle of a word. Tables
        # of cat and head are not ours.
        if not command.startswith(("head", "cut", "cat")):
            assert len(line) <= columns, f"{command}: {line!r}"


@pytest.fixture(scope="module")
def mails(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    rows = [
        f'"{text} {n}",{"spam" if "cheap" in text else "ham"},{n}'
        for n in range(25)
        for text in _TEXTS
    ]
    (folder / "mails.csv").write_text("text,topic,ticket\n" + "\n".join(rows) + "\n")
    train = "earmark train mails.csv --label topic --model multinomial --out m.earmark"
    status, shown = on_terminal(train, folder)
    assert status == 0, shown
    return folder


_COMMANDS = [
    "earmark predict m.earmark mails.csv --out labels.csv",
    "earmark filter m.earmark mails.csv --keep spam --out kept",
    "earmark evaluate m.earmark mails.csv",
    "earmark check mails.csv --label topic",
    "earmark train mails.csv --label topic --out auto.earmark",
    "earmark compare mails.csv --label topic --models multinomial --repeats 2",
    "earmark learning-curve mails.csv --label topic --model multinomial --repeats 2",
    "earmark explain m.earmark 'cheap pills'",
    "earmark info m.earmark",
    "earmark info",
    "earmark card m.earmark --out card.md",
    "earmark train mails.csv --label topic --model multinomial --memory 90MB",
]


def test_every_command_ends_well_and_fits_the_terminal(mails: Path) -> None:
    for place, command in enumerate(_COMMANDS):
        # Both widths, with and without colour, in turn: a start costs seconds.
        columns, color = (80, 100)[place % 2], place % 4 < 2
        status, shown = on_terminal(command, mails, columns, color)
        assert status == 0, f"{command}\n{shown}"
        check(shown, columns, command)


def test_without_colour_nothing_is_coloured(mails: Path) -> None:
    command = "earmark explain missing.earmark x || earmark train --help"
    assert not _STYLE.search(on_terminal(command, mails, color=False)[1])
    assert _STYLE.search(on_terminal(command, mails)[1])


def test_progress_is_drawn_and_quiet_leaves_it_out(mails: Path) -> None:
    command = "earmark train mails.csv --label topic --out q.earmark"
    loud, quiet = (
        on_terminal(f"{command} {more}", mails)[1] for more in ("", "--quiet")
    )
    assert "training on 100 documents" in loud
    assert "saved q.earmark" in loud
    assert quiet.strip() == ""


def test_a_second_interrupt_leaves_the_cursor_shown(mails: Path) -> None:
    code = (
        "from earmark.apps.cli.console import status\n"
        "bar = status('reading'); bar.__enter__()\n"
        "raise KeyboardInterrupt"
    )
    shown = on_terminal(f'{sys.executable} -c "{code}"', mails)[1]
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def test_no_estimate_leaves_the_accuracy_out(mails: Path) -> None:
    command = "earmark train mails.csv --label topic --model multinomial --no-estimate"
    shown = on_terminal(f"{command} --out n.earmark", mails)[1]
    assert "left-out" not in shown
    assert "saved n.earmark" in shown


def test_predict_copies_what_is_asked_for(mails: Path) -> None:
    more = "--id ticket --keep topic --with-text --top-k 2"
    on_terminal(f"earmark predict m.earmark mails.csv {more} --out p.csv", mails)
    head, first, *_ = (mails / "p.csv").read_text().splitlines()
    assert head.split(",") == [
        *("ticket", "topic", "text", "label", "confidence"),
        *("label_1", "score_1", "label_2", "score_2"),
    ]
    assert first.startswith("0,spam,cheap pills today 0,spam,")


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", sorted(get_command(app).commands))
def test_help_fits_has_an_example_and_no_types(name: str, columns: int) -> None:
    environment = {"COLUMNS": str(columns), "TERMINAL_WIDTH": str(columns)}
    shown = CliRunner().invoke(app, [name, "--help"], env=environment).output
    check(shown, columns, "help")
    assert f"\n earmark {name}" in shown
    for panel in shown.split("╭─ ")[1:]:
        if not panel.startswith("Options"):  # --help is Typer's own
            assert "<bool>" not in panel


def _session() -> list[str]:
    """The commands of README and quick start that end by themselves."""
    text = quick_start.PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M)
    commands = [line for block in blocks for line in block.splitlines()]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands += re.findall(r"^earmark info.*$", readme, re.M)
    return [line for line in commands if not line.startswith(("pip", "#"))]


def test_a_session_of_the_quick_start_on_80_columns(tmp_path: Path) -> None:
    commands = _session()
    assert len(commands) > 8
    for command in commands:
        status, shown = on_terminal(command, tmp_path)
        assert status == 0, f"{command}\n{shown}"
        check(shown, 80, command)


def test_nested_loops_add_up() -> None:
    seen: list[float] = []
    with progress.listening(lambda loops: seen.append(progress.share(loops))):
        for _ in progress.tracked("model", "ab", 2):
            for _ in progress.tracked("fold", range(4), 4):
                pass
    assert seen[-1] == 0.0
    steps = sorted(set(seen))
    assert steps == [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]
