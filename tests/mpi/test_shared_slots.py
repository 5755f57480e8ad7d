"""Calls over shared slots and calls of the MPI library take turns, and ranks die between them.

Who is denied the result of a call by a death knows more than who was through before: both have to
go on in the same way.
"""

import random

import covering
import jobs
import pytest

CARRIERS = ["auto", "resprout"]
PROGRAM = jobs.PROGRAMS / "shared_slots"


@pytest.mark.parametrize("seed", covering.a_share(range(40), of_one=8))
def test_all_come_to_the_same_end_whenever_ranks_die(seed: int) -> None:
    draw = random.Random(seed)
    ranks = draw.choice([3, 4, 5, 6])
    victims = draw.sample(range(ranks), draw.choice([1, 1, 2]))
    _check(ranks, victims, draw.randint(500, 60_000), CARRIERS[seed % 2])


@pytest.mark.parametrize("seed", covering.a_share(range(10), of_one=4))
def test_who_is_left_of_two_goes_on_alone(seed: int) -> None:
    draw = random.Random(seed)
    _check(2, [draw.randrange(2)], draw.randint(500, 60_000), CARRIERS[seed % 2])


@pytest.mark.parametrize("seed", covering.a_share(range(10), of_one=10))
def test_many_go_on_without_some(seed: int) -> None:
    draw = random.Random(seed)
    _check(24, draw.sample(range(24), 2), draw.randint(500, 60_000), CARRIERS[seed % 2])


@pytest.mark.parametrize("seed", covering.a_share(range(24), of_one=8))
def test_all_survivors_have_the_same_contributors_in_each_sum(seed: int) -> None:
    draw = random.Random(1000 + seed)
    ranks = 64 if seed % 8 == 0 else draw.choice([2, 3, 5, 8, 13])
    victims = draw.sample(range(ranks), min(ranks - 1, draw.choice([1, 1, 2, 3])))
    _check_sets(ranks, victims, draw.randint(500, 60_000))


@pytest.mark.parametrize("seed", covering.a_share(range(6), of_one=6))
def test_groups_have_the_same_contributors_in_each_sum(seed: int) -> None:
    """Who holds the record of all is lost, another one of the first group, two of the second."""
    draw = random.Random(2000 + seed)
    victims = [0, draw.randrange(1, 16), *draw.sample(range(16, 24), 2)]
    draw.shuffle(victims)
    _check_sets(24, victims, draw.randint(5_000, 100_000))


def _check_sets(ranks: int, victims: list[int], microseconds: int) -> None:
    program = [jobs.PROGRAMS / "same_sets", microseconds, *victims]
    ended = jobs.resprout_run(ranks, program)
    assert ended.status == 0, str(ended)
    said = ended.out.splitlines()
    assert len(said) == ranks - len(victims), str(ended)
    assert len(set(said)) == 1, str(ended)
    assert said[0].startswith("right after "), str(ended)
    assert sorted(loss["rank"] for loss in ended.report["losses"]) == sorted(victims)


def _check(ranks: int, victims: list[int], microseconds: int, carrier: str) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM, microseconds, *victims], ["--collectives", carrier])
    assert ended.status == 0, str(ended)
    living = [rank for rank in range(ranks) if rank not in victims]
    said = sorted(ended.out.splitlines())
    assert said == sorted(f"rank {rank} has 0 wrong results" for rank in living)
    assert sorted(loss["rank"] for loss in ended.report["losses"]) == sorted(victims)
