"""From samples to figures: medians, quartiles, and ratios within the rounds of one job."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from resprout.experiments.bench.bcast.figures import quartiles, ratio
from resprout.experiments.bench.revoke.measure import WAYS, Found, Sample
from resprout.experiments.bench.revoke.plan import AFTER

OURS, ULFM = WAYS
SETTLED = 5
"""After so many operations the paper sees no trace of a revocation any more (section 4.2)."""


PARTS: dict[str, Callable[[Sample], float]] = {
    "before": lambda sample: median(sample.before),
    "revoked": lambda sample: sample.revoked,
    "first_after": lambda sample: sample.after[0],
    "settled": lambda sample: median(sample.after[SETTLED:]),
}


@dataclass(frozen=True)
class Row:
    """One case, one way. Times are microseconds of the slowest rank, medians unless said."""

    ranks: int
    operation: str
    bytes: int
    initiator: int
    way: str
    samples: int
    before: float
    revoked_lower_quartile: float
    revoked: float
    revoked_upper_quartile: float
    after: tuple[float, ...]
    """Of the first operation on the other communicator, the second, and so on."""
    settled: float
    """Of all those after the first five together."""
    to_ulfm: tuple[float, float, float, float]
    """Before, revoked, first after, settled: medians of the ratios round by round to ULFM's."""
    to_before: float
    """Settled, as median of the ratios round by round to the same way's before."""

    def as_dict(self) -> dict[str, object]:
        values: dict[str, object] = {
            "ranks": self.ranks, "operation": self.operation, "bytes": self.bytes,
            "initiator": self.initiator, "way": self.way, "samples": self.samples,
            "before_us": self.before, "revoked_lower_us": self.revoked_lower_quartile,
            "revoked_us": self.revoked, "revoked_upper_us": self.revoked_upper_quartile,
            "settled_us": self.settled,
        }  # fmt: skip
        values |= {f"after_{i + 1}_us": us for i, us in enumerate(self.after)}
        values |= {f"{name}_to_ulfm": of for name, of in zip(PARTS, self.to_ulfm, strict=True)}
        return {**values, "settled_to_before": self.to_before}


def rows_of(found: Found) -> Iterator[Row]:
    """Case by case, ours first."""
    for number, case in enumerate(found.job.cases):
        theirs = found.samples[number, ULFM]
        for way in WAYS:
            samples = found.samples[number, way]
            low, middle, high = quartiles(tuple(sample.revoked for sample in samples))
            parts = {name: [part(sample) for sample in samples] for name, part in PARTS.items()}
            before, revoked, first, settled = (
                ratio(parts[name], [part(sample) for sample in theirs])
                for name, part in PARTS.items()
            )
            yield Row(
                ranks=found.job.ranks,
                operation=case.operation,
                bytes=case.bytes,
                initiator=case.initiator,
                way=way,
                samples=len(samples),
                before=median(parts["before"]),
                revoked_lower_quartile=low,
                revoked=middle,
                revoked_upper_quartile=high,
                after=tuple(median(sample.after[i] for sample in samples) for i in range(AFTER)),
                settled=median(parts["settled"]),
                to_ulfm=(before, revoked, first, settled),
                to_before=ratio(parts["settled"], parts["before"]),
            )


def comparisons(rows: Sequence[Row]) -> list[str]:
    """A sentence each: how far ours is from ULFM's, over all cases."""
    ours = [row for row in rows if row.way == OURS]
    names = ("before", "revoked", "first after", "6th to 20th after")
    sentences = []
    for place, name in enumerate(names):
        ratios = sorted(row.to_ulfm[place] for row in ours)
        sentences.append(f"{name}: {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    return sentences


def traces(rows: Sequence[Row]) -> list[str]:
    """A sentence a way: what is left of a revocation after five operations, over all cases."""
    sentences = []
    for way in WAYS:
        ratios = sorted(row.to_before for row in rows if row.way == way)
        sentences.append(f"{way}: {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    return sentences
