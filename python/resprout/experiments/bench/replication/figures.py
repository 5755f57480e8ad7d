"""From samples to figures: medians, and ratios within the rounds of one measurement."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from resprout.experiments.bench.quartiles import Figure, figure_of
from resprout.experiments.bench.replicated import NONE
from resprout.experiments.bench.replication.measure import COPIES, Sample

UNTIED = (COPIES, NONE)
"""Copies that do not know of each other: under the MPI's own launcher, and under ours."""


@dataclass(frozen=True)
class Row:
    """One kernel, degree and method. Times are seconds."""

    kernel: str
    degree: int
    method: str
    samples: int
    time: Figure
    computed: float
    wall: float
    """These two are medians of what Sample says."""
    to_plain: float
    """Median of the ratios round by round to the plain program."""
    to_copies: float | None
    """The same to as many plain copies; nothing where there are none."""
    to_limit: float | None
    """The same to whichever of UNTIED has the lower median, with this kernel and degree."""
    compared: int | None
    """Most of all samples, as are those that follow; nothing if nothing is compared."""
    unverified: int | None
    open_max: int | None
    """Incomplete requests of one process at a time."""
    bytes_max: int | None
    """Of copies that one process kept at a time."""
    history: Mapping[str, Any] | None = None
    """Of the quickest run: the report's, means of a process over time."""

    @property
    def bytes_per_request(self) -> float | None:
        """Copies that were kept; nothing if no request was ever incomplete."""
        if not self.open_max or self.bytes_max is None:
            return None
        return self.bytes_max / self.open_max

    def as_dict(self) -> dict[str, object]:
        return {
            "kernel": self.kernel, "degree": self.degree, "method": self.method,
            "samples": self.samples, "time_lower_s": self.time.lower, "time_s": self.time.median,
            "time_upper_s": self.time.upper, "computed_s": self.computed,
            "wall_s": self.wall, "to_plain": self.to_plain, "to_copies": self.to_copies,
            "to_limit": self.to_limit, "compared": self.compared, "unverified": self.unverified,
            "open_max": self.open_max, "bytes_max": self.bytes_max,
            "bytes_per_request": self.bytes_per_request,
        }  # fmt: skip


def rows_of(samples: Sequence[Sample]) -> list[Row]:
    """By kernel and degree, in the order in which kernels came."""
    groups: dict[tuple[str, int, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.kernel, sample.degree, sample.method), []).append(sample)
    kernels = list(dict.fromkeys(sample.kernel for sample in samples))
    order = list(dict.fromkeys(sorted((s.degree, _place(s.method), s.method) for s in samples)))
    return [
        _row(groups, (kernel, degree, method))
        for kernel in kernels
        for degree, _, method in order
        if (kernel, degree, method) in groups
    ]


def _place(method: str) -> int:
    order = (*UNTIED, "all-to-all", "async", "msg-plus-hash", "async-hash")
    return order.index(method)


def _row(groups: dict[tuple[str, int, str], list[Sample]], key: tuple[str, int, str]) -> Row:
    kernel, degree, _ = key
    group = groups[key]
    untied = [groups[kernel, degree, name] for name in UNTIED if (kernel, degree, name) in groups]
    limit = min(untied, key=lambda those: median(s.time_s for s in those), default=None)
    copies = groups.get((kernel, degree, COPIES))
    return Row(
        *key,
        samples=len(group),
        time=figure_of([sample.time_s for sample in group]),
        computed=median(sample.computed_s for sample in group),
        wall=median(sample.wall_s for sample in group),
        to_plain=ratio(group, groups[kernel, 1, COPIES]),
        to_copies=None if copies is None else ratio(group, copies),
        to_limit=None if limit is None else ratio(group, limit),
        compared=_most(sample.compared for sample in group),
        unverified=_most(sample.unverified for sample in group),
        open_max=_most(sample.open_max for sample in group),
        bytes_max=_most(sample.bytes_max for sample in group),
        history=min(group, key=lambda sample: sample.time_s).history,
    )


def _most(numbers: Iterable[int | None]) -> int | None:
    return max((number for number in numbers if number is not None), default=None)


def ratio(ones: Sequence[Sample], others: Sequence[Sample]) -> float:
    """The median of the ratios of times, round by round. REQUIRES: the same rounds."""
    of_round = {sample.round: sample.time_s for sample in others}
    return median(sample.time_s / of_round[sample.round] for sample in ones)


def geometric_mean(numbers: Sequence[float]) -> float:
    """REQUIRES: there are some, above 0."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def mean_ratio(
    rows: Sequence[Row], degree: int, method: str, of: Callable[[Row], float | None]
) -> float | None:
    """The geometric mean over the kernels of what `of` says; nothing if one does not have it."""
    numbers = [of(row) for row in rows if (row.degree, row.method) == (degree, method)]
    known = [number for number in numbers if number is not None]
    return geometric_mean(known) if known and len(known) == len(numbers) else None


def histories_as_csv(rows: Sequence[Row]) -> str:
    """What Figure 5.5 shows: means of a process in each interval, of every row that has them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("kernel", "degree", "method", "from_s", "open", "bytes"))
    for row in rows:
        if row.history is None:
            continue
        seconds = row.history["interval_ns"] / 1e9
        pairs = zip(row.history["open"], row.history["bytes"], strict=True)
        for number, (open, bytes) in enumerate(pairs):
            at = f"{number * seconds:.3f}"
            writer.writerow((row.kernel, row.degree, row.method, at, open, bytes))
    return text.getvalue()
