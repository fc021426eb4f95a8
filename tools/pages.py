"""Measure the built documentation in a browser.

    make docs && python tools/pages.py [--shots DIR]

Ends with status 1 if a page is wider than its column or taller than 12,000 pixels at
1280, or if axe-core finds a violation on one of the chosen pages (desktop and phone,
light and dark). ``--shots`` also writes pictures of those pages. Needs chromium and
``pip install axe-playwright-python``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "_build" / "html"
TALLEST = 12_000
CHOSEN = (
    "index",
    "install",
    "quickstart",
    "guide",
    "how-to/trust",
    "methods/naive-bayes",
    "performance",
    "auto_examples/index",
    "reference/index",
)
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
# The article must fit; what scrolls inside it has a scroll bar of its own.
_OVERFLOW = """() => {
  const column = document.querySelector('article').getBoundingClientRect();
  const wide = [];
  for (const node of document.querySelectorAll('article *')) {
    let parent = node.parentElement, inside = false;
    for (; parent && parent.tagName !== 'ARTICLE'; parent = parent.parentElement)
      if (/auto|scroll|hidden/.test(getComputedStyle(parent).overflowX)) inside = true;
    const box = node.getBoundingClientRect();
    if (node.className === 'headerlink' || inside || !box.width) continue;
    if (box.right > column.right + 2)
      wide.push(node.tagName + ' ' + (node.textContent || '').trim().slice(0, 40));
  }
  const body = document.documentElement;
  if (body.scrollWidth > body.clientWidth + 1) wide.push('the page scrolls sideways');
  return wide.slice(0, 3);
}"""


def main() -> int:
    """Measure every page; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", type=Path)
    shots = parser.parse_args().shots
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium")
        problems = [*_sizes(browser), *_accessibility(browser, shots)]
    print("\n".join(problems) or "no problems")
    return 1 if problems else 0


def _sizes(browser: Any) -> Iterator[str]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    heights = {}
    for path in sorted(SITE.rglob("*.html")):
        name = path.relative_to(SITE).as_posix()
        if name.startswith(("_modules", "_static")):
            continue
        page.goto(path.as_uri())
        heights[name] = page.evaluate("document.documentElement.scrollHeight")
        if page.query_selector("article"):
            wide = page.evaluate(_OVERFLOW)
            if wide:
                yield f"{name}: wider than its column: {wide}"
        if heights[name] > TALLEST:
            yield f"{name}: {heights[name]:,} pixels high"
    tallest = max(heights, key=lambda name: heights[name])
    print(f"{len(heights)} pages; the tallest is {tallest}: {heights[tallest]:,} px")


def _accessibility(browser: Any, shots: Path | None) -> Iterator[str]:
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    for device, (width, height) in SIZES.items():
        for theme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=theme
            )
            page.add_init_script(f"localStorage.setItem('mode', '{theme}')")
            for name in CHOSEN:
                page.goto((SITE / f"{name}.html").as_uri())
                for violation in axe.run(page).response["violations"]:
                    nodes = violation["nodes"]
                    yield (
                        f"{name}, {device}, {theme}: {violation['id']} "
                        f"({len(nodes)}): {[node['target'] for node in nodes[:2]]}"
                    )
                if shots is not None:
                    shots.mkdir(parents=True, exist_ok=True)
                    file = f"{name.replace('/', '-')}-{device}-{theme}.png"
                    page.screenshot(path=shots / file, full_page=True)
            page.close()


if __name__ == "__main__":
    sys.exit(main())
