"""What one runs before each commit: a share of `make test` that takes minutes, not half an hour.

Lint of the files that changed, every unit test, the tests of the house, and five real jobs in C and
in mpi4py of which ranks are killed. All run, whatever fails.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTEST = [sys.executable, "-m", "pytest", "-q"]
# Jobs of test_kills.py in C and in mpi4py, by a part of their names.
KILLS = "same_right_results and 4-auto-native-kill"
PARTS = {
    "lint": [sys.executable, "tests/lint.py", "--changed"],
    "unit tests": [f"{BIN}/ctest", "--test-dir", "build/release", "--output-on-failure", "-j2"],
    "house": [*PYTEST, "tests/house"],
    "kills": [*PYTEST, "tests/mpi/test_kills.py", "-k", KILLS],
}


def main() -> int:
    failed = []
    for name, command in PARTS.items():
        began = time.monotonic()
        is_good = subprocess.run(command, cwd=ROOT, check=False).returncode == 0
        print(f"check: {name} {'ok' if is_good else 'FAILED'} ({time.monotonic() - began:.0f} s)")
        failed += [] if is_good else [name]
    if failed:
        print(f"check: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
