"""The parts of the report: the files that the ranks leave in the run directory.

    started-<rank>         its process id, written before it becomes the program
    rank-<rank>.json       what it saw, written at the end of an MPI program
    exit-<rank>            its exit status; not there: it was killed, or the disk is full: then
                           it is the second line of started-<rank>
    signal-<rank>          which signal was about to end it, of those that a mistake leads to
    ended                  how processes ended, as mpirun has seen it (report/ends.py)
    notes-<rank>           what it told while it ran, a line each (report/notes.py):
      injected             the fault that came about
      flipped              what was corrupted on purpose
      corrupted            what was found to differ between replicas
      unanswered           its first call that needed data which only the lost had
      stood_still          that it was ended for that: by the launcher
    abort.json             who called MPI_Abort, and with what

The shim (src/mpi) writes all but the first and `ended` (docs/reference/report.md has the schema). A
file or a note that cannot be understood counts as missing.
"""

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from resprout.report.corruptions import (
    Corruption,
    Verification,
    parse_corruption,
    parse_verification,
)
from resprout.report.ends import SeenEnd, read_ends
from resprout.report.notes import NoteReader
from resprout.report.undecided import Undecided, parse_undecided
from resprout.report.views import SeenView, ViewTree, parse_tree, parse_views

SCHEMA = 1


@dataclass(frozen=True)
class SeenLoss:
    """A loss, as one rank saw it."""

    rank: int
    kind: str
    """exited, hung, unreachable or cut_off."""
    detected_ns: int
    found_by: int
    pid: int | None = None


@dataclass(frozen=True)
class Recovery:
    """An operation that a loss fell into, as one rank saw it."""

    operation: str
    number: int
    communicator: str
    lost: tuple[int, ...]
    began_ns: int
    ended_ns: int


@dataclass(frozen=True)
class Tally:
    """How often a call was made, was carried by the MPI library, was touched by a loss, and
    returned an error for a loss."""

    calls: int = 0
    native: int = 0
    touched: int = 0
    errors: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.calls + other.calls,
            self.native + other.native,
            self.touched + other.touched,
            self.errors + other.errors,
        )


@dataclass(frozen=True)
class RankPart:
    """What one rank says of itself."""

    rank: int
    pid: int
    host: str
    started_ns: int
    ended_ns: int
    finalized: bool
    exit_status: int | None
    operations: dict[str, Tally] = field(default_factory=dict)
    losses: list[SeenLoss] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    transport: dict[str, int] = field(default_factory=dict)
    faults_left: tuple[str, ...] = ()
    """That were to come about, and did not."""
    verification: Verification | None = None
    views: tuple[SeenView, ...] | None = None
    """Nothing: it kept none."""
    tree: ViewTree | None = None
    """Of its views; only the lowest rank that lives says it."""
    cut_off: str | None = None
    """Why it had no part in the job any more, if it was told so."""


@dataclass(frozen=True)
class Injected:
    """A fault that came about."""

    fault: str
    fired_ns: int


@dataclass(frozen=True)
class Unanswered:
    """The first call of a rank that needed data which only the lost had."""

    rank: int
    call: str
    communicator: str
    """Its name; empty: it has none."""
    lost: tuple[int, ...]
    """Its members that were."""
    calls_handler: bool
    """Of the program."""
    ends_job: bool
    at_ns: int


@dataclass(frozen=True)
class Flipped:
    """What was corrupted on purpose: a message, what went into a collective, or memory."""

    fault: str
    rank: int
    """Who sent it, or whose it is."""
    message: int
    """Of those that it sent, from 1; 0: it is none."""
    collective: int
    """Of those to which it gave anything, from 1; 0: it is none."""
    checkpoint: int
    """After its so-manieth the memory was corrupted that it protects, from 1; 0: it is none."""
    bit: int
    bytes: int
    call: str
    destination: int
    """Of all but messages -1."""
    tag: int
    communicator: str
    """`destination` is a rank in it."""
    flipped_ns: int
    replica: int = 0
    """The plane of the process."""
    area: str = ""
    """Of a bit anywhere in the process: stack, heap, data, or library, the data of a library. Then
    `bit` and `bytes` are of all that it was chosen from."""


