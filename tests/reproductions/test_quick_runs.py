"""Every reproduction runs from start to end with ``--quick``, by its command."""

import json

import pytest
from typer.testing import CliRunner

from earmark.apps.cli.main import app
from earmark.apps.cli.reproduce import NAMES


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_quick_run_writes_a_result_and_figures(name, tmp_path):
    command = ["reproduce", name, "--quick", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    stored = json.loads((tmp_path / f"{name}.json").read_text())
    assert stored["quick"] is True
    assert stored["result"]
    figures = list((tmp_path / name).glob("*.png"))
    assert figures
    assert all(figure.stat().st_size < 300_000 for figure in figures)
