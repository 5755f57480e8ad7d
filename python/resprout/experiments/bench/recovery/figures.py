"""Medians and quartiles of what was measured, and how they compare."""

from collections.abc import Sequence
from dataclasses import dataclass

from resprout.experiments.bench.quartiles import Figure, figure_of
from resprout.experiments.bench.recovery.measure import Sample

OURS, TOLD, ULFM = "resprout", "ulfm, told", "ulfm"
RESTS = ("detection", "recovery")


@dataclass(frozen=True)
class Row:
    """One number of ranks, one kind of faults, one way."""

    procs: int
    faults: str
    way: str
    jobs: int
    total: Figure
    detection: Figure
    recovery: Figure

    def as_dict(self) -> dict[str, object]:
        values: dict[str, object] = {
            "procs": self.procs, "faults": self.faults, "way": self.way, "jobs": self.jobs,
        }  # fmt: skip
        for name in ("total", *RESTS):
            figure: Figure = getattr(self, name)
            values |= figure.as_dict(name)
        return values


def rows_of(samples: Sequence[Sample]) -> list[Row]:
    """In the order in which they came."""
    groups: dict[tuple[int, str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.procs, sample.faults, sample.way), []).append(sample)
    return [
        Row(
            *key,
            jobs=len(group),
            total=figure_of([sample.total_us for sample in group]),
            detection=figure_of([sample.detection_us for sample in group]),
            recovery=figure_of([sample.recovery_us for sample in group]),
        )
        for key, group in groups.items()
    ]


def _ratio(theirs: Row | None, ours: Row, name: str, digits: int) -> str:
    if theirs is None:
        return "-"
    return f"{getattr(theirs, name).median / getattr(ours, name).median:.{digits}f}"


def comparisons(rows: Sequence[Row]) -> list[str]:
    """One sentence for each number of ranks: ULFM's way divided by ours, both with one detector.

    `-` where no job of ULFM's way came to a good end.
    """
    found = {(row.procs, row.faults, row.way): row for row in rows}
    sentences = []
    for procs in dict.fromkeys(row.procs for row in rows):
        ratios = []
        for faults in dict.fromkeys(row.faults for row in rows):
            ours = found[procs, faults, OURS]
            told, ulfm = (found.get((procs, faults, way)) for way in (TOLD, ULFM))
            if ours.recovery.median > 0:
                ratios.append(
                    f"{faults} {_ratio(told, ours, 'total', 1)} "
                    f"({_ratio(told, ours, 'recovery', 1)}, "
                    f"{_ratio(ulfm, ours, 'total', 0)})"
                )
        if ratios:
            sentences.append(f"{procs} ranks: {', '.join(ratios)}")
    return sentences
