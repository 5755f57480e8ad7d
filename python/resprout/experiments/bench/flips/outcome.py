"""What became of a job in which a bit was flipped, by its end, its result and its report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Counts:
    """Of jobs, each with one flip."""

    flipped: int = 0
    left: int = 0
    """Flips that did not happen, in jobs that count nowhere else."""
    masked: int = 0
    """The result is right, and nobody has noticed anything."""
    corrected: int = 0
    """The result is right, though replicas differed or one was lost."""
    detected: int = 0
    """There is no result: the job has said that something was wrong."""
    noticed: int = 0
    """There is no result, or a wrong one, and only the program has said so by its status."""
    hung: int = 0
    """No end came."""
    silent: int = 0
    """The result is wrong, and the job ended with 0."""

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in vars(self)})


HUNG = Counts(flipped=1, hung=1)


def classify(status: int, report: Mapping[str, Any], is_right: bool) -> Counts:
    """Of a job that has ended. `is_right`: it has said the result of one without faults."""
    if report["faults_left"]:
        return Counts(left=1)
    planes = report.get("planes") or ()
    has_lost = bool(report["losses"]) or any(plane["losses"] for plane in planes)
    is_noted = bool(report["corruptions"]) or has_lost
    if status == 0 and not is_right:
        return Counts(flipped=1, silent=1)
    if status == 0:
        return Counts(flipped=1, corrected=int(is_noted), masked=int(not is_noted))
    return Counts(flipped=1, detected=int(is_noted), noticed=int(not is_noted))
