"""MPI that ends late, is called outside of MPI_Init and MPI_Finalize, or is started by a rank."""

import os
import re
import sys
from pathlib import Path

import jobs
import pytest

sys.path.insert(0, str(jobs.ROOT / "tests" / "house"))
import calls

EXITS = jobs.PROGRAMS / "partings_at_exit"
OUTSIDE = jobs.PROGRAMS / "outside"
STARTS = jobs.PROGRAMS / "starts_another"
PROFILED = jobs.PROGRAMS / "profiled"
# Those that start MPI; the library has no such function; or it gives another number each time.
NOT_CALLED = {
    "MPI_Init", "MPI_Init_thread", "MPI_Session_init", "MPI_T_init_thread", "MPI_T_finalize",
    "MPIX_Comm_ishrink", "MPI_Wtime",
}  # fmt: skip


@pytest.mark.parametrize("where", ["handler", "destructor"])
@pytest.mark.parametrize("options", [[], ["--replicas", "2"]])
def test_mpi_may_end_on_the_way_out_of_main(where: str, options: list[str]) -> None:
    ended = jobs.resprout_run(2, [EXITS, where], options)
    assert ended.status == 0 and not ended.lost, str(ended)
    assert ended.out == f"{where}: 2 came to the end\n", str(ended)


@pytest.mark.parametrize("how", ["status", "quick"])
def test_who_exits_without_the_end_of_mpi_is_lost(how: str) -> None:
    ended = jobs.resprout_run(3, [EXITS, how, "1"])
    assert ended.status == 3 and ended.lost == {1}, str(ended)
    assert ended.out == f"{how}: 2 came to the end\n", str(ended)
    assert ended.report["losses"][0]["exit_status"] == 3, str(ended)


def by_library(ranks: int, program: list[str | Path]) -> jobs.Ended:
    words = [
        "env",
        *(f"{k}={v}" for k, v in jobs.by_hand().items()),
        jobs.MPIRUN,
        "--oversubscribe",
    ]
    return jobs.run([*words, "-n", str(ranks), *program])


def by_function(out: str) -> dict[str, str]:
    """How the call of each ended, without addresses: they are never the same twice."""
    lines = (line.partition(": ") for line in out.splitlines())
    return {name: re.split(r"/\[\w+:#\] \[ ?#", text)[0] for name, _, text in lines}


@pytest.mark.parametrize("when", ["before", "after"])
def test_wrong_calls_outside_end_as_without_resprout(when: str) -> None:
    names = {name for group in calls.read_table() for name in group.calls} - NOT_CALLED
    program = [OUTSIDE, "wrong", when, *sorted(names)]
    alone, ours = by_library(1, program), jobs.resprout_run(1, program)
    assert ours.status == alone.status == 0, f"{alone}\n{ours}"
    right, found = by_function(alone.out), by_function(ours.out)
    assert len(right) > 400
    assert {name: found.get(name) for name in right if found.get(name) != right[name]} == {}


@pytest.mark.parametrize(
    "words", [["allowed", "at-all"], ["sessions", "alone"], ["sessions", "beside"]]
)
def test_what_mpi_allows_outside_gives_what_it_gives_without_resprout(words: list[str]) -> None:
    alone, ours = by_library(2, [OUTSIDE, *words]), jobs.resprout_run(2, [OUTSIDE, *words])
    assert ours.status == alone.status == 0, f"{alone}\n{ours}"
    assert sorted(ours.out.splitlines()) == sorted(alone.out.splitlines())
    assert not ours.lost, str(ours)


WITHOUT_LAUNCHER_S = (
    "for v in $(env | cut -d= -f1 | grep -E '^(OMPI|PMIX|PRTE)_'); do unset $v; done; "
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=^ofi,usnic; "
)


def test_a_job_that_a_rank_starts_has_nothing_of_its_own_job() -> None:
    show = "env | grep -E '^(RESPROUT_|LD_PRELOAD=)' | sort; "
    inner = f"{show}{WITHOUT_LAUNCHER_S}{jobs.MPIRUN} --oversubscribe -n 2 {PROFILED} calls"
    fault = ["--inject", "kill:rank=1,at=allreduce#1"]
    ended = jobs.resprout_run(3, [STARTS, "sh", "-c", inner], fault)
    assert ended.status == 0 and ended.lost == {1}, str(ended)
    assert ended.out == "2 are here\nouter: 2, inner status 0\n", str(ended)


def test_a_job_started_with_a_copy_of_a_rank_s_environment_is_not_ours() -> None:
    """A script starts one before the program itself; its ranks bear the same numbers."""
    inner = f"({WITHOUT_LAUNCHER_S} {jobs.MPIRUN} --oversubscribe -n 3 {PROFILED} calls)"
    script = f"[ $OMPI_COMM_WORLD_RANK = 0 ] && {inner}; exec {PROFILED} calls"
    fault = ["--inject", "kill:rank=1,at=allreduce#5"]
    ended = jobs.resprout_run(2, ["sh", "-c", script], fault)
    assert ended.status == 0 and ended.lost == {1}, str(ended)
    assert ended.out == "3 are here\n1 are here\n", str(ended)
    assert ended.calls("allreduce") == 20, str(ended)


def test_a_rank_may_run_resprout_itself() -> None:
    inner = f"{WITHOUT_LAUNCHER_S} {jobs.RESPROUT} run -n 3 -- {PROFILED} calls 2"
    ended = jobs.resprout_run(2, [STARTS, "sh", "-c", inner])
    assert ended.status == 0 and not ended.lost, str(ended)
    assert ended.out == "2 are here\nouter: 2, inner status 0\n", str(ended)
    assert "1 of 3 ranks was lost" in ended.err, str(ended)


@pytest.mark.parametrize(
    "wrapper",
    [["bash", "-c", f"{PROFILED} calls 1"], ["env", "X=1", PROFILED, "calls", "1"],
     ["sh", "-c", f"{PROFILED} calls 1; true"],
     [sys.executable, "-c", f"import os; os.execv('{PROFILED}', ['p', 'calls', '1'])"]],
)  # fmt: skip
def test_what_starts_the_program_hands_resprout_on(wrapper: list[str]) -> None:
    ended = jobs.resprout_run(2, wrapper)
    assert ended.out == "1 are here\n" and ended.lost == {1}, str(ended)
    assert os.environ.get("RESPROUT_PROCESS") is None
