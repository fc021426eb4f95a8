"""The page in a real browser, from disk; needs chromium and playwright."""

import shutil

import numpy as np
import pytest

from earmark.evaluation import Report

HOSTILE = "</script><script>document.title='taken'</script><img src='http://x.test/a'>"


@pytest.fixture(scope="module")
def page_path(tmp_path_factory):
    rng = np.random.default_rng(0)
    names = ["arts", "law", "trade"]
    proba = rng.dirichlet([0.4, 0.4, 0.4], size=200)
    y = [names[rng.choice(3, p=row)] for row in proba]
    best = np.array(names)[proba.argmax(axis=1)]
    z = [c if p > 0.5 else None for c, p in zip(best, proba.max(axis=1), strict=True)]
    texts = [f"document number {n} {HOSTILE}" for n in range(200)]
    terms = {name: [(HOSTILE, 1.0), ("plain", 0.5)] for name in names}
    report = Report.from_predictions(
        y, z, proba=proba, classes=names, texts=texts, threshold=0.5,
        title=f"Report {HOSTILE}", top_terms=terms,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "report.html"
    report.to_html(path)
    return path


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program, "chromium is needed: apt-get install chromium"
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        opened = playwright.chromium.launch(executable_path=program, args=flags)
        yield opened
        opened.close()


def visit(browser, path, **options):
    page = browser.new_page(**options)
    page.trouble, page.asked = [], []
    page.on("console", lambda message: page.trouble.append(message.text))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(f"file://{path}")
    return page


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_opens_from_disk_without_errors_or_requests(browser, page_path, scheme):
    page = visit(browser, page_path, color_scheme=scheme)
    assert page.trouble == []
    assert page.asked == [f"file://{page_path}"]
    assert page.title().startswith("Report </script>")


@pytest.mark.slow
def test_clicking_a_cell_shows_its_documents_as_text(browser, page_path):
    page = visit(browser, page_path)
    cell = page.locator("td.wrong button").first
    assert not page.locator("#documents").is_visible()
    cell.click()
    assert page.locator("#documents h3").inner_text() == cell.get_attribute("title")
    shown = page.locator("#documents .document").count()
    assert shown == min(int(cell.inner_text()), 6)
    first = page.locator("#documents .document p").first.inner_text()
    assert first.startswith("document number ")
    assert "<script>document.title" in first
    assert page.title().startswith("Report </script>")
    assert page.trouble == []
    assert page.asked == [f"file://{page_path}"]


@pytest.mark.slow
def test_abstained_column_and_sorting_work(browser, page_path):
    page = visit(browser, page_path)
    page.locator("td.abstained button").first.click()
    assert "left unanswered" in page.locator("#documents h3").inner_text()
    column = page.locator("#classes tbody tr td:nth-child(4)")
    page.locator("#classes th", has_text="F1").click()
    values = [float(text) for text in column.all_inner_texts()]
    assert values == sorted(values)


@pytest.mark.slow
def test_page_fits_a_telephone(browser, page_path):
    page = visit(browser, page_path, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.slow
def test_the_slider_says_what_a_threshold_costs_and_predictions_download(
    browser, page_path, tmp_path
):
    page = visit(browser, page_path)
    words = page.locator("#threshold-words")
    assert words.inner_text().startswith("100.0 % answered")
    page.locator("#threshold").focus()
    page.keyboard.press("End")
    assert "documents left to a person" in words.inner_text()
    assert not words.inner_text().startswith("100.0 %")
    with page.expect_download() as waiting:
        page.click("#download")
    waiting.value.save_as(tmp_path / "predictions.csv")
    lines = (tmp_path / "predictions.csv").read_text().splitlines()
    assert lines[0] == "row,label,predicted,confidence"
    assert len(lines) == 201
    assert page.trouble == []
