"""The page to try a served model on, in Chromium."""

import csv

import pytest

from tests.apps.page_checks import Browser, axe_violations, problems, tab_through
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
        assert axe_violations(page) == []
        assert "rather than" in page.inner_text("#why-head")
        reached = tab_through(page, 16)
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


def test_a_dropped_file_comes_back_labelled_and_a_correction_is_kept(
    model_file, tmp_path
):
    data, kept = tmp_path / "mails.csv", tmp_path / "feedback.jsonl"
    data.write_text('id,text\n1,"cheap, cheap ""pills"""\n2,lunch at noon\n')
    with (
        running("serve", model_file, "--feedback", kept) as server,
        Browser() as browser,
    ):
        page = browser.page()
        page.goto(server.url)
        page.locator("#samples button").first.click()
        page.locator("#answer").wait_for()
        page.select_option("#right-label", label="ham")
        page.click("#wrong button")
        page.locator("#thanks").filter(has_text="noted").wait_for()
        assert '"label": "ham"' in kept.read_text()
        for content, words in (
            (b"text\ncaf\xe9\n", "UTF-8"),
            (b"a,b\n1,2,3\n", "Row 2 has 3 fields"),
            (b'a,b\n1,"2\n3,4\n', "never closed"),
            (b"", "no rows"),
        ):
            odd = tmp_path / f"{words}.csv"
            odd.write_bytes(content)
            page.set_input_files("#file", odd)
            page.locator("#notice").filter(has_text=words).wait_for()
            assert page.locator("#label-file").is_hidden()
        page.set_input_files("#file", data)
        page.locator("#label-file").wait_for()
        assert page.locator("#notice").is_hidden()
        assert page.input_value("#column") == "1"
        with page.expect_download() as waiting:
            page.click("#label-file")
        waiting.value.save_as(tmp_path / "out.csv")
        with (tmp_path / "out.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["label"] for row in rows] == ["spam", "ham"]
        assert rows[0]["text"] == 'cheap, cheap "pills"'
        again = tmp_path / "again.csv"
        again.write_text("text,label,confidence\nlunch at noon,mine,7\n")
        page.set_input_files("#file", again)
        page.locator("#file-words").filter(has_text="1 rows").wait_for()
        with page.expect_download() as waiting:
            page.click("#label-file")
        waiting.value.save_as(tmp_path / "again.out.csv")
        with (tmp_path / "again.out.csv").open(newline="") as file:
            (row,) = csv.DictReader(file)
        assert (row["label"], row["label_2"]) == ("mine", "ham")
        assert row["confidence"] == "7"
        assert float(row["confidence_2"]) > 0.5
        page.locator("summary").click()
        assert "curl -s" in page.inner_text("#curl")
        assert not browser.errors
