"""Counts by degree, method and area, and what is aimed at."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from resprout.experiments.bench.flips.measure import Outcome
from resprout.experiments.bench.flips.outcome import Counts
from resprout.experiments.bench.replicated import NONE
from resprout.experiments.bench.verdict import Verdict


@dataclass(frozen=True)
class Row:
    degree: int
    method: str
    area: str
    counts: Counts

    def as_dict(self) -> dict[str, object]:
        about = {"degree": self.degree, "method": self.method, "area": self.area}
        return {**about, **asdict(self.counts)}


def rows_of(outcomes: Sequence[Outcome]) -> list[Row]:
    """In the order in which they come first."""
    groups: dict[tuple[int, str, str], Counts] = {}
    for outcome in outcomes:
        key = (outcome.run.degree, outcome.run.method, outcome.run.area)
        groups[key] = groups.get(key, Counts()) + outcome.counts
    return [Row(*key, counts) for key, counts in groups.items()]


def total(rows: Sequence[Row]) -> Counts:
    return sum((row.counts for row in rows), Counts())


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Of jobs whose replicas compare what they say."""
    found = total([row for row in rows if row.method != NONE])
    if not found.flipped:
        return []
    return [
        Verdict(
            f"where replicas compare, none {what}", f"{count:,} of {found.flipped:,}", count == 0
        )
        for what, count in (("silent", found.silent), ("hung", found.hung))
    ]
