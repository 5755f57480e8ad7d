"""What is aimed at, and whether it was reached."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from resprout.experiments.bench.replicated import EAGER, LAZY
from resprout.experiments.bench.replication.figures import Row, geometric_mean, mean_ratio
from resprout.experiments.bench.replication.paper import ratio_in_figures

AT_MOST = {"async-hash": 1.10, "async": 1.35}
"""Times plain copies, and times the limit, as geometric means over the kernels."""
CLEARLY = 1.05
"""An eager method is clearly slower than its lazy twin if it takes so many times as long."""
BYTES_PER_REQUEST = 256.0
"""Of an incomplete one, with async-hash; "less than 200 bytes" in the paper (section 5.2). Of ours
the report counts kept copies, not what a request itself takes."""


@dataclass(frozen=True)
class Verdict:
    aim: str
    seen: float
    is_met: bool

    def __str__(self) -> str:
        return f"{self.aim}: {self.seen:.4g}: {'met' if self.is_met else 'not met'}"


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """On whatever was measured."""
    degrees = sorted({row.degree for row in rows if row.degree > 1})
    found: list[Verdict] = []
    for degree in degrees:
        found += _of_times(rows, degree)
    return [*found, *_of_memory(rows)]


def _of_times(rows: Sequence[Row], degree: int) -> Iterator[Verdict]:
    means = {
        method: mean_ratio(rows, degree, method, lambda row: row.to_limit)
        for method in (*EAGER, *LAZY)
    }
    for method, most in AT_MOST.items():
        to_copies = mean_ratio(rows, degree, method, lambda row: row.to_copies)
        for seen, of_what in ((to_copies, "plain copies"), (means[method], "the limit")):
            if seen is not None:
                aim = f"{degree} replicas: {method} takes at most {most:.2f} times {of_what}"
                yield Verdict(aim, seen, seen <= most)
    for eager, lazy in zip(EAGER, LAZY, strict=True):
        slow, quick = means[eager], means[lazy]
        if slow is not None and quick is not None:
            aim = (
                f"{degree} replicas: {eager} takes clearly longer than {lazy} ({CLEARLY:.2f} times)"
            )
            yield Verdict(aim, slow / quick, slow / quick >= CLEARLY)


def _of_memory(rows: Sequence[Row]) -> Iterator[Verdict]:
    each = [row.bytes_per_request for row in rows if row.method == "async-hash"]
    known = [number for number in each if number is not None]
    if known:
        most = f"{BYTES_PER_REQUEST:.0f} B"
        aim = f"async-hash keeps copies of at most {most} for each incomplete request"
        yield Verdict(aim, max(known), max(known) <= BYTES_PER_REQUEST)


def beside_the_paper(rows: Sequence[Row]) -> list[str]:
    """Sentences: eager to lazy, ours and the paper's, over the kernels that both have."""
    sentences = []
    for degree in sorted({row.degree for row in rows if row.degree > 1}):
        for eager, lazy in zip(EAGER, LAZY, strict=True):
            ours, theirs = [], []
            for row in rows:
                published = _published_ratio(row.kernel, degree, eager, lazy)
                slow = _to_limit(rows, row.kernel, degree, eager)
                if (row.degree, row.method) == (degree, lazy) and published and slow:
                    ours.append(slow / (row.to_limit or slow))
                    theirs.append(published)
            if ours:
                sentences.append(
                    f"{degree} replicas, {eager} divided by {lazy}: {geometric_mean(ours):.2f}; "
                    f"in the paper {geometric_mean(theirs):.2f}"
                )
    return sentences


def _to_limit(rows: Sequence[Row], kernel: str, degree: int, method: str) -> float | None:
    key = (kernel, degree, method)
    return next((r.to_limit for r in rows if (r.kernel, r.degree, r.method) == key), None)


def _published_ratio(kernel: str, degree: int, eager: str, lazy: str) -> float | None:
    """In the first environment that has the benchmark."""
    for environment in (1, 2):
        slow = ratio_in_figures(environment, kernel, degree, eager)
        quick = ratio_in_figures(environment, kernel, degree, lazy)
        if slow is not None and quick is not None:
            return slow / quick
    return None
