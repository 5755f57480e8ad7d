"""All static checks of the house, one after the other; `--fix` rewrites what can be rewritten.

Every check runs even if an earlier one failed. clang-tidy runs inside a build of its own, so that
Ninja's dependencies decide which files have to be looked at again; it takes longer than all others
and reads what is built for users. Of tests the compiler's warnings have to do.

`--changed` looks only at files that differ from `main`, or from its last commit on `main` itself,
and leaves clang-tidy out: seconds instead of minutes.
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
    f for f in ("python", "src", "tests", "bench", "examples", "packaging") if (ROOT / f).is_dir()
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


def quick_checks(
    cpp: list[str], python: list[str], texts: list[str]
) -> Iterator[tuple[str, list[Command]]]:
    if cpp:
        yield "clang-format", [[f"{BIN}/clang-format", "--dry-run", "-Werror", *cpp]]
    if python:
        yield "ruff format", [[f"{BIN}/ruff", "format", "--check", *python]]
        yield "ruff", [[f"{BIN}/ruff", "check", *python]]
        yield "mypy", [[f"{BIN}/mypy", "--no-error-summary"]]
    if texts:
        yield "codespell", [[f"{BIN}/codespell", *texts]]


def checks_of_changes() -> Iterator[tuple[str, list[Command]]]:
    changed = changed_files()
    all_cpp = set(cpp_files())
    roots = tuple(f"{text}/" for text in tracked_texts())
    yield from quick_checks(
        [name for name in changed if name in all_cpp],
        [name for name in changed if name.endswith(".py")],
        [name for name in changed if name.startswith(roots) or name in tracked_texts()],
    )


def checks() -> Iterator[tuple[str, list[Command]]]:
    yield from quick_checks(cpp_files(), PYTHON_FOLDERS, tracked_texts())
    yield (
        "clang-tidy",
        [
            [f"{BIN}/cmake", "--preset", "tidy", "--log-level=WARNING"],
            [f"{BIN}/ninja", "-C", "build/tidy", "-k", "0", "--quiet"],
        ],
    )


def changed_files() -> list[str]:
    """Files that differ from where this branch left `main`, on `main` itself from its last commit,
    and those that git does not know yet."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    base = git("rev-parse", "HEAD~")
    if git("rev-parse", "--abbrev-ref", "HEAD") != "main" and git("branch", "--list", "main"):
        base = git("merge-base", "HEAD", "main")
    names = git("diff", "--name-only", "-z", base).split("\0")
    names += git("ls-files", "--others", "--exclude-standard", "-z").split("\0")
    return sorted({name for name in names if name and (ROOT / name).is_file()})


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
    parser.add_argument("--changed", action="store_true", help="only what differs from main")
    arguments = parser.parse_args()
    steps = fixes() if arguments.fix else checks_of_changes() if arguments.changed else checks()
    results = [run(name, commands) for name, commands in steps]
    if not all(results):
        print(f"lint: {results.count(False)} of {len(results)} checks failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
