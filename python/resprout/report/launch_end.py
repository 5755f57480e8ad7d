"""How one launch of the MPI ended, as its launcher saw it."""

import signal
from dataclasses import dataclass, field

from resprout.report.signals import name_of, status_of


@dataclass(frozen=True)
class EarlyEnd:
    """A rank that ended too early."""

    rank: int
    status: int | None
    """Nothing: a signal ended it."""
    signal: int | None = None
    """Which, if it could say so."""

    @property
    def exit_status(self) -> int:
        """The job's: not 0."""
        if self.status is not None:
            return self.status or 1
        return status_of(self.signal)

    def __str__(self) -> str:
        how = f"ended with status {self.status}"
        if self.status is None:
            how = "was killed by " + ("a signal" if self.signal is None else name_of(self.signal))
        return (
            f"rank {self.rank} {how} before all ranks were through MPI_Init, where others wait for "
            f"it: the job ends with status {self.exit_status}"
        )


@dataclass
class End:
    """How a launch ended."""

    mpirun_status: int
    """As a shell has it: 128 + the signal, if one ended it."""
    started_ns: int
    ended_ns: int
    signals: list[signal.Signals] = field(default_factory=list)
    """Those that asked the job to end, in order."""
    ended_hung: int = 0
    """Stopped processes that we ended because nobody else was left to do it."""
    timed_out: bool = False
    early_end: EarlyEnd | None = None
    """Of the rank for which others waited in MPI_Init, so that we ended the launch."""
    unprotected: set[int] = field(default_factory=set)
    """Ranks that were seen to run without Resprout."""
