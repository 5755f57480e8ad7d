"""Communicators that each rank frees in an order of its own: MPI_Comm_free waits for nobody."""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "partings"
ROUNDS = 20


@pytest.mark.parametrize(
    ("ranks", "options"),
    [
        (2, ()),
        (4, ()),
        (7, ("--transport", "tcp")),
        (5, ("--collectives", "trees")),
        (3, ("--collectives", "native")),
    ],
)
def test_they_are_freed_in_any_order(ranks: int, options: tuple[str, ...]) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM, ROUNDS], options)
    assert (ended.status, ended.out, ended.lost) == (0, "parted\n", set()), str(ended)


# Before the first one is freed, while they are used, and in rounds that come after a loss.
CALLS = ["allreduce#3", "allreduce#40", "bcast#12", "barrier#9", "allreduce#100", "bcast#31"]


@pytest.mark.parametrize("call", covering.a_share(CALLS, of_one=2))
@pytest.mark.parametrize("victims", [(3,), (1, 2)])
def test_so_are_those_that_have_lost_members_and_those_made_since(
    victims: tuple[int, ...], call: str
) -> None:
    faults = [f"--inject=kill:rank={rank},at={call}" for rank in victims]
    ended = jobs.resprout_run(5, [PROGRAM, ROUNDS], faults)
    assert (ended.status, ended.out) == (0, "parted\n"), str(ended)
    assert ended.lost == set(victims), str(ended)


@pytest.mark.parametrize("verify", [(), ("--verify", "async")])
@pytest.mark.parametrize("call", covering.a_share([1, 40, 121, 122], of_one=2))
def test_so_are_those_of_planes_with_gaps(call: int, verify: tuple[str, ...]) -> None:
    faults = [
        f"--inject=kill:rank=1,replica=0,at=allreduce#{call}",
        "--inject=kill:rank=0,replica=1,at=bcast#9",
    ]
    options = ["--replicas", "2", "--on-replica-loss", "stand-in", *verify, *faults]
    ended = jobs.resprout_run(3, [PROGRAM, ROUNDS], options)
    assert (ended.status, ended.out) == (0, "parted\n"), str(ended)
