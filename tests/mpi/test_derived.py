"""Communicators made after a loss: what a program does with them, and how they are made."""

import covering
import jobs
import pytest
from kills import check_survivors, kills_at_any_moment, kills_at_calls

CALLS = ["allreduce", "sendrecv", "irecv", "issend", "wait"]


@pytest.mark.parametrize("ranks", [3, 4, 8])
@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_it_is_a_communicator_like_any_other(ranks: int, transport: str) -> None:
    options = ["--on-loss", "error", "--transport", transport]
    ended = jobs.resprout_run(ranks, [jobs.PROGRAMS / "derived"], options)
    assert ended.status == 0 and ended.out.count(" checks\n") == ranks - 1, str(ended)
    assert ended.lost == {1}, str(ended)
    assert "MPI_Win_allocate_shared does not work on a communicator" in ended.err, str(ended)


@pytest.mark.parametrize("ranks", [4, 6])
def test_duplicates_of_grids_are_grids_and_those_of_graphs_are_graphs(ranks: int) -> None:
    ended = jobs.resprout_run(ranks, [jobs.PROGRAMS / "topologies"], [])
    assert ended.status == 0 and ended.out.count(" checks\n") == ranks - 1, str(ended)
    assert ended.lost == {1}, str(ended)


def test_what_a_process_makes_alone_has_no_number_that_others_still_use() -> None:
    inject = ["--inject", "kill:rank=1,at=barrier#2"]
    ended = jobs.resprout_run(4, [jobs.PROGRAMS / "half_freed"], inject)
    done = [f"rank {n} is done" for n in (0, 2, 3)]
    assert (ended.status, sorted(ended.out.splitlines()), ended.lost) == (0, done, {1}), str(ended)


def killed_while_making(seed: int, ranks: int) -> jobs.Ended:
    """A random program of communicators whose survivors have come to its end."""
    victims = kills_at_calls(seed, min(ranks - 1, 1 + seed % 3), ranks, CALLS, 60)
    program = [jobs.PROGRAMS / "communicators", str(seed), "80"]
    ended = jobs.resprout_run(ranks, program, [], {"RESPROUT_INJECT": victims})
    check_survivors(ended, ranks, victims)
    return ended


@pytest.mark.parametrize("seed", covering.a_share(range(10), of_one=4))
def test_whoever_is_killed_communicators_are_made_used_and_freed(seed: int) -> None:
    ranks = (4, 8, 3, 6, 16)[seed % 5]
    ended = killed_while_making(seed, ranks)
    assert len(ended.lost) == min(ranks - 1, 1 + seed % 3), str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(16), of_one=8))
def test_the_first_death_may_fall_into_the_making_of_a_communicator(seed: int) -> None:
    victim = kills_at_any_moment(seed, 1, 8, 0.1)
    program = [jobs.PROGRAMS / "makings", "150"]
    ended = jobs.resprout_run(8, program, [], {"RESPROUT_INJECT": victim})
    check_survivors(ended, 8, victim)


@pytest.mark.parametrize("how", ["groups", "threads"])
@pytest.mark.parametrize("seed", covering.a_share(range(8), of_one=4))
def test_the_first_death_may_fall_into_the_making_of_a_groups_communicator(
    seed: int, how: str
) -> None:
    ranks = (5, 8)[seed % 2]
    victim = kills_at_any_moment(seed, 1, ranks, 0.1)
    program = [jobs.PROGRAMS / "makings", "150", how]
    ended = jobs.resprout_run(ranks, program, [], {"RESPROUT_INJECT": victim})
    check_survivors(ended, ranks, victim)


def killed_while_making_several(seed: int, how: str) -> jobs.Ended:
    victim = kills_at_any_moment(seed, 1, 8, 0.3)
    program = [jobs.PROGRAMS / "makings_at_once", "400", how]
    ended = jobs.resprout_run(8, program, [], {"RESPROUT_INJECT": victim})
    check_survivors(ended, 8, victim)
    return ended


@pytest.mark.parametrize(
    ("how", "seed"),
    [("one", 1), *(("several", seed) for seed in covering.a_share(range(6), of_one=4))],
)
def test_the_first_death_may_fall_into_duplicates_that_are_not_waited_for(
    how: str, seed: int
) -> None:
    killed_while_making_several(seed, how)
