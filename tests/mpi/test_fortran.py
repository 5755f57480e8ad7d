"""Programs that call MPI as compiled Fortran does. The MPI's Fortran library would ask the MPI
library behind our backs: tests/fortran/mpifh.c plays that library.
"""

import jobs
import pytest

PROGRAMS = jobs.BUILD / "tests" / "fortran"


def said(ended: jobs.Ended) -> list[str]:
    assert ended.status == 0, str(ended)
    return sorted(ended.out.splitlines())


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_kind_of_argument_arrives_and_comes_back(ranks: int) -> None:
    assert said(jobs.resprout_run(ranks, [PROGRAMS / "forms"])) == []


def test_without_resprout_the_same_program_reaches_the_mpi_s_library() -> None:
    ended = jobs.run([PROGRAMS / "forms"])
    assert ended.status == 1, str(ended)
    assert ended.err == "mpi_init_thread_ is not Resprout's\n"


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_after_a_loss_the_others_go_on_and_repair_their_communicators(transport: str) -> None:
    options = ["--transport", transport, "--inject", "kill:rank=1,at=allreduce#3"]
    ended = jobs.resprout_run(4, [PROGRAMS / "losses"], options)
    assert said(ended) == [f"rank {rank} has come to the end" for rank in (0, 2, 3)]
    assert ended.lost == {1}
    assert ended.calls("allreduce") >= 6
