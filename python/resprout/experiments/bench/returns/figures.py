"""Medians and quartiles of what was measured, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from resprout.experiments.bench.quartiles import Figure, figure_of
from resprout.experiments.bench.returns.measure import (
    MEMORY,
    WAYS,
    Cost,
    Death,
    Sample,
    Work,
)

CHECKPOINT, WORK, DEATH = "checkpoint", "step of a job", "death"
COMPUTES = "computes"
COST_AIM, SHARE_AIM = 1.3, 0.02


@dataclass(frozen=True)
class Row:
    """One time of one thing that was measured."""

    of: str
    what: str
    time: str
    samples: int
    figure: Figure

    def as_dict(self) -> dict[str, object]:
        named: dict[str, object] = {"of": self.of, "what": self.what, "time": self.time}
        return {**named, "samples": self.samples, **self.figure.as_dict("time")}


def rows_of(samples: Sequence[Sample]) -> list[Row]:
    """REQUIRES: there are checkpoints, and deaths of each way."""
    costs = [sample for sample in samples if isinstance(sample, Cost)]
    rows = [
        _row(CHECKPOINT, "plain copy", "whole", [cost.memcpy for cost in costs]),
        _row(CHECKPOINT, "wire", "whole", [cost.wire for cost in costs]),
        _row(CHECKPOINT, "checkpoint", "whole", [cost.checkpoint for cost in costs]),
    ]
    for has_checkpoints, what in ((False, "without checkpoints"), (True, "with checkpoints")):
        steps = [it.step_ns for it in works(samples) if it.has_checkpoints == has_checkpoints]
        rows += [_row(WORK, what, "whole", steps)] if steps else []
    for way in WAYS:
        deaths = [it for it in samples if isinstance(it, Death) and it.way == way]
        rows.append(_row(DEATH, way, "a pause before", [it.before for it in deaths]))
        for time, values in (
            ("in MPI_Init", [it.in_mpi for it in deaths]),
            ("has data", [it.has_data for it in deaths]),
            (COMPUTES, [it.computes for it in deaths]),
        ):
            known = [value for value in values if value is not None]
            rows += [_row(DEATH, way, time, known)] if known else []
    return rows


def works(samples: Sequence[Sample]) -> list[Work]:
    return [sample for sample in samples if isinstance(sample, Work)]


def _row(of: str, what: str, time: str, values_ns: Sequence[float]) -> Row:
    return Row(of, what, time, len(values_ns), figure_of([ns / 1e3 for ns in values_ns]))


def share_of(samples: Sequence[Sample]) -> float | None:
    """Of the time of jobs with checkpoints, what went into them. None: there was none."""
    shares = [work.share for work in works(samples) if work.has_checkpoints]
    return median(shares) if shares else None


def comparisons(rows: Sequence[Row], share: float | None, every_s: float) -> list[str]:
    """Sentences, each with what it says in figures."""
    found = {(row.of, row.what, row.time): row.figure.median for row in rows}
    checkpoint = found[CHECKPOINT, "checkpoint", "whole"]
    to_copy = checkpoint / found[CHECKPOINT, "plain copy", "whole"]
    to_wire = checkpoint / found[CHECKPOINT, "wire", "whole"]
    sentences = [
        f"A checkpoint takes {to_copy:.2f} times a plain copy, {to_wire:.2f} times the wire (aim: "
        f"at most {COST_AIM} times)",
        f"One every {every_s:g} s costs {_percent(checkpoint / (checkpoint + every_s * 1e6))} of "
        f"the time, by its cost (aim: at most {_percent(SHARE_AIM)})",
    ]
    with_them = found.get((WORK, "with checkpoints", "whole"))
    if with_them is not None and share is not None:
        without = found[WORK, "without checkpoints", "whole"]
        sentences.append(
            f"Of a job with one every {every_s:g} s, {_percent(share)} of the time went into them; "
            f"a step took {with_them / without:.3f} times as long as without"
        )
    ours = found[DEATH, MEMORY, COMPUTES]
    others = [f"{found[DEATH, way, COMPUTES] / ours:.2f} times that: {way}"
              for way in WAYS if way != MEMORY]  # fmt: skip
    sentences.append(
        f"From a kill to computing again: {ours / 1e3:.0f} ms, {MEMORY}; {'; '.join(others)}"
    )
    return sentences


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
