"""Generated pages: they say what the stored results say."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def extension(name):
    """A module of docs/_ext, which is no package."""
    found = importlib.util.spec_from_file_location(name, ROOT / f"docs/_ext/{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


pages = extension("results_pages")
docstrings = extension("plain_docstrings")
tables = extension("stored_tables")
claims = extension("claims")


@pytest.fixture(scope="module")
def stored():
    return tables.stored_tables()


def test_a_missed_target_is_shown_as_missed(tmp_path):
    rows = [
        {
            "job": "a|b",
            "peer": "x",
            "cpu_ratio": 19.57,
            "target": ">= 20x",
            "met": False,
        },
        {"job": "d", "peer": "y", "cpu_ratio": 0.5, "memory_ratio": 4, "met": True},
        {"job": "c", "peer": None, "megabytes": 1234.5, "met": True, "target": None},
    ]
    path = tmp_path / "text.json"
    path.write_text(json.dumps({"command": "cmd", "load_average": 2.0, "rows": rows}))
    shown = pages.benchmark_page(path)
    # Nobody measured seconds: these columns are left out.
    assert "| a\\|b | x | 19.6× less | – | >= 20x | no |" in shown
    assert "| d | y | **2× more** | **4× more** | – | yes |" in shown
    assert "`cmd`" in shown
    assert "- c: megabytes 1,234" in shown


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "reproductions/results").glob("*.json")),
    ids=lambda p: p.stem,
)
def test_every_stored_reproduction_becomes_a_page(path, tmp_path):
    shown = pages.reproduction_page(path, tmp_path)
    assert json.loads(path.read_text())["command"] in shown
    assert len(shown.splitlines()) > 15


@pytest.mark.parametrize("path", pages.stored_benchmarks(ROOT), ids=lambda p: p.stem)
def test_every_stored_benchmark_becomes_a_table(path):
    shown = pages.benchmark_page(path)
    for row in json.loads(path.read_text())["rows"]:
        assert row["job"].replace("|", "\\|") in shown


@pytest.mark.parametrize("path", list(tables.pages()), ids=lambda p: p.stem)
def test_a_page_shows_the_tables_that_are_stored(path, stored):
    page = path.read_text(encoding="utf-8")
    assert page.count("<!-- table: ") == page.count("<!-- end -->")
    assert tables.fill(page, stored) == page


def test_no_stored_table_says_nan(stored):
    assert not [name for name, text in stored.items() if "nan" in text.split()]


def test_news_come_before_the_past(tmp_path):
    (tmp_path / "one.md").write_text("A new\nthing.\n")
    (tmp_path / "two.md").write_text("Fixed: A crash.\n")
    text = pages.changes_page("# Changelog\n\n## 0.1\n\nold", tmp_path.glob("*.md"))
    assert text.index("A new thing.") < text.index("### Fixed\n\n- A crash.")
    assert text.index("A crash.") < text.index("## 0.1")


def test_every_figure_has_a_caption_of_its_own():
    drawn = {
        f"{path.parent.name}/{path.stem}"
        for path in (ROOT / "docs/figures").rglob("*.svg")
        if not path.stem.endswith("-dark")
    }
    assert drawn == set(pages.CAPTIONS)
    assert len({caption for _, caption in pages.CAPTIONS.values()}) == len(drawn)


def test_every_recipe_is_listed_with_a_line():
    index = (ROOT / "docs/how-to/index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs/how-to").glob("*.md"):
        assert page.name == "index.md" or f"- []({page.name}): " in index, page.name


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in sorted((ROOT / "docs").rglob("*.md"))
        if not {"_build", "_generated"} & {*p.parts}
    ],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_no_page_has_more_than_3000_words(path):
    # Bars and signs of tables are no words; claims are not read.
    text = claims.without_notes(path.read_text(encoding="utf-8"))
    words = re.findall(r"\S*\w\S*", text)
    assert len(words) <= 3000


def test_the_layers_are_those_of_the_import_contract():
    text = pages.layers_page(ROOT / "pyproject.toml")
    assert text.index("`apps`") < text.index("`decision`") < text.index("`kernels`")
    assert "not in this installation" not in text


def test_a_figure_that_is_not_drawn_yet_is_named(tmp_path):
    (tmp_path / "figures/hybrid").mkdir(parents=True)
    (tmp_path / "figures/hybrid/one.svg").touch()
    (tmp_path / "methods").mkdir()
    there, missing = (f"![Curve](../figures/hybrid/{n}.svg)" for n in ("one", "two"))
    text = pages.without_missing_figures(f"{there} {missing}", tmp_path / "methods")
    assert text.startswith(there)
    assert text.endswith("*Curve: not drawn yet, `earmark reproduce hybrid` does.*")


def test_docstrings_need_no_escapes():
    lines = ["|w| of coef_ in ``a_ | b``", ">>> x_ | y", "out_", "", 'a "*.txt" file']
    assert docstrings.escape_lines(lines) == [
        r"\|w\| of coef\_ in ``a_ | b``",
        ">>> x_ | y",
        "out_",
        "",
        r'a "\*.txt" file',
    ]
