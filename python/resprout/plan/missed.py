"""How likely a broadcast over a corrected tree misses somebody, if ranks, hosts and racks fail.

The model. Before the broadcast each rank, host and rack has failed with its own probability, each
independently; a failed host or rack takes its ranks along. The root lives. Correction is
synchronized and opportunistic with distance d: whoever the tree has reached sends to the d ranks on
each side. So a live rank v is missed if the tree has reached none from v - d to v + d.

The tree has reached w unless some *unit* fails on whose list w is: w, a rank above it in the tree,
or the host or rack of one of these. So v is missed if and only if the failed units hit every w from
v - d to v + d. That is computed exactly. Units are added one after the other to a distribution over
which places of the window are hit by then. All terms are positive, so small probabilities are as
exact as large ones.

The sum over all v, `expected`, is how many ranks are missed on average. It bounds the probability
that somebody is missed. Both are close where one rank is missed at a time, and `sample()` tells how
close.

REQUIRES of all: root 0, and a tree in which parents have lower ranks.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from resprout.plan.hosts import Host


@dataclass(frozen=True)
class Chances:
    """That one has failed when a broadcast begins."""

    rank: float
    host: float
    rack: float


class System:
    """Ranks on hosts and in racks, and a tree over the ranks."""

    def __init__(self, placed: Sequence[Host], parents: Sequence[int], chances: Chances) -> None:
        self.procs = len(placed)
        self._parents = parents
        self.chances: list[float] = []
        """Of each unit."""
        names: dict[tuple[str, str], int] = {}

        def unit(kind: str, name: str, chance: float) -> int:
            if (kind, name) not in names:
                names[kind, name] = len(self.chances)
                self.chances.append(chance)
            return names[kind, name]

        self.own: list[frozenset[int]] = []
        """By rank: the units that take it along."""
        for rank, host in enumerate(placed):
            units = [unit("rank", str(rank), chances.rank), unit("host", host.name, chances.host)]
            if host.rack is not None:
                units.append(unit("rack", host.rack, chances.rack))
            self.own.append(frozenset(units))
        for of_root in self.own[0]:
            self.chances[of_root] = 0.0
        # By rank: the units that keep the tree from reaching it.
        self.cut: list[frozenset[int]] = [self.own[0]]
        for rank in range(1, self.procs):
            self.cut.append(self.own[rank] | self.cut[parents[rank]])

    def above(self, rank: int) -> frozenset[int]:
        """The units that cut it off and leave it alive."""
        return self.cut[self._parents[rank]] - self.own[rank]

    @cached_property
    def ranks_of(self) -> list[list[int]]:
        """By unit: the ranks that it takes along."""
        of: list[list[int]] = [[] for _ in self.chances]
        for rank, units in enumerate(self.own):
            for one in units:
                of[one].append(rank)
        return of

    def dead(self, failed: Sequence[int]) -> list[int]:
        return sorted({rank for one in failed for rank in self.ranks_of[one]})


class Window:
    """One rank, and the units whose failures make correction with a distance miss it.

    What is less likely than `negligible` is not followed: it counts as a miss.
    """

    def __init__(self, system: System, rank: int, distance: int, negligible: float = 0.0) -> None:
        self._system = system
        chances = system.chances
        self._kept = system.own[rank]  # these must not fail
        places = {(rank + step) % system.procs for step in range(-distance, distance + 1)}
        masks: dict[int, int] = {}
        for bit, place in enumerate(sorted(places)):
            units = system.above(rank) if place == rank else system.cut[place] - self._kept
            for one in units:
                if chances[one] > 0:
                    masks[one] = masks.get(one, 0) | 1 << bit
        self._full = (1 << len(places)) - 1
        # Units that hit the same places are one group. Groups of one place are added at the end.
        groups: dict[int, list[int]] = {}
        for one, mask in masks.items():
            groups.setdefault(mask, []).append(one)
        self._single = [groups.pop(1 << bit, []) for bit in range(len(places))]
        self._hit = [_any(chances[one] for one in units) for units in self._single]
        self._shared = [
            (mask, units, _any(chances[one] for one in units))
            for mask, units in sorted(groups.items(), key=lambda group: -group[0].bit_count())
        ]
        self._layers: list[dict[int, float]] = [{0: 1.0}]
        given_up = 0.0
        for mask, _, chance in self._shared:
            layer: dict[int, float] = {}
            for places_hit, share in self._layers[-1].items():
                if share < negligible:
                    given_up += share
                    continue
                layer[places_hit] = layer.get(places_hit, 0.0) + share * (1 - chance)
                more = places_hit | mask
                layer[more] = layer.get(more, 0.0) + share * chance
            self._layers.append(layer)
        alive = 1.0
        for one in self._kept:
            alive *= 1 - chances[one]
        self.chance = alive * (sum(self._ends().values()) + given_up)
        """That the rank lives and is missed."""

    def _ends(self) -> dict[int, float]:
        """By what shared units hit: that they do, and single ones hit the rest."""
        ends = {}
        for places_hit, share in self._layers[-1].items():
            of_all = share
            rest = self._full & ~places_hit
            while rest:
                of_all *= self._hit[(rest & -rest).bit_length() - 1]
                rest &= rest - 1
            if of_all > 0:
                ends[places_hit] = of_all
        return ends

    def draw(self, generator: random.Random) -> list[int]:
        """Failed units, as they are distributed where the rank is missed."""
        chances = self._system.chances
        ends = self._ends()
        hit = generator.choices(list(ends), list(ends.values()))[0]
        failed = []
        for bit, units in enumerate(self._single):
            failed += _draw(units, chances, generator, at_least_one=not hit >> bit & 1)
        for number in range(len(self._shared) - 1, -1, -1):
            mask, units, chance = self._shared[number]
            before = self._layers[number]
            # From which state, with this group or without, the state `hit` was reached.
            ways = [(hit, False, before.get(hit, 0.0) * (1 - chance))]
            if hit & mask == mask:
                ways += [
                    (state, True, share * chance)
                    for state, share in before.items()
                    if state | mask == hit
                ]
            hit, has_failed, _ = generator.choices(ways, [way[2] for way in ways])[0]
            if has_failed:
                failed += _draw(units, chances, generator, at_least_one=True)
        seen = self._kept.union(*self._single, *(units for _, units, _ in self._shared))
        others = [one for one in range(len(chances)) if one not in seen]
        return failed + _draw(others, chances, generator)


def _any(chances: Iterable[float]) -> float:
    """That one at least has failed, without cancellation."""
    some = 0.0
    for chance in chances:
        some += chance * (1 - some)
    return some


def _draw(
    units: Sequence[int],
    chances: Sequence[float],
    generator: random.Random,
    at_least_one: bool = False,
) -> list[int]:
    """Those that have failed."""
    failed: list[int] = []
    for number, one in enumerate(units):
        chance = chances[one]
        if at_least_one and not failed:
            chance /= _any(chances[later] for later in units[number:])
        if generator.random() < chance:
            failed.append(one)
    return failed


# Of a target, what all that is not followed may come to: a small share.
_STATES = 1e6


def negligible(target: float, procs: int) -> float:
    return target / procs / _STATES


def expected(
    system: System, distance: int, enough: float = float("inf"), negligible: float = 0.0
) -> float:
    """How many live ranks are missed on average; stops where it is more than `enough`."""
    total = 0.0
    for rank in range(1, system.procs):
        total += Window(system, rank, distance, negligible).chance
        if total > enough:
            break
    return total


@dataclass(frozen=True)
class Estimate:
    chance: float
    """That somebody is missed."""
    error: float
    """Of one standard deviation."""
    contradictions: int
    """Draws in which nobody was missed although the formula says that somebody is."""


def sample(
    system: System,
    distance: int,
    missed: Callable[[list[int]], int],
    samples: int,
    seed: int,
    negligible: float = 0.0,
) -> Estimate:
    """Rare events, by the way of Karp and Luby. `missed` simulates: how many ranks a broadcast
    misses if these are dead.

    A rank is drawn as often as it is missed, and failures as they are where it is missed. Of all
    failures that miss m ranks this draws each m times as often as it should. So the probability is
    the sum of all times the mean of 1 / m.
    """
    ranks = range(1, system.procs)
    windows = [Window(system, rank, distance, negligible) for rank in ranks]
    total = sum(window.chance for window in windows)
    if total == 0:
        return Estimate(0.0, 0.0, 0)
    generator = random.Random(seed)
    shares = []
    contradictions = 0
    for window in generator.choices(windows, [window.chance for window in windows], k=samples):
        count = missed(system.dead(window.draw(generator)))
        contradictions += count == 0
        shares.append(1 / count if count else 0.0)
    mean = sum(shares) / samples
    variance = sum((share - mean) ** 2 for share in shares) / max(samples - 1, 1)
    return Estimate(total * mean, total * (variance / samples) ** 0.5, contradictions)
