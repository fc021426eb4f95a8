"""The command line on a real (pseudo-)terminal, where progress is drawn."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

_TEXTS = ["cheap pills today", "lunch at noon", "cheap watch", "meeting at noon"]


def on_terminal(*words: str, columns: int = 80) -> tuple[int, str]:
    """Run ``earmark`` with a terminal as stdout and stderr; status and what it drew."""
    master, slave = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, "-m", "earmark", *words],
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


@pytest.fixture(scope="module")
def mails(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    rows = [
        f'"{text} {n}",{"spam" if "cheap" in text else "ham"}'
        for n in range(25)
        for text in _TEXTS
    ]
    (folder / "mails.csv").write_text("text,topic\n" + "\n".join(rows) + "\n")
    status, shown = on_terminal(
        "train",
        str(folder / "mails.csv"),
        "--label",
        "topic",
        "--model",
        "multinomial",
        "--out",
        str(folder / "m.earmark"),
    )
    assert status == 0, shown
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "m.earmark", "mails.csv", "--out", "labels.csv"],
        ["filter", "m.earmark", "mails.csv", "--keep", "spam", "--out", "kept.csv"],
        ["evaluate", "m.earmark", "mails.csv"],
        ["check", "mails.csv", "--label", "topic"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_ends_well_on_a_terminal(mails: Path, command: list[str]) -> None:
    words = [str(mails / w) if "." in w else w for w in command]
    status, shown = on_terminal(*words)
    assert status == 0, shown
    assert "Traceback" not in shown
