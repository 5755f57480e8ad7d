"""Replicated programs that take checkpoints, whose planes are lost at any moment and come back.

Each run is a method of verification and the deaths of four processes, in planes that take part at
that moment, drawn from its seed: one plane of three may be on its way back, or being taken in, and
one always lives. Nothing of it may be seen in the output: neither in lines that were begun before a
checkpoint, nor on stderr, nor in what was read from stdin. `make soak` runs it; --runs 1
--first SEED makes one run again.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jobs
import pytest
from resprout.progress import progress_bar

METHODS = ["none", "all-to-all", "msg-plus-hash", "async", "async-hash"]
RANKS = 3

# Computes until the step that the file `last` names, and not beyond the one that `allowed` names.
# A line is begun before each checkpoint and gone on with after it.
PROGRAM = """
import sys, time
from pathlib import Path
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect

stage = Path(sys.argv[1])
comm = MPI.COMM_WORLD
first = comm.bcast(sys.stdin.read() if comm.rank == 0 else None)
print(f"rank {comm.rank} has read {len(first)}")
step, field = numpy.zeros(1, dtype=int), numpy.arange(8) + comm.rank
protect(step)
protect(field)

def number(name):
    path = stage / name
    return int(path.read_text()) if path.exists() else sys.maxsize

while True:
    print(f"rank {comm.rank}", end=" ")
    checkpoint()
    while step[0] >= number("allowed"):
        time.sleep(0.01)
    if step[0] == number("last"):
        break
    others = numpy.zeros_like(field)
    comm.Sendrecv(field, (comm.rank + 1) % comm.size, 0, others)
    comm.Allreduce(MPI.IN_PLACE, others, MPI.MAX)
    field[:] = (field * 3 + others) % 1000003
    step[0] += 1
    print("step", step[0], field.sum())
    print("rank", comm.rank, "to stderr", step[0], file=sys.stderr)
