"""Runs the jobs of a measurement, and hears from them how far they are and what they found."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.program import Listener, compile_program, run
from resprout.experiments.bench.revoke.plan import AFTER, BEFORE, Job, Measurement
from resprout.launch.command import Plan
from resprout.launch.mpi import Mpi, find_mpi
from resprout.launch.shim import check_fits, find_shim
from resprout.progress import Bar

_SOURCE = Path(__file__).with_name("revoke.c")
_SEED = 1  # of the order of turns
WAYS = ("resprout", "ulfm")
"""As the program numbers them: Resprout's calls, and the MPI library's own."""


@dataclass(frozen=True)
class Sample:
    """One repetition of a case. Microseconds of the slowest rank."""

    before: tuple[float, ...]
    """Of each operation on the communicator before it is revoked."""
    revoked: float
    """From when the initiator revokes until the last rank is out of the interrupted operation."""
    after: tuple[float, ...]
    """Of each operation on the other communicator afterwards."""


@dataclass(frozen=True)
class Found:
    """What a job has measured."""

    job: Job
    samples: Mapping[tuple[int, str], list[Sample]]
    """By number of the case and way, in the order of the repetitions."""


def find_ulfm(prefix: str | None) -> Mpi:
    mpi = find_mpi(prefix, os.environ)
    if not mpi.has_ulfm:
        raise UserError(f"{mpi} has no ULFM: there is nothing to compare with")
    return mpi


def measure(
    measurement: Measurement, mpi: Mpi, variables: Mapping[str, str], bar: Bar
) -> Iterator[Found]:
    """Job by job. The bar is told of rounds that are done, on another thread."""
    shim = find_shim()
    check_fits(shim, mpi)
    with tempfile.TemporaryDirectory(prefix="resprout-bench-") as folder:
        program = compile_program(mpi, _SOURCE, Path(folder) / "revoke")
        numbers = (measurement.repetitions, BEFORE, AFTER, measurement.pause_us, _SEED)
        for job in measurement.jobs:
            words = [str(program), *map(str, numbers), *map(str, job.cases)]
            listener = _Listener(job, bar)
            run(Plan(mpi, job.ranks, words, shim, variables), listener)
            yield Found(job, listener.samples)


class _Listener(Listener):
    def __init__(self, job: Job, bar: Bar) -> None:
        super().__init__()
        self.samples: dict[tuple[int, str], list[Sample]] = {}
        self._job = job
        self._bar = bar

    def hear(self, words: list[str]) -> bool:
        match words:
            case ["at", _]:
                self._bar.advance(self._job.work, 1)
            case ["sample", number, way, *times] if len(times) == BEFORE + 1 + AFTER:
                us = tuple(map(float, times))
                sample = Sample(us[:BEFORE], us[BEFORE], us[BEFORE + 1 :])
                self.samples.setdefault((int(number), WAYS[int(way)]), []).append(sample)
            case _:
                return False
        return True
