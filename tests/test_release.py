"""What a release says of itself is so."""

import re
import tomllib

from tests.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_classifiers_name_the_versions_that_are_tested():
    named = {
        one.rpartition(" ")[2]
        for one in PROJECT["classifiers"]
        if re.search(r":: 3\.\d+$", one)
    }
    workflow = (ROOT / ".github/workflows/tests.yml").read_text()
    (matrix,) = re.findall(r"python: \[(.+)\]", workflow)
    assert named == set(re.findall(r"3\.\d+", matrix))
    least = PROJECT["requires-python"].removeprefix(">=")
    assert min(named, key=lambda one: int(one[2:])) == least


def test_the_container_is_made_of_files_that_are_here():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
    for name in (name for names in copied for name in names):
        assert name.startswith(("/opt", "--")) or (ROOT / name).exists()
    assert set(PROJECT["license-files"]) <= {name for names in copied for name in names}
