"""A rank that ends before all are through MPI_Init ends the job, with a line and a status."""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "early_end"
STATUS = {"kill": 137, "segv": 139, "missing": 127, "0": 1, "3": 3}
CASES = covering.with_every_value(list(STATUS), [1, 0, 2], [(), ("--replicas", "2")])


@pytest.mark.parametrize(("how", "rank", "options"), CASES)
def test_others_do_not_wait_for_ever(how: str, rank: int, options: tuple[str, ...]) -> None:
    ended = jobs.resprout_run(3, [PROGRAM, how, rank], options)
    assert ended.status != 0 and "are here" not in ended.out, str(ended)
    if not options:
        assert ended.status == STATUS[how], str(ended)
        assert f"resprout: rank {rank} " in ended.err and "MPI_Init" in ended.err, str(ended)


@pytest.mark.parametrize("limit", ["-v 4000000", "-f 2000000", "-f 500000"])
def test_limits_of_a_batch_system_are_borne(limit: str) -> None:
    command = ["bash", "-c", f'ulimit {limit}; exec "$0" "$@"', jobs.RESPROUT, "run", "-n", "4"]
    ended = jobs.run([*command, "--", PROGRAM, "kill", "-1"])
    assert (ended.status, ended.out) == (0, "4 are here\n"), str(ended)


def test_programs_without_mpi_run_to_their_ends() -> None:
    ended = jobs.resprout_run(2, ["sh", "-c", 'echo here; exit "$OMPI_COMM_WORLD_RANK"'])
    assert (ended.status, ended.out) == (1, "here\nhere\n"), str(ended)
