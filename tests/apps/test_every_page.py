"""Every page by axe-core and by keyboard, light and dark, on a desk and on a phone.

    pytest -m slow tests/apps/test_every_page.py

With EARMARK_SHOTS=FOLDER, a picture of each page is left there to be looked at.
"""

import csv
import os
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from earmark.apps.cli.main import app
from earmark.documents import docstring_corpus
from tests.apps.page_checks import Browser, axe_violations, out_of_reach
from tests.apps.serving import running

pytestmark = pytest.mark.slow
LABELS = ["asyncio", "email", "narwhals", "rich"]
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


def run(*args):
    done = CliRunner().invoke(app, list(map(str, args)), catch_exceptions=False)
    assert done.exit_code == 0, done.output


def write(path, texts, labels=None, sources=None):
    with path.open("w", newline="") as file:
        empty = [""] * len(texts)
        rows = zip(texts, labels or empty, sources or empty, strict=True)
        csv.writer(file).writerows([("text", "label", "source"), *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Documents, half of them labelled, two models, and pages about them."""
    folder = tmp_path_factory.mktemp("pages")
    corpus = docstring_corpus()
    texts = corpus.joined()
    rows = [row for row, label in enumerate(corpus.labels) if label in LABELS]
    rows = random.Random(0).sample(rows, 360)
    texts, labels = [texts[row] for row in rows], [corpus.labels[row] for row in rows]
    wrong = [LABELS[(LABELS.index(label) + 1) % 4] for label in labels]
    write(folder / "train.csv", texts[:180], labels[:180])
    noisy = [wrong[n] if n % 30 == 0 or n > 330 else labels[n] for n in range(180, 360)]
    sources = ["web" if n > 330 else "mail" for n in range(180, 361)]
    tested = [*texts[180:], texts[181]], [*noisy, wrong[181]]
    write(folder / "test.csv", *tested, sources)
    costs = "true,asyncio,email,no answer\nasyncio,,9,0.2\nemail,1,,0.2\n"
    (folder / "costs.csv").write_text(costs)
    write(folder / "half.csv", texts, [*labels[:150], *[""] * 210])
    for model, kind in (("new", "softmax"), ("old", "multinomial")):
        run(
            "train",
            folder / "train.csv",
            "--model",
            kind,
            "-o",
            folder / f"{model}.earmark",
        )
    new, old, test = (folder / n for n in ("new.earmark", "old.earmark", "test.csv"))
    more = "--costs", folder / "costs.csv", "--doubtful", folder / "fix.csv"
    run(
        "evaluate",
        new,
        test,
        "--text",
        "text",
        "--report",
        folder / "report.html",
        *more,
    )
    page = (folder / "report.html").read_text()
    assert all(f'id="{part}"' in page for part in ("next", "slices", "costs"))
    assert "earmark label" in page
    run("evaluate", old, new, test, "--report", folder / "both.html")
    run("card", new, "--test", test, "-o", folder / "card.html")
    return folder


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


class Look:
    """One width and colour scheme; collects what is wrong, view by view."""

    def __init__(self, browser, width, scheme):
        self.page = browser.page(width, 844, scheme)
        self.name, self.is_first = f"{width}-{scheme}", scheme == "light"
        self.wrong = {}

    def at(self, view):
        """Judge the page as it is now."""
        trouble = axe_violations(self.page)
        if self.is_first:  # colours do not move the focus
            trouble += [f"no key reaches {name}" for name in out_of_reach(self.page)]
        if self.page.evaluate("() => document.body.scrollWidth > innerWidth"):
            trouble.append("wider than the window")
        if trouble:
            self.wrong[view] = trouble
        shots = os.environ.get("EARMARK_SHOTS")
        if shots:
            path = Path(shots) / f"{view}-{self.name}.png"
            self.page.screenshot(path=path, full_page="dialog" not in view)


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_pages_from_disk(browser, folder, width, scheme):
    look = Look(browser, width, scheme)
    for name in ("report", "both", "card"):
        look.page.goto((folder / f"{name}.html").as_uri())
        if name == "report":
            look.page.locator("td.wrong button").first.click()
            assert "Labels to check" in look.page.inner_text("main")
        look.at(name)
    assert look.wrong == {}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_service(browser, folder, width, scheme):
    look = Look(browser, width, scheme)
    page, models = look.page, (folder / "new.earmark", folder / "old.earmark")
    with running("serve", *models, "--feedback", folder / "f.jsonl") as server:
        page.goto(server.url)
        page.locator("#samples button").first.wait_for()
        look.at("serve")
        page.locator("#text-0").fill("the event loop of a console prints a message")
        page.keyboard.press("Control+Enter")
        page.locator("#others p").wait_for()
        look.at("serve-answer")
        page.goto(f"{server.url}/docs")
        page.locator("main h2").first.wait_for()
        look.at("serve-docs")
    assert look.wrong == {}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_label_page(browser, folder, tmp_path, width, scheme):
    look = Look(browser, width, scheme)
    page = look.page
    table = tmp_path / "labels.csv"
    table.write_text(
        "label,description,group\n"
        + "".join(
            f"{name},Docstrings of the package {name}.,packages\n" for name in LABELS
        )
    )
    options = ("--labels", table, "--label", "label", "--project", tmp_path / "p")
    with running("label", folder / "half.csv", *options, "--overlap", 0.2) as server:
        page.goto(server.url)
        page.locator("#who[open]").wait_for()  # documents are asked of two people
        look.at("dialog-who")
        page.fill("#who-name", "ann")
        page.keyboard.press("Enter")
        page.locator("#document .part").first.wait_for()
        page.locator("#guess").filter(has_text="sure").or_(
            page.locator("#guess").filter(has_text="Hidden")
        ).wait_for()
        for _ in range(3):
            name = page.inner_text("#document-name")
            page.keyboard.press("1")
            page.locator("#document-name").filter(has_not_text=name).wait_for()
        page.keyboard.press("x")
        page.locator("#notes li").wait_for()
        page.keyboard.press("m")
        look.at("label")
        page.keyboard.press("Escape")
        for view, ready in (
            ("browse", ".hit"),
            ("map", "#legend li"),
            ("confusion", ".matrix"),
            ("project", "#label-table tr"),
        ):
            page.click(f"#tab-{view}")
            page.locator(ready).first.wait_for()
            look.at(view)
        page.click("#tab-browse")
        page.select_option("#show", "suspects")
        page.locator("#found").filter(has_text="document").wait_for()
        look.at("browse-suspects")
        for key, dialog in (("g", "guide"), ("?", "help")):
            page.evaluate("() => document.activeElement.blur()")
            page.keyboard.press(key)
            page.locator(f"#{dialog}[open]").wait_for()
            look.at(f"dialog-{dialog}")
            page.keyboard.press("Escape")
    assert look.wrong == {}
