"""Persistent collectives that ranks start in any order: they match as they were made."""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "starts"
ROUNDS = 6


@pytest.mark.parametrize(
    ("ranks", "options"),
    [
        (2, ()),
        (4, ("--collectives", "trees")),
        (7, ("--transport", "tcp")),
        (3, ("--collectives", "native")),
    ],
)
@pytest.mark.parametrize("seed", covering.a_share([1, 2, 3, 4], of_one=2))
def test_they_are_started_and_freed_in_any_order(
    ranks: int, options: tuple[str, ...], seed: int
) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM, ROUNDS, seed], options)
    assert (ended.status, ended.out, ended.lost) == (0, f"right {ranks}\n", set()), str(ended)


# While they are made, started, waited for, and freed; rank 0 has what is broadcast.
CALLS = ["allreduce_init#9", "start#31", "iallreduce#2", "barrier_init#2", "allreduce#5"]


@pytest.mark.parametrize("call", covering.a_share(CALLS, of_one=2))
@pytest.mark.parametrize("victims", [(3,), (1, 4)])
def test_so_are_those_of_who_is_left(victims: tuple[int, ...], call: str) -> None:
    faults = [f"--inject=kill:rank={rank},at={call}" for rank in victims]
    ended = jobs.resprout_run(5, [PROGRAM, ROUNDS, 5], faults)
    assert (ended.status, ended.out) == (0, f"right {5 - len(victims)}\n"), str(ended)
    assert ended.lost == set(victims), str(ended)


def test_the_lost_is_stood_in_for_by_what_it_gave_to_the_same_one() -> None:
    options = ["--missing", "last", "--inject", "kill:rank=2,at=allreduce#2"]
    ended = jobs.resprout_run(4, [PROGRAM, 1, 6, "stood-in-for"], options)
    assert (ended.status, ended.out, ended.lost) == (0, "right 4\n", {2}), str(ended)


@pytest.mark.parametrize("verify", [(), ("--verify", "async")])
@pytest.mark.parametrize("plane", [0, 1])
def test_siblings_stand_in_for_the_lost_in_the_same_one(
    plane: int, verify: tuple[str, ...]
) -> None:
    options = ["--replicas", "2", "--on-replica-loss", "stand-in", *verify]
    fault = f"--inject=kill:rank=1,replica={plane},at=allreduce#4"
    ended = jobs.resprout_run(3, [PROGRAM, ROUNDS, 7], [*options, fault])
    assert (ended.status, ended.out) == (0, "right 3\n"), str(ended)
