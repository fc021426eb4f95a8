"""The API snapshot sees every public method, however it is offered."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from earmark import TextClassifier
from tests.public_api import MODULES, describe, members

CLASSES = {
    obj: f"{module}.{name}"
    for module in MODULES
    for name, obj in members(module).items()
    if inspect.isclass(obj) and not issubclass(obj, BaseException)
}


@pytest.mark.parametrize("method", ["partial_fit", "forget", "leave_one_out"])
def test_methods_that_only_some_models_have_are_in_the_snapshot(method):
    start = f"earmark.TextClassifier.{method}("
    assert [line for line in describe() if line.startswith(start)]


@pytest.mark.parametrize("cls", CLASSES, ids=CLASSES.values())
def test_every_public_method_of_a_class_is_in_the_snapshot(cls):
    lines = describe()
    said = {line.split("(")[0].strip().rpartition(".")[2] for line in lines}
    contract = {name for line in lines for name in _in_brackets(line)}
    for name, value in inspect.getmembers(cls, callable):
        ours = getattr(value, "__module__", None) or ""
        if name.startswith("_") or not ours.startswith("earmark"):
            continue
        if not (name.startswith("set_") and name.endswith("_request")):
            assert name in said | contract, name


def _in_brackets(line):
    _, _, listed = line.rpartition(" [")
    return listed.rstrip("]").split(", ") if line.endswith("]") else []


def test_a_changed_signature_changes_the_snapshot(monkeypatch):
    before = describe()
    method = vars(TextClassifier)["forget"].__wrapped__

    def forget(self, X, y, more=None):
        return method(self, X, y)

    monkeypatch.setattr(TextClassifier, "forget", forget)
    assert describe() != before


def test_the_snapshot_is_what_its_command_prints():
    root = Path(__file__).parents[2]
    command = [sys.executable, "tests/public_api.py"]
    printed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    assert printed.decode() == (root / "tests/public_api.txt").read_text()
