"""The command: every reproduction runs with ``--quick`` and prints its tables."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from earmark.apps.cli.main import app
from reproductions import NAMES, RESULTS, load
from reproductions.study import Run, run_parts


@pytest.mark.corpus
@pytest.mark.slow
# A quick run has few draws and documents: baselines may not converge.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_the_quick_run_writes_a_result_and_figures(name, tmp_path):
    command = ["reproduce", name, "--quick", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    stored = json.loads((tmp_path / f"{name}.json").read_text())
    assert stored["quick"] is True
    for table in load(name).tables(stored["result"]):
        assert table.title in done.stdout
    assert "nan" not in done.stdout.split()
    figures = list((tmp_path / name).glob("*.svg"))
    assert figures
    assert all(figure.stat().st_size < 500_000 for figure in figures)


def test_a_quick_run_never_replaces_a_full_result():
    file = RESULTS / "networks.json"
    before = file.read_bytes()
    command = ["reproduce", "networks", "--quick", "--out", str(RESULTS)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2
    assert "a quick one must not" in " ".join(done.output.split())
    assert file.read_bytes() == before


def test_an_unknown_name_or_part_is_refused(tmp_path):
    for command in (["nothing"], ["networks", "--part", "x", "--out", str(tmp_path)]):
        done = CliRunner().invoke(app, ["reproduce", *command])
        assert done.exit_code == 2
        assert "is not one of" in " ".join(done.output.split())


def test_some_parts_are_run_and_the_others_kept(tmp_path):
    stored = json.loads((RESULTS / "networks.json").read_text())
    stored["result"]["descent"]["eta"] = stored["result"]["worked_example"]["eta"] = 7
    (tmp_path / "networks.json").write_text(json.dumps(stored))
    command = ["networks", "--part", "Worked_Example", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, ["reproduce", *command], catch_exceptions=False)
    assert done.exit_code == 0
    found = json.loads((tmp_path / "networks.json").read_text())["result"]
    assert (found["worked_example"]["eta"], found["descent"]["eta"]) == (0.05, 7)


def test_stored_results_are_shown_without_running_anything(tmp_path):
    before = {name: (RESULTS / f"{name}.json").read_bytes() for name in NAMES}
    command = ["reproduce", "networks", "--stored", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    result = json.loads(before["networks"])["result"]
    for table in load("networks").tables(result):
        assert table.text() in done.stdout
    assert "What did not come out as printed" in done.stdout
    assert list((tmp_path / "networks").glob("*.svg"))
    assert "minutes" in done.stderr
    assert before == {name: (RESULTS / f"{name}.json").read_bytes() for name in NAMES}
    for option in ("--quick", "--part"):
        more = [option, *(["descent"] if option == "--part" else [])]
        assert CliRunner().invoke(app, [*command, *more]).exit_code == 2


def test_a_part_that_lacks_what_it_needs_stays_as_stored():
    parts = {"a": lambda run: {"not run": "no data"}, "b": lambda run: {"value": 2}}
    reproduction = SimpleNamespace(PARTS=parts, derive=lambda result: {})
    said = []
    run = Run(progress=said.append)
    stored = {"a": {"value": 1}, "b": {"value": 1}}
    assert run_parts(reproduction, run, None, stored) == {
        "a": {"value": 1},
        "b": {"value": 2},
    }
    assert "a stays as stored" in said[0]
    assert list(run.seconds) == ["b"]
    assert run_parts(reproduction, run, None, {})["a"] == {"not run": "no data"}
