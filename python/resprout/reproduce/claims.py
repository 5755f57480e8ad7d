"""What a paper claims, what we find, and whether that agrees: the rules of all tolerances.

A rule is chosen for what is claimed before anything is measured, and says so in words. A claim that
is outside stays outside.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Value = str | int | float


@dataclass(frozen=True)
class Claim:
    figure: str
    claim: str
    """What the paper says, quoted or nearly so."""
    paper: Value
    ours: Value
    within: bool
    rule: str
    """When ours counts as what the paper says."""
    sample_size: int
    """Simulated operations that it rests on."""

    def as_json(self) -> dict[str, object]:
        return {
            "figure": self.figure,
            "claim": self.claim,
            "paper": self.paper,
            "ours": _plain(self.ours),
            "within": self.within,
            "sample_size": self.sample_size,
        }


def _plain(value: Value) -> Value:
    return round(value, 4) if isinstance(value, float) else value


def text_of(value: Value) -> str:
    """Three digits behind the point at most."""
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


class Claims(list[Claim]):
    """The claims of one figure, each added under its rule."""

    def __init__(self, figure: str) -> None:
        super().__init__()
        self._figure = figure

    def equal(self, claim: str, paper: Value, ours: Value, runs: int) -> None:
        self._add(claim, paper, ours, ours == paper, "equal", runs)

    def near(
        self, claim: str, paper: float, ours: float, runs: int, *, tolerance: float, why: str
    ) -> None:
        """At most `tolerance` away, since `why`."""
        is_near = abs(ours - paper) <= tolerance
        self._add(claim, paper, ours, is_near, f"±{text_of(tolerance)}: {why}", runs)

    def between(
        self, claim: str, lowest: float, highest: float, ours: float, runs: int, *, why: str
    ) -> None:
        """In a range that the paper gives in digits; ours is rounded to as many (`why`)."""
        paper = f"{text_of(lowest)} to {text_of(highest)}"
        self._add(claim, paper, ours, lowest <= round(ours) <= highest, why, runs)

    def less(
        self, claim: str, paper: str, ours: float, limit: float, runs: int, *, rule: str
    ) -> None:
        self._add(claim, paper, ours, ours < limit, rule, runs)

    def holds(
        self, claim: str, paper: Value, ours: Value, is_so: bool, runs: int, *, rule: str
    ) -> None:
        self._add(claim, paper, ours, is_so, rule, runs)

    def maximum(self, claim: str, paper: int, sample: Sequence[int], runs_of_paper: int) -> None:
        """The largest of a sample; see is_maximum_of()."""
        rule = "both samples may be of one distribution (1 % level)"
        is_so = is_maximum_of(paper, sample, runs_of_paper)
        self._add(claim, paper, max(sample), is_so, rule, len(sample))

    def _add(
        self, claim: str, paper: Value, ours: Value, is_so: bool, rule: str, runs: int
    ) -> None:
        self.append(Claim(self._figure, claim, paper, ours, is_so, rule, runs))


def is_maximum_of(maximum: int, sample: Sequence[int], size: int) -> bool:
    """Whether `maximum` may be the largest of `size` values distributed like those of `sample`.

    Too small: if k of our n values are larger, then the k largest of all n + size are ours, which
    has the probability (n / (n + size))^k at most. Too large: our tail, continued on a logarithmic
    scale from its 99.9 % quantile through its maximum, is that high with 1 % in `size` values.
    """
    n = len(sample)
    larger = sum(value > maximum for value in sample)
    if (n / (n + size)) ** larger < 0.01:
        return False
    ordered = sorted(sample)
    start, end = ordered[math.ceil(0.999 * n) - 1], ordered[-1]
    if n <= 1000:
        return True  # no tail to continue
    reach = (math.log10(100 * size) - 3) / (math.log10(n) - 3)
    # A step of one is the grain of what is counted.
    return maximum <= start + max(end - start, 1) * reach
