"""Large allreduces go in slices and rounds; whoever dies in the middle is in all of them or in
none. A large broadcast whose root dies is there for all who live, or for nobody."""

import random

import covering
import jobs
import pytest

OPERATIONS = 60
BROADCASTS = 150


def sums_of(ended: jobs.Ended) -> dict[int, list[str]]:
    """What each surviving rank said of sums, in order."""
    said: dict[int, list[str]] = {}
    for line in ended.out.splitlines():
        rank, sums = line.split(": ")
        said.setdefault(int(rank), []).append(sums)
    return {rank: lines for rank, lines in said.items() if rank not in ended.lost}


@pytest.mark.parametrize("number", range(8))
def test_who_dies_between_rounds_is_in_all_of_a_sum_or_in_none_of_it(number: int) -> None:
    dice = random.Random(f"slices {number}")
    ranks = (3, 4, 8)[number % 3]
    victims = dice.sample(range(ranks), 1 + number % 2)
    faults = [f"kill:rank={rank},at={dice.randint(1000, 60000)}us" for rank in victims]
    options = ["--collectives", "trees", "--transport", ("shm", "tcp")[number // 2 % 2]]
    for fault in faults:
        options += ["--inject", fault]
    ended = jobs.resprout_run(ranks, [jobs.PROGRAMS / "slices", OPERATIONS], options)
    assert ended.status == 0, str(ended)
    said = sums_of(ended)
    assert len(said) == ranks - len(ended.lost)
    assert len({tuple(lines) for lines in said.values()}) == 1, str(ended)
    left = sum(1 << rank for rank in range(ranks) if rank not in ended.lost)
    last = next(iter(said.values()))[-1]
    assert last == f"{left} of operation {OPERATIONS - 1}", str(ended)
    assert ended.lost == set(victims), str(ended)


@pytest.mark.parametrize("number", covering.a_share(range(24), of_one=8))
def test_a_large_broadcast_is_there_for_all_or_for_nobody(number: int) -> None:
    dice = random.Random(f"large {number}")
    ranks = (3, 4, 8)[number % 3]
    victims = dice.sample(range(ranks), 1 + number % 2)
    options = ["--collectives", "trees"]
    for rank in victims:
        options += ["--inject", f"kill:rank={rank},at={dice.randint(1000, 60000)}us"]
    ended = jobs.resprout_run(ranks, [jobs.PROGRAMS / "large", BROADCASTS], options)
    assert ended.status == 0, str(ended)
    # Who was to die behind its last broadcast lives.
    assert ended.lost and ended.lost <= set(victims), str(ended)
    said = sums_of(ended)
    assert len(said) == ranks - len(ended.lost)
    assert len({tuple(lines) for lines in said.values()}) == 1, str(ended)
    outcomes = [line.split()[1] for line in next(iter(said.values()))]
    roots = [number % ranks for number in range(BROADCASTS)]
    living = [word for word, root in zip(outcomes, roots, strict=True) if root not in ended.lost]
    assert set(living) == {"is"}, str(ended)
    assert set(outcomes) == {"is", "has"}, str(ended)
