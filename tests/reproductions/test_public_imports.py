"""The experiments see what a user sees: earmark's public API, and nothing else."""

import ast
from pathlib import Path

import pytest

from tests.public_api import MODULES

ROOT = Path(__file__).parents[2]
# The loop that ``earmark label`` drives has no door of its own yet.
ALLOWED = {
    *MODULES,
    "earmark.pipeline.labelling",
    "earmark.typing",
}


def imported(tree):
    """Modules of earmark that a file imports, with the names taken from each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("earm"):
            yield node.module, [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            yield from ((a.name, []) for a in node.names if a.name.startswith("earm"))


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "reproductions").rglob("*.py")),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_reproduction_imports_public_names_only(path):
    for module, names in imported(ast.parse(path.read_text(encoding="utf-8"))):
        assert module in ALLOWED, f"{path.name} imports {module}"
        assert not [name for name in names if name.startswith("_")]


def test_the_wheel_holds_the_package_alone():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'wheel.packages = ["src/earmark"]' in settings
    assert not (ROOT / "src" / "earmark" / "reproductions").exists()
