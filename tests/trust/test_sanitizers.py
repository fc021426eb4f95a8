"""The compiled kernels under the address and undefined-behaviour sanitizers."""

import os

import pytest

pytestmark = pytest.mark.trust

SECONDS = os.environ.get("EARMARK_FUZZ_SECONDS", "600")


def test_random_texts_are_read_without_a_bad_access(package, run_sanitized):
    done = run_sanitized(package, "tests/trust/fuzzer.py", SECONDS, "0")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_the_kernels_pass_their_tests_under_sanitizers(package, run_sanitized):
    chosen = ["tests/kernels", "tests/statistics", "-m", "not slow and not corpus"]
    done = run_sanitized(package, "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
