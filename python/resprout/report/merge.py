"""One report of a job from the parts of its ranks, and the job's exit status.

Who is lost: whoever a rank that came through MPI_Finalize saw dying, or whoever a fault was
injected into and who left no sign of a good end. Ranks that were themselves shut out may believe
that all others are lost, so their word counts only if there is no better one; that of those who
know it does not count.
"""

from collections.abc import Iterable

from resprout.report.call_timeouts import STATUS_CALL_TIMEOUT, CallTimeout
from resprout.report.corruptions import Verification
from resprout.report.job import Loss, Report, Touched
from resprout.report.launch_end import End
from resprout.report.merge_views import merge_tree, merge_views
from resprout.report.ranks import (
    Injected,
    Parts,
    RankPart,
    Recovery,
    SeenLoss,
    Tally,
)
from resprout.report.signals import status_of

STATUS_STRICT = 3
# Files that were written through MPI are nowhere whole.
STATUS_TORN = 5
# Nothing could be compared any more, and the user wants no job then.
STATUS_UNVERIFIED = 6


def merge(parts: Parts, end: End, *, ranks: int, command: Iterable[str], mpi: str, on_loss: str,
          strict: bool = False, has_replicas: bool = False, absent: Iterable[int] = (),
          unprotected: Iterable[int] = (),
          call_timeouts: Iterable[CallTimeout] = ()) -> Report:  # fmt: skip
    """`has_replicas`: others make up for losses. `absent`: who is known to be lost, whether or not
    anybody saw it. `unprotected`: who ran without Resprout, of whom only mpirun knows how they
    ended."""
    unprotected = tuple(sorted(unprotected))
    call_timeouts = tuple(call_timeouts)
    is_timed_out = any(one.ends_job for one in call_timeouts)
    touched = _touched(parts.ranks.values())
    losses = tuple(_losses(parts, touched, absent))
    lost = {loss.rank for loss in losses}
    missing = tuple(
        r
        for r in range(ranks)
        if r not in lost
        and r not in unprotected
        and parts.exit_status(r) is None
        and (end.early_end is None or r == end.early_end.rank)
    )
    started = [part.started_ns for part in parts.ranks.values()]
    return Report(
        command=tuple(command),
        mpi=mpi,
        on_loss=on_loss,
        ranks=ranks,
        started_ns=min(started, default=end.started_ns),
        ended_ns=end.ended_ns,
        exit_status=STATUS_CALL_TIMEOUT
        if is_timed_out
        else _exit_status(
            parts,
            losses,
            end,
            ranks,
            strict=strict,
            has_replicas=has_replicas,
            unprotected=unprotected,
        ),
        mpirun_status=end.mpirun_status,
        losses=losses,
        touched=touched,
        unanswered=parts.unanswered,
        recovery_ns=max(map(_recovery_ns, parts.ranks.values()), default=0),
        operations=_sum_operations(parts.ranks.values()),
        calls_of_ranks={
            rank: {name: tally.calls for name, tally in sorted(part.operations.items())}
            for rank, part in sorted(parts.ranks.items())
        },
        transport=_sum_transport(parts.ranks.values()),
        # Who ends with the whole job is not missed.
        missing=() if end.signals or parts.aborted_with is not None or is_timed_out else missing,
        call_timeouts=call_timeouts,
        unprotected=unprotected,
        flipped=parts.flipped,
        corruptions=parts.corruptions,
        undecided=parts.undecided,
        verification=_sum_verification(parts.ranks.values()),
        views=merge_views(parts.ranks.values()),
        tree=merge_tree(parts.ranks.values()),
        faults_left=tuple(f for rank in sorted(parts.ranks) for f in parts.ranks[rank].faults_left),
    )


def _exit_status(parts: Parts, losses: tuple[Loss, ...], end: End, ranks: int, *, strict: bool,
                 has_replicas: bool, unprotected: tuple[int, ...]) -> int:  # fmt: skip
    """The program's: the largest of the ranks that were not lost; else what mpirun says. Where that
    is 0, that of the first one lost by a mistake."""
    if end.early_end is not None:  # who aborts then does so in MPI_Init, for want of this rank
        return end.early_end.exit_status
    if parts.aborted_with is not None:
        return parts.aborted_with & 0xFF or end.mpirun_status
    lost = {loss.rank for loss in losses}
    survivors = [rank for rank in range(ranks) if rank not in lost]
    known = [status for r in survivors if (status := _status_of(r, parts)) is not None]
    if len(known) == len(survivors) and known:
        status = max(known)
    elif end.signals:
        status = 128 + end.signals[0]
    else:
        status = max([end.mpirun_status, *known])
        # An mpirun that lets ranks die says nothing of it.
        told = {*parts.started} - {*unprotected}
        unknown = [r for r in survivors if r in told and parts.exit_status(r) is None]
        if status == 0 and (unknown or not survivors):
            signals = [signal for r in unknown if (signal := parts.signal(r)) is not None]
            status = status_of(next(iter(signals), None))
    # With replicas others make up for it; but a plane that it has ended ends as it says.
    is_over = len(known) < len(survivors) and not end.signals
    if is_over if has_replicas else status == 0:
        status = _status_of_mistake(parts, losses, survivors, has_replicas=has_replicas) or status
    if strict and lost and status == 0:
        return STATUS_STRICT
    return status


