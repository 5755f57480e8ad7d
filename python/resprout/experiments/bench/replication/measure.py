"""How long the kernels take: alone, as copies without any tie, and as replicas, by method.

Lazy Fault Detection, section 5.1, measures "the entire execution of the mpirun command", and each
copy has cores of its own. Where copies compete for cores the least that r replicas can take is what
r plain copies take that begin together: here both are measured the same way, in turns. The time
counts from when the last process of all copies is through MPI_Init until the last one is through
MPI_Finalize: by then a lazy method has verified all messages (chapter 3, third requirement).
"""

import array
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resprout.errors import UserError
from resprout.experiments.bench.replicated import Job, run_replicated
from resprout.experiments.bench.replication.kernels import (
    Size,
    compile_kernels,
    find_sources,
    read_digest,
)
from resprout.launch import job
from resprout.launch.command import Plan
from resprout.launch.mpi import find_mpi
from resprout.launch.shim import check_fits, find_shim

COPIES = "copies"
"""Plain ones, by the MPI's launcher, without Resprout. With degree 1: the plain program."""
_WORD = 8


@dataclass(frozen=True)
class Measurement:
    ranks: int
    sizes: Mapping[str, Size]
    """By kernel."""
    degrees: Sequence[int]
    methods: Sequence[str]
    repetitions: int

    @property
    def cases(self) -> list[tuple[int, str]]:
        """Degree and method: of each kernel, in one round."""
        replicated = [(d, m) for d in self.degrees for m in (COPIES, *self.methods)]
        return [(1, COPIES), *replicated]

    @property
    def jobs(self) -> int:
        return self.repetitions * len(self.sizes) * len(self.cases)


@dataclass(frozen=True)
class Sample:
    """One run. Seconds."""

    round: int
    kernel: str
    degree: int
    method: str
    time_s: float
    """From when all have begun until the last process is through MPI_Finalize."""
    computed_s: float
    """From there until the last process enters it."""
    wall_s: float
    """Of the whole command."""
    compared: int | None = None
    """The following are the report's `verification`; nothing without one."""
    unverified: int | None = None
    open_max: int | None = None
    bytes_max: int | None = None
    history: Mapping[str, Any] | None = None


class Bench:
    """The kernels, compiled, and what they need. A context: its folder goes with it."""

    def __init__(self, mpi: str | None, kernels: Path | None) -> None:
        self._prefix = mpi
        self._sources = find_sources(kernels)
        self.mpi = find_mpi(mpi, os.environ)
        check_fits(find_shim(), self.mpi)
        self._folder = tempfile.TemporaryDirectory(prefix="resprout-bench-")

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def compile(self, names: Sequence[str]) -> None:
        compile_kernels(self.mpi, self._sources, names, Path(self._folder.name))

    def run(self, round: int, kernel: str, size: Size, ranks: int, case: tuple[int, str]) -> Sample:
        """One run. A UserError if it does not come to a good end."""
        degree, method = case
        verification: Mapping[str, Any] = {}
        program = [str(Path(self._folder.name) / kernel), size.letter, str(size.iterations)]
        with tempfile.NamedTemporaryFile(dir=self._folder.name) as file:
            file.truncate(_WORD * (1 + 3 * degree * ranks))
            variables = {
                "REPLICATION_CLOCK": file.name,
                "REPLICATION_PROCESSES": str(degree * ranks),
            }
            if method == COPIES:
                wall = self._copies(program, ranks, degree, variables)
            else:
                replicated = Job(ranks, degree, method, program, variables=variables)
                ended = run_replicated(replicated, self._prefix)
                _check_said(kernel, method, ended.out, ended.err)
                _check_untouched(replicated, ended.report)
                wall, verification = ended.wall_s, ended.report.get("verification") or {}
            numbers = array.array("q", Path(file.name).read_bytes())
        time_s, computed_s = times_of(numbers)
        counts = {
            k: verification.get(k)
            for k in ("compared", "unverified", "open_max", "bytes_max", "history")
        }
        return Sample(
            round, kernel, degree, method, time_s, computed_s, wall, **counts
        )  # fmt: skip

    def _copies(
        self, program: Sequence[str], ranks: int, copies: int, variables: Mapping[str, str]
    ) -> float:
        """So many jobs of the MPI's own, side by side; the seconds until the last one is over."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="resprout-bench-") as folder:
            outputs = [Path(folder) / f"output-{copy}" for copy in range(copies)]
            starts = []
            files = [path.open("wb") for path in outputs]
            for copy, file in enumerate(files):
                own = {**variables, "RESPROUT_REPLICA": str(copy)}
                plan = Plan(self.mpi, ranks, program, None, own, planes=copies)
                directory = Path(folder) / f"copy-{copy}"
                directory.mkdir()
                starts.append(job.Start(plan, directory, file.fileno(), file.fileno()))
            ends = job.run_all(starts, lambda: None, lambda _index, _end: False)
            for file in files:
                file.close()
            wall = time.monotonic() - began
            texts = [path.read_text(errors="replace") for path in outputs]
        if any(end.signals for end in ends):
            raise KeyboardInterrupt
        for text in texts:
            _check_said(Path(program[0]).name, COPIES, text, "")
        return wall


def times_of(numbers: Sequence[int]) -> tuple[float, float]:
    """Seconds until all were through MPI_Finalize, and until all entered it.

    `numbers` is what clock.h leaves: a counter, then three nanoseconds for each process.
    """
    times = numbers[1:]
    if len(times) < 3 or not all(times):
        raise UserError("a process has left no times")
    began = max(times[0::3])
    return (max(times[2::3]) - began) / 1e9, (max(times[1::3]) - began) / 1e9


def _check_said(kernel: str, method: str, out: str, err: str) -> None:
    if read_digest(out) is None:
        words = (out + err).strip()[-2000:] or "nothing"
        raise UserError(f"{kernel}, {method}: no good end; it said: {words}")


def _check_untouched(replicated: Job, report: Mapping[str, Any]) -> None:
    """What was lost or corrupted on the way has another price."""
    if report.get("corruptions") or any(plane["how"] != "whole" for plane in report["planes"]):
        raise UserError(f"{replicated}: a plane was lost, or something was corrupted")


def measure(bench: Bench, measurement: Measurement, step: Callable[[], None]) -> Iterator[Sample]:
    """All methods in turns, so that what disturbs the machine disturbs all of them."""
    bench.compile(list(measurement.sizes))
    for round in range(measurement.repetitions):
        for kernel, size in measurement.sizes.items():
            cases = measurement.cases
            # Nobody is always the first, or always after the same one.
            turn = round % len(cases)
            for case in (*cases[turn:], *cases[:turn]):
                yield bench.run(round, kernel, size, measurement.ranks, case)
                step()
