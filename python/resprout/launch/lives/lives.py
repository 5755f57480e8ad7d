"""A job's lives while it runs: who was lost in each, and whether another one begins.

1. One life at a time. It is ended as soon as a loss is seen, by the ids of its processes; the next
   one begins when none of them is left on this host, and mpirun has ended. One that stands by is
   started before, and waits in MPI_Init until no rank of the one before is left (standby.py).
2. Each has a run directory of its own, and a folder of its own for what its ranks share: killed
   ranks leave that behind.
3. Checkpoints in memory are in a folder that all lives share: of this host in one of ours; on
   several hosts in folders that ranks make, and that are removed when ours, or its sign of life,
   is not there any more (src/mpi/policies/checkpoints/host_memory.hpp).
"""

import contextlib
import math
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
from resprout.launch.lives.standby import VARIABLE, Gate, Readiness
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
    stands_by: bool = False
    """The next life is started before it is needed. REQUIRES: all ranks are on this host."""


@dataclass(frozen=True)
class _Start:
    """Of one life."""

    number: int
    launch: job.Start
    sight: LossSight
    is_ready: Readiness
    gate: Gate | None
    """That holds it, if it stands by."""
    began: float

    @property
    def waits(self) -> bool:
        return self.gate is not None and not self.gate.is_open

    @property
    def has_checkpoint(self) -> bool:
        """It came to one of resprout_checkpoint's that all ranks have."""
        return (self.launch.directory / "checkpoint-counts").exists()


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
        self._stands_by = course.stands_by
        # Of each launch, in their order; and that which may not have begun yet.
        self._starts: list[_Start] = []
        self._standby: _Start | None = None
        # It stood by on a host that is lost.
        self._doomed: _Start | None = None
        self._is_over = False
        self._alive = directory / "alive"
        self._is_shown_at = -_SHOW_SECONDS
        self._show_life()
        self._checkpoints = self._folder_for_checkpoints(course.first.may_reach_other_hosts)
        self.first = self._begin(0).launch

    @property
    def goes_on(self) -> bool:
        """Another life was to begin, and has not."""
        return self._goes_on

    @property
    def succession(self) -> job.Succession:
        return job.Succession(
            self._follow, self._deaths.has_news, self._pause, self._start_ahead, self._hand_over
        )

    def look(self) -> list[int]:
        """The launches that are to be ended now."""
        self._show_life()
        if self._doomed is not None:
            return [self._starts.index(self._doomed)]
        life = self._life
        if not life.sight.look():
            return []
        # Where others stand by they are to go on now.
        if self._standby is not None or life.launch.plan.may_reach_other_hosts:
            life.sight.end_ranks()
        # mpirun has to end those on other hosts, by its own means: these are left alone.
        return [] if life.launch.plan.may_reach_other_hosts else [self._starts.index(life)]

    def on_end(self, index: int, end: End) -> bool:
        """A launch is over. That ends nothing else, but what stands by for a job that is over."""
        start = self._starts[index]
        stdin.close(start.launch.directory)
        if start.gate is not None:
            start.gate.close()
        if start is self._standby:
            self._forget(start, is_lost=not end.signals and not self._is_over)
            return False
        if start is self._doomed:
            self._doomed = None
            self._remove(start)
            return False
        ended = self._judge(start, end)
        self.ended.append(ended)
        if self._shared is not None:
            shutil.rmtree(self._shared / str(start.number), ignore_errors=True)
        if ended.is_lost:
            self._lose_hosts(ended.life.lost_hosts)
            if ended.life.lost_hosts:  # who stands by has lost them, too
                self._doomed, self._standby = self._standby, None
            self._decide(ended, is_followed=start is not self._life)
        if self._goes_on and self._standby is not None:
            self._let_go(self._standby)
        self._is_over = start is self._life and not self._goes_on
        return self._standby is not None

    def _lose_hosts(self, lost: Sequence[str]) -> None:
        if self._hosts is None or not lost:
            return
        self._hosts.lose(lost)
        words.tell_of_hosts(lost, self._hosts)
        if has_silent_loss(self._life.launch.directory):
            self._begins_at = time.monotonic() + silent_seconds(self._plan.variables)

    def _pause(self) -> float:
        return max(0.0, self._begins_at - time.monotonic()) if self._goes_on else 0.0

    def _decide(self, ended: Ended, is_followed: bool) -> None:
        """`is_followed`: the next life goes on already."""
        why = None if is_followed else self._why_over()
        losses, seconds = ended.report.losses, ended.life.seconds
        self._goes_on = why is None and not is_followed
        if why is None:
            waited = is_followed or self._standby is not None
            restarts = self._patience.restarts
            words.tell_of_start(losses, seconds, len(self.ended), restarts, waited)
        else:
            words.tell_of_end(losses, seconds, ended.status, why)

    def _why_over(self, more: Sequence[float] = ()) -> str | None:
        """`more`: of lives that are not among the ended ones yet, how long they lasted."""
        if self._hosts is not None and not self._hosts.lines:
            return "no host is left"
        return self._patience.why_over([*(one.idle_seconds for one in self.ended), *more])

    def _follow(self) -> job.Start | None:
        if not self._goes_on:
            return None
        self._goes_on = False
        return self._begin(len(self.ended)).launch

    def _begin(self, number: int) -> _Start:
        self._life = self._prepare(number)
        return self._life

    # --- one that stands by

    def _start_ahead(self) -> Sequence[job.Start]:
        """Beside a life that computes, once."""
        number = self._life.number + 1
        is_tried = self._starts[-1].number == number
        if not self._stands_by or is_tried or number > self._patience.restarts:
            return ()
        if not self._life.is_ready():
            return ()
        self._standby = self._prepare(number, stands_by=True)
        return (self._standby.launch,)

    def _hand_over(self, index: int) -> None:
        """No rank of this launch is left."""
        life = self._starts[index]
        if life is not self._life or self._standby is None or not life.sight.lost:
            return
        lasted = math.inf if life.has_checkpoint else time.monotonic() - life.began
        if self._why_over([lasted]) is None:
            self._let_go(self._standby)

    def _let_go(self, standby: _Start) -> None:
        assert standby.gate is not None
        standby.gate.open()
        self._life = replace(standby, began=time.monotonic())
        self._starts[self._starts.index(standby)] = self._life
        self._standby = None
        self._goes_on = False

    def _forget(self, standby: _Start, is_lost: bool) -> None:
        """It has ended, and nobody has needed it. Another one may have its number."""
        self._standby = None
        self._remove(standby)
        if is_lost:
            words.tell_of_standby()

    def _remove(self, start: _Start) -> None:
        """What it has left."""
        shutil.rmtree(start.launch.directory, ignore_errors=True)
        if self._shared is not None:
            shutil.rmtree(self._shared / str(start.number), ignore_errors=True)

    def _prepare(self, number: int, stands_by: bool = False) -> _Start:
        directory = self._directory / f"life-{number}"
        directory.mkdir(mode=0o700)
        plan = self._plan if number == 0 else self._later
        if self._hosts is not None:
            hostfile = self._directory / f"hosts-{number}"
            hostfile.write_text("".join(f"{line}\n" for line in self._hosts.lines))
            plan = replace(plan, hostfile=str(hostfile))
        variables = {**plan.variables, "RESPROUT_RESTART": str(number)}
        variables |= {VARIABLE: "1"} if stands_by else {}
        variables[CHECKPOINT_MEMORY] = self._checkpoints
        plan = replace(plan, variables=variables, settings_of_job=self._segments(number))
        is_told = plan.mpi.is_started_by_us and plan.shim is None
        sight = LossSight(directory, self._deaths, not plan.may_reach_other_hosts, is_told)
        has_lost = LossWatch(directory) if plan.may_reach_other_hosts else lambda: False
        gate = Gate(directory) if stands_by else None
        waits = (lambda: False) if gate is None else (lambda: not gate.is_open)
        launch = job.Start(
            plan, directory, has_lost=has_lost, judges_start=False, is_standing_by=waits
        )
        ready = Readiness(directory, plan.ranks)
        self._starts.append(_Start(number, launch, sight, ready, gate, time.monotonic()))
        return self._starts[-1]

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

    def _judge(self, start: _Start, end: End) -> Ended:
        plan, directory, sight = start.launch.plan, start.launch.directory, start.sight
        if start.gate is not None and start.gate.opened_ns is not None:
            end.started_ns = start.gate.opened_ns
        parts = read_parts(directory)
        if not end.signals and end.early_end is None:
            end.early_end = sight.early_end()
        lost = () if end.signals else find_lost(directory, parts, end, sight)
        # MPI_Abort on another host ends the daemon there.
        lost_hosts = () if parts.aborted_with is not None else find_lost_hosts(directory)
        how = how_it_ended(parts, end, plan.ranks, bool(lost or lost_hosts))
        unprotected = range(plan.ranks) if plan.unprotected is not None else end.unprotected
        report = merge(
            parts, end, ranks=plan.ranks, command=plan.program, mpi=str(plan.mpi),
            on_loss="restart", absent=lost, unprotected=unprotected,
        )  # fmt: skip
        started = [max(part.started_ns, end.started_ns) for part in parts.ranks.values()]
        losses = losses_of(report, lost, sight, start.number) if how == "lost" else []
        life = Life(
            number=start.number,
            how=how,
            started_ns=end.started_ns,
            running_ns=min(started, default=None),
            ended_ns=end.ended_ns,
            lost=tuple(loss.rank for loss in losses),
            command=tuple(plan.program),
            lost_hosts=lost_hosts,
        )
        status = status_of_losses(losses) if how == "lost" else report.exit_status
        return Ended(life, replace(report, losses=tuple(losses)), status, start.has_checkpoint)
