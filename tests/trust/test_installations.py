"""Clean environments: base, each extra, no compiler, oldest versions, from a wheel."""

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.trust

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"
HEAVY = ("all", "sentence-transformers")  # hundreds of megabytes each
EXTRAS = [
    extra
    for extra in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    if extra not in HEAVY
]


def run(*command, **variables):
    """Run a command; its output, or a failure that shows it."""
    environment = {**os.environ, **variables}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        list(map(str, command)),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def installed(folder, what, *options, **variables):
    """The Python of a new environment that holds ``what``."""
    run(UV, "venv", "--quiet", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    run(
        UV, "pip", "install", "--quiet", "--python", python, *options, what, **variables
    )
    return python


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel, built from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    run(UV, "build", "--quiet", "--sdist", "--out-dir", folder, ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, sdist)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_is_small_and_holds_no_tests(wheel):
    assert wheel.stat().st_size < 5e6
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("earmark/_native") for name in names)
    assert not [name for name in names if "tests" in name.split("/")]


def test_the_base_works_and_helps_at_once(wheel, tmp_path):
    python = installed(tmp_path / "venv", wheel)
    assert "works" in run(python, ROOT / "tests" / "trust" / "smoke.py")
    before = os.times()
    run(python.parent / "earmark", "--help")
    after = os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    assert used < 1.0


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_works_alone(wheel, extra, tmp_path):
    python = installed(tmp_path / "venv", f"{wheel}[{extra}]")
    assert "works" in run(python, ROOT / "tests" / "trust" / "smoke.py")


def test_without_a_compiler_plain_kernels_serve(tmp_path):
    python = installed(tmp_path / "venv", ROOT, CXX="/bin/false", CC="/bin/false")
    assert "works" in run(python, ROOT / "tests" / "trust" / "smoke.py")
    assert "plain" in run(python.parent / "earmark", "info")


def test_the_oldest_versions_allowed_work(wheel, tmp_path):
    python = installed(tmp_path / "venv", wheel, "--resolution", "lowest-direct")
    assert "works" in run(python, ROOT / "tests" / "trust" / "smoke.py")
