"""What a paper claims, what we find, and whether that agrees: the rules of all tolerances.

A rule is chosen for what is claimed before anything is measured, and says so in words. A claim that
is outside stays outside. Each rule has a power: a deviation that matters is outside. Where a sample
is too small to tell such a deviation from what is claimed, nothing is decided.

What a paper says is not always what its authors ran. Where both are known to differ a claim is
judged twice: with the parameters that are printed, and with those of the authors' scripts.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

Value = str | int | float
Reading = Literal["", "printed", "run"]
"""With whose parameters: the same in both, as printed, or as the authors ran it."""
PRINTED: Reading = "printed"
RUN: Reading = "run"

# Errors of an estimate within which 99 % of samples are.
ERRORS = 2.58
# How often a deviation that matters may be missed.
_MISSED = 0.05


@dataclass(frozen=True)
class Claim:
    figure: str
    claim: str
    """What the paper says, quoted or nearly so."""
    paper: Value
    ours: Value
    within: bool | None
    """None: the sample is too small to tell."""
    rule: str
    """When ours counts as what the paper says."""
    sample_size: int
    """Simulated operations that it rests on."""
    reading: Reading = ""
    is_circular: bool = False
    """What is compared was chosen so that it holds, or follows from the paper's own formula. It
    counts neither as within nor as outside."""

    @property
    def verdict(self) -> str:
        if self.is_circular:
            return "circular"
        if self.within is None:
            return "open"
        return "within" if self.within else "outside"

    def as_json(self) -> dict[str, object]:
        return {
            "figure": self.figure,
            "claim": self.claim,
            "reading": self.reading,
            "paper": self.paper,
            "ours": _plain(self.ours),
            "within": self.within,
            "circular": self.is_circular,
            "sample_size": self.sample_size,
        }


def _plain(value: Value) -> Value:
    return round(value, 4) if isinstance(value, float) else value


def text_of(value: Value) -> str:
    """Three digits behind the point at most; of what is smaller, two that are not zero."""
    if not isinstance(value, float):
        return str(value)
    if 0 < abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def read_as(claims: Sequence[Claim], reading: Reading) -> list[Claim]:
    """Each claim once, with these parameters."""
    return [claim for claim in claims if claim.reading in ("", reading)]


def summary(claims: Sequence[Claim]) -> str:
    """How many hold, in each reading if there are two."""
    parts = []
    has_two = any(claim.reading for claim in claims)
    judged = [claim for claim in claims if not claim.is_circular]
    for reading, name in ((PRINTED, "as printed"), (RUN, "as their authors ran them")):
        own = read_as(judged, reading)
        within = sum(claim.within is True for claim in own)
        parts.append(f"{within} of {len(own)} claims hold{f' {name}' if has_two else ''}")
    text = ", ".join(parts if has_two else parts[:1])
    undecided = sum(claim.within is None for claim in judged)
    if undecided:
        text += f"; {undecided} rest on too few runs to tell"
    if len(judged) < len(claims):
        text += f"; {len(claims) - len(judged)} more are circular"
    return text


class Claims(list[Claim]):
    """The claims of one figure, each added under its rule."""

    def __init__(self, figure: str) -> None:
        super().__init__()
        self._figure = figure
        self._reading: Reading = ""
        self._is_circular = False

    @contextmanager
    def circular(self) -> Iterator[None]:
        """What is added meanwhile could not have come out otherwise; its rule says why."""
        self._is_circular = True
        try:
            yield
        finally:
            self._is_circular = False

    @contextmanager
    def read(self, reading: Reading) -> Iterator[None]:
        """What is added meanwhile is judged with these parameters."""
        self._reading = reading
        try:
            yield
        finally:
            self._reading = ""

    def equal(self, claim: str, paper: Value, ours: Value, runs: int) -> None:
        """Any other value is outside."""
        self._add(claim, paper, ours, ours == paper, "equal", runs)

    def never(self, claim: str, hits: int, runs: int, *, matters: float) -> None:
        """Of no run; if it were so of a share of `matters`, one would be seen."""
        is_blind = (1 - matters) ** runs > _MISSED
        rule = f"none; it would be seen in one of {1 / matters:,.0f} runs"
        self._add(claim, 0, hits, _if_seen(hits == 0, is_blind), rule, runs)

    def near(
        self,
        claim: str,
        paper: float,
        ours: float,
        runs: int,
        *,
        tolerance: float,
        why: str,
        error: float = 0.0,
        matters: float | None = None,
    ) -> None:
        """At most `tolerance` away, since `why`, and what chance adds to that.

        `error`: the standard error of ours. A deviation of `matters`, twice the tolerance if not
        said otherwise, has to be outside.
        """
        bound = tolerance + ERRORS * error
        is_blind = error > 0 and bound >= (2 * tolerance if matters is None else matters)
        within = _if_seen(abs(ours - paper) <= bound, is_blind)
        self._add(claim, paper, ours, within, f"±{text_of(bound)}: {why}", runs)

    def between(
        self, claim: str, lowest: float, highest: float, ours: float, runs: int, *, why: str
    ) -> None:
        """In a range that the paper gives in digits; ours is rounded to as many (`why`)."""
        paper = f"{text_of(lowest)} to {text_of(highest)}"
        self._add(claim, paper, ours, lowest <= round(ours) <= highest, why, runs)

    def less(
        self, claim: str, paper: str, ours: float, limit: float, runs: int, *, rule: str
    ) -> None:
        """The limit itself is outside."""
        self._add(claim, paper, ours, ours < limit, rule, runs)

    def more(
        self, claim: str, paper: str, ours: float, limit: float, runs: int, *, rule: str
    ) -> None:
        """The limit itself is outside."""
        self._add(claim, paper, ours, ours > limit, rule, runs)

    def rising(
        self, claim: str, paper: Value, ours: str, values: Sequence[float], runs: int, *, rule: str
    ) -> None:
        """Each above the one before; two that are equal are outside. Falling: give them negated."""
        is_so = all(a < b for a, b in itertools.pairwise(values))
        self._add(claim, paper, ours, is_so, rule, runs)

    def mostly(
        self, claim: str, paper: Value, hits: int, runs: int, *, share: float, matters: float
    ) -> None:
        """More than `share` of the runs; a true share of `matters` has to be outside."""
        passing = math.floor(share * runs) + 1
        is_blind = runs == 0 or _tail(passing, runs, matters) > _MISSED
        within = None if is_blind else hits >= passing
        rule = f"more than {100 * share:g} %; {100 * matters:g} % would not be"
        self._add(claim, paper, f"{hits} of {runs}", within, rule, runs)

    def rare(
        self, claim: str, paper: float, hits: int, runs: int, *, slack: float, factor: float = 2
    ) -> None:
        """A share of the runs that is `paper` but for `slack` of it, and what chance adds.

        A share `factor` times smaller has to be outside.
        """
        bound = slack * paper + ERRORS * math.sqrt(paper * (1 - paper) / runs)
        within = _if_seen(abs(hits / runs - paper) <= bound, bound >= paper - paper / factor)
        rule = f"±{text_of(bound)}: {100 * slack:g} % and 2.58 standard errors"
        self._add(claim, paper, hits / runs, within, rule, runs)

    def undecided(self, claim: str, paper: Value, why: str) -> None:
        self._add(claim, paper, "", None, why, 0)

    def holds(
        self,
        claim: str,
        paper: Value,
        ours: Value,
        is_so: bool,
        runs: int,
        *,
        rule: str,
        planted: bool = False,
    ) -> None:
        """By a rule of its own. `planted`: what the rule says of a deviation that matters."""
        if planted:
            raise ValueError(f"the rule {rule!r} lets a deviation through")
        self._add(claim, paper, ours, is_so, rule, runs)

    def maximum(self, claim: str, paper: int, sample: Sequence[int], runs_of_paper: int) -> None:
        """The largest of a sample; see is_maximum_of()."""
        rule = "both samples may be of one distribution (1 % level)"
        is_so = is_maximum_of(paper, sample, runs_of_paper)
        self._add(claim, paper, max(sample), is_so, rule, len(sample))

    def _add(
        self, claim: str, paper: Value, ours: Value, is_so: bool | None, rule: str, runs: int
    ) -> None:
        kind = (self._reading, self._is_circular)
        self.append(Claim(self._figure, claim, paper, ours, is_so, rule, runs, *kind))


def _if_seen(is_within: bool, is_blind: bool) -> bool | None:
    """What is outside is so; what is within says nothing where a deviation would be within, too."""
    return None if is_within and is_blind else is_within


def _tail(least: int, runs: int, share: float) -> float:
    """The probability of `least` or more of `runs`, each with the probability `share`."""
    if runs > 2000:  # a normal distribution by then
        away = (least - 0.5 - runs * share) / math.sqrt(runs * share * (1 - share))
        return 0.5 * math.erfc(away / math.sqrt(2))
    return sum(
        math.comb(runs, n) * share**n * (1 - share) ** (runs - n) for n in range(least, runs + 1)
    )


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
