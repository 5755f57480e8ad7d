"""Calls in which ranks have waited for longer than --call-timeout, for the report."""

from dataclasses import dataclass

STATUS_CALL_TIMEOUT = 76
"""Of a job that --on-call-timeout abort has ended."""


@dataclass(frozen=True)
class StuckCall:
    """As `Stuck`, for the report."""

    call: str
    communicator: str
    seconds: float
    waiting: tuple[int, ...]
    absent: tuple[int, ...]


@dataclass(frozen=True)
class Keeper:
    """A rank on whom it hangs."""

    rank: int
    where: str
    seconds: float


@dataclass(frozen=True)
class CallTimeout:
    """What was found, for the report."""

    at_ns: int
    calls: tuple[StuckCall, ...]
    kept_by: tuple[Keeper, ...]
    ended: tuple[int, ...]
    """Ranks that were ended for it."""
    ends_job: bool
