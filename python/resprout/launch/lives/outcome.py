"""How a life ended: whether the job is over with it, and who was lost."""

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resprout.launch.lives.watch import LossSight, is_lost, part_in, rank_in, words_of
from resprout.report.ends import read_ends
from resprout.report.job import Loss, Report
from resprout.report.launch_end import End
from resprout.report.lives import Life
from resprout.report.ranks import Parts
from resprout.report.signals import STATUS_KILLED, status_of

# Of heartbeats.
_TIMEOUTS = 10


@dataclass(frozen=True)
class Ended:
    """A life that is over."""

    life: Life
    report: Report
    """Of it alone."""
    status: int
    """The job's, if this life is the last."""
    has_checkpoint: bool = False
    """It came to one of resprout_checkpoint's that all ranks have."""

    @property
    def idle_seconds(self) -> float:
        """How long it lasted, if it got nowhere as far as we know."""
        return math.inf if self.has_checkpoint else self.life.seconds

    @property
    def is_lost(self) -> bool:
        return self.life.how == "lost"


def how_it_ended(parts: Parts, end: End, ranks: int, has_lost: bool) -> str:
    """As Life has it. `has_lost`: it is known that a rank or a host was lost."""
    if end.signals:
        return "interrupted"
    if has_lost:
        return "lost"
    if parts.aborted_with is not None:
        return "aborted"
    # Ranks of other hosts, and those that run without Resprout, leave nothing here.
    has_unknown = any(parts.exit_status(rank) is None for rank in range(ranks))
    return "lost" if has_unknown and end.mpirun_status > 128 else "whole"


def find_lost(directory: Path, parts: Parts, end: End, sight: LossSight) -> tuple[int, ...]:
    """Who was lost, of a life that is over and of which nobody was ended by a signal to us."""
    entered = [rank_in(path) for path in directory.glob("entered-*")]
    words = sorted(
        (seen_ns, rank) for witness in entered for rank, seen_ns in words_of(directory, witness)
    )
    if sight.lost:
        witnesses = {rank for rank in entered if words_of(directory, rank)}
        # The launcher, too, ends others when it hears of a loss, also of one that is not seen here.
        killed = read_ends(directory).first_killed(_pids(directory), besides=witnesses)
        if killed is not None and killed not in sight.lost and sight.pid_of(killed) is None:
            return (killed,)
        named = {rank for _, rank in words}.intersection(sight.lost)
        return tuple(sorted(named)) or sight.lost
    if parts.aborted_with is not None:
        return ()
    if end.early_end is not None:
        return (end.early_end.rank,)
    first = sorted(rank for rank in entered if is_lost(directory, rank))
    # Who has said nothing may have been ended by mpirun, when somebody else was lost.
    return (words[0][1],) if words else tuple(first)


def _pids(directory: Path) -> dict[int, int]:
    pids = {}
    for path in directory.glob("started-*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            pids[rank_in(path)] = int(path.read_text().split()[0])
    return pids


def find_lost_hosts(directory: Path) -> tuple[str, ...]:
    """By the word of what is preloaded into mpirun (src/launcher)."""
    mark = "lost-host-"
    return tuple(sorted(path.name.removeprefix(mark) for path in directory.glob(f"{mark}*")))


def has_silent_loss(directory: Path) -> bool:
    """Whether a rank was lost without its connection being closed: it may live for a while, cut
    off. Where nobody has left word of it that is not known."""
    kinds = {
        str(loss.get("kind"))
        for path in directory.glob("rank-*.json")
        for loss in part_in(path).get("losses", [])
    }
    return kinds != {"exited"}


def silent_seconds(variables: Mapping[str, str]) -> float:
    """After so long ranks that hear of nobody have ended themselves (docs/reference/faults.md)."""
    return _TIMEOUTS * int(variables.get("RESPROUT_HEARTBEAT_TIMEOUT_MS", "1000")) / 1000


def losses_of(report: Report, lost: Sequence[int], sight: LossSight, life: int) -> list[Loss]:
    """Those that ended the life; others were lost with it."""
    return [
        replace(
            loss,
            life=life,
            pid=loss.pid if loss.pid is not None else sight.pid_of(loss.rank),
            detected_ns=loss.detected_ns if loss.detected_ns is not None else sight.seen_ns,
        )
        for loss in report.losses
        if loss.rank in lost
    ]


def status_of_losses(losses: Sequence[Loss]) -> int:
    """That of a job that ends with them."""
    for loss in losses:
        if loss.signal is not None:
            return status_of(loss.signal)
        if loss.how == "exited":
            return loss.exit_status or 1
    return STATUS_KILLED
