"""How long an allreduce takes into which processes die: ours, and ULFM's way on the same MPI.

FTCO, section 5.1: Table 1 and Figure 6. The same program, the same victims, which kill themselves
at the same point; one job of each way after the other. ULFM's way is what its users write: revoke
the communicator, shrink it, call again. What a death costs has two parts: until the first survivor
knows, and from there until the last survivor has the result. The first is the detector's, the
second the algorithm's. For both to know at the same time there is a third way: ULFM's, under
Resprout, which tells the MPI library of a death as soon as it knows itself, and does no more.
"""

import array
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.program import compile_program
from resprout.launch import job
from resprout.launch.command import Plan
from resprout.launch.mpi import find_mpi
from resprout.launch.shim import check_fits, find_shim
from resprout.report.ranks import read_parts

_SOURCE = Path(__file__).with_name("recovery.c")
_SECONDS_MAX = 20.0
_TRIES_MAX = 3
_BINOMIAL = "ftco-allreduce:k=2"


@dataclass(frozen=True)
class Faults:
    """Who dies. In the binomial tree 4 and 2 are children of 0, and 6 is a child of 4."""

    name: str
    victims: tuple[int, ...]


FAULTS = (
    Faults("none", ()),
    Faults("one", (4,)),
    Faults("two parallel", (2, 4)),
    Faults("two serial", (4, 6)),
    Faults("three mixed", (2, 4, 6)),
)
RANKS_MIN = 8


@dataclass(frozen=True)
class Way:
    name: str
    mode: str
    """Of the program."""
    allreduce: str | None = None

    @property
    def is_ours(self) -> bool:
        return self.mode == "transparent"

    @property
    def has_our_detector(self) -> bool:
        return self.mode != "ulfm"


WAYS = (
    Way("resprout", "transparent"),
    Way("resprout, binomial", "transparent", _BINOMIAL),
    Way("ulfm, told", "told"),
    Way("ulfm", "ulfm"),
)


@dataclass(frozen=True)
class Sample:
    """One job. Microseconds."""

    procs: int
    faults: str
    way: str
    total_us: float
    """From the last death until the last survivor has the result; without one, the allreduce's."""
    detection_us: float
    """From the first death until the first survivor knows of one."""
    recovery_us: float
    """From there until the last survivor has the result."""


class NoGoodEndError(UserError):
    """A job that hung or ended without its results."""

    def __init__(self, job: str, why: str) -> None:
        super().__init__(f"{job}: no good end: {why}")
        self.job = job


class Bench:
    """The program, compiled, and what it needs. A context: its folder goes with it."""

    def __init__(self, mpi: str | None) -> None:
        self.failed: list[NoGoodEndError] = []
        """Jobs of ULFM's way."""
        self.mpi = find_mpi(mpi, os.environ)
        if not self.mpi.has_ulfm:
            raise UserError(f"{self.mpi} has no ULFM: there is nothing to compare with")
        self._shim = find_shim()
        check_fits(self._shim, self.mpi)
        self._folder = tempfile.TemporaryDirectory(prefix="resprout-bench-")
        self._program = Path(self._folder.name) / "recovery"

    def __enter__(self) -> "Bench":
        compile_program(self.mpi, _SOURCE, self._program)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def run(self, procs: int, faults: Faults, way: Way) -> Sample:
        """One job. A NoGoodEndError if it comes to none."""
        times = Path(self._folder.name) / "times"
        times.unlink(missing_ok=True)
        words = [str(self._program), str(times), way.mode]
        words += map(str, faults.victims)
        variables = {"RESPROUT_ALLREDUCE": way.allreduce} if way.allreduce else {}
        plan = Plan(self.mpi, procs, words, self._shim if way.has_our_detector else None, variables)
        with job.run_directory() as directory, tempfile.TemporaryFile() as output:
            end = job.run(plan, directory, seconds_max=_SECONDS_MAX, output=output.fileno())
            output.seek(0)
            said = output.read().decode(errors="replace")
            seen = [loss.detected_ns for part in read_parts(directory).ranks.values()
                    for loss in part.losses]  # fmt: skip
        numbers = array.array("q", times.read_bytes() if times.exists() else b"")
        survivors = [rank for rank in range(procs) if rank not in faults.victims]
        if len(numbers) != 2 * procs or not all(numbers[2 * r + 1] for r in survivors):
            why = f"ended after {_SECONDS_MAX:.0f} s" if end.timed_out else said[-2000:]
            raise NoGoodEndError(f"{way.name}, {procs} ranks, faults {faults.name}", why)
        return _sample(procs, faults, way, numbers, survivors, seen)

    def run_to_an_end(self, procs: int, faults: Faults, way: Way) -> Sample | None:
        """One job. The MPI's own recovery may fail, ours never. None: it has each time."""
        for _ in range(_TRIES_MAX):
            try:
                return self.run(procs, faults, way)
            except NoGoodEndError as error:
                if way.is_ours:
                    raise
                self.failed.append(error)
        return None


def _sample(
    procs: int,
    faults: Faults,
    way: Way,
    numbers: Sequence[int],
    survivors: Sequence[int],
    seen: Sequence[int],
) -> Sample:
    done = max(numbers[2 * rank + 1] for rank in survivors)
    if not faults.victims:
        # The last to enter: what came before is the others' patience.
        entered = max(numbers[2 * rank] for rank in survivors)
        return Sample(procs, faults.name, way.name, (done - entered) / 1e3, 0.0, 0.0)
    deaths = [numbers[2 * rank] for rank in faults.victims]
    errors = [numbers[2 * rank] for rank in survivors if numbers[2 * rank]]
    known = min([*seen, *errors])
    return Sample(
        procs, faults.name, way.name, (done - max(deaths)) / 1e3, (known - min(deaths)) / 1e3,
        (done - known) / 1e3,
    )  # fmt: skip


def measure(
    bench: Bench, procs: Sequence[int], repetitions: int, step: Callable[[], None]
) -> Iterator[Sample]:
    """All ways in turns, so that what disturbs the machine disturbs all of them."""
    for count in procs:
        for faults in FAULTS:
            for _ in range(repetitions):
                for way in WAYS:
                    sample = bench.run_to_an_end(count, faults, way)
                    if sample is not None:
                        yield sample
                    step()


def jobs(procs: Sequence[int], repetitions: int) -> int:
    """How many jobs `measure` runs."""
    return len(procs) * len(FAULTS) * len(WAYS) * repetitions
