"""What a checkpoint in memory costs, and how long a job is still after the death of a rank.

Costs are those of one job, beside each other: a checkpoint, a plain copy of the same memory, and
the exchange of as many bytes with a neighbor. Deaths come by SIGKILL to one process, half-way
between two checkpoints. From there on a rank is still for as long as no process of it ends a step;
what counts is the rank that is still for longest.
"""

import array
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.program import compile_program
from resprout.launch import processes
from resprout.launch.mpi import Setting, basic_settings_for, find_mpi, one_host_settings
from resprout.launch.shim import check_fits, find_shim
from resprout.options import OPTIONS

MEMORY, STANDBY, FILES, REPLICAS, BY_HAND = WAYS = (
    "restart from memory", "standby, from memory", "restart from files", "two replicas",
    "by hand from files",
)  # fmt: skip
_HEAD = 4
_PAUSE_US = 2000
_NEAR = 25
"""Steps before and after a death that are looked at: none of them has a checkpoint."""
_SECONDS_MAX = 300.0


@dataclass(frozen=True)
class Measurement:
    ranks: int
    mib: int
    """That each rank protects."""
    checkpoints: int
    """Of a job."""
    repetitions: int
    every_s: float
    work_s: float
    """How long a job computes of which the cost is measured; 0: none is."""

    @property
    def jobs(self) -> int:
        return self.repetitions * (1 + (2 if self.work_s > 0 else 0) + len(WAYS))


@dataclass(frozen=True)
class Cost:
    """Of one checkpoint, each by the rank that was slowest. Nanoseconds."""

    memcpy: int
    wire: int
    checkpoint: int


@dataclass(frozen=True)
class Work:
    """One job that computed for a while."""

    has_checkpoints: bool
    step_ns: float
    share: float
    """Of its time that went into checkpoints."""


@dataclass(frozen=True)
class Death:
    """One job that lost a process. Nanoseconds from the SIGKILL on."""

    way: str
    before: int
    """How long a rank was still in the steps before it."""
    in_mpi: int | None
    """Until all ranks of the next life were through MPI_Init, and had their data. No life: None."""
    has_data: int | None
    computes: int


Sample = Cost | Work | Death


