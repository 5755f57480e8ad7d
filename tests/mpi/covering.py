"""Few cases of many that still have every two things together which any of the many has.

A fault of a combination of three is found by the rest, which `make soak` runs: with EVERY_CASE set
in the environment, all cases are chosen.
"""

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

EVERY = "EVERY_CASE"

Case = TypeVar("Case")
# What it is of and which: ("ranks", 8). Two of the same are alternatives and make no pair.
Feature = tuple[str, object]
Features = Callable[[Case], Iterable[Feature]]


def is_every_case_wanted() -> bool:
    return os.environ.get(EVERY, "") not in ("", "0")


def pairs(features: Iterable[Feature]) -> set[tuple[Feature, Feature]]:
    ordered = sorted(set(features), key=str)
    return {(a, b) for a, b in itertools.combinations(ordered, 2) if a[0] != b[0]}


def chosen(cases: list[Case], features: Features[Case]) -> list[Case]:
    """In their order; always the one next that adds the most pairs, the first of equals."""
    if is_every_case_wanted():
        return cases
    pairs_of = [pairs(features(case)) for case in cases]
    missing = set().union(*pairs_of)
    numbers = []
    while missing:
        best = max(range(len(cases)), key=lambda i: (len(pairs_of[i] & missing), -i))
        numbers.append(best)
        missing -= pairs_of[best]
    return [cases[i] for i in sorted(numbers)]


def a_share(cases: Sequence[Case], of_one: int) -> Sequence[Case]:
    """The first one of each `of_one` cases, which are random or much alike; or all."""
    return cases if is_every_case_wanted() else cases[: -(-len(cases) // of_one)]


def with_every_value(*values: Sequence[object]) -> list[tuple[object, ...]]:
    """Tuples of one of each that have every value of each; or the whole product."""
    if is_every_case_wanted():
        return list(itertools.product(*values))
    longest = max(map(len, values))
    return [tuple(one[i % len(one)] for one in values) for i in range(longest)]
