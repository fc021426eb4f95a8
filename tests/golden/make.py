"""Store the results of every case: ``python -m tests.golden.make``.

Run it on the commit whose results are to be kept; names after it make only those
cases anew, ``--times`` shows what each one costs. ``--changed`` instead writes the
results that are no longer those stored; give the reason in ``test_golden.py``.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

from tests.golden.cases import CASES, plain_value, results

STORED = Path(__file__).with_name("results.json")
CHANGED = Path(__file__).with_name("changed.json")
_SHOWN = 4  # numbers that a reader can compare


def digest(value):
    """A hash of all bits, and the first numbers or words for people."""
    plain = plain_value(value)
    text = json.dumps(plain, ensure_ascii=False)  # repr of a float has all its bits
    if len(text) <= 60:
        return text
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    shown = []
    _first(plain, shown)
    return f"{mark} {' '.join(map(str, shown))}"


def _first(value, shown):
    for one in value if isinstance(value, list) else [value]:
        if len(shown) == _SHOWN:
            return
        if isinstance(one, list):
            _first(one, shown)
        else:
            shown.append(repr(one)[:24])


def digests(case):
    """Key -> digest of every result of a case."""
    return {key: digest(value) for key, value in results(case).items()}


def changes(cases, stored):
    """Key -> digest of what is not as it was stored; None: it is no longer there."""
    found = {}
    for case in cases:
        before, now = stored[case], digests(case)
        for key in sorted({*before, *now}):
            if before.get(key) != now.get(key):
                found[f"{case}/{key}"] = now.get(key)
    return found


def main(arguments):
    some = [name for name in arguments if not name.startswith("--")]
    cases = some or list(CASES)
    if "--changed" in arguments:
        kept = json.loads(CHANGED.read_text()) if some else {}
        own = tuple(f"{case}/" for case in cases)
        kept = {key: known for key, known in kept.items() if not key.startswith(own)}
        _write(CHANGED, kept | changes(cases, json.loads(STORED.read_text())))
        return
    stored = json.loads(STORED.read_text()) if some else {}
    for case in cases:
        start = time.process_time()
        stored[case] = digests(case)
        if "--times" in arguments:
            spent = time.process_time() - start
            sys.stdout.write(f"{spent:7.2f} {case}\n")
    _write(STORED, stored)


def _write(path, content):
    path.write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
