"""Medians and quartiles of what was measured, and how the time grows with the members."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from resprout.experiments.bench.membership.measure import Sample
from resprout.experiments.bench.quartiles import Figure, figure_of

TIMES = ("total", "detection", "stabilization", "installation")


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
            values |= figure.as_dict(name)
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
            *(
                figure_of([getattr(sample, f"{name}_us") for sample in groups[key]])
                for name in TIMES
            ),
        )
        for key in sorted(groups, key=lambda key: (key[2], key[0], key[1]))
    ]


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
