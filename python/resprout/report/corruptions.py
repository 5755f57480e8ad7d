"""What replicas have compared, and where they differ: notes of ranks, and in words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from resprout.report.history import NO_HISTORY, History, parse_history

STATUS_CORRUPTED = 4
# What may leave a process and no method compares.
NOT_COMPARED = (
    "stdout", "stderr", "files that are not written through MPI", "sockets", "one-sided access",
)  # fmt: skip
_NAMED = 10
OF_THE_PROGRAM = (
    "if no hardware is to blame, the program sends memory that it has never written, or into which "
    "a pending receive writes: MALLOC_PERTURB_=255 in the environment makes fresh memory the same "
    "in all planes (docs/how-to/corruption.md)"
)


@dataclass(frozen=True)
class Corruption:
    """Something of which copies differed, as one process found it."""

    of: str
    """message; truncated: what the receiver has of one that was larger than its buffer;
    contribution or result: what a rank gave to a collective, or got from it; checkpoint: what it
    has protected there; progress: it stood still, and a replica of it did
    not; output: a line on stdout."""
    call: str
    """Of progress where it stood still."""
    sender: int
    """A world rank, as `receiver`; of a collective both are the rank."""
    receiver: int
    tag: int
    communicator: str
    """How it came to be: world, world/2 for the second that was made of it."""
    number: int
    """Of a message: the how manieth of its communicator, sender, receiver and tag. Of a collective:
    of its communicator. From 1."""
    bytes: int
    wrong_replicas: tuple[int, ...]
    """Whose copies a majority has out-voted."""
    tainted: bool
    """The process that found it has worked with a wrong copy."""
    replaced: bool
    """The program has got the right data instead."""
    end: str
    """outvoted; undecided: nobody can tell which copy is right; lost: nobody has the right one."""
    then: str
    """go_on; go_back: its plane goes to a checkpoint; exclude: it ends; abort: the job does;
    stand_in: the process ends, and its siblings stand in for it."""
    rank: int
    replica: int
    found_ns: int
    absent_replicas: tuple[int, ...] = ()
    """That do not have it: their programs have not sent it, or have not made that call."""

    @property
    def what(self) -> tuple[str, str, int, int, int, int]:
        """The same for all processes that found it."""
        return (self.of, self.communicator, self.sender, self.receiver, self.tag, self.number)


@dataclass(frozen=True)
class Verification:
    """How much was compared: of one process, or of all."""

    verified: int = 0
    unverified: int = 0
    """For which nobody was left to compare with."""
    skipped: int = 0
    """On communicators that replicas have no common name for."""
    open_max: int = 0
    """Most that waited for a verdict at one time, in one process."""
    bytes_max: int = 0
    """Most bytes of copies that were kept at one time, in one process."""
    checkpoints: int = 0
    """That each process has kept."""
    returns: int = 0
    """So often planes have gone back to one."""
    history: History = NO_HISTORY

    @property
    def total(self) -> int:
        return self.verified + self.unverified + self.skipped

    @property
    def is_complete(self) -> bool:
        return self.verified == self.total

    @property
    def share(self) -> float:
        """Verified of the total; 1 of nothing."""
        return self.verified / self.total if self.total else 1.0

    def __add__(self, other: "Verification") -> "Verification":
        return Verification(
            self.verified + other.verified,
            self.unverified + other.unverified,
            self.skipped + other.skipped,
            max(self.open_max, other.open_max),
            max(self.bytes_max, other.bytes_max),
            max(self.checkpoints, other.checkpoints),
            self.returns + other.returns,
            self.history + other.history,
        )


def parse_corruption(value: dict[str, Any]) -> Corruption:
    return Corruption(
        of=str(value["of"]),
        call=str(value["call"]),
        sender=int(value["sender"]),
        receiver=int(value["receiver"]),
        tag=int(value["tag"]),
        communicator=str(value["communicator"]),
        number=int(value["number"]),
        bytes=int(value["bytes"]),
        wrong_replicas=tuple(int(replica) for replica in value["wrong_replicas"]),
        tainted=bool(value["tainted"]),
        replaced=bool(value["replaced"]),
        end=str(value["end"]),
        then=str(value["then"]),
        rank=int(value["rank"]),
        replica=int(value["replica"]),
        found_ns=int(value["found_ns"]),
        absent_replicas=tuple(int(replica) for replica in value.get("absent_replicas", ())),
    )


def parse_verification(value: dict[str, Any] | None) -> Verification | None:
    if value is None:
        return None
    names = [field.name for field in fields(Verification) if field.name != "history"]
    counts = {name: int(value[name]) for name in names}
    return Verification(**counts, history=parse_history(value["history"]))


def describe(corruptions: Iterable[Corruption]) -> Iterator[str]:
    """One line for each thing that was found, whoever found it."""
    first: dict[tuple[str, str, int, int, int, int], Corruption] = {}
    # Who saw most says most.
    for found in sorted(corruptions, key=_saw_less):
        first.setdefault(found.what, found)
    in_order = sorted(first.values(), key=lambda c: c.found_ns)
    yield from map(_sentence, in_order[:_NAMED])
    if (unnamed := len(in_order) - _NAMED) > 0:
        yield f"{unnamed} more corruptions were found"
    if any(_may_be_the_program(found) for found in in_order):
        yield OF_THE_PROGRAM


def _may_be_the_program(found: Corruption) -> bool:
    """Of two copies neither can be shown to be wrong, so it need not be hardware."""
    data = ("message", "contribution", "result", "checkpoint")
    return found.of in data and found.end == "undecided" and found.then == "abort"


def _saw_less(found: Corruption) -> tuple[bool, bool, bool]:
    return (found.end != "outvoted", found.then == "go_on", not found.tainted)


def _sentence(found: Corruption) -> str:
    if found.of == "progress":
        return _sentence_of_progress(found)
    if found.of == "output":
        line = f"line {found.number} of rank {found.rank} on {found.call} ({found.bytes} bytes)"
        return f"{line} is not the same in all planes: {_verdict(found)}"
    on = "" if found.communicator == "world" else f" on {found.communicator}"
    if found.of == "message":
        what = (
            f"message {found.number} of rank {found.sender} to rank {found.receiver}{on} "
            f"(tag {found.tag}, {found.bytes} bytes, {found.call})"
        )
    elif found.of == "truncated":
        what = (
            f"what rank {found.receiver} has of a message that is larger than its buffer{on} "
            f"(tag {found.tag}, {found.bytes} bytes, {found.call})"
        )
    elif found.of == "checkpoint":
        what = f"what rank {found.rank} protects ({found.bytes} bytes, checkpoint {found.number})"
    elif found.call.startswith("file_"):
        what = (
            f"what rank {found.sender} has written to a file{on} ({found.bytes} bytes, up to its "
            f"{found.call})"
        )
    else:
        of = "to" if found.of == "contribution" else "from"
        what = (
            f"the {found.of} of rank {found.sender} {of} collective {found.number}{on} "
            f"({found.call}, {found.bytes} bytes)"
        )
    if found.absent_replicas:
        planes = " and ".join(map(str, found.absent_replicas))
        have = "does not have it" if len(found.absent_replicas) == 1 else "do not have it"
        return f"{what} is not in all planes: plane {planes} {have}: {_verdict(found)}"
    return f"{what} is not the same in all planes: {_verdict(found)}"


def _sentence_of_progress(found: Corruption) -> str:
    what = f"rank {found.rank} of plane {found.replica} stood still {found.call}"
    if found.end == "outvoted":
        after = {"stand_in": "it is ended, and its replicas stand in for it"}
        then = after.get(found.then, f"plane {found.replica} is excluded")
        return f"{what} while its replicas went on: {then}"
    then = "the job ends" if found.then == "abort" else "it is ended, and the job goes on"
    return f"{what} while its replica went on: nobody can tell which is right; {then}"


def _verdict(found: Corruption) -> str:
    if found.end != "outvoted":
        why = "nobody can tell which copy is right"
        if found.absent_replicas:
            why = "their programs do not do the same, and nobody can tell which is right"
        if found.end == "lost":
            why = "nobody who is left has the right data"
        excluded = f"plane {found.replica}, which has come back last, is excluded"
        what = {"abort": "the job ends", "go_back": "the planes go back", "exclude": excluded}
        return f"{why}; {what.get(found.then, 'the job goes on')}"
    planes = " and ".join(map(str, found.wrong_replicas))
    wrong = f"that of plane {planes} is wrong"
    if found.then == "exclude":
        return f"{wrong}; plane {found.replica}, which has worked with it, is excluded"
    if found.then == "stand_in":
        who = f"rank {found.rank} of plane {found.replica}"
        return f"{wrong}; {who}, which has worked with it, ends, and its replicas stand in for it"
    if found.then == "go_back":
        return f"{wrong}; plane {found.replica}, which has worked with it, goes back"
    return f"{wrong}, and was replaced" if found.replaced else wrong