print("is done", field.sum())
"""


class Stage:
    """What the program is told, and who of it is killed."""

    def __init__(self, folder: Path, job: jobs.Job) -> None:
        self.folder = folder
        self.job = job
        self.allowed = 0

    def allow_more(self) -> None:
        self.allowed += 1
        self._write("allowed", self.allowed)

    def go_on_until_back(self, plane: int, times: int = 1) -> None:
        """Until the launcher has said so often that it is."""
        deadline = time.monotonic() + jobs.WATCHDOG_SECONDS
        while self._count(plane, "is back") < times:
            assert time.monotonic() < deadline, str(self.job.said())
            self.make_steps(0.1)

    def make_steps(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.allow_more()
            time.sleep(min(0.1, seconds))

    def wait_until(self, plane: int, words: str, times: int = 1) -> None:
        said = lambda: self._count(plane, words) >= times  # noqa: E731
        assert jobs.becomes_true(said, jobs.WATCHDOG_SECONDS), str(self.job.said())

    def living(self, planes: int) -> list[int]:
        """Those that take part."""
        lost, back = (
            [self._count(plane, words) for plane in range(planes)]
            for words in ("is lost", "is back")
        )
        return [plane for plane in range(planes) if lost[plane] == back[plane]]

    def _count(self, plane: int, words: str) -> int:
        lines = self.job.said().err.splitlines()
        return sum(f"plane {plane} of " in line and words in line for line in lines)

    def some_steps(self, count: int = 3) -> None:
        """Rank 0 of the plane that is shown has made so many more."""
        before = self.allowed
        for _ in range(count):
            self.allow_more()
        said = lambda: f"step {before + count} " in self.job.said().out  # noqa: E731
        assert jobs.becomes_true(said, jobs.WATCHDOG_SECONDS), str(self.job.said())

    def kill(self, plane: int, rank: int) -> None:
        who = (str(plane), str(rank))
        (pid,) = (pid for pid in self.job.processes() if identity(pid) == who)
        os.kill(pid, signal.SIGKILL)

    def end(self, steps: int = 3) -> None:
        """After so many further steps."""
        self._write("last", self.allowed + steps)
        self.allowed += steps
        self._write("allowed", self.allowed + 1)

    def _write(self, name: str, number: int) -> None:
        draft = self.folder / f"{name}.part"
        draft.write_text(str(number))
        draft.rename(self.folder / name)


def identity(pid: int) -> tuple[str | None, str | None]:
    """Its plane and rank."""
    return (jobs.variable(pid, "RESPROUT_REPLICA"), jobs.variable(pid, "OMPI_COMM_WORLD_RANK"))


def run(
    replicas: int, method: str, script: Callable[[Stage], None], *options: str
) -> tuple[jobs.Ended, int]:
    """The job, and how many steps it has made. It gets three bytes on stdin."""
    with tempfile.TemporaryDirectory(prefix="stage-") as folder:
        stages: list[Stage] = []

        def play(job: jobs.Job) -> None:
            stages.append(Stage(Path(folder), job))
            script(stages[0])

        program, report = Path(folder, "program.py"), Path(folder, "report.json")
        program.write_text(PROGRAM)
        Path(folder, "allowed").write_text("0")
        words = ["-n", RANKS, "--replicas", replicas, "--verify", method, "--report", report]
        fed = ["sh", "-c", 'printf abc | "$@"', "sh", jobs.RESPROUT, "run", *words, *options]
        command = [str(word) for word in [*fed, "--", sys.executable, program, folder]]
        ended = jobs.run(command, meanwhile=play)
        if report.exists():
            ended = replace(ended, report=json.loads(report.read_text()))
        return ended, stages[0].allowed


def expected(steps: int) -> list[str]:
    fields = [[cell + rank for cell in range(8)] for rank in range(RANKS)]
    lines = [f"rank {rank} has read 3" for rank in range(RANKS)]
    for step in range(1, steps + 1):
        largest = [max(column) for column in zip(*fields, strict=True)]
        fields = [
            [(cell * 3 + other) % 1000003 for cell, other in zip(field, largest, strict=True)]
            for field in fields
        ]
        lines += [f"rank {rank} step {step} {sum(fields[rank])}" for rank in range(RANKS)]
    return lines + [f"rank {rank} is done {sum(fields[rank])}" for rank in range(RANKS)]


def check_output(ended: jobs.Ended, steps: int) -> None:
    """Every line once, and those of each rank in order."""
    lines = ended.out.splitlines()
    for rank in range(RANKS):
        of_rank = [line for line in lines if line.startswith(f"rank {rank} ")]
        right = [line for line in expected(steps) if line.startswith(f"rank {rank} ")]
        assert of_rank == right, str(ended)
    said = sorted(line for line in ended.err.splitlines() if "to stderr" in line)
    assert said == sorted(
        f"rank {rank} to stderr {step}" for rank in range(RANKS) for step in range(1, steps + 1)
    ), str(ended)


def come_back(seed: int) -> jobs.Ended:
    """One run; raises AssertionError if it does not end as it should."""
    draw = random.Random(seed)
    killed: list[int] = []

    def script(stage: Stage) -> None:
        stage.some_steps()
        for _ in range(4):
            while len(living := stage.living(3)) < 2:
                stage.make_steps(0.1)
            stage.make_steps(draw.random() * 1.5)
            plane = draw.choice(living)
            killed.append(plane)
            stage.kill(plane, draw.randrange(RANKS))
            stage.wait_until(plane, "is lost", times=killed.count(plane))
        stage.end()

    method = draw.choice(METHODS)
    ended, steps = run(3, method, script)
    assert ended.status == 0, str(ended)
    check_output(ended, steps)
    assert ended.report["corruptions"] == []
    return ended


def returns_of(ended: jobs.Ended) -> list[int]:
    """So often each plane came back."""
    planes = ended.report["planes"]
    return [sum(one["joined_ns"] is not None for one in plane["returns"]) for plane in planes]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--first", type=int, default=1, help="the first run's seed")
    options = parser.parse_args(words)
    began, failed, returns = time.monotonic(), 0, 0
    with progress_bar(work=options.runs, things=options.runs, name="runs with returns") as shown:
        for seed in range(options.first, options.first + options.runs):
            try:
                returns += sum(returns_of(come_back(seed)))
            except (AssertionError, pytest.fail.Exception) as error:
                failed += 1
                print(f"seed {seed}: {error}", file=sys.stderr)
            shown.advance(1, 1)
    seconds = time.monotonic() - began
    print(f"{options.runs} runs, planes came back {returns} times, {seconds:.0f} s")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
