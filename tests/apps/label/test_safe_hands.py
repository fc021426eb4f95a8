"""Safe hands: what a slip of the hand, another keyboard or a phone must not break."""

import re
import signal
import sqlite3

import pytest

from tests.apps.label.conftest import TOPICS, documents
from tests.apps.page_checks import Browser
from tests.apps.serving import Server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with Browser() as made:
        yield made


@pytest.fixture
def serve(tmp_path):
    """Starts a server for some texts and labels."""
    started = []

    def begin(texts=None, labels=tuple(TOPICS), *more):
        data = tmp_path / "data.csv"
        lines = documents(60).texts if texts is None else texts
        data.write_text("text\n" + "\n".join(lines) + "\n", encoding="utf-8")
        folder = tmp_path / "p"
        server = Server(
            "label", data, "--labels", ",".join(labels), "--project", folder, *more
        )
        started.append(server)
        return server

    yield begin
    for server in started:
        server.stop(signal.SIGKILL)


def rows(tmp_path, query):
    with sqlite3.connect(tmp_path / "p" / "answers.sqlite") as db:
        found = db.execute(query).fetchall()
    db.close()
    return found


def n_answers(tmp_path):
    return len(rows(tmp_path, "SELECT 1 FROM log WHERE NOT undone"))


def opened(browser, server, width=1280, height=800, address=""):
    page = browser.page(width, height)
    page.goto(server.url + address)
    page.locator("#labels button").first.wait_for()
    page.locator("#document .part").first.wait_for()
    return page


def wait_for(page, selector, words):
    page.locator(selector).filter(has_text=re.compile(words)).wait_for()


def answer(page, key="1"):
    before = page.inner_text("#document-name")
    page.keyboard.press(key)
    page.wait_for_function(
        "b => document.getElementById('document-name').textContent !== b", arg=before
    )


def test_a_held_key_and_a_double_click_give_one_answer(browser, serve, tmp_path):
    page = opened(browser, serve())
    for _ in range(20):
        page.keyboard.down("1")
        page.wait_for_timeout(30)
    page.keyboard.up("1")
    page.wait_for_timeout(200)
    assert n_answers(tmp_path) == 1
    for selector in ("#labels button >> nth=0", "#skip"):
        before = n_answers(tmp_path)
        page.wait_for_timeout(300)
        page.dblclick(selector, delay=20)
        page.wait_for_timeout(400)
        assert n_answers(tmp_path) == before + 1
    page.focus("#labels button >> nth=0")
    before = n_answers(tmp_path)
    for _ in range(15):
        page.keyboard.down("Enter")
        page.wait_for_timeout(40)
    page.keyboard.up("Enter")
    page.wait_for_timeout(300)
    assert n_answers(tmp_path) <= before + 1
    assert not browser.errors
    page.context.close()


@pytest.mark.parametrize("leave", ["1", "ArrowLeft", "u"])
def test_a_typed_note_is_kept(browser, serve, tmp_path, leave):
    page = opened(browser, serve())
    answer(page)
    page.keyboard.press("m")
    page.keyboard.type("odd one")
    page.keyboard.press("Escape")
    answer(page, leave)
    assert rows(tmp_path, "SELECT text FROM notes") == [("odd one",)]
    assert not browser.errors
    page.context.close()


def test_bulk_answers_skip_what_is_answered_unless_asked(browser, serve, tmp_path):
    page = opened(browser, serve(None, tuple(TOPICS), "--check-share", "0"))
    for _ in range(3):
        answer(page, "1")
    page.click("#tab-browse")
    page.locator(".hit").first.wait_for()
    page.select_option("#bulk-label", "tea")
    wait_for(page, "#to-all", r"57 new\)")
    page.check("#over")
    wait_for(page, "#to-all", "57 new, 3 would change")
    page.uncheck("#over")
    page.click("#to-all")
    wait_for(page, "#saved", "57 labelled; 3 already answered")
    cats = "SELECT 1 FROM log WHERE labels = '[\"cat\"]' AND NOT undone"
    assert len(rows(tmp_path, cats)) == 3
    assert n_answers(tmp_path) == 60
    page.context.close()


def test_overlap_asks_for_a_name_first(browser, serve, tmp_path):
    server = serve(None, tuple(TOPICS), "--overlap", "0.5")
    page = browser.page()
    page.goto(server.url)
    page.locator("#who[open]").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.locator("#who[open]").wait_for()
    page.fill("#who-name", "ann")
    page.keyboard.press("Enter")
    page.locator("#document .part").wait_for()
    page.keyboard.press("Enter")  # nothing to agree with; no dialog again
    page.wait_for_timeout(100)
    assert page.locator("#who[open]").count() == 0
    answer(page)
    assert rows(tmp_path, "SELECT person FROM log") == [("ann",)]
    page.context.close()


def test_views_and_documents_have_addresses_and_back_goes_back(browser, serve):
    server = serve()
    page = opened(browser, server)
    answer(page)
    page.click("#tab-browse")
    page.locator(".hit").nth(6).click()
    wait_for(page, "#document-name", "^Row 7$")
    assert page.url.endswith("#document/6")
    page.go_back()
    page.locator("#view-browse").wait_for(state="visible")
    assert page.url.endswith("#browse")
    page.go_back()
    page.locator("#view-label").wait_for(state="visible")
    page.go_forward()
    page.locator("#view-browse").wait_for(state="visible")
    other = opened(browser, server, address="#document/11")
    wait_for(other, "#document-name", "^Row 12$")
    other.goto(server.url + "#project")
    other.reload()
    other.locator("#view-project").wait_for(state="visible")
    assert not browser.errors
    page.context.close()
    other.context.close()


