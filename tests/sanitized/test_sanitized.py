"""Lifelines and members have no data races, and touch no memory that is not theirs.

Their unit tests once more, built with sanitizers; those of the rest take too long, and are part of
`make soak`.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
NINJA = Path(sys.executable).parent / "ninja"
SANITIZERS = ["address", "thread"]
# A test that hangs is a test that fails.
PATIENCE = 600


@pytest.fixture(scope="module")
def ended() -> dict[str, subprocess.CompletedProcess[str]]:
    """What each program said; they run side by side, as they wait more than they compute."""
    command = [NINJA, "-C", BUILD, "--quiet", "lifelines_and_members_sanitized"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [one for one in SANITIZERS if program(one).exists()]
    with ThreadPoolExecutor(len(SANITIZERS)) as pool:
        return dict(zip(found, pool.map(run, found), strict=True))


def program(sanitizer: str) -> Path:
    return BUILD / "sanitized" / f"lifelines_and_members_{sanitizer}"


def run(sanitizer: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(sanitizer)], capture_output=True, text=True, check=False, timeout=PATIENCE,
        env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"},
    )  # fmt: skip


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_a_sanitizer_finds_nothing(
    ended: dict[str, subprocess.CompletedProcess[str]], sanitizer: str
) -> None:
    if sanitizer not in ended:
        pytest.skip(f"the compiler cannot link the {sanitizer} sanitizer")
    done = ended[sanitizer]
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
