"""The page to try a served model on, in Chromium."""

import pytest

from tests.apps.page_checks import Browser, problems, tab_through
from tests.apps.serving import running

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_classifies_and_explains(model_file, scheme, width):
    with running("serve", model_file) as server, Browser() as browser:
        page = browser.page(width, 844, scheme)
        page.goto(server.url)
        page.locator("#text-0").fill("<b>cheap</b> pills at noon")
        page.keyboard.press("Control+Enter")
        page.locator("#answer").wait_for()
        assert page.inner_text("#label") in ("spam", "ham")
        assert page.inner_text("#text") == "<b>cheap</b> pills at noon"
        assert page.locator("#text mark").count() == 4
        assert problems(page) == []
        reached = tab_through(page, 6)
        assert {"text-0", "max-error", "Classify"} <= set(reached)
        page.select_option("#max-error", "0.01")
        page.click("button[type=submit]")
        page.wait_for_timeout(200)
        assert all(url.startswith(server.url) for url in browser.requests)
        assert not browser.errors


def test_the_page_asks_for_the_token(model_file):
    env = {"EARMARK_TOKEN": "abc"}
    with running("serve", model_file, env=env) as server, Browser() as browser:
        page = browser.page()
        page.goto(server.url)
        page.locator("#token").fill("abc")
        page.keyboard.press("Tab")
        page.locator("#text-0").fill("cheap pills")
        page.click("button[type=submit]")
        page.locator("#answer").wait_for()
        assert page.inner_text("#label") == "spam"
