"""From samples to figures: medians, quartiles, and ratios within the rounds of one job."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median, quantiles

from resprout.experiments.bench.bcast.measure import Found, Samples
from resprout.experiments.bench.bcast.variants import BASELINE, NATIVE


@dataclass(frozen=True)
class Row:
    """One variant, at one size, in one job. Times are microseconds of the slowest rank."""

    ranks: int
    dead: int
    bytes: int
    variant: str
    spec: str
    samples: int
    lower_quartile: float
    median: float
    upper_quartile: float
    minimum: float
    to_binomial: float
    """Median over the rounds of the ratio to the binomial tree without correction."""
    to_native: float | None
    """The same to the MPI library's own; nothing if that was not measured."""
    to_no_loss: float | None
    """Of the medians, to that of the same variant while all live; nothing if not measured."""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def rows_of(found: Found, before: Sequence[Row]) -> Iterator[Row]:
    """By size, then in the order of the variants. `before`: of the jobs that came first."""
    job = found.job
    whole = {(r.bytes, r.variant): r.median for r in before if (r.ranks, r.dead) == (job.ranks, 0)}
    variants = {variant.name: variant for variant in job.variants}
    for (size, name), samples in found.samples.items():
        low, middle, high = quartiles(samples)
        native = found.samples.get((size, NATIVE))
        yield Row(
            ranks=job.ranks,
            dead=len(job.victims),
            bytes=size,
            variant=name,
            spec=variants[name].spec_for(job.ranks),
            samples=len(samples),
            lower_quartile=low,
            median=middle,
            upper_quartile=high,
            minimum=min(samples),
            to_binomial=ratio(samples, found.samples[size, BASELINE]),
            to_native=None if native is None else ratio(samples, native),
            to_no_loss=middle / whole[size, name] if (size, name) in whole else None,
        )


def quartiles(samples: Samples) -> tuple[float, float, float]:
    if len(samples) == 1:
        return samples[0], samples[0], samples[0]
    low, middle, high = quantiles(samples, n=4, method="inclusive")
    return low, middle, high


def ratio(of: Sequence[float], to: Sequence[float]) -> float:
    """Median of the ratios round by round: what disturbs a round disturbs both."""
    return median(a / b for a, b in zip(of, to, strict=True))
