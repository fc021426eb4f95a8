"""The workflows and issue forms: valid, and in step with the Makefile."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.M))


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs(path):
    return load(path)["jobs"]


def steps(path):
    return [step for job in jobs(path).values() for step in job.get("steps", [])]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_workflow_has_what_github_asks_for(path):
    workflow = load(path)
    assert workflow["name"]
    assert workflow[True], "on:, which YAML reads as true"
    assert workflow["permissions"] == {"contents": "read"}
    for job in jobs(path).values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs(path))
        assert ("uses" in job) != ("runs-on" in job)
        assert ("uses" in job) != bool(job.get("steps"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_step_runs_a_command_or_uses_a_pinned_action(path):
    for step in steps(path):
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[\w./-]+", step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_make_targets_exist(path):
    commands = "\n".join(step["run"] for step in steps(path) if "run" in step)
    assert set(re.findall(r"\bmake ([\w-]+)", commands)) <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_expressions_name_known_contexts(path):
    known = {"github", "matrix", "steps", "needs", "env", "secrets"}
    found = re.findall(r"\$\{\{\s*(\w+)\.([\w.-]+)", path.read_text())
    assert {context for context, _ in found} <= known
    declared = {
        key
        for job in jobs(path).values()
        for key in job.get("strategy", {}).get("matrix", {})
    }
    assert {name for context, name in found if context == "matrix"} <= declared


def test_the_matrix_covers_the_supported_pythons():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lowest = settings["project"]["requires-python"].removeprefix(">=")
    tested = jobs(ROOT / ".github/workflows/tests.yml")["unit"]["strategy"]["matrix"]
    assert tested["python"][0] == lowest
    assert tested["python"] == ["3.11", "3.12", "3.13", "3.14"]
    built = settings["tool"]["cibuildwheel"]["build"]
    assert built == [f"cp{v.replace('.', '')}-*" for v in tested["python"]]


def test_every_make_target_of_a_contributor_is_run_somewhere():
    text = "\n".join(path.read_text() for path in WORKFLOWS)
    for target in ("lint", "unit", "test", "test-all", "trust", "docs"):
        assert re.search(rf"make {target}\b(?!-)", text), target


@pytest.mark.parametrize("path", FORMS, ids=lambda p: p.name)
def test_issue_forms_have_titles_and_questions(path):
    form = load(path)
    if path.name == "config.yml":
        assert set(form) <= {"blank_issues_enabled", "contact_links"}
        return
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)
    for field in form["body"]:
        assert field["type"] in {"textarea", "input", "dropdown", "markdown"}
        assert field["attributes"]["label"]
