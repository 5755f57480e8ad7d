"""What is said on stderr of a job that is started again."""

from collections.abc import Sequence

from resprout import log
from resprout.launch.lives.hosts import Hosts
from resprout.report.job import Loss
from resprout.report.show import what_happened


def tell_of_start(
    losses: Sequence[Loss], seconds: float, restart: int, restarts: int, stood_by: bool
) -> None:
    """`restart`: which one it is, from 1. `stood_by`: the ranks of the new life were there."""
    with_whom = " with the ranks that stood by" if stood_by else ""
    log.warn(
        f"{_who(losses)} {seconds:.1f} s after the start: the job starts again{with_whom} "
        f"(restart {restart} of at most {restarts}); all ranks that were left have ended"
    )


def tell_of_end(losses: Sequence[Loss], seconds: float, status: int, why: str) -> None:
    log.error(
        f"{_who(losses)} {seconds:.1f} s after the start: the job ends with status {status}, "
        f"as {why}"
    )


def tell_of_standby() -> None:
    """It ended before it was needed."""
    log.warn("the ranks that stood by have ended: after a loss of a rank the job starts anew")


def tell_of_signal(status: int) -> None:
    """It came before the start that was announced."""
    log.error(f"it is not started again: a signal ends the job with status {status}")


def tell_of_hosts(lost: Sequence[str], hosts: Hosts) -> None:
    """Which were lost, and what is left."""
    are = "host" if len(lost) == 1 else "hosts"
    said = f"{are} {', '.join(lost)} lost: what follows runs on {', '.join(sorted(hosts.names))}"
    if (missing := hosts.missing_slots) > 0:
        said += f", where {missing} more ranks than slots share the cores of others"
    if hosts.names:
        log.warn(said)


def _who(losses: Sequence[Loss]) -> str:
    if not losses:
        return "a rank was lost"
    first, more = losses[0], len(losses) - 1
    others = "" if more == 0 else f" and {more} more"
    on = "" if first.host is None else f" on {first.host}"
    return f"rank {first.rank} (pid {first.pid or '?'}{on}){others} {what_happened(first)}"
