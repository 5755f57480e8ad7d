"""Inter-communicators of those who live, made by MPI_Intercomm_create after a loss, and before."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "two_groups"


@pytest.mark.parametrize("bridge", ["world", "shrunken"])
@pytest.mark.parametrize(("ranks", "victim"), [(4, -1), (4, 2), (5, 0), (6, 1)])
def test_two_groups_of_all_who_live_have_one(ranks: int, victim: int, bridge: str) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM, str(victim), bridge])
    living = [rank for rank in range(ranks) if rank != victim]
    said = sorted(f"rank {rank}: {sum(living) + len(living)}" for rank in living)
    assert (ended.status, sorted(ended.out.splitlines())) == (0, said), str(ended)
    assert ended.lost == {victim} - {-1}, str(ended)


def test_groups_that_leave_out_somebody_are_refused_alike() -> None:
    ended = jobs.resprout_run(6, [PROGRAM, "1", "half"])
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert "MPI_Intercomm_create makes no inter-communicator after a loss" in ended.err, str(ended)
