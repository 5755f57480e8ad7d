"""Unit tests of what runs in every process, built with sanitizers: `make soak` runs this.

    python tests/sanitized/soak.py      address and undefined behavior, then threads

It builds in build/asan and build/tsan, and under the thread sanitizer the runtime's tests alone
take ten minutes of two busy cores.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
# So long at most: a test that hangs is a test that fails.
PATIENCE = 1800

RUNS = [
    ("asan", "protocols_test", []),
    ("asan", "runtime_test", []),
    ("tsan", "protocols_test", []),
    ("tsan", "runtime_test", []),
]


def build(preset: str) -> bool:
    targets = [program for of, program, _ in RUNS if of == preset]
    commands = [
        [f"{BIN}/cmake", "--preset", preset, "--log-level=WARNING"],
        [f"{BIN}/ninja", "-C", f"build/{preset}", "--quiet", *targets],
    ]
    return all(
        subprocess.run(c, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode == 0
        for c in commands
    )


def run(preset: str, program: str, words: list[str]) -> bool:
    command = [f"build/{preset}/bin/{program}", *words]
    try:
        # The first finding is enough, and there may be a million of it.
        environment = os.environ | {"TSAN_OPTIONS": "halt_on_error=1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, timeout=PATIENCE, check=False)
        status = done.returncode
    except subprocess.TimeoutExpired:
        status = 1
    if status != 0:
        print(f"FAILED: repeat with {' '.join(command)}")
    return status == 0


def main() -> int:
    is_good = True
    for preset in dict.fromkeys(of for of, _, _ in RUNS):
        if not build(preset):
            print(f"FAILED: {preset} cannot be built")
            is_good = False
            continue
        for of, program, words in RUNS:
            if of == preset:
                is_good = run(preset, program, words) and is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
