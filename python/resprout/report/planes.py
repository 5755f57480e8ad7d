"""The report of a job of several planes, in words."""

from collections.abc import Iterator, Sequence

from resprout.report import corruptions, undecided
from resprout.report.job import PlaneEnd, Report, Return
from resprout.report.plane_ends import different, listed, stragglers, weakest


def describe_planes(report: Report) -> Iterator[str]:
    seconds = (report.ended_ns - report.started_ns) / 1e9
    yield (
        f"{report.ranks} ranks of {report.replicas} replicas: {_lost_words(report)}; "
        f"the job ended after {seconds:.2f} s with status {report.exit_status}"
    )
    lost = [plane for plane in report.planes if plane.is_lost]
    behind = stragglers(report.planes)
    for plane in report.planes:
        for one in plane.returns:
            yield from _came_back(one, report)
        if plane in lost or plane in behind:
            is_in_vain = plane.returns and plane.returns[-1].joined_ns is None
            in_vain = "; it was started again, and did not come back" if is_in_vain else ""
            yield f"  {_ending(plane)}{in_vain}"
        elif plane.how == "gaps":
            yield f"  plane {plane.replica} went on without its lost: {_why(plane)}"
        elif plane.how == "unverified":
            yield f"  plane {plane.replica} was ended: nothing of it could be compared any more"
    for plane in different(report.planes):
        yield f"  plane {plane.replica} ended differently: {plane.how}, with status {plane.status}"
    yield from corruptions.describe(report.corruptions)
    if report.corruptions or lost:
        yield from undecided.describe(report.undecided)
    yield from _verified(report)
    is_unverified = any(plane.how == "unverified" for plane in report.planes)
    if is_unverified or any(found.then == "abort" for found in report.corruptions):
        return  # it has ended all that were left
    left = report.replicas - len(lost) - len(behind)
    if any(report.replicas_left):
        yield replicas_left(report.replicas_left)
    else:
        yield protection_left(report.replicas, left)


def _lost_words(report: Report) -> str:
    gaps = sum(len(plane.report.losses) for plane in report.planes if plane.how == "gaps")
    words = _lost_planes(report)
    if not gaps:
        return words
    stood_in = "1 process was lost, and its replicas stood in for it"
    if gaps > 1:
        stood_in = f"{gaps} processes were lost, and their replicas stood in for them"
    has_lost_plane = any(plane.is_lost for plane in report.planes)
    return f"{stood_in}; {words}" if has_lost_plane else stood_in


def _lost_planes(report: Report) -> str:
    lost = [plane for plane in report.planes if any(one.is_lost for one in plane.launches)]
    if not lost:
        return "no plane was lost"
    words = f"{len(lost)} of {report.replicas} planes {'were' if len(lost) > 1 else 'was'} lost"
    back = sum(not plane.is_lost for plane in lost)
    if back == len(lost):
        return f"{words} and came back"
    return f"{words}, {back} of them came back" if back else words


def _came_back(one: Return, report: Report) -> Iterator[str]:
    if one.joined_ns is not None:
        at = f"{(one.joined_ns - report.started_ns) / 1e9:.3f} s"
        yield f"  {_ending(one.before)}; it came back at {at}, from checkpoint {one.checkpoint}"


def _ending(plane: PlaneEnd) -> str:
    why = "it was behind, and was waited for" if plane.how == "ended" else _why(plane)
    return f"plane {plane.replica} was {plane.how}: {why}"


def _verified(report: Report) -> Iterator[str]:
    done = report.verification
    if done is None:
        return
    if done.total == 0:
        yield "nothing was verified: no process has sent or received through MPI's C interface"
        return
    what = f"{done.verified} messages and collectives"
    yield f"{what} were verified ({report.verify}), {_share(done)}"
    if done.unverified:
        yield f"{done.unverified} had nobody left to be compared with"
    if done.checkpoints:
        returns = "no plane went back"
        if done.returns:
            returns = "a plane went back " + (
                "once" if done.returns == 1 else f"{done.returns} times"
            )
        yield f"{done.checkpoints} checkpoints of each process were kept; {returns}"
    if done.skipped:
        yield f"{done.skipped} on communicators that replicas have no common name for were not"
    yield f"not compared: {', '.join(report.not_compared)}"


def _share(done: corruptions.Verification) -> str:
    if done.is_complete:
        return "all of them"
    # What is not all is never 100 %.
    return f"{min(99.9, 100 * done.share):.1f} % of {done.total}"


def protection_left(replicas: int, left: int) -> str:
    """What may still have happened without harm at the end."""
    if left == 0:
        return f"none of the {replicas} planes was left: the job is lost"
    if left == 1:
        return "1 plane was left at the end: a further loss would have ended the job"
    return f"{left} planes were left at the end: it could have lost {left - 1} more"


def replicas_left(left: Sequence[int]) -> str:
    """The same where replicas stand in for each other. `left`: of each rank."""
    ranks = weakest(left)
    least = left[ranks[0]]
    who = "every rank" if len(ranks) == len(left) > 1 else listed("rank", ranks)
    if least == 0:
        return f"no replica of {who} was left: the job is lost"
    if least == 1:
        return f"{who} had 1 replica left at the end: a further loss could have ended the job"
    return f"{who} had {least} replicas left at the end: it could have lost any {least - 1} more"


def _why(plane: PlaneEnd) -> str:
    if plane.how == "excluded":
        found = next(c for c in plane.report.corruptions if c.then == "exclude")
        did = "stood still" if found.of == "progress" else "has worked with corrupted data"
        return f"rank {found.rank} {did}"
    if plane.lost_host is not None:
        return f"host {plane.lost_host} could not be reached any more"
    words = {
        "killed": "was killed",
        "exited": "exited without MPI_Finalize",
        "hung": "hung and was ended",
        "stood_still": "stood still and was ended",
        "unreachable": "could not be reached",
        "cut_off": "was cut off",
    }
    whys = [
        f"rank {loss.rank} (pid {loss.pid or '?'}) {words[loss.how]}"
        + (" (injected)" if loss.fault else "")
        for loss in plane.report.losses
    ]
    status = f"its launcher ended with status {plane.report.mpirun_status}"
    return ", ".join(whys) or (f"{status} and said: {plane.said}" if plane.said else status)
