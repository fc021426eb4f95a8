"""Pictures of the label page, the report and the service, for the documentation.

    make screenshots

writes docs/_static/shots/*.webp in Chromium: the support corpus, and on the label page
docstrings of four packages, labelled until the rest can be accepted.
"""

from __future__ import annotations

import csv
import io
import re
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
SIZE = {"width": 1280, "height": 860}
# Whose docstrings are labelled, how many answers there are before guesses are checked,
# and how many at most.
PACKAGES = ("asyncio", "email", "jinja2", "rich")
FEW_ANSWERS, MOST_ANSWERS = 60, 260


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
        with _running(
            f"label pool.csv --labels {','.join(PACKAGES)} --port 8765", folder, 8765
        ):
            page.goto("http://127.0.0.1:8765")
            _label(page, _truth())
            _save(page, "label")
        with _running("serve support.earmark --port 8766", folder, 8766):
            page.goto("http://127.0.0.1:8766")
            page.locator("textarea").first.fill("My parcel was charged twice")
            page.keyboard.press("Control+Enter")
            page.get_by_role("button", name="Classify").click()
            page.wait_for_timeout(1500)
            _save(page, "serve")


def _truth() -> dict[str, str]:
    """Docstrings of a few packages, and which each is of."""
    from earmark.documents import docstring_corpus

    corpus = docstring_corpus()
    assert isinstance(corpus.texts, dict)
    both = zip(corpus.texts["text"], corpus.labels or (), strict=True)
    every = {" ".join(text.split())[:400]: label for text, label in both}
    # Plain words only: markup says little to somebody who looks at a picture.
    markup = re.compile(r"[`>|*_\\]|::|\.\. ")
    return {
        text: label
        for text, label in every.items()
        if label in PACKAGES and not markup.search(text)
    }


def _key(text: str) -> str:
    return re.sub(r"\W", "", text)[:60]


def _label(page: Any, truth: dict[str, str]) -> None:
    """Answer as somebody would who knows, until the rest can be accepted."""
    page.locator("#labels button").first.wait_for()
    known = {_key(text): label for text, label in truth.items()}
    for number in range(MOST_ANSWERS):
        text = " ".join(page.locator("#document").inner_text().split())
        label = known[_key(text)]
        if number == FEW_ANSWERS and page.locator("#audit").is_visible():
            page.locator("#audit").click()
        if number > FEW_ANSWERS and page.locator("#accept").is_visible():
            break
        page.wait_for_timeout(220)  # what comes sooner is taken for a slip
        page.locator("#labels button", has_text=label).first.click()
        page.wait_for_function(
            "before => document.querySelector('#document').innerText"
            ".trim().split(/\\s+/).join(' ') !== before",
            arg=text,
        )
    for _ in range(20):  # a document whose guess may be seen
        if "check" not in page.locator("#why").inner_text():
            break
        page.locator("#skip").click()
        page.wait_for_timeout(400)
    page.wait_for_timeout(3000)
    page.evaluate("scrollTo(0, 0)")


def _prepare(folder: Path) -> None:
    """Data, a model, a report, and a table without labels."""
    for command in (
        "demo --data messages",
        "train messages/train.csv --label topic --out support.earmark",
        "evaluate support.earmark messages/test.csv --report report.html",
    ):
        subprocess.run(_words(command), cwd=folder, check=True, capture_output=True)
    with (folder / "pool.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in _truth())])


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
