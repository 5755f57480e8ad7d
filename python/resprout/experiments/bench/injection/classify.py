"""What became of the flips of a job, by its report (docs/reference/report.md).

A flip is *detected* if the report has a corruption of the message, or of what went into the
collective, that it was in. It is *corrected*
if that corruption was out-voted, its own replica and no other being called wrong, or planes went
back because of it, and the job's result is that of a job without faults. Else it is *missed*. Of
memory, of which a job has one flip, every corruption is that follows. A corruption that no flip can
have caused is a *false accusation*: one that was found before any, or that calls a replica wrong in
which nothing was flipped. (What a process has computed from wrong data is wrong, too: accusing its
later messages is right.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Entry = Mapping[str, Any]
"""One of the report's `flipped` or `corruptions`."""

OUTVOTED = "outvoted"
_SAME = (("rank", "sender"), ("tag", "tag"), ("bytes", "bytes"))
_SAME_GIVEN = (("rank", "sender"), ("call", "call"), ("bytes", "bytes"))
_WORLD = "MPI_COMM_WORLD"


@dataclass(frozen=True)
class Found:
    """Counts of one job, or of many."""

    jobs: int = 0
    injected: int = 0
    """Flips that happened."""
    left: int = 0
    """Flips that did not, their messages never being sent."""
    detected: int = 0
    corrected: int = 0
    missed: int = 0
    falsely_accused: int = 0
    """Corruptions that are none."""
    right_results: int = 0
    """Jobs that ended with 0 and the result of one without faults."""

    def __add__(self, other: "Found") -> "Found":
        sums = {name: getattr(self, name) + getattr(other, name) for name in vars(self)}
        return Found(**sums)


def is_of(flip: Entry, corruption: Entry) -> bool:
    """Whether this corruption is of what was flipped; or of what follows from memory.

    A flip names the receiver by its rank in the communicator, a corruption by that in the world.
    """
    if flip["checkpoint"]:
        return bool(flip["flipped_ns"] <= corruption["found_ns"])
    if flip["collective"]:
        same = all(flip[one] == corruption[other] for one, other in _SAME_GIVEN)
        return same and corruption["of"] == "contribution"
    is_to = flip["communicator"] != _WORLD or flip["destination"] == corruption["receiver"]
    same = all(flip[one] == corruption[other] for one, other in _SAME)
    return is_to and same and corruption["of"] == "message"


def is_outvoted(flip: Entry, corruption: Entry) -> bool:
    """Whether it says, rightly, that the flip's replica alone was wrong; or makes it go back."""
    wrong: Sequence[int] = corruption["wrong_replicas"]
    if corruption["then"] == "go_back" and not wrong:
        return True
    # Whose plane ends with it needs the right data no more.
    is_over = corruption["end"] == OUTVOTED or corruption["then"] in ("exclude", "stand_in")
    return is_over and list(wrong) == [flip["replica"]]


def is_caused(corruption: Entry, flips: Sequence[Entry]) -> bool:
    """Whether a flip can have led to it: directly, or by what its replica has computed since."""
    before = {flip["replica"] for flip in flips if flip["flipped_ns"] <= corruption["found_ns"]}
    # Without a majority nobody is called wrong.
    return bool(before) and set(corruption["wrong_replicas"]) <= before


def classify(report: Mapping[str, Any], is_right: bool) -> Found:
    """The counts of one job. `is_right`: its status and result are those of one without faults."""
    flips: Sequence[Entry] = report["flipped"]
    corruptions: Sequence[Entry] = report["corruptions"]
    caused = [corruption for corruption in corruptions if is_caused(corruption, flips)]
    of_flip = [[c for c in caused if is_of(flip, c)] for flip in flips]
    corrected = [
        bool(found) and is_right and all(is_outvoted(flip, c) for c in found)
        for flip, found in zip(flips, of_flip, strict=True)
    ]
    detected = sum(bool(found) for found in of_flip)
    return Found(
        jobs=1,
        injected=len(flips),
        left=sum(fault.startswith("flip") for fault in report["faults_left"]),
        detected=detected,
        corrected=sum(corrected),
        missed=len(flips) - detected,
        falsely_accused=len(corruptions) - len(caused),
        right_results=int(is_right),
    )
