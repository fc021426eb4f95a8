"""The labelling page in Chromium: keyboard, crash, hostile text, looks."""

import csv
import os
import re
import signal
import socket
import sqlite3

import pytest

from tests.apps.label.conftest import TOPICS, documents, truth
from tests.apps.page_checks import Browser, problems, tab_through
from tests.apps.serving import Server

pytestmark = pytest.mark.slow
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> "
    "</article><h1>big</h1> hostile "
)


@pytest.fixture(scope="module")
def browser():
    with Browser() as made:
        yield made


@pytest.fixture
def start(tmp_path):
    """Starts the server, always on the same port and project."""
    data = tmp_path / "data.csv"
    texts = [*documents(60).texts, HOSTILE + "word " * 40_000]
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text"])
        writer.writerows([text] for text in texts)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []

    def begin():
        labels = ",".join(TOPICS)
        server = Server(
            "label", data, "--labels", labels, "--project", tmp_path / "p",
            "--port", port,
        )  # fmt: skip
        started.append(server)
        return server

    yield begin
    for server in started:
        if server.process.poll() is None:
            server.stop(signal.SIGKILL)


def current_row(page):
    return int(page.inner_text("#document-name").split()[1])


def wait_for(page, selector, words):
    page.locator(selector).filter(has_text=re.compile(words)).wait_for()


def leave_row(page, row):
    page.locator("#document-name").filter(
        has_not_text=re.compile(f"^Row {row}$")
    ).wait_for()


def answer(page):
    """Answer by keyboard; the hostile document is skipped."""
    row = current_row(page)
    key = "s" if row == 61 else str(1 + list(TOPICS).index(truth(row - 1)))
    page.keyboard.press(key)
    leave_row(page, row)
    return row


def answers_on_disk(folder):
    with sqlite3.connect(folder / "p" / "answers.sqlite") as db:
        found = db.execute(
            "SELECT document, labels FROM log WHERE NOT undone AND labels IS NOT NULL"
        ).fetchall()
    db.close()
    return found


def test_a_session_by_keyboard_survives_reload_and_kill_9(browser, start, tmp_path):
    server = start()
    page = browser.page()
    page.goto(server.url)
    wait_for(page, "#document-name", "Row")
    rows = [answer(page) for _ in range(20)]
    n_labelled = sum(row != 61 for row in rows)
    wait_for(page, "#answered", f"^{n_labelled}$")
    assert len(answers_on_disk(tmp_path)) == n_labelled

    page.keyboard.press("u")
    wait_for(page, "#document-name", f"^Row {rows[-1]}$")
    wait_for(page, "#saved", "undone")
    answer(page)

    page.keyboard.press("n")
    page.keyboard.type("strange")
    page.keyboard.press("Enter")
    wait_for(page, "#labels", "strange")
    row = current_row(page)
    page.keyboard.press("4")
    leave_row(page, row)

    before = current_row(page)
    page.reload()
    wait_for(page, "#document-name", "Row")
    assert current_row(page) == before
    wait_for(page, "#answered", f"^{n_labelled + 1}$")
    wait_for(page, "#labels", "strange")

    # The answer is under way when the server dies.
    os.kill(server.process.pid, signal.SIGSTOP)
    page.keyboard.press("1")
    page.wait_for_timeout(300)
    server.stop(signal.SIGKILL)
    wait_for(page, "#notice", "sent again")
    assert current_row(page) == before
    server = start()
    leave_row(page, before)
    wait_for(page, "#answered", f"^{n_labelled + 2}$")
    found = answers_on_disk(tmp_path)
    assert len(found) == len({document for document, _ in found}) == n_labelled + 2
    assert (before - 1, '["cat"]') in found

    # And when nothing is under way.
    server.stop(signal.SIGKILL)
    start()
    page.reload()
    wait_for(page, "#answered", f"^{n_labelled + 2}$")
    page.keyboard.press("ArrowLeft")
    assert not browser.errors
    page.context.close()


