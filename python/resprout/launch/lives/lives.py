"""A job's lives while it runs: who was lost in each, and whether another one begins.

1. One life at a time. It is ended as soon as a loss is seen, by the ids of its processes; the next
   one begins when none of them is left on this host, and mpirun has ended.
2. Each has a run directory of its own, and a folder of its own for what its ranks share: killed
   ranks leave that behind.
3. Checkpoints in memory are in a folder that all lives share: of this host in one of ours; on
   several hosts in folders that ranks make, and that are removed when ours, or its sign of life,
   is not there any more (src/mpi/policies/checkpoints/host_memory.hpp).
"""

import contextlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resprout.launch import job, stdin
from resprout.launch.command import Plan
from resprout.launch.lives import words
from resprout.launch.lives.deaths import Deaths
from resprout.launch.lives.hosts import Hosts
from resprout.launch.lives.outcome import (
    Ended,
    find_lost,
    find_lost_hosts,
    has_silent_loss,
    how_it_ended,
    losses_of,
    silent_seconds,
    status_of_losses,
)
from resprout.launch.lives.patience import Patience
from resprout.launch.lives.watch import LossSight
from resprout.launch.mpi import Setting
from resprout.launch.planes.loss_watch import LossWatch
from resprout.options import CHECKPOINT_MEMORY
from resprout.report.launch_end import End
from resprout.report.lives import Life
from resprout.report.merge import merge
from resprout.report.ranks import read_parts

# How often others are shown that the job lives: they wait half an hour for the next time.
_SHOW_SECONDS = 60.0


@dataclass(frozen=True)
class Course:
    """What is asked for."""

    first: Plan
    later: Plan
    """Of all lives but the first."""
    patience: Patience


