"""Neighborhood collectives, in all forms and on all topologies: by the MPI library, and by all
members on communicators that were made after a loss."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "neighborhoods"
PAIRS = jobs.PROGRAMS / "neighbor_pairs"


def check(ended: jobs.Ended) -> None:
    assert (ended.status, ended.out) == (0, ""), str(ended)


@pytest.mark.parametrize("collectives", ["auto", "native", "resprout"])
def test_neighbors_get_what_neighbors_give(collectives: str) -> None:
    ended = jobs.resprout_run(3, [PROGRAM], ["--collectives", collectives])
    check(ended)
    assert ended.lost == set()


@pytest.mark.parametrize("collectives", ["auto", "resprout"])
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_topologies_that_are_made_after_a_loss_have_neighbors_who_outlive_the_next(
    collectives: str, transport: str
) -> None:
    faults = ["--inject", "kill:rank=3,at=barrier#1", "--inject", "kill:rank=2,at=barrier#2"]
    options = ["--collectives", collectives, "--transport", transport, *faults]
    ended = jobs.resprout_run(4, [PROGRAM, "lost"], options)
    check(ended)
    assert ended.lost == {2, 3}


@pytest.mark.parametrize("collectives", ["auto", "resprout"])
def test_much_and_gaps_and_rings_of_two_are_right_after_a_loss(collectives: str) -> None:
    faults = ["--inject", "kill:rank=1,at=barrier#1"]
    ended = jobs.resprout_run(5, [PAIRS], ["--collectives", collectives, *faults])
    check(ended)
    assert ended.lost == {1}
