"""Random operations in the simulator and random jobs of real processes, in turns, until the time is
over or somebody says stop (Ctrl-C). All of them lose processes.

Of a job that fails, what it said and wrote down stays in build/soak/job-NUMBER, and the command
that runs it again is printed. The others go on. The exit status is 1 if anything failed.
"""

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import jobs
import kills
import pytest
import soak_cases

FOLDER = jobs.ROOT / "build" / "soak"
SWARM = jobs.BUILD / "bin" / "resprout_swarm"
# So many operations of each protocol are simulated between two jobs.
SWARM_RUNS = 200
# Where nobody looks, progress is told as seldom as this.
FILE_SECONDS = 60.0
COLLECTIVES = {
    called
    for name in soak_cases.MIXED + soak_cases.BLOCKS
    for called in (name, f"i{name}", f"{name}_init")
}
SIMULATED = re.compile(r"(\d+) operations of (\d+) processes, (\d+) messages, (\d+) crashes")


class Soak:
    """What was done so far, and how it went."""

    def __init__(self) -> None:
        self.jobs: Counter[str] = Counter()
        self.losses: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.simulated: Counter[str] = Counter()
        self.failures: list[str] = []
        self.began = time.monotonic()

    def run_job(self, case: kills.Case) -> None:
        folder = FOLDER / f"job-{case.number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            ended = kills.run(case, soak_cases.program_of(case, folder), folder)
        except KeyboardInterrupt:
            shutil.rmtree(folder)
            raise
        except (AssertionError, pytest.fail.Exception) as failure:
            (folder / "failure").write_text(f"{case}\n{failure}\n")
            self.fail(f"job {case}\n  repeat with: {case.repeat}\n  its log: {folder}")
            return
        shutil.rmtree(folder)
        self.jobs["jobs"] += 1
        self.jobs["processes"] += case.ranks
        self.jobs[case.program] += 1
        self.losses.update(loss["how"] for loss in ended.report["losses"])
        for name in ended.report["operations"]:
            if name in COLLECTIVES:
                self.calls[name] += ended.calls(name)

    def simulate(self, seed: int) -> None:
        command = [str(SWARM), "--seed", str(seed), "--runs", str(SWARM_RUNS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for operations, processes, messages, crashes in SIMULATED.findall(done.stdout):
            self.simulated["operations"] += int(operations)
            self.simulated["processes"] += int(processes)
            self.simulated["messages"] += int(messages)
            self.simulated["crashes"] += int(crashes)
        if done.returncode != 0:
            self.fail(f"{done.stdout}{done.stderr}\n  repeat with: {' '.join(command)}")

    def fail(self, what: str) -> None:
        self.failures.append(what)
        print(f"\nFAILED: {what}", flush=True)

    def figures(self) -> dict[str, object]:
        return {
            "seconds": round(time.monotonic() - self.began),
            "jobs": dict(self.jobs),
            "losses": dict(self.losses),
            "calls": dict(sorted(self.calls.items())),
            "simulated": dict(self.simulated),
            "failures": self.failures,
        }

    def line(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        return (
            f"{minutes}:{seconds:02}: {self.jobs['jobs']} jobs of {self.jobs['processes']} "
            f"processes, {self.losses.total()} lost, {self.calls.total():,} collectives; "
            f"{self.simulated['operations']:,} simulated operations; {len(self.failures)} failures"
        )

    def __str__(self) -> str:
        def listed(counts: Counter[str]) -> str:
            return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))

        return (
            f"{self.line()}\njobs: {listed(self.jobs)}\nlost: {listed(self.losses)}\n"
            f"collectives of survivors: {listed(self.calls)}\nsimulated: {listed(self.simulated)}"
        )


class Line:
    """Says now and then how far it is: on a terminal always in the same line."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self.next = time.monotonic() + FILE_SECONDS

    def show(self, soak: Soak) -> None:
        if self.is_terminal:
            print(f"\r\033[K{soak.line()}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() >= self.next:
            self.next += FILE_SECONDS
            print(soak.line(), file=sys.stderr, flush=True)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long; without it, until Ctrl-C")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first job's number")
    parser.add_argument("--job", type=int, help="only the job with this number")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args(words)
    if options.minutes is not None and options.minutes <= 0:
        parser.error("--minutes must be more than 0")
    return options


def run(options: argparse.Namespace) -> Soak:
    soak, line = Soak(), Line()
    if options.job is not None:
        soak.run_job(soak_cases.a_case(options.job))
        return soak
    end = float("inf") if options.minutes is None else soak.began + options.minutes * 60
    number = options.seed
    try:
        print(f"the first job is number {number}", flush=True)
        while time.monotonic() < end:
            soak.simulate(number * SWARM_RUNS)
            line.show(soak)
            soak.run_job(soak_cases.a_case(number))
            line.show(soak)
            number += 1
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
    return soak


def main(words: list[str]) -> int:
    options = parse(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    soak = run(options)
    print(f"\n{soak}")
    if options.json is not None:
        options.json.write_text(json.dumps(soak.figures(), indent=2) + "\n")
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
