"""How a plane of a job ended, from what its ranks and its launcher left."""

import re

from resprout.report.launch_end import End
from resprout.report.ranks import Parts

# As Open MPI 5's launcher writes it. Its status is 0 all the same.
_LOST_HOST = re.compile(
    rb"lost communication with a remote daemon.*?Remote daemon *:[^\n]*? on node (\S+)"
    rb"|A daemon failed to report back.*?Remote host: *(\S+)",
    re.DOTALL,
)
_COMPLAINT = b"\n-----"


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
        return "lost" if not stands_in and _died_on_leaving(parts, end, ranks) else "whole"
    # Whom a signal has ended was not lost.
    if stands_in and ended and (not end.signals or absent <= parts.seen_lost()):
        return "gaps"
    return "interrupted" if end.signals else "lost"


def _died_on_leaving(parts: Parts, end: End, ranks: int) -> bool:
    """A signal has ended a rank that had come to its end: what it printed last may be missing."""
    by_themselves = [parts.exit_status(rank) or 0 for rank in range(ranks)]
    return not end.signals and end.mpirun_status >= 128 and max(by_themselves) < 128
