"""Runs every test of Resprout and counts.

All parts run, whatever fails; the exit status says whether all passed. A part is the linters, the
C++ unit tests, or one folder below tests/ that has `test_*.py` files: a new folder joins by being
there. Name parts to run only those: `run_all.py unit house`. Three parts run side by side: real MPI
jobs mostly wait for each other, so two of theirs run beside one of the others as long as there are
any. What a part says is printed when it is over.

If a few tests fail, each is run again by itself at the end: what then passes is called unsteady, is
named in the last lines, and fails nothing. Real processes meet what no other run has met, and a
change should not be blamed for it; an unsteady test is a defect all the same, of itself or of us.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
BUILD = ROOT / "build" / "release"
RESULTS = BUILD / "results"
# The folder that takes longest, and waits more than it computes, and in how many parts it runs.
WAITS = "mpi"
PARTS_THAT_WAIT = 4
# The parts that come first, so that two that wait are under way, and no long one is left at last:
# alone, what runs on one core leaves the other one idle. All others follow in the order of their
# names.
FIRST = ["mpi-1", "mpi-4", "exhaustive", "lint", "unit", "python", "mpi-3", "mpi-2",
         "install", "swarm", "house"]  # fmt: skip
SIDE_BY_SIDE = 3
# A part that takes longer than this hangs.
PART_SECONDS_MAX = 60 * 60
# If more tests fail than this, none of them is unsteady.
UNSTEADY_MAX = 4
PRINTING = threading.Lock()
IS_INTERRUPTED = threading.Event()
# What a doctest program says at its end.
DOCTEST_SUMMARY = re.compile(r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) sk")


@dataclass
class Part:
    """One command, which leaves JUnit results, and how many tests it ran."""

    name: str
    command: list[str]
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    seconds_busy: float = 0.0  # of a processor, with all children
    # The failed tests of pytest, by what runs them again.
    failures: list[str] = field(default_factory=list)

    @property
    def results(self) -> Path:
        return RESULTS / f"{self.name}.xml"

    def run(self) -> None:
        self.results.unlink(missing_ok=True)
        log = self.results.with_suffix(".log")
        began = time.monotonic()
        with log.open("w") as output:
            status, self.seconds_busy = run_bounded(self.command, output)
        self.seconds = time.monotonic() - began
        with PRINTING:
            print(f"\n=== {self.name}\n{log.read_text(errors='replace')}", flush=True)
        if self.results.exists():
            for case in ElementTree.parse(self.results).getroot().iter("testcase"):
                self.count(case)
        elif status == 0:
            self.passed = 1
        # A part that failed before, after or instead of its tests failed all the same.
        if status != 0 and self.failed == 0:
            self.failed = 1

    def count(self, case: ElementTree.Element) -> None:
        summary = DOCTEST_SUMMARY.search(case.findtext("system-out") or "")
        passed, failed, skipped = (int(n) for n in summary.groups()) if summary else (0, 0, 0)
        if case.find("failure") is not None or case.find("error") is not None:
            failed = max(failed, 1)
            if summary is None:
                self.failures.append(node_id(case))
        elif case.find("skipped") is not None:
            skipped = max(skipped, 1)
        else:
            passed = max(passed, 1)
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def node_id(case: ElementTree.Element) -> str:
    return f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '')}"


def run_bounded(command: list[str], output: TextIO) -> tuple[int, float]:
    """The exit status of `command`, and for how many seconds it and its children kept a processor
    busy; they are ended if they take too long."""
    process = subprocess.Popen(
        command, cwd=ROOT, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
    )  # fmt: skip
    deadline = time.monotonic() + PART_SECONDS_MAX
    is_over = False
    while not is_over and not IS_INTERRUPTED.wait(0.2):
        is_over = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        if time.monotonic() > deadline and not is_over:
            print(f"ended after {PART_SECONDS_MAX} s", file=output, flush=True)
            break
    if not is_over:
        os.killpg(process.pid, signal.SIGKILL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def all_parts() -> list[Part]:
    parts = [Part("lint", [sys.executable, "tests/lint.py"]), Part("unit", [])]
    unit = parts[1]
    unit.command = [f"{BIN}/ctest", "--test-dir", str(BUILD), "--output-on-failure"]
    unit.command += ["--no-tests=error", "--output-junit", str(unit.results)]
    folders = {test.parent.relative_to(ROOT / "tests").parts[0] for test in python_tests()}
    for name in sorted(folders):
        if name == WAITS:
            files = sorted(str(test) for test in python_tests() if test.parent.name == WAITS)
            shares = [
                (f"{name}-{i + 1}", files[i::PARTS_THAT_WAIT]) for i in range(PARTS_THAT_WAIT)
            ]
        else:
            shares = [(name, [f"tests/{name}"])]
        for share, tests in shares:
            part = Part(share, [])
            part.command = [sys.executable, "-m", "pytest", "-q", "--durations=3", *tests]
            part.command += [f"--junitxml={part.results}"]
            parts.append(part)
    return sorted(parts, key=lambda part: [*FIRST, part.name].index(part.name))


def run_unless_interrupted(part: Part) -> None:
    if not IS_INTERRUPTED.is_set():
        part.run()


def unsteady_of(failures: list[str], failed: int) -> list[str]:
    """Those of the failed tests that pass when they are run again, one after the other and alone.

    `failures` are the tests of pytest among all `failed` ones: if another failed, too, or they are
    many, no second run can make the whole right, and none is made.
    """
    if not failures or failed > len(failures) or failed > UNSTEADY_MAX:
        return []
    fails_again: list[str] = []
    # Each in a process of its own: folders have modules of the same name.
    for test in failures:
        again = Part("again", [sys.executable, "-m", "pytest", "-q", test])
        again.command += [f"--junitxml={again.results}"]
        again.run()
        if again.failed or not again.passed:
            fails_again.append(test)
    return [test for test in failures if test not in fails_again]


def python_tests() -> list[Path]:
    return list((ROOT / "tests").glob("*/**/test_*.py"))


def main() -> int:
    parts = {part.name: part for part in all_parts()}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", help=f"only these: {', '.join(parts)}")
    chosen = parser.parse_args().part or list(parts)
    if WAITS in chosen:
        at = chosen.index(WAITS)
        chosen[at : at + 1] = [name for name in parts if name.startswith(f"{WAITS}-")]
    unknown = [name for name in chosen if name not in parts]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(parts)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    total = Part("all", [])
    print(f"running {', '.join(chosen)}; what each says meanwhile is in {RESULTS}", flush=True)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        running = [pool.submit(run_unless_interrupted, parts[name]) for name in chosen]
        try:
            wait(running)
            for future in running:
                future.result()
        except KeyboardInterrupt:
            IS_INTERRUPTED.set()
            raise
    for part in (parts[name] for name in chosen):
        total.passed += part.passed
        total.failed += part.failed
        total.failures += part.failures
        total.skipped += part.skipped
    print()
    for name in chosen:
        part = parts[name]
        print(f"  {name:12} {part.seconds:7.1f} s, {part.seconds_busy:6.1f} s busy  {part}")
    unsteady = unsteady_of(total.failures, total.failed)
    total.failed -= len(unsteady)
    print(f"\n{total}" + (f", {len(unsteady)} unsteady" if unsteady else ""))
    for test in unsteady:
        print(f"  unsteady: {test} failed, and passed when it was run again")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
