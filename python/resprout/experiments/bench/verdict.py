"""What a bench aimed at, and what it has seen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    aim: str
    seen: str
    is_met: bool

    def __str__(self) -> str:
        return f"{self.aim}: {self.seen}: {'met' if self.is_met else 'not met'}"
