"""The package with its extension built for the sanitizers, and how to run it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# An editable installation finds its own sources before anything on the path.
IMPORT_THE_COPY = """
import runpy, sys
sys.meta_path = [f for f in sys.meta_path if "Redirecting" not in type(f).__name__]
import earmark, earmark._native
assert sys.argv[1] in earmark._native.__file__, earmark._native.__file__
del sys.argv[:2]
if sys.argv[0].endswith(".py"):
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """A copy of the package whose extension is built with sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    build = folder / "build"
    bin_ = Path(sys.executable).parent
    nanobind = subprocess.check_output(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], text=True
    ).strip()
    options = [
        "-DEARMARK_SANITIZE=ON",
        f"-Dnanobind_DIR={nanobind}",
        f"-DPython_EXECUTABLE={sys.executable}",
        "-GNinja",
        f"-DCMAKE_MAKE_PROGRAM={bin_ / 'ninja'}",
    ]
    cmake = str(bin_ / "cmake")
    subprocess.run([cmake, "-S", ROOT, "-B", build, *options], check=True)
    subprocess.run([cmake, "--build", build], check=True)
    shutil.copytree(
        ROOT / "src" / "earmark",
        folder / "earmark",
        ignore=shutil.ignore_patterns("*.so", "__pycache__"),
    )
    for library in build.glob("_native*.so"):
        shutil.copy(library, folder / "earmark")
    return folder


@pytest.fixture(scope="session")
def run_sanitized():
    return _run


def _run(package, *command):
    """Run Python on the sanitized package; a report of a sanitizer ends it."""
    libraries = [
        subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    environment = {
        **os.environ,
        "LD_PRELOAD": ":".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=16",
        "PYTHONPATH": f"{package}:{ROOT}",
        "PYTHONMALLOC": "malloc",
    }
    return subprocess.run(
        [sys.executable, "-c", IMPORT_THE_COPY, str(package), *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
