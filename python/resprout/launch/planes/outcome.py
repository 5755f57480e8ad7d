"""How the planes of a job ended, and what the job's status is."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from resprout.launch.job import End
from resprout.report.merge import Report
from resprout.report.ranks import Parts

# As Open MPI 5's launcher writes it. Its status is 0 all the same.
_LOST_HOST = re.compile(
    rb"lost communication with a remote daemon.*?Remote daemon *:[^\n]*? on node (\S+)"
    rb"|A daemon failed to report back.*?Remote host: *(\S+)",
    re.DOTALL,
)
_COMPLAINT = b"\n-----"
# Planes that the launcher has ended, whose ends say nothing.
_WITHOUT_WORD = ("ended", "unverified")


@dataclass(frozen=True)
class PlaneEnd:
    """How one plane ended."""

    replica: int
    how: str
    """whole: all its ranks came to their end; gaps: all but those that it lost, for which others
    stood in; aborted: one called MPI_Abort; lost: one was lost; excluded: one has worked with
    corrupted data; corrupted: the job ended because nobody could tell which data are right; ended:
    with one that was corrupted, or as it was behind two that agree; unverified: with
    --on-unverified, as nothing of it could be compared any more; interrupted: the user ended it."""
    status: int
    """The program's, as this plane has it."""
    ended_ns: int
    report: Report
    """Of this plane alone."""
    said: str = ""
    """By its launcher, of itself."""
    lost_host: str | None = None
    """The host that the launcher could not reach any more, which ended the plane."""
    returns: tuple["Return", ...] = ()
    """So often it was started again; all above is of the last launch that took part."""
    statuses: Mapping[int, int] = field(default_factory=dict)
    """Of each rank that came to its end, as far as they are known."""

    @property
    def is_lost(self) -> bool:
        return self.how in ("lost", "excluded")

    @property
    def has_lost(self) -> bool:
        """Somebody, whatever became of it then."""
        return self.is_lost or self.how == "gaps"

    @property
    def ending(self) -> tuple[str, int]:
        """The program's, by which planes are alike or differ."""
        return "whole" if self.how == "gaps" else self.how, self.status

    @property
    def launches(self) -> "tuple[PlaneEnd, ...]":
        """All that took part."""
        return (*(one.before for one in self.returns if one.joined_ns is not None), self)


@dataclass(frozen=True)
class Return:
    """A start again of a plane."""

    before: PlaneEnd
    """How the launch ended that took part before."""
    started_ns: int
    joined_ns: int | None = None
    """When it was one of the planes again; nothing: it did not come so far."""
    checkpoint: int | None = None
    """With which it goes on."""


def lost_host(said: bytes) -> str | None:
    """The host that the launcher says it has lost, if it has lost one: dead, or cut off."""
    match = _LOST_HOST.search(said)
    return (match[1] or match[2]).decode(errors="replace") if match else None


def how_it_ended(
    parts: Parts, end: End, ranks: int, said: bytes = b"", stands_in: bool = False
) -> str:
    """As PlaneEnd has it. `said`: by the launcher, of itself. `stands_in`: others did for its lost.

    A rank that has used MPI leaves its exit status; if none of them has, none has used it, and the
    launcher's word counts. Ranks of a lost host may have come to their ends there, but what they
    said last has reached nobody.
    """
    for ending, how in (("abort", "corrupted"), ("exclude", "excluded")):
        if any(found.then == ending for found in parts.corruptions):
            return how
    if parts.aborted_with is not None:
        return "aborted"
    if lost_host(said) is not None:
        return "interrupted" if end.signals else "lost"
    statuses = [parts.exit_status(rank) for rank in range(ranks)]
    if all(status is None for status in statuses):
        # Nor does a killed rank leave one.
        is_killed = end.mpirun_status >= 128 or bool(parts.injected or parts.ranks)
        # An mpirun that lets ranks die says nothing of it.
        is_quiet = not stands_in and _COMPLAINT not in b"\n" + said
        is_killed = is_killed or (bool(parts.started) and not is_quiet)
        return "interrupted" if end.signals else "lost" if is_killed else "whole"
    return _by_their_ends(parts, end, ranks, stands_in)


def _by_their_ends(parts: Parts, end: End, ranks: int, stands_in: bool) -> str:
    ended = parts.came_to_their_ends()
    absent = {rank for rank in range(ranks) if rank not in ended}
    if not absent:
        return "whole"
    # Whom a signal has ended was not lost.
    if stands_in and ended and (not end.signals or absent <= parts.seen_lost()):
        return "gaps"
    return "interrupted" if end.signals else "lost"


def decide(planes: Sequence[PlaneEnd]) -> PlaneEnd:
    """The plane whose word counts: of those that were not lost, the first of the largest group that
    ended alike, rather one without gaps. If all were lost, the one that lasted longest. One that
    was corrupted speaks for all."""
    for plane in planes:
        if plane.how == "corrupted":
            return plane
    whole = [plane for plane in planes if not plane.is_lost and plane.how not in _WITHOUT_WORD]
    if not whole:
        return max(planes, key=lambda plane: plane.ended_ns)
    alike = Counter(plane.ending for plane in whole)
    return max(whole, key=lambda p: (alike[p.ending], p.how != "gaps", -p.replica))


def stragglers(planes: Sequence[PlaneEnd]) -> list[PlaneEnd]:
    """Those that were ended as they were behind."""
    if any(plane.how == "corrupted" for plane in planes):
        return []
    return [plane for plane in planes if plane.how == "ended"]


def different(planes: Sequence[PlaneEnd]) -> list[PlaneEnd]:
    """Those that ended, but not as the job did."""
    if not planes:
        return []
    chosen = decide(planes)
    return [
        plane
        for plane in planes
        if not (plane.is_lost or plane.how in _WITHOUT_WORD) and plane.ending != chosen.ending
    ]
