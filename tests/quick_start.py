"""Run the quick start and write what its commands print below them.

    python tests/quick_start.py

renews docs/quickstart.md; tests/test_newcomer.py compares.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "quickstart.md"
_BLOCK = re.compile(
    r"^```(?P<language>sh|python)\n(?P<code>.*?)^```\n(\n```text\n(?P<output>.*?)^```\n)?",
    re.S | re.M,
)
# What differs from run to run.
_VARIABLE = re.compile(r"\d+(\.\d+)? (s|kB)\b|\b[0-9a-f]{64}\b")


def run(folder):
    """Pairs of what the page shows and what comes out, block by block."""
    python = str(Path(sys.executable).parent)
    for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        code = block["code"]
        if code.startswith("pip "):
            continue
        shell = ["bash", "-eu", "-c", f'PATH="{python}:$PATH"\n{code}']
        command = shell if block["language"] == "sh" else [sys.executable, "-c", code]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        yield block, done.stdout


def plain(text):
    """Output without times, sizes and fingerprints."""
    return _VARIABLE.sub("N", text or "").strip()


def renew():
    """Write the output of every block below it."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for block, output in run(folder):
            fenced = f"```{block['language']}\n{block['code']}```\n"
            if output:
                fenced += f"\n```text\n{output.rstrip()}\n```\n"
            text = text.replace(block[0], fenced)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew()
