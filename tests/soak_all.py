"""Runs what `make test` has a share of, whole: random faults in the simulator, in jobs and among
members, every case of the test matrices, sanitizers, fuzzing.

All parts run, whatever fails, one after the other; the exit status says whether all passed. Name
parts to run only those: `soak_all.py jobs fuzz`. What they count is listed at the end, and written
down with --report FILE (docs/lab/soak.md).
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from resprout.machine import about_this_machine

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
# So many lines at the end of what a part says on stdout are its figures.
FIGURES = 10


@dataclass
class Part:
    name: str
    what: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    status: int | None = None
    seconds: float = 0.0
    figures: deque[str] = field(default_factory=lambda: deque(maxlen=FIGURES))

    def run(self) -> None:
        print(f"\n=== {self.name}: {self.what}", flush=True)
        began = time.monotonic()
        with subprocess.Popen(
            self.command, cwd=ROOT, env={**os.environ, **self.environment},
            stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                if line.strip():
                    self.figures.append(line.rstrip())
        self.status = process.returncode
        self.seconds = time.monotonic() - began

    @property
    def repeat(self) -> str:
        words = [f"{name}={value}" for name, value in self.environment.items()]
        words += [word.replace(f"{ROOT}/", "") for word in self.command]
        return " ".join(f'"{word}"' if " " in word else word for word in words)


def all_parts(minutes: float) -> dict[str, Part]:
    def of_python(name: str, what: str, script: str, *words: str) -> Part:
        return Part(name, what, [PYTHON, f"tests/{script}", *words])

    lasts = ["--minutes", f"{minutes:g}"]
    goal = ["--goal", "0.8"]
    tests = sorted((ROOT / "tests/mpi").glob("test_*.py"))
    matrices = [str(test) for test in tests if "covering." in test.read_text()]
    matrices.append("tests/exhaustive")
    load = [str(ROOT / "build/release/bin/runtime_test"), "--test-case=16 processes on busy cores*"]
    stories = [str(ROOT / "build/release/bin/runtime_test"), "--test-case=stories:*"]
    parts = [
        Part(
            "stories",
            "programs of collectives whose processes die, in all orders of events",
            stories,
            {"SESSION_STORIES": f"{50_000 * minutes:.0f}"},
        ),
        of_python("jobs", "all collectives, in jobs and simulated", "mpi/soak.py", *lasts),
        of_python("repairs", "programs that repair communicators", "mpi/soak_repairs.py"),
        Part(
            "hosts",
            "jobs over several hosts, all carriers",
            [PYTHON, "tests/mpi/soak_hosts.py"],
            {"PYTHONPATH": "tests"},
        ),
        of_python("replicas", "planes that lag, all methods", "mpi/soak_replicas.py"),
        of_python("checkpoints", "planes that go back", "mpi/soak_checkpoints.py"),
        of_python("returns", "planes that come back", "mpi/soak_returns.py"),
        of_python("restarts", "jobs that are started again", "mpi/soak_restarts.py"),
        of_python("other-mpis", "ranks of MPICH and Intel MPI", "mpi/soak_other_mpis.py"),
        of_python("erroneous", "programs that are wrong", "mpi/soak_erroneous.py"),
        of_python("stand-in", "siblings of the lost", "mpi/soak_stand_in.py"),
        Part(
            "matrices",
            "every case of what is run in pairs else",
            [PYTHON, "-m", "pytest", "-q", *matrices],
            {"EVERY_CASE": "1"},
        ),
        Part(
            "install",
            "a wheel that is compiled",
            [PYTHON, "-m", "pytest", "-q", "tests/install"],
            {"EVERY_CASE": "1"},
        ),
        of_python("mutants", "protocols with a mistake each", "mutants/run.py", *goal),
        of_python("members", "128 members without MPI", "member/soak.py", *lasts),
        Part(
            "load",
            "nobody is accused on busy cores, on one host and on 16",
            load,
            {"LIFELINE_LOAD_SECONDS": f"{60 * minutes:.0f}"},
        ),
        of_python("sanitized", "unit tests with sanitizers", "sanitized/soak.py"),
        of_python("fuzz", "every parser", "fuzz/soak.py", *lasts),
    ]
    return {part.name: part for part in parts}


def report(parts: list[Part]) -> str:
    lines = ["| part | what | seconds | |", "|---|---|---:|---|"]
    for part in parts:
        ended = "passed" if part.status == 0 else f"status {part.status}"
        lines.append(f"| {part.name} | {part.what} | {part.seconds:.0f} | {ended} |")
    for part in parts:
        lines += ["", f"`{part.repeat}`", "", *(f"    {line}" for line in part.figures)]
    return "\n".join(lines) + "\n"


def head() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    machine = about_this_machine()
    return f"{machine['date']}, {machine['processor']}, at {done.stdout.strip() or 'no commit'}"


def run(parts: list[Part], file: Path | None) -> None:
    for part in parts:
        part.run()
        if file is not None:  # so far: all of them take two hours
            done = [it for it in parts if it.status is not None]
            file.write_text(f"{head()}\n\n{report(done)}")


def main() -> int:
    parts = all_parts(10)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", help=f"only these: {', '.join(parts)}")
    parser.add_argument("--minutes", type=float, default=10, help="of what takes as long as told")
    parser.add_argument("--report", type=Path, help="write what was counted to this file, too")
    given = parser.parse_args()
    if given.minutes <= 0:
        parser.error(f"--minutes must be more than 0, not {given.minutes:g}")
    unknown = [name for name in given.part if name not in parts]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(parts)}")
    parts = all_parts(given.minutes)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    chosen = [parts[name] for name in given.part or parts]
    try:
        run(chosen, given.report)
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
        chosen = [part for part in chosen if part.status is not None]
    print(f"\n{report(chosen)}", end="")
    return 0 if all(part.status == 0 for part in chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
