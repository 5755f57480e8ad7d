"""All static checks of the house, one after the other; `--fix` rewrites what can be rewritten.

Every check runs even if an earlier one failed. clang-tidy runs inside a build of its own, so that
Ninja's dependencies decide which files have to be looked at again; it takes longer than all others
and reads what is built for users. Of tests the compiler's warnings have to do.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON_FOLDERS = [
    f for f in ("python", "tests", "bench", "examples", "packaging") if (ROOT / f).is_dir()
]

Command = list[str]


def cpp_files() -> list[str]:
    """C and C++ files of our own, relative to the root."""
    folders = ("src", "include", "tests", "bench", "examples", "fuzz")
    found = (f for folder in folders for f in (ROOT / folder).rglob("*"))
    return sorted(
        str(f.relative_to(ROOT)) for f in found if f.suffix in (".c", ".h", ".cpp", ".hpp")
    )


def fixes() -> Iterator[tuple[str, list[Command]]]:
    yield "clang-format", [[f"{BIN}/clang-format", "-i", *cpp_files()]]
    yield "ruff format", [[f"{BIN}/ruff", "format", *PYTHON_FOLDERS]]
    yield "ruff", [[f"{BIN}/ruff", "check", "--fix", *PYTHON_FOLDERS]]


def checks() -> Iterator[tuple[str, list[Command]]]:
    yield "clang-format", [[f"{BIN}/clang-format", "--dry-run", "-Werror", *cpp_files()]]
    yield "ruff format", [[f"{BIN}/ruff", "format", "--check", *PYTHON_FOLDERS]]
    yield "ruff", [[f"{BIN}/ruff", "check", *PYTHON_FOLDERS]]
    yield "mypy", [[f"{BIN}/mypy", "--no-error-summary"]]
    yield "codespell", [[f"{BIN}/codespell", *tracked_texts()]]
    yield (
        "clang-tidy",
        [
            [f"{BIN}/cmake", "--preset", "tidy", "--log-level=WARNING"],
            [f"{BIN}/ninja", "-C", "build/tidy", "-k", "0", "--quiet"],
        ],
    )


def tracked_texts() -> list[str]:
    """Folders and files that people write and read."""
    names = ("src", "include", "python", "tests", "bench", "examples", "docs", "cmake", "fuzz",
             "packaging")  # fmt: skip
    return [n for n in names if (ROOT / n).is_dir()] + [f.name for f in ROOT.glob("*.md")]


def run(name: str, commands: list[Command]) -> bool:
    """Run the commands up to the first that fails; show their output only then."""
    began = time.monotonic()
    for command in commands:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            print(done.stdout.rstrip())
            print(f"lint: {name} FAILED", flush=True)
            return False
    print(f"lint: {name} ok ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="rewrite instead of complaining")
    steps = fixes() if parser.parse_args().fix else checks()
    results = [run(name, commands) for name, commands in steps]
    if not all(results):
        print(f"lint: {results.count(False)} of {len(results)} checks failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
