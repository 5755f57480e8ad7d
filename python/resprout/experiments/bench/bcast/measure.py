"""Runs the jobs of a measurement, and hears from them how far they are and what they found."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from resprout.experiments.bench.bcast.plan import Job, Measurement, work_of
from resprout.experiments.bench.program import Listener, compile_program, run
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
        program = compile_program(mpi, _SOURCE, Path(folder) / "bcast")
        for what in measurement.jobs:
            found = Found(what)
            for number in range(measurement.times):
                arguments = [str(program), *_arguments(measurement, what, number)]
                listener = _Listener(measurement, found, bar)
                run(Plan(mpi, what.ranks, arguments, shim, variables), listener)
            yield found


def _arguments(measurement: Measurement, what: Job, number: int) -> list[str]:
    def listed(numbers: tuple[int, ...]) -> str:
        return ",".join(map(str, numbers)) or "-"

    numbers = (measurement.repetitions, measurement.calls, measurement.seed + number)
    lists = (listed(measurement.sizes), listed(what.victims))
    specs = (variant.spec_for(what.ranks) for variant in what.variants)
    return [*map(str, numbers), *lists, *specs]


class _Listener(Listener):
    def __init__(self, measurement: Measurement, found: Found, bar: Bar) -> None:
        super().__init__()
        self._measurement = measurement
        self._found = found
        self._bar = bar
        self._rounds = 0

    def _note_rounds(self, rounds: int) -> None:
        """So many are done; sizes come one after the other."""
        for number in range(self._rounds, rounds):
            size = self._measurement.sizes[number // self._measurement.repetitions]
            self._bar.advance(work_of(size), 1)
        self._rounds = rounds

    def hear(self, words: list[str]) -> bool:
        match words:
            case ["at", rounds]:
                self._note_rounds(int(rounds))
            case ["sample", size, number, *times]:
                key = int(size), self._found.job.variants[int(number)].name
                before = self._found.samples.get(key, ())
                self._found.samples[key] = before + tuple(map(float, times))
            case _:
                return False
        return True
