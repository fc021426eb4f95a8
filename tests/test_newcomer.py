"""A newcomer's path: what README, quick start and how-tos print is run as printed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests import quick_start
from tests.pages import ROOT, Shell, blocks, bring, run_python

QUICK = [
    "docs/guide.md",
    "docs/how-to/from-fasttext.md",
    "docs/how-to/from-scikit-learn.md",
    "docs/how-to/mail.md",
    "docs/how-to/multi-label.md",
    "docs/how-to/report.md",
    "docs/how-to/wrong-labels.md",
]
LONG = [
    "docs/how-to/few-labels.md",
    "docs/how-to/from-setfit.md",
    "docs/how-to/documents-from-elsewhere.md",
    "docs/how-to/trust.md",
]


@pytest.mark.parametrize("page", QUICK)
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_python(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", LONG)
def test_python_of_a_long_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_python(page)


@pytest.mark.parametrize("page", quick_start.PAGES, ids=lambda page: page.stem)
def test_a_first_page_prints_what_it_shows(page, tmp_path):
    for block, output in quick_start.run(tmp_path, page):
        shown = quick_start.plain(block["output"])
        assert shown == quick_start.plain(output), block["code"]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The files of the repository as a newcomer gets them: nothing is installed."""
    folder = tmp_path_factory.mktemp("newcomer") / "earmark"
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, names.stdout.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy2(ROOT / name, target)
    return folder


@pytest.mark.slow
def test_readme_and_quick_start_work_in_a_fresh_environment(clone, tmp_path):
    shell = Shell(clone, clone / ".venv" / "bin")
    made = [b for b in blocks("README.md", "sh") if b.text.startswith("make ")]
    assert made, "the README begins with make"
    for line in (line for block in made for line in block.text.splitlines()):
        command = line.split("#")[0].strip()
        # `make test` runs these very tests: here only that it would start.
        shell.run(
            command if command == "make demo" else command.replace("make", "make -n")
        )
    assert (clone / ".venv" / "bin" / "earmark").exists()
    for page in ("README.md", "docs/quickstart.md"):
        folder = tmp_path / Path(page).stem
        folder.mkdir()
        binaries = clone / ".venv" / "bin"
        if page == "README.md":
            bring(folder)
            learn = "earmark train quality.csv --label topic --out quality.earmark"
            Shell(folder, binaries).run(learn)
        _follow(page, folder, binaries)


def _follow(page, folder, binaries):
    """Run every block of a page in order, with the commands of one environment."""
    shell = Shell(folder, binaries)
    python = "\n".join(block.text for block in blocks(page, "python"))
    (folder / "page.py").write_text(python, encoding="utf-8")
    try:
        for block in blocks(page, "sh"):
            if not block.text.startswith("make "):
                shell.run(_without_cluster(block.text))
        shell.run("python page.py")
    finally:
        shell.close()


def _without_cluster(text):
    """The commands that need no cluster; tests/distributed runs those that do."""
    return "\n".join(line for line in text.splitlines() if "--dask" not in line)
