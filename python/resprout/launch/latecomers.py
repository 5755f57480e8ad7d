"""Who keeps others waiting: ranks that live, and do not come to what all others wait in.

Ranks say once a second where they are (positions.py), and one that has waited for more than a
second for whom (src/mpi/lifecycle/report/waiting.hpp). From this the launcher finds out who waits
for whom, and on whom all of it hangs: ranks that do not wait themselves.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from resprout import log
from resprout.launch.positions import Position, has_exited, read_position
from resprout.report.call_timeouts import STATUS_CALL_TIMEOUT, CallTimeout, Keeper, StuckCall

_LOOK_SECONDS = 1.0
# A rank may come, or leave, between two looks at different files.
_LOOKS_ALIKE = 3
# Who has not said for so long where it is has died, or is stopped: the others end it.
_SILENT_SECONDS = 4.0
_LINES_MAX = 8


@dataclass(frozen=True)
class Waiting:
    """A call in which a rank has waited for more than a second."""

    call: str
    communicator: str
    """Its name, or empty."""
    session: int
    number: int
    needs: str
    """members, peer or unknown."""
    ranks: frozenset[int] = frozenset()
    """Of the world: those that it needs, itself included where it needs all members."""

    @property
    def is_collective(self) -> bool:
        return self.needs == "members"

    @property
    def where(self) -> str:
        return self.call + (f" on {self.communicator}" if self.communicator else "")


@dataclass(frozen=True)
class Sight:
    """Of one rank that lives."""

    position: Position
    waiting: Waiting | None = None

    @property
    def seconds(self) -> float:
        return self.position.still_seconds


@dataclass(frozen=True)
class Stuck:
    """A call in which ranks have waited for too long."""

    waiting: Waiting
    seconds: float
    """So long the first one has."""
    waiters: tuple[int, ...]
    absent: tuple[int, ...]
    """Who has not come to it."""

    def __str__(self) -> str:
        have = "has" if len(self.waiters) == 1 else "have"
        waited = f"{named(self.waiters)} {have} waited in {self.waiting.where}"
        if not self.absent:
            return f"{waited} for {self.seconds:.0f} s"
        have = "has" if len(self.absent) == 1 else "have"
        return f"{waited} for {self.seconds:.0f} s: {named(self.absent)} {have} not come"


@dataclass(frozen=True)
class Finding:
    """All that is stuck, as it is for the same reason, and on whom it hangs."""

    stuck: tuple[Stuck, ...]
    roots: tuple[int, ...]
    """Ranks that others need and that wait for nobody; nobody: each waits for another one."""


Sights = Mapping[int, Sight]


def named(ranks: Iterable[int]) -> str:
    """Of [0, 1, 2, 5]: `ranks 0-2, 5`."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and spans[-1][1] == rank - 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    text = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)
    is_one = len(spans) == 1 and spans[0][0] == spans[0][1]
    return f"rank {text}" if is_one else f"ranks {text}"


def find(sights: Sights, seconds: float) -> Finding | None:
    """`sights`: of all ranks that live. Nothing: nobody has waited for so many seconds."""
    first = [r for r, s in sights.items() if s.waiting is not None and s.seconds >= seconds]
    todo = sorted(first)
    reached: set[int] = set()
    roots: set[int] = set()
    while todo:
        rank = todo.pop()
        if rank in reached:
            continue
        reached.add(rank)
        if sights[rank].waiting is None:
            roots.add(rank)
        else:
            todo += _needed(sights, rank)
    if not first:
        return None
    stuck = _stuck(sights, reached - roots)
    return Finding(tuple(stuck), tuple(sorted(roots)))


def _needed(sights: Sights, rank: int) -> list[int]:
    """Who has to move, so that `rank` can."""
    waiting = sights[rank].waiting
    assert waiting is not None
    others = [r for r in waiting.ranks if r in sights and r != rank]
    if not waiting.is_collective:
        return others
    return [r for r in others if not _is_in(sights[r], waiting)]


def _is_in(sight: Sight, waiting: Waiting) -> bool:
    own = sight.waiting
    key = (waiting.call, waiting.session, waiting.number)
    return own is not None and (own.call, own.session, own.number) == key


def _stuck(sights: Sights, waiters: Collection[int]) -> list[Stuck]:
    """A line for each collective, and for each rank that waits in something else."""
    found = []
    told: set[int] = set()
    for rank in sorted(waiters):
        waiting = sights[rank].waiting
        if rank in told or waiting is None:
            continue
        same = {rank}
        if waiting.is_collective:
            same |= {r for r in sights if _is_in(sights[r], waiting)}
        told |= same
        seconds = max(sights[r].seconds for r in same)
        found.append(Stuck(waiting, seconds, tuple(sorted(same)), tuple(_needed(sights, rank))))
    return sorted(found, key=lambda stuck: -stuck.seconds)


def describe(finding: Finding, sights: Sights) -> Iterable[str]:
    """Lines for people."""
    for stuck in finding.stuck[:_LINES_MAX]:
        yield str(stuck)
    if (more := len(finding.stuck) - _LINES_MAX) > 0:
        yield f"and {more} more calls wait"
    for rank in finding.roots[:_LINES_MAX]:
        own = sights[rank]
        place = "in a call of MPI" if own.position.waits else own.position.where
        yield f"rank {rank} has been {place} for {own.seconds:.0f} s"
    if finding.roots:
        return
    unknown = sorted({s.waiting.call for s in finding.stuck if s.waiting.needs == "unknown"})
    if unknown:
        yield f"for whom a rank waits in {' or '.join(unknown)} is not known"
    else:
        yield "each of them waits for another one, so none can go on: the program is in a deadlock"


