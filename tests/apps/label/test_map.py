"""The map's data, and the map in Chromium: lasso, undo, keyboard, names, speed."""

import csv
import re
import signal
import time

import pytest

from tests.apps.label.conftest import TOPICS, documents, label_all, post, truth
from tests.apps.page_checks import Browser, axe_violations, problems
from tests.apps.serving import Server


def the_map(client, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        data = client.get("/api/map").json()
        if data["ready"]:
            return data
        assert data["seconds"] >= 0
        time.sleep(0.05)
    raise AssertionError("no map")


def test_the_map_places_every_document_and_names_islands(client):
    data = the_map(client)
    assert len(data["x"]) == len(data["y"]) == 60
    assert min(*data["x"], *data["y"]) >= 0
    assert max(*data["x"], *data["y"]) == 65_535
    assert len(data["levels"]) == 3
    for level in data["levels"]:
        assert len(level["of"]) == 60
        assert max(level["of"]) + 1 == len(level["names"])


@pytest.mark.parametrize("by", ["guess", "doubt"])
def test_colors_betray_no_guess_of_a_random_check(client, by):
    label_all(client, "ann", truth, 30)
    assert client.session.wait()
    data = post(client, "colors", by=by)
    loop = client.session.loop
    open_checks = {d for d in range(60) if loop.is_check[d] and d not in loop.answers}
    assert open_checks
    assert set(data["hidden"]) == open_checks
    assert {data["values"][d] for d in open_checks} == {-1}
    rest = [d for d in range(60) if d not in open_checks and d not in loop.answers]
    assert all(data["values"][d] >= 0 for d in rest)


def test_colors_by_guess_are_those_of_the_list(client):
    label_all(client, "ann", truth, 30)
    assert client.session.wait()
    data = post(client, "colors", by="guess")
    lines = (
        post(client, "browse")["documents"]
        + post(client, "browse", page=1)["documents"]
    )
    for line in lines:
        number = data["values"][line["document"]]
        assert (line["guess"] or []) == (
            [data["labels"][number]] if number >= 0 else []
        )


def test_colors_by_answer_hide_what_another_person_said(team):
    by_ann = label_all(team, "ann", truth, 20)
    twice = [d for d in by_ann if d in team.session.overlap]
    assert twice
    for person, sees in (("ann", True), ("bob", False)):
        data = post(team, "colors", person=person, by="answer")
        assert all((data["values"][d] >= 0) == sees for d in twice)
        assert all((d in data["answered"]) == sees for d in twice)
    alone = [d for d in by_ann if d not in team.session.overlap]
    assert all(data["labels"][data["values"][d]] == truth(d) for d in alone)


def test_colors_by_novelty_say_nothing_before_there_is_anything_known(client):
    assert set(post(client, "colors", by="novelty")["values"]) == {-1}
    label_all(client, "ann", truth, 45)
    assert client.session.wait()
    assert set(post(client, "colors", by="novelty")["values"]) <= set(range(101))
    post(client, "colors", status=422, by="size")


# -- in the browser -------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


def many(n):
    """Texts of the three topics, so many that islands form."""
    texts = documents(60).texts
    return [f"{texts[i % 60]} {i // 60}" for i in range(n)]


@pytest.fixture
def serve(tmp_path):
    started = []

    def begin(n=240):
        data = tmp_path / "data.csv"
        with data.open("w", newline="") as file:
            csv.writer(file).writerows([("text",), *((text,) for text in many(n))])
        options = ("--labels", ",".join(TOPICS), "--project", tmp_path / "p")
        server = Server("label", data, *options)
        started.append(server)
        return server

    yield begin
    for server in started:
        server.stop(signal.SIGKILL)


def opened(browser, server, **look):
    page = browser.page(**look)
    page.goto(f"{server.url}#map")
    ready = page.locator("#map-words").filter(has_text="Like ones lie together")
    ready.wait_for(timeout=120_000)
    page.locator("#legend li").first.wait_for()
    return page


def lasso(page):
    """Draw around all of the map."""
    page.click("#map-lasso")
    box = page.locator("#map").bounding_box()
    left, top = box["x"] + 5, box["y"] + 5  # the corners are round
    right, bottom = left + box["width"] - 10, top + box["height"] - 10
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()


def n_in(page, selector):
    found = re.search(r"[\d,]+", page.inner_text(selector))
    return int(found.group().replace(",", "")) if found else 0


@pytest.mark.slow
def test_a_lasso_labels_what_is_inside_and_one_undo_takes_it_back(browser, serve):
    page = opened(browser, serve())
    lasso(page)
    page.locator("#map-chosen").filter(has_text="240 selected").wait_for()
    assert "192 new, 48 reserved as random checks" in page.inner_text("#map-chosen")
    assert page.is_disabled("#map-apply")
    page.select_option("#map-label", "tea")
    page.click("#map-apply")
    page.locator("#saved").filter(has_text="192 labelled; 48 reserved").wait_for()
    page.locator("#map-chosen").filter(has_text="192 answered").wait_for()
    assert page.is_disabled("#map-apply")  # they have an answer now
    page.locator("#map").focus()
    page.keyboard.press("u")
    page.locator("#map-chosen").filter(has_text="192 new").wait_for()
    assert n_in(page, "#answered") == 0
    assert browser.errors == []


@pytest.mark.slow
def test_an_island_is_labelled_by_keyboard_alone(browser, serve):
    page = opened(browser, serve())
    for _ in range(60):  # until an island has the focus
        page.keyboard.press("Tab")
        if page.evaluate("() => Boolean(document.activeElement.closest('#islands'))"):
            break
    page.keyboard.press("Enter")
    page.locator("#map-chosen").filter(has_text="selected").wait_for()
    page.locator("#map-label").focus()
    page.keyboard.press("c")  # the first label that begins so
    page.locator("#map-apply").focus()
    page.keyboard.press("Enter")
    page.locator("#saved").filter(has_text="labelled").wait_for()
    n = n_in(page, "#saved")
    assert 5 <= n < 192
    page.click("#tab-label")
    page.locator("#answered").filter(has_text=str(n)).wait_for()


@pytest.mark.slow
def test_arrows_move_plus_and_minus_zoom_and_enter_reads(browser, serve):
    page = opened(browser, serve())
    page.locator("#map").focus()
    picture = "() => document.getElementById('map').toDataURL()"
    frame = "new Promise(requestAnimationFrame)"
    wait = f"() => {frame}.then(() => {frame})"
    seen = set()
    for key in ("0", "+", "ArrowLeft", "ArrowUp", "+", "-"):
        page.keyboard.press(key)
        page.evaluate(wait)
        seen.add(page.evaluate(picture))
    assert len(seen) == 5  # the last one zooms back
    page.keyboard.press("Enter")
    page.locator("#map-document .map-text").wait_for()
    page.click("#map-document button")
    page.locator("#document .part").wait_for()
    assert page.evaluate("() => location.hash").startswith("#document/")
    page.go_back()
    page.locator("#view-map").wait_for(state="visible")


@pytest.mark.slow
def test_a_click_reads_a_point_and_more_islands_have_names_nearer(browser, serve):
    page = opened(browser, serve(1200))
    few = page.locator("#islands li").count()
    page.locator("#islands button").first.click()
    assert page.locator("#map-chosen").filter(has_text="selected").count() == 1
    # An island was gone to: its middle is in the middle of the picture.
    page.locator("#map").focus()
    page.keyboard.press("Enter")
    page.locator("#map-document .map-text").wait_for()
    assert any(word in page.inner_text(".map-text") for word in TOPICS)
    page.click("#map-whole")
    assert page.locator("#islands li").count() == few
    for _ in range(2):
        page.click("#map-in")
    assert page.locator("#islands li").count() > 0


@pytest.mark.slow
def test_the_map_has_no_problem_in_any_look(browser, serve):
    server = serve()
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
        page = opened(browser, server, width=width, scheme=scheme)
        lasso(page)
        page.locator("#map-chosen").filter(has_text="240 selected").wait_for()
        for by in ("answer", "doubt", "novelty", "guess"):
            page.select_option("#map-by", by)
            page.locator("#legend li").first.wait_for()
        assert axe_violations(page) == []
        assert problems(page) == []
        assert page.evaluate("() => document.body.scrollWidth <= innerWidth")
    # Pages of the tests before may still say good-bye to their own server.
    assert all(url.startswith("http://127.0.0.1:") for url in browser.requests)


@pytest.mark.slow
def test_15_000_points_are_drawn_in_less_than_30_ms(browser, serve):
    page = opened(browser, serve(15_000))
    page.locator("#map").focus()
    times = []
    for key in (
        "+",
        "ArrowLeft",
        "-",
        "ArrowRight",
        "+",
        "ArrowUp",
        "-",
        "ArrowDown",
    ) * 3:
        page.keyboard.press(key)
        page.wait_for_timeout(40)
        times.append(float(page.get_attribute("#map", "data-ms")))
    assert sorted(times)[len(times) // 2] < 30
