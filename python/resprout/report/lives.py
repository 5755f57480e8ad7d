"""The lives of a job that was started again: one is a start of all ranks and what came of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Life:
    """One of a job."""

    number: int
    """From 0."""
    how: str
    """whole: all ranks came to their ends; lost: with a rank; aborted: one called MPI_Abort;
    interrupted: the user ended it."""
    started_ns: int
    """When mpirun was started, or the ranks went on that had stood by."""
    running_ns: int | None
    """When the first rank was through MPI_Init; nothing: none is known to have been."""
    ended_ns: int
    """When no process of it was left on the launcher's host. Ranks that stood by do not wait for
    its mpirun."""
    lost: tuple[int, ...]
    """The ranks whose loss ended it, as far as they are known."""
    command: tuple[str, ...]
    lost_hosts: tuple[str, ...] = ()
    """That later lives do without."""

    @property
    def seconds(self) -> float:
        return (self.ended_ns - self.started_ns) / 1e9
