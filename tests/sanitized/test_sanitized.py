"""Lifelines and members have no data races.

Their unit tests once more, built with the thread sanitizer; the address sanitizer, and the tests of
the rest, are part of `make soak`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build" / "release"
NINJA = Path(sys.executable).parent / "ninja"
NAME = "lifelines_and_members"
# A test that hangs is a test that fails.
PATIENCE = 600


def test_the_thread_sanitizer_finds_nothing() -> None:
    command = [NINJA, "-C", BUILD, "--quiet", NAME]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    program = BUILD / "sanitized" / NAME
    if not program.exists():
        pytest.skip("the compiler cannot link the thread sanitizer")
    done = subprocess.run(
        [program], capture_output=True, text=True, check=False, timeout=PATIENCE,
        env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
