"""When a call has returned, with whatever error, its buffer is the program's again: nobody reads or
writes it any more. And calls that MPI says are local do not wait for who is lost."""

import covering
import jobs
import pytest

BUFFERS = jobs.PROGRAMS / "buffers"
LOCAL = jobs.PROGRAMS / "local_calls"
NEIGHBORS = jobs.PROGRAMS / "neighbor_losses"
RANKS = 4
TRANSPORTS = {"sm": {"OMPI_MCA_btl": "self,sm"}, "tcp": {"OMPI_MCA_btl": "self,tcp"}}
# Over TCP, Open MPI goes on writing what the dead had sent of a large message
# (docs/reference/open-mpi.md).
VICTIMS = {"sm": 1, "tcp": 0}
SEEDS = covering.a_share(range(40), of_one=40)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_touches_a_buffer_that_was_given_back(transport: str, seed: int) -> None:
    """Communicators of the MPI library's and those made after a loss are revoked, ranks die."""
    victims = VICTIMS[transport]
    number = seed * len(TRANSPORTS) + list(TRANSPORTS).index(transport)
    program = [BUFFERS, str(number), "9", str(victims)]
    ended = jobs.resprout_run(RANKS, program, ["--on-loss", "error"], TRANSPORTS[transport])
    assert "WRONG" not in ended.err, ended
    assert ended.status == 0, ended
    assert ended.out.count("is through") == RANKS - len(ended.lost) > 0, ended
    assert len(ended.lost) == victims, ended


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_local_calls_do_not_wait_for_who_is_lost(transport: str) -> None:
    ended = jobs.resprout_run(RANKS, [LOCAL], variables=TRANSPORTS[transport])
    assert "WRONG" not in ended.err, ended
    assert ended.status == 0, ended
    assert ended.out.count("is through") == RANKS - 1, ended
    assert ended.lost == {1}, ended


@pytest.mark.parametrize(("elements", "transport"), [("1", "sm"), ("50000", "tcp")])
def test_a_loss_touches_neighborhoods_only_where_a_neighbor_is_lost(
    elements: str, transport: str
) -> None:
    ended = jobs.resprout_run(6, [NEIGHBORS, elements], variables=TRANSPORTS[transport])
    assert "WRONG" not in ended.err, ended
    assert ended.status == 0, ended
    assert ended.out.count("is through") == 5, ended
    assert ended.lost == {1}, ended