class Latecomers:
    """Asked several times a second."""

    def __init__(
        self,
        directory: Path,
        ranks: int,
        seconds: float | None,
        then: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`directory`: the run directory. `seconds`: nothing: nobody is looked for. `then`: as
        --on-call-timeout."""
        self.found: list[CallTimeout] = []
        """For the report."""
        self._directory = directory
        self._ranks = ranks
        self._seconds = seconds
        self._then = then
        self._clock = clock
        self._looked_at = clock()
        self._before: Finding | None = None
        self._alike = 0
        self._told: set[tuple[tuple[str, int, int, tuple[int, ...]], ...]] = set()

    def look(self) -> bool:
        """Whether the job is to be ended now."""
        now = self._clock()
        if self._seconds is None or now - self._looked_at < _LOOK_SECONDS:
            return False
        self._looked_at = now
        sights = self._sights()
        finding = find(sights, self._seconds)
        if finding is None:
            self._before, self._alike = None, 0
            return False
        is_alike = self._before is not None and _key(finding) == _key(self._before)
        self._alike = self._alike + 1 if is_alike else 1
        self._before = finding
        if self._alike < _LOOKS_ALIKE or _key(finding) in self._told:
            return False
        self._told.add(_key(finding))
        return self._act(finding, sights)

    def _act(self, finding: Finding, sights: Sights) -> bool:
        ended = self._ended(finding, sights)
        lines = list(describe(finding, sights))
        if ended:
            lines.append(f"{named(ended)} {'is' if len(ended) == 1 else 'are'} ended, as "
                         "--on-call-timeout end says")  # fmt: skip
        elif self._then == "end":
            lines.append("nobody is ended: no rank that a collective needs has been outside of "
                         f"MPI for {self._seconds:g} s")  # fmt: skip
        if self._then == "abort":
            lines.append(f"the job ends with status {STATUS_CALL_TIMEOUT}, as "
                         "--on-call-timeout abort says")  # fmt: skip
        level = log.Level.error if self._then == "abort" else log.Level.warning
        for line in lines:
            log.say(level, line)
        for rank in ended:
            self._end(rank, sights[rank])
        ends_job = self._then == "abort"
        self.found.append(_for_report(finding, sights, ended, ends_job))
        return ends_job

    def _ended(self, finding: Finding, sights: Sights) -> list[int]:
        """Who stands still outside of MPI, and a collective waits for it. One that goes on with
        other calls may still come."""
        if self._then != "end" or self._seconds is None:
            return []
        wanted = {r for s in finding.stuck if s.waiting.is_collective for r in s.absent}
        return [
            rank
            for rank in finding.roots
            if rank in wanted
            and not sights[rank].position.waits
            and sights[rank].seconds >= self._seconds
        ]

    def _end(self, rank: int, sight: Sight) -> None:
        note = {"stood_still": {"seconds": sight.seconds, "where": sight.position.where}}
        with (self._directory / f"notes-{rank}").open("ab") as file:
            file.write(json.dumps(note).encode() + b"\n")
        (self._directory / f"stands-still-{rank}").touch()

    def _sights(self) -> dict[int, Sight]:
        times = self._times()
        newest = max(times.values(), default=0.0)
        sights = {}
        for rank, at in times.items():
            position = read_position(self._directory, rank)
            if position is None or at < newest - _SILENT_SECONDS:
                continue
            if not has_exited(self._directory, rank):
                sights[rank] = Sight(position, self._waiting(rank, position))
        return sights

    def _times(self) -> dict[int, float]:
        """When each rank said last where it is."""
        times = {}
        for rank in range(self._ranks):
            try:
                times[rank] = (self._directory / f"position-{rank}").stat().st_mtime
            except OSError:
                continue
        return times

    def _waiting(self, rank: int, position: Position) -> Waiting | None:
        if not position.waits:
            return None
        try:
            said = json.loads((self._directory / f"waiting-{rank}").read_text())
            if said["calls"] != position.place[2]:
                return None
            return Waiting(said["call"], said["communicator"], said["session"], said["number"],
                           said["needs"], frozenset(said["ranks"]))  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _key(finding: Finding) -> tuple[tuple[str, int, int, tuple[int, ...]], ...]:
    """What makes it another one than before: not the seconds."""
    return tuple(sorted((stuck.waiting.call, stuck.waiting.session, stuck.waiting.number,
                         stuck.absent) for stuck in finding.stuck))  # fmt: skip


def _for_report(
    finding: Finding, sights: Sights, ended: Iterable[int], ends_job: bool
) -> CallTimeout:
    calls = (
        StuckCall(one.waiting.call, one.waiting.communicator, one.seconds, one.waiters, one.absent)
        for one in finding.stuck
    )
    keepers = (Keeper(r, sights[r].position.where, sights[r].seconds) for r in finding.roots)
    return CallTimeout(time.time_ns(), tuple(calls), tuple(keepers), tuple(ended), ends_job)
