"""What there is to say about a job: its report, the losses and planes that it speaks of."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from resprout.report.call_timeouts import CallTimeout
from resprout.report.corruptions import NOT_COMPARED, Corruption, Verification
from resprout.report.lives import Life
from resprout.report.ranks import Flipped, Tally, Unanswered
from resprout.report.undecided import Undecided
from resprout.report.views import View, ViewTree


@dataclass(frozen=True)
class Touched:
    """An operation that losses fell into, as all its ranks saw it."""

    operation: str
    number: int
    communicator: str
    lost: tuple[int, ...]
    ranks: int
    """How many had to recover."""
    cost_ns: int
    """How long the slowest of them took."""
    began_ns: int = 0
    """When the first of them began to recover."""


@dataclass(frozen=True)
class Loss:
    """A rank that was lost."""

    rank: int
    pid: int | None
    host: str | None
    how: str
    """killed, exited, hung, unreachable, cut_off or stood_still."""
    exit_status: int | None
    fault: str | None
    """The text of the fault that was injected, if one was."""
    died_ns: int | None
    """Known only of injected faults."""
    detected_ns: int | None
    found_by: int | None
    touched: tuple[Touched, ...]
    cut_off: str | None = None
    """What it said of it, if it was told that the others go on without it."""
    signal: int | None = None
    """Which ended it, if it is one that mistakes of the program lead to."""
    life: int = 0
    """In which it was, of a job that is started again."""

    @property
    def is_mistake(self) -> bool:
        """The program's own: nobody has killed it."""
        is_own = self.fault is None and self.cut_off is None
        return is_own and (self.how == "exited" or self.signal is not None)

    @property
    def when_ns(self) -> int | None:
        return self.died_ns if self.died_ns is not None else self.detected_ns

    @property
    def delay_ns(self) -> int | None:
        """From death to detection."""
        if self.died_ns is None or self.detected_ns is None:
            return None
        return max(0, self.detected_ns - self.died_ns)

    @property
    def cost_ns(self) -> int:
        return sum(operation.cost_ns for operation in self.touched)


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
    report: "Report"
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


@dataclass(frozen=True)
class Report:
    """What there is to say about a job that has ended."""

    command: tuple[str, ...]
    mpi: str
    on_loss: str
    ranks: int
    started_ns: int
    """When the first rank was through MPI_Init; the launcher's start, if that is not known."""
    ended_ns: int
    exit_status: int
    mpirun_status: int
    losses: tuple[Loss, ...] = ()
    touched: tuple[Touched, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()
    recovery_ns: int = 0
    """What the slowest rank spent in recovery."""
    operations: dict[str, Tally] = field(default_factory=dict)
    calls_of_ranks: dict[int, dict[str, int]] = field(default_factory=dict)
    """How often each rank made each call; not there: it was killed."""
    transport: dict[str, int] = field(default_factory=dict)
    missing: tuple[int, ...] = ()
    """Ranks that were not lost and yet left no exit status: they were killed."""
    flipped: tuple[Flipped, ...] = ()
    faults_left: tuple[str, ...] = ()
    """Flips that did not come about, of ranks that came through MPI_Finalize."""
    corruptions: tuple[Corruption, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    """What the program has asked for that may differ between replicas."""
    verification: Verification | None = None
    """Of all processes of all planes; nothing: messages were not verified."""
    verify: str = "none"
    not_compared: tuple[str, ...] = NOT_COMPARED
    """What may leave a process, and is not."""
    views: tuple[View, ...] | None = None
    """Those that were agreed on after losses; nothing: none are kept."""
    tree: ViewTree | None = None
    """Of these views."""
    replicas: int = 1
    planes: tuple[PlaneEnd, ...] = ()
    """If there are several: all else is of the plane whose end was the job's."""
    on_replica_loss: str = "end-plane"
    unprotected: tuple[int, ...] = ()
    """Ranks that ran without Resprout."""
    call_timeouts: tuple[CallTimeout, ...] = ()
    """Where ranks have waited for others for too long."""
    replicas_left: tuple[int, ...] = ()
    """Of each rank, if replicas stand in for each other."""
    lives: tuple[Life, ...] = ()
    """Of a job that is started again after losses: all but the losses is of the last one."""

    @property
    def survivors(self) -> int:
        return self.ranks - len(self.losses)
