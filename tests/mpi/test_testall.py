"""MPI_Testall says how all its requests ended, also if a loss was known before the last has."""

import jobs
import other_mpis
import pytest
from test_other_mpis_kills import with_shim

ON = ["world", "shrunk"]


@pytest.mark.parametrize("on", ON)
def test_what_came_from_the_dead_long_before_the_rest_is_told_with_it(on: str) -> None:
    check(jobs.resprout_run(4, [jobs.PROGRAMS / "testall_late", on]), on)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("name", other_mpis.PREFIXES)
def test_the_same_on_other_mpi_libraries(name: str, on: str) -> None:
    prefix = with_shim(name)
    program = [other_mpis.program("testall_late"), on]
    check(jobs.resprout_run(4, program, other_mpis.options(prefix)), on)


def check(ended: jobs.Ended, on: str) -> None:
    assert (ended.status, ended.out) == (0, "both are there\n"), str(ended)
    assert ended.lost == ({1} if on == "world" else {1, 3}), str(ended)
