"""Build sdist and wheel, install each in an empty environment, and work with it.

``make release-check`` runs it: ``earmark demo --data``, train, predict, from a folder
that has no source in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
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


def use(package: Path, folder: Path) -> None:
    """Install a package in an empty environment and work with it."""
    folder.mkdir()
    venv.create(folder / "env", with_pip=True)
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
    print(f"{package.name}: trained, {rows - 1:,} predictions, compiled: {compiled}")


def main() -> None:
    """Build both, use both."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run(sys.executable, "-m", "build", "-q", "-o", place / "dist", ROOT, cwd=ROOT)
        packages = sorted((place / "dist").iterdir())
        if {one.suffix for one in packages} != {".whl", ".gz"}:
            sys.exit(f"expected an sdist and a wheel, got {[p.name for p in packages]}")
        for number, package in enumerate(packages):
            use(package, place / str(number))


if __name__ == "__main__":
    main()