def test_views_have_addresses_when_everything_is_answered(browser, serve, tmp_path):
    server = serve(None, tuple(TOPICS), "--check-share", "0")
    page = opened(browser, server)
    page.click("#tab-browse")
    page.locator(".hit").first.wait_for()
    page.select_option("#bulk-label", "tea")
    wait_for(page, "#to-all", r"60 new\)")
    page.click("#to-all")
    wait_for(page, "#saved", "60 labelled")
    page.context.close()
    assert n_answers(tmp_path) == 60
    for view in ("map", "browse", "confusion", "project", "label"):
        other = browser.page(1280, 800)
        other.goto(f"{server.url}#{view}")
        other.locator(f"#view-{view}").wait_for(state="visible")
        assert other.url.endswith(f"#{view}")
        other.context.close()
    assert not browser.errors


def test_other_keyboards_and_caps_lock_work(browser, serve, tmp_path):
    page = opened(browser, serve())
    press = """([key, code, caps]) => document.body.dispatchEvent(new KeyboardEvent(
        'keydown', { key, code, bubbles: true, modifierCapsLock: caps }))"""

    def pressed(*event):
        before = page.inner_text("#document-name")
        page.evaluate(press, list(event))
        page.wait_for_function(
            "b => document.getElementById('document-name').textContent !== b",
            arg=before,
        )

    pressed("&", "Digit1", False)  # AZERTY
    pressed("é", "Digit2", False)
    pressed("1", "Numpad1", False)
    pressed("S", "KeyS", True)
    pressed("г", "KeyU", False)  # Cyrillic
    said = rows(tmp_path, "SELECT labels, undone FROM log ORDER BY number")
    assert said == [('["cat"]', 0), ('["car"]', 0), ('["cat"]', 0), (None, 1)]
    page.context.close()


def test_on_a_phone_a_new_document_starts_at_its_top(browser, serve):
    texts = [f"{text} " * 60 for text in documents(30).texts]
    page = opened(browser, serve(texts), 390, 844)
    top = "() => document.getElementById('paper').getBoundingClientRect().top"
    for _ in range(3):
        page.locator("#labels button").first.scroll_into_view_if_needed()
        page.evaluate("() => window.scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(250)
        before = page.inner_text("#document-name")
        page.locator("#labels button").first.click()
        page.wait_for_function(
            "b => document.getElementById('document-name').textContent !== b",
            arg=before,
        )
        assert page.evaluate(top) > -2
    page.context.close()


def test_right_to_left_text_reads_from_the_right(browser, serve):
    page = opened(browser, serve(["مرحبا بالعالم (20 %)."] * 3 + documents(20).texts))
    direction = "s => getComputedStyle(document.querySelector(s)).direction"
    page.click("#tab-browse")
    page.locator(".hit").first.wait_for()
    assert page.evaluate(direction, ".hit .snippet") == "rtl"
    page.locator(".hit").first.click()
    wait_for(page, "#document-name", "^Row 1$")
    assert page.evaluate(direction, "#document .part") == "rtl"
    page.context.close()


@pytest.mark.parametrize("width", [390, 760, 1000, 1280, 1600])
def test_nothing_is_wider_than_its_card(browser, serve, width):
    labels = ("cat", "a-very-long-name-of-a-label-without-any-blank-in-it", "tea")
    page = opened(browser, serve(None, labels), width)
    for number in range(12):
        answer(page, "123"[number % 3])
    page.locator("#guess").filter(has_text=re.compile("sure|Hidden")).wait_for()
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.answers, .tile')].flatMap((card) => {
          const box = card.getBoundingClientRect();
          return [...card.querySelectorAll('*')].filter((e) => {
            const own = e.getBoundingClientRect();
            return own.width && own.right > box.right + 0.5;
          }).map((e) => e.outerHTML.slice(0, 80));
        })"""
    )
    assert wide == []
    page.context.close()


def test_digits_are_on_the_likely_labels_where_there_are_many(browser, serve):
    labels = [*(f"another {n}" for n in range(12)), *TOPICS]
    page = opened(browser, serve(None, tuple(labels), "--check-share", "0"))
    keyed = "() => [...document.querySelectorAll('#labels button')].slice(0, 3)" + (
        ".map(b => [b.dataset.label, b.querySelector('kbd').textContent])"
    )
    for name in list(TOPICS) * 4:
        before = page.inner_text("#document-name")
        page.keyboard.press("f")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.wait_for_function(
            "b => document.getElementById('document-name').textContent !== b",
            arg=before,
        )
    page.locator("#guess").filter(has_text="sure").wait_for()
    assert {tuple(one) for one in page.evaluate(keyed)} >= {
        (name, str(1 + place)) for place, (name, _) in enumerate(page.evaluate(keyed))
    }
    assert {name for name, _ in page.evaluate(keyed)} == set(TOPICS)
    page.context.close()


def test_guesses_by_names_are_there_before_the_first_answer_and_say_so(browser, serve):
    page = opened(browser, serve())
    wait_for(page, "#guess", "Hidden|by the names of the labels alone")
    page.wait_for_function(
        "() => document.getElementById('model-words').textContent.includes('only the')"
    )
    assert page.locator("#scores > *").count() == 0
    for _ in range(3):  # one of the first is no random check
        if "Hidden" not in page.inner_text("#guess"):
            break
        answer(page)
    wait_for(page, "#guess", "(cat|car|tea), by the names of the labels alone")


def test_without_names_no_guess_is_made_before_answers(browser, serve):
    page = opened(browser, serve(None, tuple(TOPICS), "--no-names"))
    page.wait_for_timeout(1500)
    assert page.inner_text("#model-words") == ""
    wait_for(page, "#guess", "Hidden|No guess yet")
