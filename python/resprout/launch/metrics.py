"""The figures of a job as a file of OpenMetrics, written anew while it runs (--metrics).

While the job runs, they come from what the ranks and mpirun leave in the run directory; at its end
from the report, which knows more.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout import __version__, log
from resprout.errors import UserError
from resprout.openmetrics import Exposition, Family
from resprout.report.job import Report
from resprout.report.ranks import Parts, read_parts

# How often the file is written; scrapes are seldom closer than some seconds.
_WRITE_SECONDS = 2.0
_ENDING_FAULT = re.compile(r"(kill|exit|stop):")

INFO = Family("job_info", "gauge", "What runs: 1.")
START = Family("job_start_time_seconds", "gauge", "When the job was started.", "seconds")
RUNNING = Family("job_running", "gauge", "1 while the job runs, 0 from its end on.")
STATUS = Family("job_exit_status", "gauge", "The exit status of a job that has ended.")
PROCESSES = Family(
    "processes", "gauge", "Ranks of the newest start of the job, or of a plane, by their state."
)
LOSSES = Family(
    "losses", "counter",
    "Ranks that were lost. With replicas or restarts those of all starts, at the end.",
)  # fmt: skip
STARTS_AGAIN = Family("restarts", "counter", "How often the job, or a plane, was started again.")
FAULTS = Family("faults_injected", "counter", "Faults of --inject that came about.")
CORRUPTIONS = Family("corruptions", "counter", "What was found to differ between replicas.")
UNANSWERED = Family("unanswered_calls", "counter", "Ranks that asked for data of lost ones.")
VIEWS = Family("views", "counter", "Views that were agreed on after losses. At the end.")
RECOVERY = Family(
    "recovery_seconds", "counter", "What the slowest rank spent in recovery. At the end.", "seconds"
)
CALLS = Family("calls", "counter", "Calls of MPI, summed over the ranks. At the end.")
NATIVE = Family("native_calls", "counter", "Those that the MPI library carried. At the end.")
TOUCHED = Family("touched_calls", "counter", "Those that a loss fell into. At the end.")
FAILED = Family("failed_calls", "counter", "Those that returned an error. At the end.")


@dataclass(frozen=True)
class Sighting:
    """One launch of the MPI, as it stands."""

    directory: Path
    replica: int
    is_over: bool


Watcher = Callable[[Sequence[Sighting]], None]
"""Told several times a second of all launches, in the order in which they began, until the job is
ended from outside."""


class Metrics:
    """Of one job, in one file."""

    def __init__(
        self, path: Path, ranks: int, *, mpi: str, on_loss: str, replicas: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """UserError: the file cannot be written."""
        self._path = path
        self._ranks = ranks
        # A plane, and a life, ends all its ranks when one is lost: who was it is told at the end.
        self._sees_losses = replicas == 1 and on_loss != "restart"
        self._clock = clock
        self._written_at = clock()
        self._fails = False
        self._over: dict[Path, Parts] = {}
        # Several jobs of a host may leave files in one folder.
        self._figures = Exposition({"run": path.stem})
        self._figures.set(
            INFO, 1, version=__version__, mpi=mpi, on_loss=on_loss, replicas=str(replicas)
        )
        self._figures.set(START, round(time.time(), 3))
        self._figures.set(RUNNING, 1)
        for family in (LOSSES, STARTS_AGAIN, FAULTS, CORRUPTIONS, UNANSWERED):
            self._figures.set(family, 0)
        for replica in range(replicas):
            self._set_states(replica, 0, 0, 0)
        try:
            self._figures.write(path)
        except OSError as error:
            raise UserError(f"--metrics: {path} cannot be written: {error.strerror}") from error

    def look(self, launches: Sequence[Sighting]) -> None:
        """A Watcher."""
        if self._clock() - self._written_at < _WRITE_SECONDS:
            return
        self._written_at = self._clock()
        newest = {launch.replica: launch for launch in launches}
        parts = {launch.directory: self._read(launch) for launch in launches}
        lost = {one: self._lost(found) for one, found in parts.items()}
        for replica, launch in newest.items():
            seen, gone = parts[launch.directory], lost[launch.directory]
            ended = seen.ended | {*seen.exits, *seen.ranks}
            self._set_states(replica, len(seen.started), len(ended - gone), len(gone))
        self._figures.set(STARTS_AGAIN, len(launches) - len(newest))
        self._figures.set(LOSSES, sum(map(len, lost.values())))
        found = parts.values()
        flips = sum(len(one.flipped) for one in found)
        self._figures.set(FAULTS, sum(len(one.injected) for one in found) + flips)
        self._figures.set(CORRUPTIONS, sum(len(one.corruptions) for one in found))
        self._figures.set(UNANSWERED, sum(len(one.unanswered) for one in found))
        self._write()

    def end(self, report: Report) -> None:
        """The job is over."""
        figures = self._figures
        figures.set(RUNNING, 0)
        figures.set(STATUS, report.exit_status)
        planes = [one for plane in report.planes for one in plane.launches]
        of_planes = sum(len(one.report.losses) for one in planes)
        figures.set(LOSSES, of_planes if planes else len(report.losses))
        returns = sum(len(plane.returns) for plane in report.planes)
        figures.set(STARTS_AGAIN, returns + max(0, len(report.lives) - 1))
        figures.set(CORRUPTIONS, len(report.corruptions))
        figures.set(UNANSWERED, len(report.unanswered))
        figures.set(VIEWS, len(report.views or ()))
        figures.set(RECOVERY, report.recovery_ns / 1e9)
        for name, tally in report.operations.items():
            figures.set(CALLS, tally.calls, call=name)
            figures.set(NATIVE, tally.native, call=name)
            figures.set(TOUCHED, tally.touched, call=name)
            figures.set(FAILED, tally.errors, call=name)
        # In planes ranks are lost that the last report does not name.
        if not report.planes:
            lost = len(report.losses) if not report.lives else len(report.lives[-1].lost)
            self._set_states(0, report.ranks, report.ranks - lost, lost)
        self._write()

    def _set_states(self, replica: int, started: int, ended: int, lost: int) -> None:
        states = {
            "waiting": self._ranks - started, "running": max(0, started - ended - lost),
            "ended": ended, "lost": lost,
        }  # fmt: skip
        for state, count in states.items():
            self._figures.set(PROCESSES, count, replica=str(replica), state=state)

    def _read(self, launch: Sighting) -> Parts:
        if launch.directory in self._over:
            return self._over[launch.directory]
        try:
            parts = read_parts(launch.directory)
        except OSError:
            return Parts()
        if launch.is_over:
            self._over[launch.directory] = parts
        return parts

    def _lost(self, parts: Parts) -> frozenset[int]:
        """Those that a signal ended, or a fault."""
        if not self._sees_losses:
            return frozenset()
        by_fault = {r for r, one in parts.injected.items() if _ENDING_FAULT.match(one.fault)}
        return frozenset(parts.killed | parts.stood_still | by_fault)

    def _write(self) -> None:
        try:
            self._figures.write(self._path)
            self._fails = False
        except OSError as error:
            if not self._fails:
                log.warn(f"--metrics: {self._path} cannot be written: {error.strerror}")
            self._fails = True
