"""Pictures of the label page, the report and the service, for the documentation.

    make screenshots

writes docs/_static/shots/*.webp from the support corpus, in Chromium.
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SHOTS = Path(__file__).resolve().parents[1] / "docs" / "_static" / "shots"
SIZE = {"width": 1280, "height": 760}


def main() -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    SHOTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        _prepare(folder)
        browser = play.chromium.launch(executable_path="/usr/bin/chromium")
        page = browser.new_page(viewport=SIZE, device_scale_factor=2)
        page.goto((folder / "report.html").as_uri())
        _save(page, "report")
        labels = "account,billing,delivery,returns"
        command = f"label half.csv --labels {labels} --label topic --check-share 0"
        with _running(f"{command} --port 8765", folder, 8765):
            page.goto("http://127.0.0.1:8765")
            page.wait_for_timeout(6000)  # a first model is learned
            page.keyboard.press("s")
            page.wait_for_timeout(2000)
            _save(page, "label")
        with _running("serve support.earmark --port 8766", folder, 8766):
            page.goto("http://127.0.0.1:8766")
            page.locator("textarea").first.fill("My parcel was charged twice")
            page.keyboard.press("Control+Enter")
            page.get_by_role("button", name="Classify").click()
            page.wait_for_timeout(1500)
            _save(page, "serve")


def _prepare(folder: Path) -> None:
    """Data, a model, a report, and a table of which only half is labelled."""
    for command in (
        "demo --data messages",
        "train messages/train.csv --label topic --out support.earmark",
        "evaluate support.earmark messages/test.csv --report report.html",
    ):
        subprocess.run(_words(command), cwd=folder, check=True, capture_output=True)
    with (folder / "messages/train.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    with (folder / "half.csv").open("w", encoding="utf-8", newline="") as file:
        known = [
            [text, label if i <= 70 else ""] for i, (text, label) in enumerate(rows)
        ]
        csv.writer(file).writerows(known)


def _words(command: str) -> list[str]:
    return [sys.executable, "-m", "earmark", *command.split()]


@contextmanager
def _running(command: str, folder: Path, port: int) -> Iterator[None]:
    process = subprocess.Popen(
        _words(command),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait()


def _save(page: Any, name: str) -> None:
    from PIL import Image

    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.save(SHOTS / f"{name}.webp", quality=82, method=6)


if __name__ == "__main__":
    main()
