"""mpi4py's functions for Python objects after a loss: what the living say, or an exception."""

import sys

import jobs
import pytest

RANKS = 4
ALIVE = [0, 2, 3]
PROGRAM = [sys.executable, jobs.ROOT / "tests" / "mpi" / "programs" / "lower_case.py"]


def among_the_living(value: object, rank: int) -> object:
    return None if rank not in ALIVE else value


def expected(function: str, rank: int) -> object:
    if function == "bcast":
        return {"of": 3}
    if function == "scatter":
        return f"for {rank}"
    if function == "gather" and rank != 3:
        return None
    if function == "alltoall":
        return [among_the_living((other, rank), other) for other in range(RANKS)]
    return [among_the_living({"of": other}, other) for other in range(RANKS)]


@pytest.mark.parametrize("function", ["bcast", "scatter", "gather", "allgather", "alltoall"])
def test_the_living_are_heard(function: str) -> None:
    ended = jobs.resprout_run(RANKS, [*PROGRAM, function, 1])
    assert ended.status == 0 and ended.lost == {1}, str(ended)
    wanted = [f"{rank} {expected(function, rank)}" for rank in ALIVE for _ in range(2)]
    assert sorted(ended.out.splitlines()) == sorted(wanted), str(ended)


@pytest.mark.parametrize("function", ["reduce", "allreduce", "scan", "exscan"])
@pytest.mark.parametrize("victim", [0, 1, 2])
def test_nobody_waits_for_who_has_got_an_exception(function: str, victim: int) -> None:
    ended = jobs.resprout_run(RANKS, [*PROGRAM, function, victim])
    assert ended.status == 0 and ended.lost == {victim}, str(ended)
    assert len(ended.out.splitlines()) == 2 * (RANKS - 1), str(ended)
    assert "raised" in ended.out, str(ended)
