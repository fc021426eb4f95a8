"""A real server in a process of its own, for tests."""

import contextlib
import os
import signal
import subprocess
import sys
import threading


class Server:
    """``earmark ARGS`` on a free port, with its URL and its log."""

    def __init__(self, *args, env=None):
        port = () if "--port" in args else ("--port", "0")
        command = [sys.executable, "-m", "earmark", *map(str, args), *port]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.log = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        line = self.process.stdout.readline()
        while line and "http://" not in line:
            line = self.process.stdout.readline()
        if not line:
            self.stop()
            raise RuntimeError("".join(self.log))
        self.url = line[line.index("http://") :].split()[0]
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        self.address = (host, int(port))

    def _read_log(self):
        self.log.extend(self.process.stderr)

    def stop(self, how=signal.SIGTERM, wait=30):
        """Send a signal and give back the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(wait)
        self._reader.join(5)
        self.process.stdout.close()
        self.process.stderr.close()
        return status


@contextlib.contextmanager
def running(*args, env=None):
    server = Server(*args, env=env)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop(signal.SIGKILL)
