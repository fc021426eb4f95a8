"""How far it is through the house: functions of ours that one call runs.

One tracer for all walks, ``sys.setprofile`` with the compiled kernels: it counts the
named functions of the package that ran, and how often the next one that is called
stands in another package. Each walk is made once before, so that imports do not count.
Run with ``-rX`` or ``-s`` to see the figures.
"""

import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import earmark
from earmark import TextClassifier
from earmark.kernels.backend import native

SOURCE = Path(earmark.__file__).parent

WORDS = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "theta"]
TEXTS = [
    f"{WORDS[i % 4]} {WORDS[(i // 4) % 8]} {'spring rain' if i % 2 else 'winter snow'}"
    for i in range(36)
]
LABELS = ["wet" if i % 2 else "cold" for i in range(36)]

# Walk -> at most so many functions, and switches between packages.
LIMITS = {
    "multinomial fit": (75, 45),
    "multinomial predict": (31, 11),
    "softmax fit": (182, 122),
    "auto fit": (210, 505),
    "one request": (60, 12),
}

pytestmark = pytest.mark.skipif(native() is None, reason="needs the compiled kernels")


class Walked(NamedTuple):
    functions: int
    switches: int


class Tracer:
    """Notes each call of a named function of the package, in every thread."""

    def __init__(self):
        self.calls = []
        self.noting = False
        self._packages = {}

    def __call__(self, frame, event, argument):
        code = frame.f_code
        if not self.noting or event != "call" or code.co_name.startswith("<"):
            return
        package = self._packages.get(code.co_filename)
        if package is None:
            package = self._packages[code.co_filename] = package_of(code.co_filename)
        if package:
            self.calls.append((package, code.co_filename, code.co_qualname))

    def walk(self, step):
        step()
        self.calls.clear()
        self.noting = True
        sys.setprofile(self)
        try:
            step()
        finally:
            sys.setprofile(None)
            self.noting = False
        packages = [package for package, *_ in self.calls]
        switches = sum(a != b for a, b in pairwise(packages))
        return Walked(len({call[1:] for call in self.calls}), switches)


def package_of(path):
    """The package a file stands in; "" for what is not ours."""
    path = Path(path)
    if not path.is_relative_to(SOURCE):
        return ""
    first, *more = path.relative_to(SOURCE).parts
    return first if more else "earmark"


def classifier_walk(name):
    model, what = name.split()
    if what == "fit":
        return Tracer().walk(lambda: TextClassifier(model).fit(TEXTS, LABELS))
    fitted = TextClassifier(model).fit(TEXTS, LABELS)
    return Tracer().walk(lambda: fitted.predict(["winter rain"]))


def request_walk(folder):
    """One POST /classify; the service answers in threads of its own."""
    from starlette.testclient import TestClient

    from earmark.apps.serve.app import make_app

    path = folder / "model.earmark"
    TextClassifier("multinomial").fit(TEXTS, LABELS).save(path)
    tracer = Tracer()
    threading.setprofile(tracer)  # for the threads that start from here on
    try:
        with TestClient(make_app(path, reload_seconds=0)) as client:
            body = {"texts": ["winter rain"]}
            return tracer.walk(lambda: client.post("/classify", json=body))
    finally:
        threading.setprofile(None)


@pytest.mark.parametrize("name", LIMITS)
def test_a_walk_is_short(name, tmp_path):
    walked = request_walk(tmp_path) if "request" in name else classifier_walk(name)
    sys.stdout.write(f"{name}: {walked}\n")
    functions, switches = LIMITS[name]
    assert walked.functions > 10
    assert walked.functions <= functions, walked
    assert switches is None or walked.switches <= switches, walked
