"""Few cases of many that still have each thing which any of the many has, several times over.

What goes wrong only where two things meet is found by the rest, which `make soak` runs: with
EVERY_CASE set in the environment, all cases are chosen.
"""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

EVERY = "EVERY_CASE"

Case = TypeVar("Case")
# What it is of and which: ("ranks", 8).
Feature = tuple[str, object]
Features = Callable[[Case], Iterable[Feature]]
# How often each thing is tried: each time together with others.
TIMES = 2


def is_every_case_wanted() -> bool:
    return os.environ.get(EVERY, "") not in ("", "0")


def chosen(cases: list[Case], features: Features[Case]) -> list[Case]:
    """In their order; always the one next that adds the most, the first of equals."""
    if is_every_case_wanted():
        return cases
    features_of = [set(features(case)) for case in cases]
    missing = {
        (feature, time)
        for feature, count in Counter(itertools.chain(*features_of)).items()
        for time in range(min(count, TIMES))
    }
    numbers: set[int] = set()
    while missing:
        wanted = {feature for feature, _ in missing}
        left = [i for i in range(len(cases)) if i not in numbers]
        best = max(left, key=lambda i: (len(features_of[i] & wanted), -i))
        numbers.add(best)
        for feature in features_of[best] & wanted:
            missing.remove(max(entry for entry in missing if entry[0] == feature))
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
