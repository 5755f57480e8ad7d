"""Medians and quartiles of what was measured, and how the time grows with the members."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from resprout.bench.membership.measure import Sample

TIMES = ("total", "detection", "stabilization", "installation")


@dataclass(frozen=True)
class Figure:
    """Of one time, in microseconds."""

    lower: float
    median: float
    upper: float


@dataclass(frozen=True)
class Row:
    """One number of members, one radix, one kind of victim."""

    procs: int
    radix: int
    victim: str
    deaths: int
    total: Figure
    detection: Figure
    stabilization: Figure
    installation: Figure

    def as_dict(self) -> dict[str, object]:
        values: dict[str, object] = {
            "procs": self.procs, "radix": self.radix, "victim": self.victim, "deaths": self.deaths,
        }  # fmt: skip
        for name in TIMES:
            figure: Figure = getattr(self, name)
            values |= {
                f"{name}_lower_us": figure.lower,
                f"{name}_us": figure.median,
                f"{name}_upper_us": figure.upper,
            }
        return values


def rows_of(samples: Sequence[Sample]) -> list[Row]:
    """By victim, members and radix."""
    groups: dict[tuple[int, int, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.procs, sample.radix, sample.victim), []).append(sample)
    return [
        Row(
            *key,
            len(groups[key]),
            *(_figure([getattr(sample, f"{name}_us") for sample in groups[key]]) for name in TIMES),
        )
        for key in sorted(groups, key=lambda key: (key[2], key[0], key[1]))
    ]


def _figure(values: list[float]) -> Figure:
    if len(values) == 1:
        return Figure(values[0], values[0], values[0])
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return Figure(lower, median(values), upper)


def growth(rows: Sequence[Row]) -> list[str]:
    """One sentence a radix: by what power of the members the time to the last view grows."""
    sentences = []
    for radix in sorted({row.radix for row in rows}):
        powers = []
        for victim in dict.fromkeys(row.victim for row in rows):
            line = [row for row in rows if row.radix == radix and row.victim == victim]
            if len(line) > 1:
                few, many = line[0], line[-1]
                ratio = many.total.median / few.total.median
                power = math.log(ratio) / math.log(many.procs / few.procs)
                powers.append(f"{victim} N^{power:.2f} ({few.procs} to {many.procs})")
        if powers:
            sentences.append(f"radix {radix}: {', '.join(powers)}")
    return sentences
