"""What a page must keep to: names, contrast, focus, width, no foreign request."""

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import sync_playwright

_HERE = Path(__file__).parent
_PROBLEMS = (_HERE / "page_problems.js").read_text()
_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
_FOCUS = (_HERE / "page_focus.js").read_text()
_ACTS = (_HERE / "page_acts.js").read_text()
_REACH = (_HERE / "page_reach.js").read_text()


def problems(page):
    """What is wrong with the page as it is shown now."""
    return page.evaluate(_PROBLEMS)


def axe_violations(page):
    """What axe-core objects to: the rule and the first places of each."""
    if page.evaluate("() => typeof axe") == "undefined":
        # The page forbids scripts of others; the debugger may still run one.
        session = page.context.new_cdp_session(page)
        done = session.send("Runtime.evaluate", {"expression": _AXE})
        assert "exceptionDetails" not in done
    result = page.evaluate("() => axe.run()")
    return [
        f"{rule['id']}: {node['target']} {node['html'][:80]}"
        for rule in result["violations"]
        for node in rule["nodes"][:3]
    ]


def tab_through(page, n):
    """Names of what the Tab key reaches; every stop must show its focus."""
    page.evaluate("() => document.activeElement.blur()")
    reached = []
    for _ in range(n):
        page.keyboard.press("Tab")
        name, ring = page.evaluate(_FOCUS)
        if name is not None:
            assert ring, f"no focus ring on {name}"
            reached.append(name)
    return reached


def out_of_reach(page):
    """Names of what can be operated by a pointer, but not reached by the Tab key."""
    names = page.evaluate(_REACH)
    page.evaluate("() => document.activeElement.blur()")
    reached = set()
    for _ in range(2 * len(names) + 20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.reach"))
        if len(reached - {None}) == len(names):
            break
    return [name for place, name in enumerate(names) if place not in reached]


class Browser:
    """Debian's Chromium; notes every request and every error of a page."""

    def __enter__(self):
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        return self

    def page(self, width=1280, height=800, scheme="light"):
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        context.add_init_script(_ACTS)
        page = context.new_page()
        self.requests, self.errors = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        return page

    def __exit__(self, *_):
        self._browser.close()
        self._playwright.stop()
