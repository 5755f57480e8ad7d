"""The paper's models of the time of stabilization T_s (sections 4 and 7), as pure functions.

Times are microseconds. `procs` are all members, the dead one included, as on the paper's axes.
"""

import math

SIDE = 8
"""Nodes along each edge of a midplane of BlueGene/L (section 5)."""


def height(procs: int, radix: int) -> int:
    """H: levels of a tree that is filled level by level (section 3.2)."""
    levels, below = 0, 0
    while below < procs:
        below += radix**levels
        levels += 1
    return levels


def level_of(member: int, radix: int) -> int:
    """0: the root."""
    return height(member + 1, radix) - 1


def keeps_height(procs: int, radix: int, dead: int) -> bool:
    """Whether the tree without `dead`, whose children go to its parent, has as many levels."""
    last = height(procs, radix) - 1
    for member in reversed(range(1, procs)):
        if level_of(member, radix) < last:
            return False
        above = member
        while above > dead:
            above = (above - 1) // radix
        if above != dead:
            return True
    return False


def base_model(procs: int, radix: int, latency: float, processing: float) -> float:
    """Equations 1 and 2: O_cm = 2 L (H - 1), T_s = O_cm + O_cp H."""
    levels = height(procs, radix)
    return 2 * latency * (levels - 1) + processing * levels


def hops(one: int, other: int, procs: int) -> int:
    """Section 7.1: the sum of the differences of the coordinates in the torus.

    Ranks are mapped to nodes in the order x, y, z; midplanes are joined along z.
    """
    depth = SIDE * math.ceil(procs / SIDE**3)
    lengths = (SIDE, SIDE, depth)
    total = 0
    for length in lengths:
        way = abs(one % length - other % length)
        total += min(way, length - way)
        one, other = one // length, other // length
    return total


def longest_ways(procs: int, radix: int) -> list[int]:
    """Of each level below the root the most hops between a node and its parent."""
    longest: dict[int, int] = {}
    for member in range(1, procs):
        level = level_of(member, radix)
        way = hops(member, (member - 1) // radix, procs)
        longest[level] = max(longest.get(level, 0), way)
    return [longest[level] for level in sorted(longest)]


def distance_model(procs: int, radix: int, latency: float, processing: float) -> float:
    """Section 7.1 as its text has it: for the H - 1 hops of equation 1, the sum over all levels."""
    levels = height(procs, radix)
    return 2 * sum(longest_ways(procs, radix)) * latency + processing * levels


def printed_distance_model(procs: int, radix: int, latency: float, processing: float) -> float:
    """Section 7.1 as its formula has it: with a factor H - 1 besides the sum over the levels."""
    levels = height(procs, radix)
    way = sum(longest_ways(procs, radix))
    return 2 * way * latency * (levels - 1) + processing * levels


def contention_latency(nodes: int, children: int, latency: float, service: float) -> float:
    """Figure 7 by the hypothesis of section 7.2, a switch that serializes packet processing.

    In groups of a parent and its children as many messages as there are children are always on
    their way. The switch takes `service` for each; until it is busy all the time, they only wait
    for those of their own group.
    """
    on_their_way = nodes * children / (children + 1)
    return max(latency + (children - 1) * service / 2, on_their_way * service)


def contention_model(
    procs: int, radix: int, latency: float, processing: float, service: float
) -> float:
    """Section 7.2: equation 1 with the contention latency of so many nodes in place of L."""
    return base_model(procs, radix, contention_latency(procs, radix, latency, service), processing)
