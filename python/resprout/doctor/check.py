"""One finding of the doctor."""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    GOOD = "ok"
    DOUBTFUL = "note"
    NOT_TRIED = "not tried"
    BAD = "bad"


@dataclass(frozen=True)
class Check:
    name: str
    verdict: Verdict
    text: str
