"""Runs the jobs of a measurement, and hears from them how far they are and what they found."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from resprout.bench.bcast.plan import Job, Measurement, work_of
from resprout.errors import UserError
from resprout.launch import job
from resprout.launch.command import Plan
from resprout.launch.mpi import Mpi
from resprout.progress import Bar

_SOURCE = Path(__file__).with_name("bcast.c")

# Microseconds a broadcast, sample by sample.
Samples = tuple[float, ...]


@dataclass
class Found:
    """What a job has measured, all the times that it was run."""

    job: Job
    samples: dict[tuple[int, str], Samples] = field(default_factory=dict)
    """By size and name of the variant."""


def measure(
    measurement: Measurement,
    mpi: Mpi,
    shim: Path,
    variables: dict[str, str],
    bar: Bar,
) -> Iterator[Found]:
    """Job by job. The bar is told of rounds that are done, on another thread."""
    with tempfile.TemporaryDirectory(prefix="resprout-bench-") as folder:
        program = compile_program(mpi, Path(folder))
        for what in measurement.jobs:
            found = Found(what)
            for number in range(measurement.times):
                arguments = [str(program), *_arguments(measurement, what, number)]
                listener = _Listener(measurement, found, bar)
                _run(Plan(mpi, what.ranks, arguments, shim, variables), listener)
            yield found


def compile_program(mpi: Mpi, folder: Path) -> Path:
    """The program that calls MPI_Bcast, built for this MPI."""
    program = folder / "bcast"
    command = [str(mpi.mpicc), "-O2", "-o", str(program), str(_SOURCE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UserError(f"{mpi.mpicc} is needed to compile, but: {error.strerror}") from error
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UserError(f"{mpi.mpicc} fails: {why}")
    return program


def _arguments(measurement: Measurement, what: Job, number: int) -> list[str]:
    def listed(numbers: tuple[int, ...]) -> str:
        return ",".join(map(str, numbers)) or "-"

    numbers = (measurement.repetitions, measurement.calls, measurement.seed + number)
    lists = (listed(measurement.sizes), listed(what.victims))
    specs = (variant.spec_for(what.ranks) for variant in what.variants)
    return [*map(str, numbers), *lists, *specs]


class _Listener:
    """Reads what a job says, on a thread of its own, line by line."""

    def __init__(self, measurement: Measurement, found: Found, bar: Bar) -> None:
        self._measurement = measurement
        self._found = found
        self._bar = bar
        self._rounds = 0
        self.is_done = False
        self.other_lines: list[str] = []

    def telling_line(self) -> str:
        """What we have said ourselves; else what was said first that is no frame."""
        texts = [line.strip() for line in self.other_lines if line.strip().strip("-=*")]
        ours = [text for text in texts if text.startswith(("resprout: ", "bench: "))]
        return (ours or texts or ["it said nothing"])[0].removeprefix("resprout: ")

    def listen(self, fd: int) -> None:
        with os.fdopen(fd, errors="replace") as lines:
            for line in lines:
                self._hear(line.split(), line)

    def _note_rounds(self, rounds: int) -> None:
        """So many are done; sizes come one after the other."""
        for number in range(self._rounds, rounds):
            size = self._measurement.sizes[number // self._measurement.repetitions]
            self._bar.advance(work_of(size), 1)
        self._rounds = rounds

    def _hear(self, words: list[str], line: str) -> None:
        match words:
            case ["at", rounds]:
                self._note_rounds(int(rounds))
            case ["sample", size, number, *times]:
                key = int(size), self._found.job.variants[int(number)].name
                before = self._found.samples.get(key, ())
                self._found.samples[key] = before + tuple(map(float, times))
            case ["done"]:
                self.is_done = True
            case _:
                self.other_lines.append(line)


def _run(plan: Plan, listener: _Listener) -> None:
    reading, writing = os.pipe()
    thread = threading.Thread(target=listener.listen, args=(reading,))
    thread.start()
    try:
        with job.run_directory() as directory:
            end = job.run(plan, directory, output=writing)
    finally:
        os.close(writing)
        thread.join()
    if end.signals:
        raise KeyboardInterrupt
    if not listener.is_done:
        raise UserError(f"a job of {plan.ranks} ranks failed: {listener.telling_line()}")