def test_labels_are_downloaded_and_a_refusal_is_a_sentence(browser, start, tmp_path):
    server = start()
    page = browser.page()
    page.goto(server.url)
    wait_for(page, "#document-name", "Row")
    page.click("#export summary")
    page.click("text=Model")
    wait_for(page, "#notice", "two labels at least")
    rows = [answer(page) for _ in range(5)]
    page.click("#export summary")
    with page.expect_download() as waiting:
        page.click("text=Labels as CSV")
    waiting.value.save_as(tmp_path / "exported.csv")
    with (tmp_path / "exported.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == sum(row != 61 for row in rows)
    assert not browser.errors
    page.context.close()


def test_a_hostile_document_of_200_kb_shows_safely(browser, start):
    server = start()
    page = browser.page()
    page.goto(server.url)
    wait_for(page, "#document-name", "Row")
    page.keyboard.press("/")
    page.keyboard.type("hostile")
    page.locator(".hit").filter(has_text="window.hacked").click()
    wait_for(page, "#document-name", "^Row 61$")
    assert "<script>window.hacked = 1</script>" in page.inner_text("#document")
    page.locator(".more").click()
    length = "() => document.getElementById('document').textContent.length"
    assert page.evaluate(length) > 200_000
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("#document script, #document img, #document h1").count() == 0
    assert all(url.startswith(server.url) for url in browser.requests)
    assert not browser.errors
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_view_is_readable_named_and_reachable(
    browser, start, tmp_path, scheme, width
):
    server = start()
    page = browser.page(width, 844, scheme)
    page.goto(server.url)
    wait_for(page, "#document-name", "Row")
    for _ in range(26):
        answer(page)
    page.wait_for_timeout(700)
    found = {"label": problems(page)}
    page.screenshot(path=tmp_path / "label.png", full_page=True)
    reached = tab_through(page, 22)
    assert {"tab-browse", "new-label", "undo", "skip", "help-button"} <= set(reached)
    page.click("#tab-browse")
    page.locator(".hit").first.wait_for()
    found["browse"] = problems(page)
    page.click("#tab-confusion")
    page.locator(".matrix").wait_for()
    found["confusion"] = problems(page)
    page.click("#tab-label")
    page.keyboard.press("?")
    found["help"] = problems(page)
    page.keyboard.press("Escape")
    page.click("#export summary")
    page.wait_for_timeout(100)
    found["export"] = problems(page)
    assert found == {view: [] for view in found}
    assert not browser.errors
    page.context.close()


def test_a_long_document_scrolls_by_keyboard(start, browser):
    server = start()
    page = browser.page(1280, 800)
    page.goto(server.url)
    page.locator("#document .part").wait_for()
    page.evaluate(
        "() => { document.querySelector('#document .part').textContent ="
        " 'long text '.repeat(5000); }"
    )
    top = "() => document.getElementById('document').scrollTop"
    seen = [page.evaluate(top)]
    for key in ("PageDown", "Space", "ArrowDown", "End"):
        page.keyboard.press(key)
        seen.append(page.evaluate(top))
    assert seen == sorted(set(seen))
    page.keyboard.press("Home")
    assert page.evaluate(top) == 0


def test_many_labels_are_found_by_typing(tmp_path, browser):
    data = tmp_path / "data.csv"
    data.write_text("text\n" + "\n".join(f"{t} {t}" for t in documents(30).texts))
    names = [f"topic {n} with a name that is rather long" for n in range(150)]
    labels = ",".join(names)
    server = Server("label", data, "--labels", labels, "--project", tmp_path / "p")
    try:
        for width, height in ((1280, 800), (390, 844)):
            page = browser.page(width, height)
            page.goto(server.url)
            page.locator("#labels button").first.wait_for()
            before = int(page.inner_text("#answered"))
            page.keyboard.press("f")
            page.keyboard.type("topic 137")
            assert page.locator("#labels button").count() == 1
            page.keyboard.press("Enter")
            page.wait_for_function(
                "n => document.getElementById('answered').textContent === String(n)",
                arg=before + 1,
            )
            assert page.locator("#labels button").count() == 150
            assert problems(page) == []
    finally:
        server.stop(signal.SIGKILL)