class Lives:
    """From the first start to the last end; what it has to know comes from launch.job."""

    def __init__(
        self, course: Course, directory: Path, shared: Path | None, hosts: Hosts | None
    ) -> None:
        """`shared`: a folder for the MPI's segments. `hosts`: nothing, if none are named."""
        self.ended: list[Ended] = []
        self._plan = course.first
        self._later = course.later
        self._directory = directory
        self._shared = shared
        self._patience = course.patience
        self._hosts = hosts
        # Until then processes of a host that does not answer may live there.
        self._begins_at = 0.0
        self._deaths = Deaths()
        self._goes_on = False
        self._alive = directory / "alive"
        self._is_shown_at = -_SHOW_SECONDS
        self._show_life()
        self._checkpoints = self._folder_for_checkpoints(course.first.may_reach_other_hosts)
        self.first = self._prepare(0)

    @property
    def goes_on(self) -> bool:
        """Another life was to begin, and has not."""
        return self._goes_on

    @property
    def succession(self) -> job.Succession:
        return job.Succession(self._follow, self._deaths.has_news, self._pause)

    def look(self) -> list[int]:
        """The launch that is to be ended now."""
        self._show_life()
        if not self._sight.look():
            return []
        if not self._start.plan.may_reach_other_hosts:
            return [len(self.ended)]
        # mpirun has to end those on other hosts, by its own means: these are left alone.
        self._sight.end_ranks()
        return []

    def on_end(self, index: int, end: End) -> bool:
        """A life is over. That ends nothing else."""
        stdin.close(self._start.directory)
        ended = self._judge(index, end)
        self.ended.append(ended)
        if self._shared is not None:
            shutil.rmtree(self._shared / str(index), ignore_errors=True)
        self._goes_on = ended.is_lost
        if ended.is_lost:
            self._lose_hosts(ended.life.lost_hosts)
            self._decide(ended)
        return False

    def _lose_hosts(self, lost: Sequence[str]) -> None:
        if self._hosts is None or not lost:
            return
        self._hosts.lose(lost)
        words.tell_of_hosts(lost, self._hosts)
        if has_silent_loss(self._start.directory):
            self._begins_at = time.monotonic() + silent_seconds(self._plan.variables)

    def _pause(self) -> float:
        return max(0.0, self._begins_at - time.monotonic()) if self._goes_on else 0.0

    def _decide(self, ended: Ended) -> None:
        why = self._patience.why_over([one.idle_seconds for one in self.ended])
        if self._hosts is not None and not self._hosts.lines:
            why = "no host is left"
        losses, seconds = ended.report.losses, ended.life.seconds
        if why is None:
            words.tell_of_start(losses, seconds, len(self.ended), self._patience.restarts)
        else:
            self._goes_on = False
            words.tell_of_end(losses, seconds, ended.status, why)

    def _follow(self) -> job.Start | None:
        if not self._goes_on:
            return None
        self._goes_on = False
        return self._prepare(len(self.ended))

    def _prepare(self, number: int) -> job.Start:
        directory = self._directory / f"life-{number}"
        directory.mkdir(mode=0o700)
        plan = self._plan if number == 0 else self._later
        if self._hosts is not None:
            hostfile = self._directory / f"hosts-{number}"
            hostfile.write_text("".join(f"{line}\n" for line in self._hosts.lines))
            plan = replace(plan, hostfile=str(hostfile))
        variables = {**plan.variables, "RESPROUT_RESTART": str(number)}
        variables[CHECKPOINT_MEMORY] = self._checkpoints
        plan = replace(plan, variables=variables, settings_of_job=self._segments(number))
        is_told = plan.mpi.is_started_by_us and plan.shim is None
        self._sight = LossSight(directory, self._deaths, not plan.may_reach_other_hosts, is_told)
        has_lost = LossWatch(directory) if plan.may_reach_other_hosts else lambda: False
        self._start = job.Start(plan, directory, has_lost=has_lost, judges_start=False)
        return self._start

    def _show_life(self) -> None:
        if time.monotonic() < self._is_shown_at + _SHOW_SECONDS:
            return
        with contextlib.suppress(OSError):
            self._alive.touch()
        self._is_shown_at = time.monotonic()

    def _folder_for_checkpoints(self, has_several_hosts: bool) -> str:
        """In memory, if there is a folder in it. %h: the host's name."""
        if has_several_hosts:
            return f"/dev/shm/{self._directory.name}.%h"
        folder = (self._shared or self._directory) / "checkpoints"
        folder.mkdir(mode=0o700)
        return str(folder)

    def _segments(self, number: int) -> Sequence[Setting]:
        if self._shared is None:
            return ()
        folder = self._shared / str(number)
        folder.mkdir()
        reason = "what killed ranks leave there has to be found"
        return (Setting("OMPI_MCA_btl_sm_backing_directory", str(folder), reason),)

    def _judge(self, number: int, end: End) -> Ended:
        plan, directory = self._start.plan, self._start.directory
        parts = read_parts(directory)
        if not end.signals and end.early_end is None:
            end.early_end = self._sight.early_end()
        lost = () if end.signals else find_lost(directory, parts, end, self._sight)
        # MPI_Abort on another host ends the daemon there.
        lost_hosts = () if parts.aborted_with is not None else find_lost_hosts(directory)
        how = how_it_ended(parts, end, plan.ranks, bool(lost or lost_hosts))
        unprotected = range(plan.ranks) if plan.unprotected is not None else end.unprotected
        report = merge(
            parts, end, ranks=plan.ranks, command=plan.program, mpi=str(plan.mpi),
            on_loss="restart", absent=lost, unprotected=unprotected,
        )  # fmt: skip
        started = [part.started_ns for part in parts.ranks.values()]
        losses = losses_of(report, lost, self._sight, number) if how == "lost" else []
        life = Life(
            number=number,
            how=how,
            started_ns=end.started_ns,
            running_ns=min(started, default=None),
            ended_ns=end.ended_ns,
            lost=tuple(loss.rank for loss in losses),
            command=tuple(plan.program),
            lost_hosts=lost_hosts,
        )
        status = status_of_losses(losses) if how == "lost" else report.exit_status
        counts = (directory / "checkpoint-counts").exists()
        return Ended(life, replace(report, losses=tuple(losses)), status, counts)