class Bench:
    """The program, compiled, and what it needs. A context: its folder goes with it."""

    def __init__(self, mpi: str | None, measurement: Measurement) -> None:
        self._prefix = mpi
        self._of = measurement
        self.mpi = find_mpi(mpi, os.environ)
        if self.mpi.is_started_by_us:
            raise UserError(f"{self.mpi} has no mpirun to compare with")
        check_fits(find_shim(), self.mpi)
        self._folder = tempfile.TemporaryDirectory(prefix="resprout-bench-")
        self._program = Path(self._folder.name) / "returns"

    def __enter__(self) -> "Bench":
        compile_program(self.mpi, Path(__file__).with_name("returns.c"), self._program)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def costs(self) -> list[Cost]:
        """One job."""
        lines = self._listen(["costs", str(self._of.mib), str(self._of.checkpoints)], "took")
        return [Cost(*map(int, line)) for line in lines]

    def work(self, has_checkpoints: bool) -> Work:
        """One job."""
        times = [self._of.work_s, self._of.every_s if has_checkpoints else 0]
        words = ["period", str(self._of.mib), *(f"{seconds * 1000:.0f}" for seconds in times)]
        lines = self._listen(words, "lasted")
        lasted, steps, _, inside = map(int, lines[0])
        return Work(has_checkpoints, lasted / steps, inside / lasted)

    def death(self, way: str) -> Death:
        """One job, from its start to its end."""
        folder = Path(self._folder.name) / "lives"
        folder.mkdir()
        every = 2 * _NEAR + 20
        how = {MEMORY: "kept", STANDBY: "kept", REPLICAS: "plain"}.get(way, "written")
        words = [how, *map(str, (self._of.mib, 3 * every, every, _PAUSE_US, folder))]
        replicas = 2 if way == REPLICAS else 1
        if way == STANDBY:
            (folder / "wait").touch()
        try:
            with Started(self._command(way, words), self._environment(way)) as job:
                if way == STANDBY:
                    _wait_for_standby(job, folder, self._of.ranks)
                    (folder / "wait").unlink()
                count = replicas * self._of.ranks
                victims = _wait_for_step(job, folder, count, every + every // 2)
                killed_ns = time.time_ns()
                os.kill(victims[self._of.ranks // 2], signal.SIGKILL)
                if way == BY_HAND:
                    job.wait(is_good=False)
                    with Started(self._command(way, words), self._environment(way)) as again:
                        again.wait()
                else:
                    job.wait()
            found = [Process.read(path) for path in folder.glob("process-*")]
        finally:
            shutil.rmtree(folder)
        return death_of(way, found, self._of.ranks, killed_ns)

    def _listen(self, words: Sequence[str], head: str) -> list[list[str]]:
        """Of the lines of a job that begin so, the other words."""
        with Started(self._command(MEMORY, words), self._environment(MEMORY)) as job:
            out = job.wait()
        lines = [line.split() for line in out.splitlines()]
        return [line[1:] for line in lines if line[:1] == [head]]

    def _command(self, way: str, words: Sequence[str]) -> list[str]:
        ranks = ["-n", str(self._of.ranks)]
        if way == BY_HAND:
            given = [(s.name, s.value) for s in self._settings() if s.is_argument]
            arguments = [word for pair in given for word in pair if word]
            return [str(self.mpi.launcher), *arguments, *ranks, str(self._program), *words]
        options = ["--replicas", "2"] if way == REPLICAS else ["--on-loss", "restart"]
        # A bench is short, and its deaths are no crash loop.
        options += [] if way == REPLICAS else ["--short-life", "0"]
        options += ["--standby", "--run-dir", words[-1]] if way == STANDBY else []
        options += [] if self._prefix is None else ["--mpi", self._prefix]
        ours = [sys.executable, "-m", "resprout", "run", *ranks, *options]
        return [*ours, "--", str(self._program), *words]

    def _environment(self, way: str) -> dict[str, str]:
        ours = {option.variable for option in OPTIONS}
        settings = self._settings() if way == BY_HAND else []
        given = {setting.name: setting.value for setting in settings if not setting.is_argument}
        return {**given, **{name: value for name, value in os.environ.items() if name not in ours}}

    def _settings(self) -> list[Setting]:
        return [*basic_settings_for(self.mpi, self._of.ranks), *one_host_settings(self.mpi)]


class Started:
    """A job under way. A context: at its end nothing of it is left."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=self._said,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: processes.end_with_parent(signal.SIGTERM),  # noqa: PLW1509
        )  # fmt: skip

    def __enter__(self) -> "Started":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
        self._said.close()

    def wait(self, is_good: bool = True) -> str:
        """Until it has ended: what it said. A UserError, if it should have ended well."""
        try:
            self.process.wait(_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            raise UserError(f"a job did not end in {_SECONDS_MAX:.0f} s") from None
        out = self.said()
        if is_good and (self.process.returncode != 0 or "done" not in out.split()):
            raise UserError(f"a job failed; it said: {out.strip()[-2000:] or 'nothing'}")
        return out

    def said(self) -> str:
        self._said.seek(0)
        return self._said.read().decode(errors="replace")


def _wait_for_standby(job: Started, folder: Path, ranks: int) -> None:
    """Until the next life waits at the end of MPI_Init (launch/early_end.py)."""

    def is_there() -> bool:
        found = list(folder.glob("resprout-*/life-1/entered-*"))
        has_ended = job.process.poll() is not None
        return has_ended or (len(found) == ranks and not (found[0].parent / "starting").exists())

    if not processes.wait_for(is_there, _SECONDS_MAX) or job.process.poll() is not None:
        raise UserError(f"nobody stood by; the job said: {job.said().strip()[-2000:]}")


@dataclass(frozen=True)
class Process:
    """What one has left, in nanoseconds of the wall clock."""

    pid: int
    rank: int
    entered: int
    has_data: int
    ends: Sequence[int]
    """Of its steps."""

    @staticmethod
    def read(path: Path) -> "Process":
        numbers = array.array("q", path.read_bytes())
        rank, entered, has_data, steps = numbers[:_HEAD] if numbers else (0, 0, 0, 0)
        pid = int(path.name.partition("-")[2])
        return Process(pid, rank, entered, has_data, list(numbers[_HEAD : _HEAD + steps]))


def _wait_for_step(job: Started, folder: Path, count: int, step: int) -> list[int]:
    """Until `count` processes have done so many steps: the ids of some, one of each rank."""
    until = time.monotonic() + _SECONDS_MAX
    while time.monotonic() < until and job.process.poll() is None:
        found = [Process.read(path) for path in folder.glob("process-*")]
        if sum(len(process.ends) >= step for process in found) >= count:
            pids = {process.rank: process.pid for process in found}
            return [pids[rank] for rank in sorted(pids)]
        time.sleep(0.005)
    raise UserError(f"a job did not get to work; it said: {job.said().strip()[-2000:]}")


def death_of(way: str, found: Sequence[Process], ranks: int, killed_ns: int) -> Death:
    """REQUIRES: of each rank there is a process that did steps after the death."""
    later = [process for process in found if process.entered > killed_ns]
    before, after = [], []
    for rank in range(ranks):
        ends = sorted(end for process in found if process.rank == rank for end in process.ends)
        before.append(longest([end for end in ends if end <= killed_ns][-_NEAR:]))
        # What dies with the others may end a step just behind the first.
        again = [process.ends for process in later if process.rank == rank] if later else [ends]
        to_come = sorted(end for ends in again for end in ends if end > killed_ns)
        if not to_come:
            raise UserError(f"{way}: rank {rank} did not go on")
        after.append(longest([killed_ns, *to_come[:_NEAR]]))
    in_mpi = max((process.entered - killed_ns for process in later), default=None)
    has_data = max((process.has_data - killed_ns for process in later), default=None)
    return Death(way, max(before), in_mpi, has_data, max(after))


def longest(times: Sequence[int]) -> int:
    """The longest time between one and the next. REQUIRES: ascending."""
    return max((after - before for before, after in pairwise(times)), default=0)


def measure(bench: Bench, measurement: Measurement, step: Callable[[], None]) -> Iterator[Sample]:
    """All in turns, so that what disturbs the machine disturbs all of them."""
    for _ in range(measurement.repetitions):
        yield from bench.costs()
        step()
        for has_checkpoints in (False, True) if measurement.work_s > 0 else ():
            yield bench.work(has_checkpoints)
            step()
        for way in WAYS:
            yield bench.death(way)
            step()
