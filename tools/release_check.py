"""Build sdist and wheels, install each in an empty environment, and work with it.

``make release-check`` runs it: ``earmark demo --data``, train, predict, from a folder
that has no source in it. A wheel is built for each supported Python that is on this
machine (on the PATH or under pyenv); the sdist is tried with the first of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command: object, cwd: Path) -> str:
    """The output of a command; its words and an end if it fails."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> list[str]:
    """The interpreters on this machine, one for each version that is supported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = (one.rpartition(" ")[2] for one in project["classifiers"])
    versions = [name for name in named if re.fullmatch(r"3\.\d+", name)]
    own, missing = f"3.{sys.version_info.minor}", []
    paths = {own: sys.executable}
    for version in versions:
        candidates = [shutil.which(f"python{version}")]
        candidates += sorted((Path.home() / ".pyenv/versions").glob(f"{version}.*/bin"))
        for candidate in filter(None, candidates):
            path = Path(candidate)
            path = path / "python" if path.is_dir() else path
            asked = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
            # A shim that leads nowhere is on the PATH as well.
            told = subprocess.run(asked, capture_output=True, text=True, check=False)
            if told.stdout.strip() == version:
                paths.setdefault(version, str(path))
        if version not in paths:
            missing.append(version)
    if missing:
        print(f"not on this machine, not tried: Python {', '.join(missing)}")
    return [paths[version] for version in versions if version in paths]


def use(python: str, package: Path, folder: Path) -> None:
    """Install a package in an empty environment and work with it."""
    folder.mkdir()
    run(python, "-m", "venv", folder / "env", cwd=folder)
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(scripts / "python", "-m", "pip", "install", "-q", package, cwd=folder)
    earmark = scripts / "earmark"
    run(earmark, "demo", "--data", "messages", cwd=folder)
    train, test = (f"messages/{part}.csv" for part in ("train", "test"))
    command = ("train", train, "--label", "topic", "--out", "m.earmark")
    run(earmark, *command, cwd=folder)
    run(earmark, "predict", "m.earmark", test, "--out", "out.csv", cwd=folder)
    rows = (folder / "out.csv").read_text(encoding="utf-8").count("\n")
    code = "from earmark.kernels.backend import native; print(native() is not None)"
    compiled = run(scripts / "python", "-c", code, cwd=folder).strip()
    version = run(scripts / "python", "--version", cwd=folder).strip()
    print(
        f"{package.name}, {version}: trained, {rows - 1:,} predictions, "
        f"compiled: {compiled}",
        flush=True,
    )
    if compiled != "True":
        sys.exit("the compiled kernels are not there")


def main() -> None:
    """Build all, use all."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        build = (sys.executable, "-m", "build", "-q", "-o", place / "dist")
        run(*build, "--sdist", ROOT, cwd=ROOT)
        (source,) = (place / "dist").iterdir()
        every = pythons()
        use(every[0], source, place / "source")
        for number, python in enumerate(every):
            wheels = place / f"wheel{number}"
            run(
                python,
                "-m",
                "pip",
                "wheel",
                "-q",
                "--no-deps",
                "-w",
                wheels,
                source,
                cwd=ROOT,
            )
            (wheel,) = wheels.iterdir()
            use(python, wheel, place / str(number))


if __name__ == "__main__":
    main()
