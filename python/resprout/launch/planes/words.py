"""What is said on stderr of planes while they run."""

import contextlib
import sys

from resprout.launch.planes.outcome import PlaneEnd


def tell_of_loss(plane: PlaneEnd, planes: int, left: int) -> None:
    """`left`: that go on; none, if only one that was started again might."""
    others = "1 plane goes on" if left == 1 else f"{left} planes go on"
    if left == 0:
        others = "none goes on but the one that was started again, if it comes back"
    _say(f"plane {plane.replica} of {planes} is {plane.how}: {_why(plane)}; {others}")


def tell_of_straggler(replica: int, planes: int, differs: bool) -> None:
    why = "it was behind, and was waited for"
    if differs:
        why = "all planes waited at a checkpoint for what others should have sent, too"
    _say(f"plane {replica} of {planes} was ended: {why}")


def tell_of_start(replica: int, planes: int) -> None:
    _say(f"plane {replica} of {planes} is started again")


def tell_of_return(replica: int, planes: int, checkpoint: int) -> None:
    _say(f"plane {replica} of {planes} is back, from checkpoint {checkpoint}")


def tell_of_failure(replica: int, planes: int, why: str) -> None:
    _say(f"plane {replica} of {planes} did not come back, and is not started again: {why}")


def tell_of_failed_return(plane: PlaneEnd, planes: int) -> None:
    ended = f"it ended with status {plane.status} before that"
    tell_of_failure(plane.replica, planes, _why(plane) if plane.is_lost else ended)


def _why(plane: PlaneEnd) -> str:
    if plane.how == "excluded":
        return "a rank of it has worked with corrupted data"
    if plane.lost_host is not None:
        return f"it lost host {plane.lost_host}"
    ranks = ", ".join(str(loss.rank) for loss in plane.report.losses)
    return f"it lost rank {ranks}" if ranks else "its MPI job ended early"


def _say(words: str) -> None:
    with contextlib.suppress(OSError):
        print(f"resprout: {words}", file=sys.stderr, flush=True)
