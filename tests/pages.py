"""Code blocks of the Markdown pages, and how to run them."""

import os
import re
import shlex
import socket
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.S | re.M)
_PORTS = {"serve": 8000, "label": 8001}
_SERVICE = re.compile(r"earmark (serve|label)\b")

# What a reader of the README brings along.
MAILS = """text,topic
"the printer is out of paper",office
"please book the meeting room",office
"the coffee machine needs cleaning",office
"server down since noon",computers
"please reset my password",computers
"the laptop does not see the network",computers
"""
BROUGHT = {
    "mails.csv": MAILS,
    "test.csv": MAILS,
    "held-out.csv": MAILS,
    "few.csv": MAILS,
    "many.jsonl": '{"text": "the network is down"}\n{"text": "book a room"}\n',
    "parts/one.csv": MAILS,
    "parts/two.csv": MAILS,
    "quality.csv": MAILS.replace("office", "good").replace("computers", "bad"),
    "crawl/one.jsonl": '{"text": "please book the meeting room"}\n',
    "pool.csv": "text\n"
    + "".join(
        f"a {word} story about {topic}\n"
        for topic in ("sport", "politics", "tech")
        for word in ("long", "short", "new")
    ),
    "new.jsonl": '{"text": "the meeting moved to noon"}\n{"text": "password lost"}\n',
}


class Block(NamedTuple):
    """A block of code on a page."""

    language: str
    text: str
    line: int


def blocks(page, language=None):
    """The Python and shell blocks of a page, in order; doctests are run elsewhere."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [
        Block(m[1], m[2], text[: m.start()].count("\n") + 1)
        for m in _BLOCK.finditer(text)
    ]
    return [
        block
        for block in found
        if language in (None, block.language) and not block.text.startswith(">>>")
    ]


def run_python(page):
    """Run all Python blocks of a page one after the other, in this process."""
    variables = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        # Line numbers of a failure are those of the page.
        code = compile("\n" * block.line + block.text, str(ROOT / page), "exec")
        exec(code, variables)


def bring(folder):
    """Put the files that the README speaks of into a folder."""
    for name, text in BROUGHT.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


class Shell:
    """Runs shell blocks with an environment's commands first on the PATH."""

    def __init__(self, folder, binaries):
        self.folder = Path(folder)
        path = os.pathsep.join([str(binaries), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path, "BROWSER": "true"}
        for name in ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            self.environment.pop(name, None)
        self.servers = []

    def run(self, text):
        """Run one block in order; the last service is left running for what follows."""
        if text.startswith("pip "):
            return
        waiting = []
        for line in text.replace("\\\n", " ").splitlines():
            if _SERVICE.match(line):
                self._run("\n".join(waiting))
                waiting = []
                self._serve(line)
            else:
                waiting.append(line)
        self._run("\n".join(waiting))

    def _run(self, commands):
        if not commands.strip():
            return
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"

    def _serve(self, line):
        command = shlex.split(line, comments=True)
        command = [word for word in command if word != "&"]
        self.close()  # services take the same port by default
        options = dict(pairwise(command))
        port = int(options.get("--port", _PORTS[command[1]]))
        self.servers.append(
            subprocess.Popen(command, cwd=self.folder, env=self.environment)
        )
        for _ in range(120):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            assert self.servers[-1].poll() is None, f"{line}: ended at once"
            time.sleep(0.5)
        raise AssertionError(f"{line}: nothing listens on port {port}")

    def close(self):
        """Stop the services that were started."""
        for server in self.servers:
            server.terminate()
            server.wait(timeout=30)
        self.servers = []
