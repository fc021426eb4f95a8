"""Run the code of the pages that show its output, and write what it prints below.

    python tests/quick_start.py

renews docs/quickstart.md, the pages about costs and rare classes, and the Python of
README.md and docs/index.md; tests/test_newcomer.py compares.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "quickstart.md"
# Pages, and the languages of the blocks that are run.
PAGES = {
    PAGE: ("sh", "python"),
    ROOT / "README.md": ("python",),
    ROOT / "docs" / "index.md": ("python",),
    ROOT / "docs" / "how-to" / "costs.md": ("sh", "python"),
    ROOT / "docs" / "how-to" / "imbalanced.md": ("python",),
}
_BLOCK = re.compile(
    r"^```(?P<language>sh|python)\n(?P<code>.*?)^```\n(\n```text\n(?P<output>.*?)^```\n)?",
    re.S | re.M,
)
# What differs from run to run.
_VARIABLE = re.compile(r"\d+(\.\d+)? (s|kB)\b|\b[0-9a-f]{64}\b")


def run(folder, page=PAGE):
    """Pairs of what a page shows and what comes out, block by block."""
    python = str(Path(sys.executable).parent)
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        code = block["code"]
        if code.startswith("pip ") or block["language"] not in PAGES[page]:
            continue
        shell = ["bash", "-eu", "-c", f'PATH="{python}:$PATH"\n{code}']
        command = shell if block["language"] == "sh" else [sys.executable, "-c", code]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        yield block, done.stdout


def plain(text):
    """Output without times, sizes and fingerprints; three decimals at most."""
    short = re.sub(r"(\b\d\.\d{3})\d+\b", r"\1", text or "")
    return _VARIABLE.sub("N", short).strip()


def renew():
    """Write the output of every block below it."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            for block, output in run(folder, page):
                fenced = f"```{block['language']}\n{block['code']}```\n"
                if output:
                    fenced += f"\n```text\n{output.rstrip()}\n```\n"
                text = text.replace(block[0], fenced)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew()
