"""Lifelines and members have no data races, and touch no memory that is not theirs.

Their unit tests once more, built with sanitizers; those of the rest take too long, and are part of
`make soak`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
NINJA = Path(sys.executable).parent / "ninja"
# A test that hangs is a test that fails.
PATIENCE = 600


@pytest.fixture(scope="module")
def programs() -> Path:
    command = [NINJA, "-C", BUILD, "--quiet", "lifelines_and_members_sanitized"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / "sanitized"


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_sanitizer_finds_nothing(programs: Path, sanitizer: str) -> None:
    program = programs / f"lifelines_and_members_{sanitizer}"
    if not program.exists():
        pytest.skip(f"the compiler cannot link the {sanitizer} sanitizer")
    done = subprocess.run(
        [program], capture_output=True, text=True, check=False, timeout=PATIENCE,
        env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
