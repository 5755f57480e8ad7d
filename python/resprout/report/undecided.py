"""What programs have asked for that may differ between replicas: notes of ranks, and in words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_THREAD = "ask on the main thread, and hand it on"
_NAME = "send no name that is made up; make one of the rank, or of numbers that replicas have alike"
_ADVICE = {
    "OpenMP": "its sums depend on which thread comes first: add them up in one order, or set "
    "OMP_NUM_THREADS=1",
    "a clock in a thread": _THREAD,
    "a random number in a thread": _THREAD,
}


@dataclass(frozen=True)
class Undecided:
    """A call whose answers replicas do not share, when the program has made it first."""

    call: str
    where: str
    """A line of a script; or a file of the program, an offset, and the function if it has a name.
    Empty: it is not known."""


def parse_undecided(value: dict[str, Any]) -> Undecided:
    return Undecided(str(value["call"]), str(value["where"]))


def describe(calls: Iterable[Undecided]) -> Iterator[str]:
    """Of a job whose replicas were found to differ."""
    for one in calls:
        place = f" at {one.where}" if one.where else ""
        advice = _ADVICE.get(one.call, _NAME)
        yield f"  the program uses {one.call}{place}, which may differ between replicas: {advice}"