def _status_of_mistake(parts: Parts, losses: tuple[Loss, ...], survivors: list[int], *,
                       has_replicas: bool) -> int | None:  # fmt: skip
    """Of the first rank lost by one; of a plane also of one that nobody is left to have seen."""
    mistakes = [loss for loss in losses if loss.is_mistake]
    if mistakes:
        first = mistakes[0]
        return first.exit_status or 1 if first.signal is None else status_of(first.signal)
    if not has_replicas:
        return None
    unseen = [status for rank in survivors if (status := _status_of(rank, parts))]
    signals = [signal for rank in survivors if (signal := parts.signal(rank)) is not None]
    return next(iter([*unseen, *map(status_of, signals)]), None)


def _status_of(rank: int, parts: Parts) -> int | None:
    """1 instead of 0 of a rank that left without MPI_Finalize, as mpirun has it."""
    part = parts.ranks.get(rank)
    has_left = part is not None and not part.finalized and part.cut_off is None
    status = parts.exit_status(rank)
    return 1 if status == 0 and has_left else status


def _losses(parts: Parts, touched: tuple[Touched, ...], absent: Iterable[int]) -> list[Loss]:
    others = [part for part in parts.ranks.values() if part.cut_off is None]
    witnesses = [part for part in others if part.finalized]
    seen: dict[int, SeenLoss] = {}
    for part in witnesses or others:
        for loss in part.losses:
            if loss.rank not in seen or loss.detected_ns < seen[loss.rank].detected_ns:
                seen[loss.rank] = loss
    unseen = (r for r in parts.injected if r not in seen and not _came_through(r, parts))
    # Who ends the job for want of data may know it from MPI alone, and nobody lives to learn more.
    missed = (rank for call in parts.unanswered for rank in call.lost)
    lost = sorted({*seen, *unseen, *absent, *missed})
    losses = [_describe(rank, parts, seen.get(rank), touched) for rank in lost]
    return sorted(losses, key=lambda loss: (loss.when_ns or 0, loss.rank))


def _came_through(rank: int, parts: Parts) -> bool:
    part = parts.ranks.get(rank)
    return part is not None and part.finalized and parts.exit_status(rank) is not None


def _describe(rank: int, parts: Parts, seen: SeenLoss | None, touched: Iterable[Touched]) -> Loss:
    own = parts.ranks.get(rank)
    injected = parts.injected.get(rank)
    is_cut_off = own is not None and own.cut_off is not None
    how, status = _cause(seen, parts.exit_status(rank), injected, is_cut_off=is_cut_off)
    if rank in parts.stood_still:
        how = "stood_still"
    hosts = {part.host for part in parts.ranks.values()}
    return Loss(
        rank=rank,
        pid=own.pid if own else seen.pid if seen else parts.started.get(rank),
        host=own.host if own else hosts.pop() if len(hosts) == 1 else None,
        how=how,
        exit_status=status,
        fault=injected.fault if injected else None,
        died_ns=injected.fired_ns if injected else None,
        detected_ns=seen.detected_ns if seen else None,
        found_by=seen.found_by if seen else None,
        touched=tuple(operation for operation in touched if rank in operation.lost),
        cut_off=own.cut_off if own else None,
        signal=parts.signal(rank) if how == "killed" else None,
    )


def _cause(
    seen: SeenLoss | None, status: int | None, injected: Injected | None, *, is_cut_off: bool
) -> tuple[str, int | None]:
    if seen is not None and seen.kind != "exited":
        return seen.kind, status if is_cut_off else None
    # Only who exits by itself can leave a status.
    if status is not None:
        return "exited", status
    return ("hung" if injected and injected.fault.startswith("stop") else "killed"), None


def _touched(parts: Iterable[RankPart]) -> tuple[Touched, ...]:
    same: dict[tuple[str, str, int], list[Recovery]] = {}
    for part in parts:
        for recovery in part.recoveries:
            key = (recovery.communicator, recovery.operation, recovery.number)
            same.setdefault(key, []).append(recovery)
    operations = [
        Touched(
            operation,
            number,
            communicator,
            tuple(sorted({rank for r in group for rank in r.lost})),
            len(group),
            max(r.ended_ns - r.began_ns for r in group),
            min(r.began_ns for r in group),
        )
        for (communicator, operation, number), group in same.items()
    ]
    return tuple(sorted(operations, key=lambda operation: operation.began_ns))


def _recovery_ns(part: RankPart) -> int:
    return sum(r.ended_ns - r.began_ns for r in part.recoveries)


def _sum_operations(parts: Iterable[RankPart]) -> dict[str, Tally]:
    sums: dict[str, Tally] = {}
    for part in parts:
        for name, tally in part.operations.items():
            sums[name] = sums.get(name, Tally()) + tally
    return dict(sorted(sums.items()))


def _sum_verification(parts: Iterable[RankPart]) -> Verification | None:
    known = [part.verification for part in parts if part.verification is not None]
    return sum(known, Verification()) if known else None


def _sum_transport(parts: Iterable[RankPart]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for part in parts:
        for name, value in part.transport.items():
            sums[name] = sums.get(name, 0) + value
    return dict(sorted(sums.items()))
