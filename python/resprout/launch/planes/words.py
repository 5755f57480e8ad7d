"""What is said on stderr of planes while they run."""

from collections.abc import Sequence

from resprout import log
from resprout.launch.planes.stand_in import Living
from resprout.launch.planes.standing import StandsStill
from resprout.report.job import PlaneEnd
from resprout.report.plane_ends import listed, weakest


def tell_of_loss(plane: PlaneEnd, planes: int, left: int) -> None:
    """`left`: that go on; none, if only one that was started again might."""
    others = "1 plane goes on" if left == 1 else f"{left} planes go on"
    if left == 0:
        others = "none goes on but the one that was started again, if it comes back"
    log.warn(f"plane {plane.replica} of {planes} is {plane.how}: {_why(plane)}; {others}")


def tell_of_gap(replica: int, rank: int, how: str, living: Living) -> None:
    """A plane goes on without that rank."""
    words = f"rank {rank} of plane {replica} is lost ({how.replace('_', ' ')})"
    planes = living.planes_with(rank)
    if not planes:
        log.warn(f"{words}, and no replica of it is left: the job is lost")
        return
    who = "its replica" if len(planes) == 1 else "its replicas"
    stand = f"{who} in {listed('plane', planes)} {'stands' if len(planes) == 1 else 'stand'} in"
    log.warn(f"{words}: {stand} for it; {_left(living.left())}")


def _left(left: Sequence[int]) -> str:
    ranks = weakest(left)
    least = left[ranks[0]]
    if least > 1:
        return f"every rank has {least} replicas left or more"
    if least == 0:
        return f"{listed('rank', ranks)} {'has' if len(ranks) == 1 else 'have'} none left"
    each = "has 1 replica left" if len(ranks) == 1 else "have 1 replica left each"
    return f"{listed('rank', ranks)} {each}, whose loss would end the job"


def tell_of_straggler(replica: int, planes: int, differs: bool) -> None:
    why = "it was behind, and was waited for"
    if differs:
        why = "all planes waited at a checkpoint for what others should have sent, too"
    log.warn(f"plane {replica} of {planes} was ended: {why}")


def tell_of_standing(found: StandsStill, planes: int) -> None:
    went_on = "replicas went on" if found.is_outvoted else "replica went on"
    log.warn(
        f"rank {found.rank} of plane {found.replica} of {planes} stood still {found.at.where} for "
        f"{found.at.still_seconds:.0f} s while its {went_on}: it is ended"
    )


def tell_of_start(replica: int, planes: int) -> None:
    log.warn(f"plane {replica} of {planes} is started again")


def tell_of_return(replica: int, planes: int, checkpoint: int) -> None:
    log.warn(f"plane {replica} of {planes} is back, from checkpoint {checkpoint}")


def tell_of_failure(replica: int, planes: int, why: str) -> None:
    log.warn(f"plane {replica} of {planes} did not come back, and is not started again: {why}")


def tell_of_failed_return(plane: PlaneEnd, planes: int) -> None:
    ended = f"it ended with status {plane.status} before that"
    tell_of_failure(plane.replica, planes, _why(plane) if plane.is_lost else ended)


def tell_of_refusal(text: str) -> None:
    """`text`: as the rank has it."""
    log.warn(text)


def _why(plane: PlaneEnd) -> str:
    if plane.how == "excluded":
        stood = [c for c in plane.report.corruptions if c.of == "progress"]
        did = "stood still" if stood else "has worked with corrupted data"
        return f"a rank of it {did}"
    if plane.lost_host is not None:
        return f"it lost host {plane.lost_host}"
    ranks = ", ".join(str(loss.rank) for loss in plane.report.losses)
    return f"it lost rank {ranks}" if ranks else "its MPI job ended early"