@dataclass(frozen=True)
class Parts:
    """Everything that was left in a run directory."""

    ranks: dict[int, RankPart] = field(default_factory=dict)
    injected: dict[int, Injected] = field(default_factory=dict)
    started: dict[int, int] = field(default_factory=dict)
    """Process ids of ranks."""
    exits: dict[int, int] = field(default_factory=dict)
    signals: dict[int, int] = field(default_factory=dict)
    """That ended ranks, as far as they could say so."""
    aborted_with: int | None = None
    """The status that a rank gave to MPI_Abort."""
    unreadable: tuple[str, ...] = ()
    flipped: tuple[Flipped, ...] = ()
    corruptions: tuple[Corruption, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()
    stood_still: frozenset[int] = frozenset()
    """Who was ended for that."""
    ended: frozenset[int] = frozenset()
    """Whose end mpirun has seen."""
    killed: frozenset[int] = frozenset()
    """Of these, whom a signal ended."""

    def exit_status(self, rank: int) -> int | None:
        """Nothing: it was killed, or it is not known."""
        if rank in self.exits:
            return self.exits[rank]
        # What it says of itself comes before other exit handlers, and destructors.
        if rank in self.signals and rank in self.killed:
            return None
        return self.ranks[rank].exit_status if rank in self.ranks else None

    def signal(self, rank: int) -> int | None:
        """What ended it; nothing: it exited, or nobody knows. Of who exits a handler has dealt with
        the signal."""
        return None if self.exit_status(rank) is not None else self.signals.get(rank)

    def came_to_their_ends(self) -> dict[int, int]:
        """The statuses of ranks that did, through MPI_Finalize if they have used MPI."""
        statuses = {rank: self.exit_status(rank) for rank in sorted({*self.exits, *self.ranks})}
        return {
            rank: status
            for rank, status in statuses.items()
            if status is not None and (rank not in self.ranks or self.ranks[rank].finalized)
        }

    def seen_lost(self) -> set[int]:
        """Whom those that came through MPI_Finalize saw dying."""
        witnesses = [part for part in self.ranks.values() if part.finalized]
        return {loss.rank for part in witnesses for loss in part.losses}


def read_parts(directory: Path) -> Parts:
    ranks: dict[int, RankPart] = {}
    exits: dict[int, int] = {}
    signals: dict[int, int] = {}
    started: dict[int, int] = {}
    aborted_with = None
    unreadable = []
    for path in sorted(directory.iterdir()):
        match = re.fullmatch(r"(?:(rank|started|exit|signal)-([0-9]+)|abort)(?:\.json)?", path.name)
        if match is None:
            continue
        kind, rank = match[1], int(match[2] or 0)
        try:
            text = path.read_text(encoding="utf-8")
            if kind == "started":
                pid, *status = text.split()
                started[rank] = int(pid)
                if status:
                    exits[rank] = int(status[0])
            elif kind == "exit":
                exits[rank] = int(text)
            elif kind == "signal":
                signals[rank] = int(text)
            elif kind == "rank":
                ranks[rank] = _parse_rank(json.loads(text))
            else:
                aborted_with = int(json.loads(text)["status"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            unreadable.append(path.name)
    seen = _seen_by_launcher(directory, started)
    by_mistake = {rank: end for rank, end in seen.items() if not end.is_sent}
    seen_exits = {rank: end.status for rank, end in by_mistake.items() if end.status is not None}
    seen_signals = {rank: end.signal for rank, end in by_mistake.items() if end.signal is not None}
    told = _read_notes(directory)
    return replace(
        told,
        ranks=ranks,
        started=started,
        exits=seen_exits | exits,
        signals=seen_signals | signals,
        aborted_with=aborted_with,
        unreadable=(*unreadable, *told.unreadable),
        ended=frozenset(seen),
        killed=frozenset(rank for rank, end in seen.items() if end.signal is not None),
    )


def _seen_by_launcher(directory: Path, pids: dict[int, int]) -> dict[int, SeenEnd]:
    """How ranks ended. `pids`: of ranks."""
    ends = read_ends(directory)
    found = {rank: ends.of(rank, pids.get(rank)) for rank in {*pids, *ends.elsewhere}}
    return {rank: end for rank, end in found.items() if end is not None}


def _read_notes(directory: Path) -> Parts:
    """The parts that are in notes."""
    injected: dict[int, Injected] = {}
    flipped: list[Flipped] = []
    corruptions: list[Corruption] = []
    undecided: list[Undecided] = []
    unanswered: list[Unanswered] = []
    stood_still = set()
    reader = NoteReader(directory)
    for note in reader.new():
        try:
            if note.kind == "injected":
                fault, fired_ns = str(note.value["fault"]), int(note.value["fired_ns"])
                injected[note.rank] = Injected(fault, fired_ns)
            elif note.kind == "flipped":
                flipped.append(_parse_flipped(note.value))
            elif note.kind == "corrupted":
                corruptions.append(parse_corruption(note.value))
            elif note.kind == "undecided":
                undecided.append(parse_undecided(note.value))
            elif note.kind == "unanswered":
                unanswered.append(_parse_unanswered(note.rank, note.value))
            elif note.kind == "stood_still":
                stood_still.add(note.rank)
        except (ValueError, KeyError, TypeError, AttributeError):
            reader.unreadable.add(f"notes-{note.rank}")
    return Parts(
        injected=injected,
        unreadable=tuple(sorted(reader.unreadable)),
        flipped=tuple(sorted(flipped, key=lambda flip: (flip.flipped_ns, flip.rank))),
        undecided=tuple(dict.fromkeys(undecided)),
        corruptions=tuple(sorted(corruptions, key=lambda found: (found.found_ns, found.rank))),
        unanswered=tuple(sorted(unanswered, key=lambda call: (call.at_ns, call.rank))),
        stood_still=frozenset(stood_still),
    )


def _parse_unanswered(rank: int, value: dict[str, Any]) -> Unanswered:
    return Unanswered(
        rank=rank,
        call=str(value["call"]),
        communicator=str(value["communicator"]),
        lost=tuple(int(one) for one in value["lost"]),
        calls_handler=bool(value["calls_handler"]),
        ends_job=bool(value["ends_job"]),
        at_ns=int(value["at_ns"]),
    )


def _parse_flipped(value: dict[str, Any]) -> Flipped:
    return Flipped(
        fault=str(value["fault"]),
        rank=int(value["rank"]),
        message=int(value.get("message", 0)),
        collective=int(value.get("collective", 0)),
        checkpoint=int(value.get("checkpoint", 0)),
        bit=int(value["bit"]),
        bytes=int(value["bytes"]),
        call=str(value["call"]),
        destination=int(value.get("destination", -1)),
        tag=int(value.get("tag", 0)),
        communicator=str(value.get("communicator", "")),
        flipped_ns=int(value["flipped_ns"]),
        area=str(value.get("area", "")),
    )


def _parse_rank(value: dict[str, Any]) -> RankPart:
    if value["schema"] != SCHEMA:
        raise ValueError(f"schema {value['schema']}")
    status = value["exit_status"]
    return RankPart(
        rank=int(value["rank"]),
        pid=int(value["pid"]),
        host=str(value["host"]),
        started_ns=int(value["started_ns"]),
        ended_ns=int(value["ended_ns"]),
        finalized=bool(value["finalized"]),
        exit_status=None if status is None else int(status),
        operations={
            str(name): Tally(int(t["calls"]), int(t["native"]), int(t["touched"]), int(t["errors"]))
            for name, t in value["operations"].items()
        },
        losses=[
            SeenLoss(
                int(loss["rank"]),
                str(loss["kind"]),
                int(loss["detected_ns"]),
                int(loss["found_by"]),
                loss.get("pid"),
            )
            for loss in value["losses"]
        ],
        recoveries=[
            Recovery(
                str(r["operation"]),
                int(r["number"]),
                str(r["communicator"]),
                tuple(int(rank) for rank in r["lost"]),
                int(r["began_ns"]),
                int(r["ended_ns"]),
            )
            for r in value["recoveries"]
        ],
        transport={str(k): int(v) for k, v in value.get("transport", {}).items()},
        faults_left=tuple(str(text) for text in value.get("faults_left", [])),
        verification=parse_verification(value.get("verification")),
        views=parse_views(value.get("views")),
        tree=parse_tree(value.get("tree")),
        cut_off=value.get("cut_off"),
    )
