"""The OpenAPI description holds: generated requests against a server, all checks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.serving import running


def schemathesis(url, folder, *options):
    """Run every check and count the cases."""
    command = [
        str(Path(sys.executable).with_name("st")),
        *("run", f"{url}/openapi.json", "--checks", "all", "--no-color"),
        *("--suppress-health-check", "all", "--continue-on-failure"),
        *map(str, options),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    found = re.search(r"([\d,]+) generated", done.stdout)
    return done, int(found[1].replace(",", "")) if found else 0


@pytest.mark.slow
@pytest.mark.parametrize("token", [None, "abc"])
def test_2000_generated_cases_find_nothing(model_file, tmp_path, token):
    limits = ("--max-text", 300, "--max-batch", 20)
    env = {} if token is None else {"EARMARK_TOKEN": token}
    with running("serve", model_file, "--quiet", *limits, env=env) as server:
        options = [] if token is None else ["-H", f"Authorization: Bearer {token}"]
        examples = 2000 if token is None else 200
        done, n_cases = schemathesis(
            server.url, tmp_path, "--max-examples", examples, *options
        )
        assert n_cases > examples
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert not server.log
